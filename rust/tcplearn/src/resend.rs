// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
use alloc::string::String;
use core::fmt;

use tcplearn_sys as sys;

use crate::algorithm::{names, Arithmetic, SpecError, State};

/// Which transmission of a segment an ACK answers, if the timer has retransmitted it. Only timestamps (RFC 7323) or
/// a DSACK (RFC 2883) show this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResendAnswer {
    /// The first transmission.
    #[default]
    First,
    /// A later transmission.
    Later,
    /// It is not known which one (Karn's problem).
    Unclear,
}

/// An ACK of something new: it acknowledges or SACKs a segment for the first time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResendAck {
    /// The time of the ACK in microseconds, of any clock that does not go back.
    pub time_us: i64,
    /// The round-trip time of the transmission that is answered; 0: there is no sample.
    pub rtt_us: i64,
    /// Segments still without an acknowledgement after this ACK.
    pub out_segments: u32,
    /// Ignored unless the timer has retransmitted.
    pub answers: ResendAnswer,
}

/// How long the retransmission timer waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResendWait {
    /// The time from the event to the timer's expiry, in microseconds; at least 1.
    pub wait_us: i64,
    /// At the expiry a tail loss probe is sent, which changes no window (RFC 8985, section 7.3).
    pub probe: bool,
}

/// A resend policy inherits only from a state of the same policy in the same arithmetic. Presets and parameters may
/// differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherPolicy;

impl fmt::Display for OtherPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the earlier state is of another resend policy or of another arithmetic")
    }
}

impl core::error::Error for OtherPolicy {}

/// Says when the retransmission timer of one connection expires, and whether the timer then sends a tail loss probe.
/// It is for a stack of your own, with windows and ACKs; for requests that are answered one by one there is
/// [`RetryTimer`](crate::RetryTimer).
///
/// ```
/// use tcplearn::{Arithmetic, ResendAck, ResendPolicy};
///
/// // Linux's rule, with a least RTO of 5 ms
/// let mut policy = ResendPolicy::new("stock:rto_min_us=5000", Arithmetic::Fixed)?;
/// let wait = policy.send(0, 1); // a segment at 0 us, the only one that is out
/// assert_eq!((wait.wait_us, wait.probe), (1_000_000, true)); // nothing is known of the path yet
///
/// let ack = ResendAck { time_us: 20_000, rtt_us: 20_000, ..ResendAck::default() };
/// assert_eq!(policy.ack(&ack), None); // nothing is out, so that no timer runs
///
/// let probe = policy.send(50_000, 1);
/// let rto = policy.timer(50_000 + probe.wait_us, 1); // the wait has passed, and the probe has been sent
/// assert!(probe.probe && probe.wait_us < 1_000_000 && !rto.probe);
///
/// let error = ResendPolicy::new("price", Arithmetic::Fixed).unwrap_err();
/// assert_eq!(error.to_string(), "no resend policy 'price'; did you mean priced, priced/backoff-1.5 or priced/spaced?");
/// # Ok::<(), tcplearn::SpecError>(())
/// ```
#[derive(Clone)]
pub struct ResendPolicy(State);

impl fmt::Debug for ResendPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResendPolicy").finish_non_exhaustive()
    }
}

impl ResendPolicy {
    /// Makes a policy by its name, its preset and its parameters: `NAME[/PRESET][:key=value,...]`, as `priced` or
    /// `stock:rto_min_us=5000`. [`resend_policies`] has the names.
    ///
    /// # Errors
    /// [`SpecError`], if there is no such policy or parameter, or a value is out of range.
    pub fn new(spec: &str, arithmetic: Arithmetic) -> Result<Self, SpecError> {
        State::new(sys::TL_KIND_RESEND, spec, arithmetic).map(Self)
    }

    /// Takes over what an earlier connection to the same destination has learned, with less weight than the new
    /// connection's own observations will have (RFC 9040). Call it before the first segment.
    ///
    /// ```
    /// use tcplearn::{Arithmetic, OtherPolicy, ResendPolicy};
    ///
    /// let earlier = ResendPolicy::new("priced", Arithmetic::Fixed)?;
    /// let mut later = ResendPolicy::new("priced/spaced", Arithmetic::Fixed)?;
    /// assert_eq!(later.inherit(&earlier), Ok(()));
    ///
    /// let mut other = ResendPolicy::new("stock", Arithmetic::Fixed)?;
    /// assert_eq!(other.inherit(&earlier), Err(OtherPolicy));
    /// # Ok::<(), tcplearn::SpecError>(())
    /// ```
    ///
    /// # Errors
    /// [`OtherPolicy`]
    pub fn inherit(&mut self, earlier: &Self) -> Result<(), OtherPolicy> {
        // SAFETY: each state is that of its algorithm, and the function refuses states of different policies
        let code = unsafe {
            sys::tl_shim_resend_inherit(
                self.0.algorithm(),
                self.0.write(),
                earlier.0.algorithm(),
                earlier.0.read(),
            )
        };
        if code == 0 {
            Ok(())
        } else {
            Err(OtherPolicy)
        }
    }

    /// A segment is sent for the first time. `out_segments` is how many are sent and not acknowledged, this one
    /// included. Returns the wait of the timer from now on.
    pub fn send(&mut self, time_us: i64, out_segments: u32) -> ResendWait {
        let event = sys::tl_resend_event { time_us, out_segments };
        let mut out = sys::tl_resend_wait::default();
        // SAFETY: the state is that of this policy
        unsafe { sys::tl_shim_resend_send(self.0.algorithm(), self.0.write(), &event, &mut out) };
        ResendWait { wait_us: out.wait_us, probe: out.probe != 0 }
    }

    /// The wait has passed, and the sender has retransmitted a segment or sent a probe. Returns the next wait.
    pub fn timer(&mut self, time_us: i64, out_segments: u32) -> ResendWait {
        let event = sys::tl_resend_event { time_us, out_segments };
        let mut out = sys::tl_resend_wait::default();
        // SAFETY: the state is that of this policy
        unsafe { sys::tl_shim_resend_timer(self.0.algorithm(), self.0.write(), &event, &mut out) };
        ResendWait { wait_us: out.wait_us, probe: out.probe != 0 }
    }

    /// An ACK of something new has come. Returns the wait from now on; `None` if nothing is out.
    pub fn ack(&mut self, ack: &ResendAck) -> Option<ResendWait> {
        let ack = sys::tl_resend_ack {
            time_us: ack.time_us,
            rtt_us: ack.rtt_us,
            out_segments: ack.out_segments,
            answers: ack.answers as u32,
        };
        let mut out = sys::tl_resend_wait::default();
        // SAFETY: the state is that of this policy
        unsafe { sys::tl_shim_resend_ack(self.0.algorithm(), self.0.write(), &ack, &mut out) };
        (out.wait_us > 0).then_some(ResendWait { wait_us: out.wait_us, probe: out.probe != 0 })
    }
}

/// Returns the names of all resend policies, presets included.
///
/// ```
/// assert!(tcplearn::resend_policies().any(|name| name == "priced"));
/// ```
pub fn resend_policies() -> impl Iterator<Item = String> {
    names(sys::TL_KIND_RESEND)
}
