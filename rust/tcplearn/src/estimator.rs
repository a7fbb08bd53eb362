// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
use alloc::string::String;
use core::fmt;

use tcplearn_sys as sys;

use crate::algorithm::{names, Arithmetic, SpecError, State};

/// One sample of the round-trip time. What is not known is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The time of the answer, in microseconds; it does not go back.
    pub time_us: i64,
    /// The time of the request.
    pub sent_us: i64,
    /// The round-trip time, at least 1. Of what was sent twice there is none (RFC 6298, section 3).
    pub rtt_us: i64,
    /// The delay that the peer reports (QUIC).
    pub ack_delay_us: i64,
    /// Segments in flight just before the answer.
    pub flight_segments: u32,
    /// The TTL of the answer.
    pub ttl: u8,
    /// Hops to the peer.
    pub hops: u8,
}

/// What an estimator expects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The next round-trip time in microseconds; 0 while there is none.
    pub rtt_us: f64,
    /// The retransmission timeout in microseconds.
    pub rto_us: f64,
}

/// An estimator of the round-trip time and the retransmission timeout of one flow.
///
/// ```
/// use tcplearn::{Arithmetic, Estimator, Sample};
///
/// let mut jacobson = Estimator::new("jacobson/rfc6298", Arithmetic::Fixed)?;
/// jacobson.update(&Sample { time_us: 40_000, rtt_us: 40_000, ..Sample::default() });
/// assert_eq!(jacobson.query().rtt_us, 40_000.0);
/// assert_eq!(jacobson.query().rto_us, 1_000_000.0); // its floor of a second
/// # Ok::<(), tcplearn::SpecError>(())
/// ```
#[derive(Clone)]
pub struct Estimator(State);

impl fmt::Debug for Estimator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Estimator").field("next", &self.query()).finish_non_exhaustive()
    }
}

impl Estimator {
    /// Makes an estimator by its name, its preset and its parameters: `NAME[/PRESET][:key=value,...]`, as
    /// `conformal:miss=0.001`. [`estimators`] has the names.
    ///
    /// # Errors
    /// [`SpecError`], if there is no such estimator or parameter, or a value is out of range.
    pub fn new(spec: &str, arithmetic: Arithmetic) -> Result<Self, SpecError> {
        State::new(sys::TL_KIND_ESTIMATOR, spec, arithmetic).map(Self)
    }

    /// Learns from a sample.
    pub fn update(&mut self, sample: &Sample) {
        let sample = sys::tl_sample {
            time_us: sample.time_us,
            sent_us: sample.sent_us,
            rtt_us: sample.rtt_us,
            ack_delay_us: sample.ack_delay_us,
            flight_segments: sample.flight_segments,
            ttl: sample.ttl,
            hops: sample.hops,
        };
        // SAFETY: the state is that of this estimator
        unsafe { sys::tl_shim_estimator_update(self.0.algorithm(), self.0.write(), &sample) };
    }

    /// Returns what is expected next. It changes nothing.
    #[must_use]
    pub fn query(&self) -> Prediction {
        let mut out = sys::tl_prediction::default();
        // SAFETY: the state is that of this estimator
        unsafe { sys::tl_shim_estimator_query(self.0.algorithm(), self.0.read(), &mut out) };
        Prediction { rtt_us: out.rtt_us, rto_us: out.rto_us }
    }
}

/// Returns the names of all estimators, presets included.
pub fn estimators() -> impl Iterator<Item = String> {
    names(sys::TL_KIND_ESTIMATOR)
}
