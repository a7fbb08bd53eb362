// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//! Calls that no honest caller makes: each is answered by a result that is stated, and changes nothing if it is an
//! error. fuzz_retry compares such calls with a model.
//!
//! HOSTILE_SECONDS=1800 cargo test --release --test hostile: for longer than the second of every day.
use std::time::{Duration, Instant};

use tcplearn::{Arithmetic, Estimator, RetryError, RetryTimer, Sample, Settings};

/// Xorshift: the seeds of a run say which calls it made.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
    fn odd_time(&mut self, now_us: i64) -> i64 {
        match self.roll(12) {
            0 => now_us - 1,
            1 => i64::MAX,
            2 => i64::MIN,
            3 => (1 << 62) + 1,
            4 => now_us + (1 << 40),
            _ => now_us + self.roll(200_000) as i64,
        }
    }
}

fn seconds() -> Duration {
    let asked = std::env::var("HOSTILE_SECONDS").ok().and_then(|s| s.parse().ok());
    Duration::from_secs(asked.unwrap_or(1))
}

fn settings(dice: &mut Dice) -> Settings {
    let odd = |dice: &mut Dice| [0, 1, 100, 10_000, 500_000, i64::MAX, -1, 1 << 32][dice.roll(8) as usize];
    Settings {
        rate_ppm: odd(dice) as u32,
        price_us: odd(dice),
        budget: odd(dice) as u32,
        first_wait_us: odd(dice),
        min_wait_us: odd(dice),
        max_wait_us: odd(dice),
    }
}

/// One call; an error must leave the timer as it was.
fn call(timer: &mut RetryTimer, dice: &mut Dice, now_us: &mut i64) {
    let before = format!("{timer:?}");
    let at_us = dice.odd_time(*now_us);
    let id = [0, 1, u64::MAX, dice.roll(100), dice.roll(u64::MAX)][dice.roll(5) as usize];
    let copy = [Some(0), Some(1), Some(u32::MAX), Some(u32::MAX - 1), None][dice.roll(5) as usize];
    let done = match dice.roll(6) {
        0 | 1 => timer.sent(id, at_us),
        2 => timer.fired(at_us).map(|again| assert!(again.map_or(1, |a| a.copy) > 0)),
        3 | 4 => timer.answered(id, copy, at_us),
        _ => timer.cancelled(id),
    };
    if done.is_err() {
        assert_eq!(format!("{timer:?}"), before, "{done:?} changed the timer");
    } else if at_us > *now_us && at_us < 1 << 60 {
        *now_us = at_us;
    }
}

#[test]
fn any_calls() {
    let begun = Instant::now();
    let mut runs = 0;
    while runs < 20 || begun.elapsed() < seconds() {
        runs += 1;
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ runs);
        let Ok(mut timer) = RetryTimer::new(settings(&mut dice)) else { continue };
        let (mut now_us, mut calls) = (0, 0);
        while calls < 3000 {
            calls += 1;
            call(&mut timer, &mut dice, &mut now_us);
        }
        let n = timer.counts();
        assert!(n.answers <= n.requests && n.needless + n.unclear <= n.resends + n.answers);
    }
}

#[test]
fn stated_results() {
    let mut timer = RetryTimer::new(Settings::default()).unwrap();
    assert_eq!(timer.answered(1, Some(0), 5), Err(RetryError::Unknown)); // before it was sent
    for id in 0..64 {
        timer.sent(id, 10).unwrap();
    }
    assert_eq!(timer.sent(64, 10), Err(RetryError::Full));
    timer.cancelled(63).unwrap();
    assert_eq!(timer.sent(5, 10), Err(RetryError::Twice));
    assert_eq!(timer.sent(64, 9), Err(RetryError::Time));
    assert_eq!(timer.answered(5, Some(1), 10), Err(RetryError::Copy)); // it was not sent again
    assert_eq!(timer.answered(5, Some(u32::MAX), 10), Err(RetryError::Copy));
    assert_eq!(timer.inherit(&timer.clone()), Err(RetryError::Begun));
    for id in 100..1_000_100 {
        timer.sent(id, 20).unwrap();
        timer.cancelled(id).unwrap();
    }
    assert_eq!(timer.counts().requests, 1_000_064);
    for share in [0.0, -1.0, f64::NAN, f64::INFINITY, 0.9] {
        assert_eq!(RetryTimer::new(Settings::rate(share)).unwrap_err(), RetryError::Settings);
    }
}

#[test]
fn a_timer_goes_to_another_thread() {
    let timer = RetryTimer::new(Settings::rate(0.01)).unwrap();
    let mut copy = timer.clone();
    std::thread::spawn(move || copy.sent(1, 0).unwrap()).join().unwrap();
    assert_eq!(timer.deadline(), None);
}

#[test]
fn estimators_refuse_in_a_line() {
    for spec in ["", "jacobsen", "jacobson:", "jacobson:alpha=nan", "a\0b", "last/x", "conformal:miss=2"] {
        let error = Estimator::new(spec, Arithmetic::Double).unwrap_err().to_string();
        assert!(!error.is_empty() && !error.contains('\n'), "{spec}: {error}");
    }
    let mut last = Estimator::new("last", Arithmetic::Fixed).unwrap();
    for rtt_us in [i64::MIN, -1, 0, i64::MAX] {
        last.update(&Sample { time_us: 1, rtt_us, ..Sample::default() });
        assert!(last.query().rtt_us.is_finite());
    }
}
