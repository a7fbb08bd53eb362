// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
use std::fs;

use tcplearn::{RetryError, RetryTimer, Settings};

use crate::{numbers, vectors};

fn code(of: Result<(), RetryError>) -> i64 {
    match of {
        Ok(()) => 0,
        Err(RetryError::Full) => -1,
        Err(RetryError::Twice) => -2,
        Err(RetryError::Unknown) => -3,
        Err(RetryError::Time) => -4,
        Err(RetryError::Copy) => -5,
        Err(RetryError::Settings) => -6,
        Err(_) => -7,
    }
}

fn made(v: &[i64]) -> RetryTimer {
    let how = Settings {
        rate_ppm: v[0].try_into().unwrap(),
        price_us: v[1],
        budget: v[2].try_into().unwrap(),
        first_wait_us: v[3],
        min_wait_us: v[4],
        max_wait_us: v[5],
    };
    RetryTimer::new(how).unwrap()
}

#[test]
fn retry_timer() {
    let Some(folder) = vectors() else { return };
    let text = fs::read_to_string(folder.join("retry.csv")).unwrap();
    let mut timer = RetryTimer::new(Settings::default()).unwrap();
    let mut earlier = timer.clone();
    let mut lines = 0;
    for line in text.lines() {
        let (word, rest) = line.split_once(',').unwrap();
        if word == "paused" {
            continue; // a part of the state that Rust does not show; C compares it
        }
        let v = numbers(rest);
        if word == "settings" {
            earlier = timer;
            timer = made(&v);
            continue;
        }
        let (arguments, mut got) = match word {
            "sent" => (2, vec![code(timer.sent(v[0] as u64, v[1]))]),
            "fired" => (1, {
                let found = timer.fired(v[0]);
                let again = found.ok().flatten();
                let due = found.map_or_else(|error| code(Err(error)), |again| again.is_some().into());
                vec![due, again.map_or(0, |a| a.id as i64), again.map_or(0, |a| a.copy.into())]
            }),
            "answered" => (3, vec![code(timer.answered(v[0] as u64, u32::try_from(v[1]).ok(), v[2]))]),
            "cancelled" => (1, vec![code(timer.cancelled(v[0] as u64))]),
            "inherit" => (0, vec![code(timer.inherit(&earlier))]),
            "sums" => (0, {
                let n = timer.counts();
                [n.requests, n.answers, n.resends, n.needless, n.unclear].map(|n| n as i64).to_vec()
            }),
            _ => panic!("{line}"),
        };
        if word != "sums" {
            got.push(timer.deadline().unwrap_or(-1));
        }
        lines += 1;
        assert_eq!(got, v[arguments..], "line {lines}: {line}");
    }
    assert!(lines > 5000);
}
