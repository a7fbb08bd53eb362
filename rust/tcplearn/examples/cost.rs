// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//! What a request costs: cargo run --release --example cost
use std::{hint::black_box, time::Instant};

use tcplearn::{RetryTimer, Settings};

const REQUESTS: u64 = 2_000_000;

/// Nanoseconds a request with `out` requests without an answer: sent, the deadline asked for, answered.
fn cost(how: Settings, out: u64) -> f64 {
    let mut timer = RetryTimer::new(how).unwrap();
    let mut now_us = 0;
    for id in 0..out - 1 {
        timer.sent(u64::MAX - id, now_us).unwrap();
    }
    let begun = Instant::now();
    for id in 0..REQUESTS {
        timer.sent(id, now_us).unwrap();
        black_box(timer.deadline());
        now_us += 40 + i64::try_from(id % 7).unwrap();
        timer.answered(id, Some(0), now_us).unwrap();
    }
    begun.elapsed().as_secs_f64() * 1e9 / REQUESTS as f64
}

fn main() {
    for (name, how) in [("price", Settings::default()), ("rate", Settings::rate(0.01))] {
        for out in [1, 8, 64] {
            println!("{name:5} {out:2} out: {:4.0} ns a request", cost(how, out));
        }
    }
    println!("{} bytes a timer", size_of::<RetryTimer>());
}
