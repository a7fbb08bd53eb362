// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//! Random hostile bytes drive every call of a `RetryTimer`, beside the plain model of model.rs. An input has a seed, from
//! which all of its bytes come. `cargo test` tries the same few thousand inputs each time.
//!
//! make rust-fuzz MINUTES=30            new inputs for half an hour
//! make rust-fuzz SEED=123              begins with the input 123
use std::time::{Duration, Instant};

use tcplearn::{RetryTimer, Settings};

mod model;

use model::{made, Modelled, Same, LATEST_US};

/// Bytes without end, by splitmix64.
struct Bytes(u64);

impl Bytes {
    fn take(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
    fn below(&mut self, end: u64) -> u64 {
        self.take() % end
    }
    /// A number of any length in bits, so that small ones are as frequent as large ones.
    fn any_length(&mut self) -> u64 {
        let bits = self.below(64);
        self.take() >> bits
    }
    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// Settings in range or, of one input in eight, with a field at an edge of a range or beyond it.
fn settings(b: &mut Bytes) -> Settings {
    let price_bits = b.pick(&[1, 20, 32]);
    let least_us = if b.below(2) == 0 { 1 } else { 1 + b.below(1 << 16) as i64 };
    let mut how = Settings {
        rate_ppm: if b.below(2) == 0 { 0 } else { 100 + b.below(499_901) as u32 },
        price_us: b.below(1 << price_bits) as i64,
        budget: b.pick(&[0, 1, 40, 40, 100_000]),
        first_wait_us: b.pick(&[1, 1_000_000, 1_000_000, 1 << 32]),
        min_wait_us: least_us,
        max_wait_us: b.pick(&[least_us, least_us + (1 << 20), 120_000_000, 1 << 32]),
    };
    let edge: i64 = b.pick(&[0, 100, 100_000, 500_000, least_us, 1 << 32, i64::MAX, i64::MIN]);
    let edge = edge.wrapping_add(b.pick(&[-1, 0, 1]));
    match b.below(48) {
        0 => how.rate_ppm = edge as u32,
        1 => how.price_us = edge,
        2 => how.budget = edge as u32,
        3 => how.first_wait_us = edge,
        4 => how.min_wait_us = edge,
        5 => how.max_wait_us = edge,
        _ => {}
    }
    how
}

/// How hostile an input is.
struct Mood {
    ids: u64,
    /// Of so many times, one is hostile; 0: none.
    hostile: u64,
    /// A time is at most so many microseconds after that of the call before.
    step_us: u64,
    next: u64,
}

/// Times 0x9e3779b97f4a7c15 this is 1: its multiples by few numbers meet in the timer's index.
const MEETING: u64 = 0xf1de_83e1_9937_733d;

fn id(b: &mut Bytes, m: &Modelled, mood: &mut Mood) -> u64 {
    let known = m.some_id(b.take());
    match (mood.ids, known) {
        (0, _) => b.below(80),
        (1, _) => MEETING.wrapping_mul(b.below(100)),
        (2, _) => MEETING.wrapping_mul((b.below(3) << 57).wrapping_sub(b.below(40))),
        (3, _) => b.pick(&[0, 1, u64::MAX, 1 << 63, u64::MAX - 1]),
        (_, Some(id)) if b.below(2) == 0 => id,
        (4, _) => b.take(),
        _ => {
            mood.next += 1;
            mood.next
        }
    }
}

fn time(b: &mut Bytes, m: &Modelled, mood: &Mood) -> i64 {
    let now_us = m.now_us();
    if mood.hostile == 0 || b.below(mood.hostile) > 0 {
        let first_us = if now_us == -LATEST_US { 0 } else { now_us };
        return first_us.saturating_add(b.below(mood.step_us) as i64);
    }
    match b.below(16) {
        0..=3 => now_us.wrapping_sub(1),
        4..=6 => now_us.wrapping_sub(b.any_length() as i64),
        7 => b.pick(&[i64::MIN, i64::MAX, -LATEST_US, -LATEST_US - 1, 0, -1]),
        8..=10 => LATEST_US + 1,
        11 => b.take() as i64,
        12 if b.below(64) == 0 => LATEST_US,
        13 => now_us.wrapping_add((b.any_length() >> 24) as i64),
        _ => now_us,
    }
}

fn copy(b: &mut Bytes, m: &Modelled, id: u64) -> Option<u32> {
    let resends = m.resends(id).unwrap_or(0);
    match b.below(12) {
        0..=2 => None,
        3..=5 => Some(0),
        6..=8 => Some(resends),
        9 => Some(b.below(u64::from(resends) + 1) as u32),
        10 => Some(resends + 1),
        _ => Some(b.pick(&[u32::MAX, u32::MAX - 1, 1 << 31, b.0 as u32])),
    }
}

fn call(b: &mut Bytes, m: &mut Modelled, mood: &mut Mood) -> Same {
    let what = b.below(256);
    match what {
        0..=89 => {
            let id = id(b, m, mood);
            m.sent(id, time(b, m, mood))
        }
        90..=149 => {
            let known = m.some_id(b.take()).filter(|_| what < 120);
            let id = known.unwrap_or_else(|| id(b, m, mood));
            m.answered(id, copy(b, m, id), time(b, m, mood))
        }
        150..=189 => m.fired(time(b, m, mood)).map(drop),
        190..=209 => {
            // late by a little; each request that is due, as a client would
            let late_us = b.below(3) as i64;
            let now_us = m.deadline().map_or(0, |due_us| due_us.saturating_add(late_us)).max(m.now_us());
            let mut most = 70;
            while most > 0 && m.fired(now_us)? {
                most -= 1;
            }
            Ok(())
        }
        210..=245 => {
            let id = id(b, m, mood);
            m.cancelled(id)
        }
        246..=249 => m.moved(),
        250..=252 => m.inherit(),
        253 if b.below(4) == 0 => {
            let how = settings(b);
            m.succeeded(how)
        }
        _ => m.whole(),
    }
}

/// Plays the input with this seed; returns how many calls of the timer it was.
fn input(seed: u64) -> Result<u64, String> {
    let mut b = Bytes(seed);
    let share = f64::from_bits(b.take());
    for share in [share, share.fract() / 2.0] {
        let how = Settings::rate(share);
        let rounded = (share * 1e6 + 0.5).floor();
        let want = (100.0..=500_000.0).contains(&rounded);
        if RetryTimer::new(how).is_ok() != want {
            return Err(format!("Settings::rate({share:?}) is {how:?}"));
        }
    }
    let mut mood = Mood {
        ids: b.below(6),
        hostile: b.pick(&[0, 2, 16, 100]),
        step_us: 1 << b.pick(&[1, 10, 17, 24, 30]),
        next: 0,
    };
    let mut calls = b.pick(&[50, 500, 2000]);
    if b.below(2000) == 0 {
        (calls, mood.ids) = (1_000_000, 5); // a million numbers
    }
    let how = settings(&mut b);
    let Some(mut m) = made(how)? else { return Ok(1) };
    for k in 0..calls {
        call(&mut b, &mut m, &mut mood).map_err(|error| format!("event {k}: {error}"))?;
    }
    m.whole()?;
    Ok(m.calls)
}

fn play(seed: u64) -> u64 {
    input(seed).unwrap_or_else(|error| {
        panic!("input {seed} differs from the model: {error}\nmake rust-fuzz SEED={seed} repeats it")
    })
}

#[test]
fn calls_are_as_in_the_model() {
    let calls: u64 = (0..400).map(play).sum();
    assert!(calls > 100_000, "{calls}");
}

fn of_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name}={text}: a number")))
}

#[test]
#[ignore = "make rust-fuzz"]
fn for_minutes() {
    let begun = Instant::now();
    let minutes = of_environment("FUZZ_MINUTES").unwrap_or(1);
    let by_clock = || std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos() as u64 >> 20 << 20);
    let first = of_environment("FUZZ_SEED").unwrap_or_else(by_clock);
    println!("{minutes} minutes from SEED={first}");
    let (mut inputs, mut calls, mut shown) = (0, 0, Duration::ZERO);
    while begun.elapsed() < Duration::from_secs(60 * minutes) {
        calls += play(first.wrapping_add(inputs));
        inputs += 1;
        if begun.elapsed() - shown >= Duration::from_secs(30) {
            shown = begun.elapsed();
            println!("{:4} s: {inputs} inputs, {calls} calls", shown.as_secs());
        }
    }
    println!("{inputs} inputs, {calls} calls, no difference, in {} s", begun.elapsed().as_secs());
}

/// 2^32 resends of one request. Copies are numbered up to `u32::MAX`.
#[test]
#[ignore = "some minutes"]
fn resends_stop_at_the_greatest() {
    let how = Settings { min_wait_us: 1, max_wait_us: 1, ..Settings::default() };
    let mut timer = RetryTimer::new(how).unwrap();
    timer.sent(1, 0).unwrap();
    let mut now_us = 0;
    let mut fire = || {
        now_us += 1;
        timer.fired(now_us).unwrap().expect("a wait is 1 us").copy
    };
    for copy in 1..=u32::MAX {
        assert_eq!(fire(), copy);
    }
    assert_eq!(fire(), u32::MAX);
    assert_eq!(timer.answered(1, Some(u32::MAX - 1), now_us), Ok(()));
    assert_eq!(timer.counts().resends, 1 << 32);
    assert_eq!(timer.counts().needless, 1);
}
