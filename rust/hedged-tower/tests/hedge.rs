// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//! The layer over a service whose answers take as long as a test says, in tokio's paused time.
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt;
use hedged_tower::{Hedge, HedgeLayer};
use http::{Method, Request};
use tcplearn::{Counts, Settings};
use tokio::time::{sleep, timeout, Instant};
use tower::{Layer, Service, ServiceExt};

/// What a transmission gets: after so many milliseconds an answer, or an error.
type Outcome = (u64, Result<(), &'static str>);

/// The transmissions to come, how many there were, and how many of them are waited for.
#[derive(Default)]
struct Server {
    outcomes: Mutex<VecDeque<Outcome>>,
    sent: AtomicU64,
    open: AtomicU64,
}

struct Open(Arc<Server>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, SeqCst);
    }
}

impl Server {
    fn with(outcomes: &[Outcome]) -> Arc<Self> {
        Arc::new(Self { outcomes: Mutex::new(outcomes.iter().copied().collect()), ..Self::default() })
    }
    fn next(&self, outcome: Outcome) {
        self.outcomes.lock().unwrap().push_back(outcome);
    }
    fn sent(&self) -> u64 {
        self.sent.load(SeqCst)
    }
    fn open(&self) -> u64 {
        self.open.load(SeqCst)
    }
}

type Answer = Pin<Box<dyn Future<Output = Result<u64, &'static str>> + Send>>;

/// A client of the server; as tower wants it, each clone is asked whether it is ready before each call.
struct Client {
    server: Arc<Server>,
    ready: bool,
}

impl Clone for Client {
    fn clone(&self) -> Self {
        Self { server: self.server.clone(), ready: false }
    }
}

impl Service<Request<()>> for Client {
    type Response = u64;
    type Error = &'static str;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), &'static str>> {
        self.ready = true;
        Poll::Ready(Ok(()))
    }

    /// The answer is the number of the transmission. One without an outcome is answered after 10 ms.
    fn call(&mut self, _: Request<()>) -> Self::Future {
        assert!(std::mem::take(&mut self.ready));
        let (ms, outcome) = self.server.outcomes.lock().unwrap().pop_front().unwrap_or((10, Ok(())));
        let number = self.server.sent.fetch_add(1, SeqCst);
        self.server.open.fetch_add(1, SeqCst);
        let open = Open(self.server.clone());
        Box::pin(async move {
            let _open = open;
            sleep(Duration::from_millis(ms)).await;
            outcome.map(|()| number)
        })
    }
}

fn over(server: &Arc<Server>) -> (HedgeLayer, Hedge<Client>) {
    let layer = HedgeLayer::new(Settings::rate(0.01)).unwrap();
    let service = layer.layer(Client { server: server.clone(), ready: false });
    (layer, service)
}

/// Begins a request; its answer is to be awaited.
fn begun(service: &mut Hedge<Client>, method: Method, uri: &str) -> Answer {
    service.ready().now_or_never().unwrap().unwrap();
    service.call(Request::builder().method(method).uri(uri).body(()).unwrap())
}

fn call(service: &mut Hedge<Client>, method: Method) -> Answer {
    begun(service, method, "http://host:80/")
}

fn counted(layer: &HedgeLayer) -> Counts {
    layer.counts("host:80").unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_is_overtaken_by_the_copy() {
    // nothing is known of the host: the first wait is a second
    let server = Server::with(&[(5000, Ok(())), (20, Ok(()))]);
    let (layer, mut service) = over(&server);
    let asked = Instant::now();
    assert_eq!(call(&mut service, Method::GET).await, Ok(1));
    assert!((1020..1030).contains(&asked.elapsed().as_millis()), "{:?}", asked.elapsed());
    assert_eq!((server.sent(), server.open()), (2, 0)); // the first is dropped
    let want = Counts { requests: 1, answers: 1, resends: 1, ..Counts::default() };
    assert_eq!(counted(&layer), want);
}

#[tokio::test(start_paused = true)]
async fn waits_are_learned_for_each_host() {
    let server = Server::with(&[(20, Ok(())); 300]);
    let (layer, mut service) = over(&server);
    for _ in 0..300 {
        call(&mut service, Method::HEAD).await.unwrap();
    }
    server.next((5000, Ok(())));
    let asked = Instant::now();
    assert_eq!(call(&mut service, Method::OPTIONS).await, Ok(301));
    assert!(asked.elapsed().as_millis() < 100, "{:?}", asked.elapsed());
    assert_eq!(counted(&layer).resends, 1);

    server.next((900, Ok(())));
    let other = begun(&mut service, Method::GET, "http://user@Other/").await;
    assert_eq!((other, layer.counts("other").unwrap().resends), (Ok(302), 0)); // of it nothing is known
}

#[tokio::test(start_paused = true)]
async fn what_changes_something_is_sent_once() {
    let server = Server::with(&[(5000, Ok(()))]);
    let (layer, mut service) = over(&server);
    assert_eq!(call(&mut service, Method::POST).await, Ok(0));
    assert_eq!((server.sent(), layer.counts("host:80")), (1, None));
}

#[tokio::test(start_paused = true)]
async fn an_answer_to_the_first_counts_the_copy_as_needless() {
    let server = Server::with(&[(1010, Ok(())), (20, Ok(()))]);
    let (layer, mut service) = over(&server);
    assert_eq!(call(&mut service, Method::GET).await, Ok(0));
    let want = Counts { requests: 1, answers: 1, resends: 1, needless: 1, unclear: 0 };
    assert_eq!((counted(&layer), server.sent(), server.open()), (want, 2, 0));
}

#[tokio::test(start_paused = true)]
async fn an_error_waits_for_the_other_copy() {
    for outcomes in [[(1010, Err("first")), (50, Ok(()))], [(1050, Ok(())), (10, Err("second"))]] {
        let server = Server::with(&outcomes);
        let (layer, mut service) = over(&server);
        let answered = u64::from(outcomes[1].1.is_ok());
        assert_eq!(call(&mut service, Method::GET).await, Ok(answered));
        assert_eq!((counted(&layer).answers, counted(&layer).needless), (1, 1 - answered));
    }
    let server = Server::with(&[(1010, Err("first")), (50, Err("second"))]);
    let (layer, mut service) = over(&server);
    assert_eq!(call(&mut service, Method::GET).await, Err("second"));
    assert_eq!(counted(&layer).answers, 0);
    // an error before the wait ends is returned at once
    server.next((3, Err("alone")));
    assert_eq!(call(&mut service, Method::GET).await, Err("alone"));
    assert_eq!(server.sent(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_dropped_is_cancelled() {
    let server = Server::with(&[(5000, Ok(())); 200]);
    let (layer, mut service) = over(&server);
    for _ in 0..200 {
        assert!(timeout(Duration::from_millis(5), call(&mut service, Method::GET)).await.is_err());
        drop(call(&mut service, Method::GET)); // before anything of it has run
    }
    assert_eq!(server.open(), 0);
    // all 400 were timed: each was cancelled before the 64th of those that are out
    assert_eq!((counted(&layer).requests, counted(&layer).answers), (400, 0));
}

#[tokio::test(start_paused = true)]
async fn the_65th_at_once_is_not_timed() {
    let server = Server::with(&[(1500, Ok(())); 65]);
    let (layer, mut service) = over(&server);
    let calls: Vec<_> = (0..65).map(|_| tokio::spawn(call(&mut service, Method::GET))).collect();
    let mut answers = Vec::new();
    for call in calls {
        answers.push(call.await.unwrap().unwrap());
    }
    assert_eq!(answers[64], 64);
    let counts = counted(&layer);
    assert_eq!((counts.requests, counts.answers), (64, 64));
    assert_eq!(server.sent(), 65 + counts.resends);
    assert!(counts.resends > 0 && server.open() == 0);
}
