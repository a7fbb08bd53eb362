// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//! The timers, one for each host, and the requests that wait for what they say.
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::uri::Authority;
use http::{header, Request};
use tcplearn::{Again, Counts, RetryError, RetryTimer, Settings};
use tokio::sync::mpsc::{unbounded_channel, UnboundedReceiver, UnboundedSender};
use tokio::sync::Notify;
use tokio::time::{sleep_until, Instant};

pub(crate) struct Hosts {
    unused: RetryTimer,
    begun: Instant,
    by_name: Mutex<HashMap<String, Arc<Host>>>,
}

pub(crate) struct Host {
    begun: Instant,
    now: Mutex<State>,
    /// Wakes the requests that wait, because an answer has moved their deadlines to earlier times.
    sooner: Notify,
}

struct State {
    timer: RetryTimer,
    /// By number of request: who sends its copies.
    due: HashMap<u64, UnboundedSender<u32>>,
    next: u64,
}

/// A request that has no answer yet. Dropped without one, it is cancelled.
pub(crate) struct Out {
    host: Arc<Host>,
    id: u64,
    due: UnboundedReceiver<u32>,
}

/// What a panic of another thread left behind is whole: a timer changes in one call.
fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Hosts {
    pub(crate) fn new(how: Settings) -> Result<Self, RetryError> {
        Ok(Self { unused: RetryTimer::new(how)?, begun: Instant::now(), by_name: Mutex::default() })
    }

    /// Returns the host of a request: of its URI or, if that is a path alone, of its header.
    pub(crate) fn of<B>(&self, request: &Request<B>) -> Arc<Host> {
        let header = || request.headers().get(header::HOST).and_then(|name| name.to_str().ok());
        let name = request.uri().authority().map(Authority::as_str).or_else(header).unwrap_or_default();
        let name = name.rsplit('@').next().unwrap_or_default().to_ascii_lowercase(); // no name of a user
        let new = || {
            let state = State { timer: self.unused.clone(), due: HashMap::new(), next: 0 };
            Arc::new(Host { begun: self.begun, now: Mutex::new(state), sooner: Notify::new() })
        };
        locked(&self.by_name).entry(name).or_insert_with(new).clone()
    }

    pub(crate) fn counts(&self, name: &str) -> Option<Counts> {
        locked(&self.by_name).get(name).map(|host| locked(&host.now).timer.counts())
    }
}

impl Host {
    /// Returns the time, which is asked for while the timer is locked, so that it does not go back.
    fn now_us(&self) -> i64 {
        i64::try_from(self.begun.elapsed().as_micros()).unwrap_or(i64::MAX)
    }

    /// Begins a request, unless 64 are out.
    pub(crate) fn begun(self: Arc<Self>) -> Option<Out> {
        let mut now = locked(&self.now);
        let (id, (sender, due)) = (now.next, unbounded_channel());
        now.timer.sent(id, self.now_us()).ok()?;
        now.next += 1;
        now.due.insert(id, sender);
        drop(now);
        Some(Out { host: self, id, due })
    }

    /// Wakes each request of which another copy is due.
    fn look(&self) {
        let mut now = locked(&self.now);
        while let Ok(Some(Again { id, copy })) = now.timer.fired(self.now_us()) {
            let _ = now.due[&id].send(copy); // Err: it is just being dropped
        }
    }

    fn deadline_of(&self, id: u64) -> Instant {
        let us = locked(&self.now).timer.deadline_of(id).unwrap_or(0);
        self.begun + Duration::from_micros(us.unsigned_abs())
    }
}

impl Out {
    /// Waits until another copy is due; returns its number. May be dropped and called again.
    pub(crate) async fn due(&mut self) -> u32 {
        loop {
            let sooner = self.host.sooner.notified(); // also of what happens from here on
            // another request may have looked before this one
            tokio::select! {
                biased;
                Some(copy) = self.due.recv() => return copy,
                () = sooner => {}
                () = sleep_until(self.host.deadline_of(self.id)) => self.host.look(),
            }
        }
    }

    pub(crate) fn answered(&self, copy: u32) {
        let mut now = locked(&self.host.now);
        let now_us = self.host.now_us();
        let before = now.timer.deadline();
        let _ = now.timer.answered(self.id, Some(copy), now_us);
        if now.timer.deadline().is_some_and(|us| Some(us) < before) {
            self.host.sooner.notify_waiters();
        }
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        let mut now = locked(&self.host.now);
        now.due.remove(&self.id);
        let _ = now.timer.cancelled(self.id); // Err: it was answered
    }
}
