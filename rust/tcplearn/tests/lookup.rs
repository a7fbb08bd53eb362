// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//! The example: all queries are answered although a tenth is lost, and few resends are needless.
#[path = "../examples/lookup.rs"]
mod lookup;

#[test]
fn what_is_lost_is_sent_again() {
    let timer = tcplearn::RetryTimer::new(tcplearn::Settings::rate(0.01)).unwrap();
    let counts = lookup::run(lookup::started().unwrap(), 200, timer).unwrap();
    assert_eq!((counts.requests, counts.answers), (200, 200));
    assert!(counts.resends >= 10 && counts.needless <= 20, "{counts:?}");
}
