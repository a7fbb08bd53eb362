// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//! Prints what a request costs with the retry timer and with other crates, each with its defaults, and how large their
//! states are. A round plays some requests with latencies of 20 to 30 ms, of which 1 in 100 takes 100 ms longer. The
//! policies take turns, and each figure is that of the fastest of its rounds, so that other programs disturb little.
//!
//! make rust-bench
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

mod policies;

use policies::{Entry, Policy, ALL};

const ROUNDS: usize = 15;
const OUT: [usize; 3] = [1, 8, 64];
const LATENCIES: usize = 4096;

/// Counts the bytes that are allocated.
struct Counting;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all is left to the system's allocator
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Relaxed);
        System.alloc(layout)
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Relaxed);
        System.dealloc(at, layout);
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Latencies in microseconds, by xorshift.
fn latencies() -> [i64; LATENCIES] {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    std::array::from_fn(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let late_us = if state.is_multiple_of(100) { 100_000 } else { 0 };
        20_000 + (state >> 32) as i64 % 10_000 + late_us
    })
}

/// A policy that is measured, with a number of requests out: the oldest is answered when another has been sent.
struct Played {
    policy: Box<dyn Policy>,
    requests: u64,
    sent_us: Vec<i64>,
    id: usize,
    now_us: i64,
    fastest_ns: f64,
}

impl Played {
    fn new(&(_, make, requests): &Entry, out: usize) -> Self {
        let mut new =
            Self { policy: make(), requests, sent_us: vec![0; out], id: 0, now_us: 0, fastest_ns: f64::MAX };
        for _ in 1..out {
            new.sent();
        }
        new
    }
    fn sent(&mut self) {
        let place = self.id % self.sent_us.len();
        self.sent_us[place] = self.now_us;
        self.policy.sent(self.id as u64, self.now_us);
        self.id += 1;
    }
    fn round(&mut self, latencies: &[i64; LATENCIES]) {
        let (out, begun) = (self.sent_us.len(), Instant::now());
        for _ in 0..self.requests {
            self.sent();
            self.now_us += latencies[self.id % LATENCIES] / out as i64;
            let oldest = self.id - out;
            self.policy.answered(oldest as u64, self.sent_us[oldest % out], self.now_us);
        }
        let ns = begun.elapsed().as_secs_f64() * 1e9 / self.requests as f64;
        self.fastest_ns = self.fastest_ns.min(ns);
    }
}

/// Returns the bytes of a policy that has had answers, with all that it has allocated.
fn bytes(entry: &Entry, latencies: &[i64; LATENCIES]) -> usize {
    let before = ALLOCATED.load(Relaxed);
    let mut played = Played::new(entry, 1);
    played.requests = 10_000; // four minutes: more than what any policy remembers
    played.round(latencies);
    played.sent_us = Vec::new(); // it is not the policy's
    ALLOCATED.load(Relaxed) - before
}

fn main() {
    let latencies = latencies();
    let mut played: Vec<Vec<Played>> =
        OUT.iter().map(|&out| ALL.iter().map(|entry| Played::new(entry, out)).collect()).collect();
    for _ in 0..ROUNDS {
        played.iter_mut().flatten().for_each(|one| one.round(&latencies));
    }
    println!("ns a request (and how many times that of {}), bytes of state", ALL[1].0);
    println!("{:18}{:>16}{:>16}{:>16}{:>9}", "requests out", OUT[0], OUT[1], OUT[2], "bytes");
    for (k, entry) in ALL.iter().enumerate() {
        print!("{:18}", entry.0);
        for column in &played {
            print!("{:8.0} ({:5.2})", column[k].fastest_ns, column[k].fastest_ns / column[1].fastest_ns);
        }
        println!("{:9}", bytes(entry, &latencies));
    }
    println!("The other crates keep no requests: the caller must know which wait ends first.");
}
