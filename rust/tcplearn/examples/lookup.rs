// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//! A client of a protocol like DNS: queries and answers are single datagrams, and what is lost must be sent again. The
//! server, a thread on the loopback interface, drops a tenth of the queries.
//!
//! cargo run --example lookup
use std::io::{ErrorKind, Result};
use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use tcplearn::{Again, Counts, RetryTimer, Settings};

const AT_ONCE: u64 = 4;

/// Answers queries for ever; every tenth is dropped.
fn serve(server: &UdpSocket) -> Result<()> {
    for number in 1u64.. {
        let mut datagram = [0; 64];
        let (bytes, client) = server.recv_from(&mut datagram)?;
        if number % 10 != 0 {
            thread::sleep(Duration::from_millis(1));
            server.send_to(&datagram[..bytes], client)?;
        }
    }
    Ok(())
}

/// A datagram: the number of a query, and which copy of it this is. An answer repeats both.
fn datagram(id: u64, copy: u32) -> [u8; 12] {
    let mut out = [0; 12];
    out[..8].copy_from_slice(&id.to_be_bytes());
    out[8..].copy_from_slice(&copy.to_be_bytes());
    out
}

fn parsed(bytes: [u8; 12]) -> (u64, u32) {
    let (id, copy) = bytes.split_at(8);
    (u64::from_be_bytes(id.try_into().unwrap()), u32::from_be_bytes(copy.try_into().unwrap()))
}

/// Sends the queries, `AT_ONCE` of them at a time; returns what happened.
pub fn run(server: SocketAddr, queries: u64, mut timer: RetryTimer) -> Result<Counts> {
    let client = UdpSocket::bind("127.0.0.1:0")?;
    client.connect(server)?;
    let begun = Instant::now();
    let now_us = || i64::try_from(begun.elapsed().as_micros()).unwrap();
    while timer.counts().answers < queries {
        let counts = timer.counts();
        if counts.requests < queries && counts.requests - counts.answers < AT_ONCE {
            timer.sent(counts.requests, now_us()).expect("fewer than 64 are out");
            client.send(&datagram(counts.requests, 0))?;
            continue;
        }
        let wait_us = (timer.deadline().unwrap_or(0) - now_us()).max(1);
        client.set_read_timeout(Some(Duration::from_micros(wait_us.unsigned_abs())))?;
        let mut answer = [0; 12];
        match client.recv(&mut answer) {
            Ok(_) => {
                let (id, copy) = parsed(answer);
                let _ = timer.answered(id, Some(copy), now_us()); // Err: a second answer to a query
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => return Err(error),
        }
        while let Some(Again { id, copy }) = timer.fired(now_us()).expect("the clock does not go back") {
            client.send(&datagram(id, copy))?;
        }
    }
    Ok(timer.counts())
}

/// Starts a server on the loopback interface.
pub fn started() -> Result<SocketAddr> {
    let server = UdpSocket::bind("127.0.0.1:0")?;
    let address = server.local_addr()?;
    thread::spawn(move || serve(&server));
    Ok(address)
}

#[allow(dead_code)] // the test of this example has a main of its own
fn main() -> Result<()> {
    let timer = RetryTimer::new(Settings::rate(0.01)).expect("a rate in range");
    let begun = Instant::now();
    let counts = run(started()?, 300, timer)?;
    println!("{counts:?} in {:?}", begun.elapsed());
    Ok(())
}
