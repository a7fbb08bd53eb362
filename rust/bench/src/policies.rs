// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//! The timer and other crates behind the two calls that a request makes: sent, and answered.
use std::hint::black_box;
use std::time::Duration;

use adaptive_timeout::{AdaptiveTimeout, Instant, LatencyTracker};
use tcplearn::{RetryTimer, Settings};

pub trait Policy {
    /// Begins the request `id`, and asks until when to wait.
    fn sent(&mut self, id: u64, now_us: i64);
    /// The request `id`, which began at `sent_us`, is answered by its first transmission.
    fn answered(&mut self, id: u64, sent_us: i64, now_us: i64);
}

/// The timer also keeps the requests, says which one's wait ends first, and has 1 in 100 sent again.
pub struct Ours(pub RetryTimer);

impl Policy for Ours {
    fn sent(&mut self, id: u64, now_us: i64) {
        self.0.sent(id, now_us).unwrap();
        if black_box(self.0.deadline()).is_some_and(|due_us| due_us <= now_us) {
            while self.0.fired(now_us).unwrap().is_some() {}
        }
    }
    fn answered(&mut self, id: u64, _: i64, now_us: i64) {
        self.0.answered(id, Some(0), now_us).unwrap();
    }
}

#[derive(Clone, Copy)]
pub struct Us(i64);

impl Instant for Us {
    fn duration_since(&self, earlier: Self) -> Duration {
        Duration::from_micros((self.0 - earlier.0).unsigned_abs())
    }
    fn add_duration(&self, duration: Duration) -> Self {
        Us(self.0 + duration.as_micros() as i64)
    }
}

/// The quantile 0.9999 of the last minute, doubled; no record of requests.
#[derive(Default)]
pub struct Adaptive {
    timeout: AdaptiveTimeout,
    tracker: LatencyTracker<u32, Us>,
}

impl Policy for Adaptive {
    fn sent(&mut self, _: u64, now_us: i64) {
        black_box(self.timeout.select_timeout(&mut self.tracker, &[1], 1, Us(now_us)));
    }
    fn answered(&mut self, _: u64, sent_us: i64, now_us: i64) {
        self.tracker.record_latency_from(&1, Us(sent_us), Us(now_us));
    }
}

/// The quantile 0.95 of all answers, found anew after every tenth; no record of requests.
#[derive(Default)]
pub struct Hedged(hedged::Hedge);

impl Policy for Hedged {
    fn sent(&mut self, _: u64, _: i64) {
        black_box(self.0.value());
    }
    fn answered(&mut self, _: u64, sent_us: i64, now_us: i64) {
        self.0.observe(Duration::from_micros((now_us - sent_us).unsigned_abs())).unwrap();
    }
}

/// A name, what makes the policy, and how many requests a round has.
pub type Entry = (&'static str, fn() -> Box<dyn Policy>, u64);

fn ours(how: Settings) -> Box<dyn Policy> {
    Box::new(Ours(RetryTimer::new(how).unwrap()))
}

/// All policies; ratios are those to the second.
pub const ALL: [Entry; 4] = [
    ("tcplearn by price", || ours(Settings::price_us(100_000)), 200_000),
    ("tcplearn by rate", || ours(Settings::rate(0.01)), 200_000),
    ("adaptive-timeout", || Box::<Adaptive>::default(), 200_000),
    ("hedged", || Box::<Hedged>::default(), 20_000),
];
