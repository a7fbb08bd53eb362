// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//! A layer of tower that sends an idempotent request a second time where its answer is late, and takes the answer that
//! comes first ("hedging"). [`tcplearn::RetryTimer`] says when: one timer for each host, with a chosen share of needless
//! resends.
//!
//! ```
//! # fn hedged<S>(client: S) -> Result<(), tcplearn::RetryError> {
//! let layer = hedged_tower::HedgeLayer::new(tcplearn::Settings::rate(0.01))?;
//! let service = tower::ServiceBuilder::new().layer(layer).service(client);
//! # Ok(())
//! # }
//! ```
//!
//! Copies go through a clone of the service below, whose bodies are cloned too. Any response is an answer, also one that
//! says 503; only where the service returns an error do the other copies go on. The layer gives up no request: put a
//! [timeout](https://docs.rs/tower/latest/tower/timeout) above it. It keeps 6.3 kB for each host and forgets none.
#![deny(missing_docs)]
#![warn(clippy::pedantic)]

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::stream::{FuturesUnordered, StreamExt};
use http::{Method, Request};
use tcplearn::{Counts, RetryError, Settings};
use tower::{Layer, Service, ServiceExt};

mod host;

use host::{Hosts, Out};

/// Makes services that hedge. All of them, and their clones, share the timers.
#[derive(Clone)]
pub struct HedgeLayer {
    hosts: Arc<Hosts>,
}

impl HedgeLayer {
    /// Makes a layer; `how` says which share of needless copies a host may get, or what one is worth.
    ///
    /// # Errors
    /// [`RetryError::Settings`]
    pub fn new(how: Settings) -> Result<Self, RetryError> {
        Ok(Self { hosts: Arc::new(Hosts::new(how)?) })
    }

    /// Returns what the timer of `host` has counted, for example that of `"example.org:8080"`.
    #[must_use]
    pub fn counts(&self, host: &str) -> Option<Counts> {
        self.hosts.counts(host)
    }
}

impl<S> Layer<S> for HedgeLayer {
    type Service = Hedge<S>;

    fn layer(&self, inner: S) -> Hedge<S> {
        Hedge { inner, hosts: self.hosts.clone() }
    }
}

/// A service that hedges: see [`HedgeLayer`].
#[derive(Clone)]
pub struct Hedge<S> {
    inner: S,
    hosts: Arc<Hosts>,
}

type Answer<S, B> = Result<<S as Service<Request<B>>>::Response, <S as Service<Request<B>>>::Error>;
type Pending<T> = Pin<Box<dyn Future<Output = T> + Send>>;

impl<S, B> Service<Request<B>> for Hedge<S>
where
    S: Service<Request<B>> + Clone + Send + 'static,
    S::Response: Send,
    S::Error: Send,
    S::Future: Send + 'static,
    B: Clone + Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pending<Answer<S, B>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if !idempotent(request.method()) {
            return Box::pin(self.inner.call(request));
        }
        let Some(out) = self.hosts.of(&request).begun() else {
            return Box::pin(self.inner.call(request)); // 64 requests to the host are out
        };
        let first = self.inner.call(request.clone());
        Box::pin(first_answer(first, self.inner.clone(), request, out))
    }
}

/// RFC 9110, 9.2.2, without those that change something: sent twice, they do what they do once.
fn idempotent(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Returns the answer that comes first, and drops the other copies; if no copy has one, the last error.
async fn first_answer<S, B>(first: S::Future, service: S, request: Request<B>, mut out: Out) -> Answer<S, B>
where
    S: Service<Request<B>> + Clone + Send + 'static,
    S::Response: Send,
    S::Error: Send,
    S::Future: Send + 'static,
    B: Clone + Send + 'static,
{
    let mut copies = FuturesUnordered::<Pending<(u32, Answer<S, B>)>>::new();
    copies.push(Box::pin(async { (0, first.await) }));
    loop {
        tokio::select! {
            biased; // an answer that is there counts, also if a wait has ended
            Some((copy, answer)) = copies.next() => match answer {
                Err(_) if !copies.is_empty() => {}
                Err(error) => return Err(error),
                Ok(response) => {
                    out.answered(copy);
                    return Ok(response);
                }
            },
            copy = out.due() => {
                let again = service.clone().oneshot(request.clone());
                copies.push(Box::pin(async move { (copy, again.await) }));
            }
        }
    }
}
