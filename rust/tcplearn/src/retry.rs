// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
use core::fmt;

use tcplearn_sys as sys;

/// What a [`RetryTimer`] is to promise. Begin with [`Settings::rate`] or [`Settings::price_us`], and change fields
/// where their defaults do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The chosen share of needless resends, in millionths of the requests: 100 to 500,000. 0: the price decides.
    pub rate_ppm: u32,
    /// How much expected waiting is worth a needless resend, in microseconds: 0 to 2^32. Used if the rate is 0.
    pub price_us: i64,
    /// How many resends may be made without an answer that shows that they were needed, before waits are at least
    /// those of an unmodified Linux: 0 to 100,000. Each request adds a fifth of a resend.
    pub budget: u32,
    /// The first wait before anything is known, in microseconds (RFC 8961, section 4, requirement 1: a second).
    pub first_wait_us: i64,
    /// The least wait in microseconds, 1 to 2^32.
    pub min_wait_us: i64,
    /// The greatest wait in microseconds, 1 to 2^32.
    pub max_wait_us: i64,
}

impl Default for Settings {
    /// A price of 100 ms, a budget of 40 resends, waits of 1 ms to 120 s.
    fn default() -> Self {
        let mut how = sys::tl_retry_settings::default();
        // SAFETY: the function writes all fields of the struct that it is given
        unsafe { sys::tl_retry_defaults(&mut how) };
        Self {
            rate_ppm: how.rate_ppm,
            price_us: how.price_us,
            budget: how.budget,
            first_wait_us: how.first_wait_us,
            min_wait_us: how.min_wait_us,
            max_wait_us: how.max_wait_us,
        }
    }
}

impl Settings {
    /// The share of requests that may have a needless resend, as 0.01 for one in a hundred. It is rounded to
    /// millionths; one that is out of range is refused by [`RetryTimer::new`].
    #[must_use]
    pub fn rate(share: f64) -> Self {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        // `as` saturates, and NaN becomes 0
        let rate_ppm = (share * 1e6 + 0.5) as u32;
        // a rate of 0 would mean the price, so it becomes one that is refused
        Self { rate_ppm: if rate_ppm == 0 { 1 } else { rate_ppm }, ..Self::default() }
    }

    /// How much expected waiting is worth one needless resend, in microseconds.
    #[must_use]
    pub fn price_us(price_us: i64) -> Self {
        Self { price_us, ..Self::default() }
    }
}

/// Why a call was refused. It has changed nothing in the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RetryError {
    /// 64 requests have no answer yet.
    Full,
    /// A request with this number has no answer yet.
    Twice,
    /// No request with this number waits: never sent, answered or cancelled.
    Unknown,
    /// The time is before that of an earlier call, or beyond 2^62.
    Time,
    /// The request has no such copy.
    Copy,
    /// A setting is out of range, or the least wait is above the greatest.
    Settings,
    /// The timer has been used, so it inherits nothing.
    Begun,
}

impl fmt::Display for RetryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "64 requests have no answer yet",
            Self::Twice => "a request with this number has no answer yet",
            Self::Unknown => "no request with this number waits",
            Self::Time => "the time is before that of an earlier call, or beyond 2^62",
            Self::Copy => "the request has no such copy",
            Self::Settings => "a setting is out of range, or the least wait is above the greatest",
            Self::Begun => "the timer has been used, so it inherits nothing",
        })
    }
}

impl core::error::Error for RetryError {}

fn checked(code: i32) -> Result<i32, RetryError> {
    match code {
        0.. => Ok(code),
        -1 => Err(RetryError::Full),
        -2 => Err(RetryError::Twice),
        -3 => Err(RetryError::Unknown),
        -4 => Err(RetryError::Time),
        -5 => Err(RetryError::Copy),
        -6 => Err(RetryError::Settings),
        _ => Err(RetryError::Begun),
    }
}

/// A request that is to be sent again now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again {
    /// The number that the request was sent with.
    pub id: u64,
    /// The number of this transmission: 1 is the first resend.
    pub copy: u32,
}

/// Sums since the timer was made. A sum stops at its greatest value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests sent.
    pub requests: u64,
    /// Requests answered.
    pub answers: u64,
    /// Resends.
    pub resends: u64,
    /// Resends after the transmission that was answered.
    pub needless: u64,
    /// Answers after a resend of which it is not known what they answer.
    pub unclear: u64,
}

/// Says when a request without an answer is sent again. One timer serves one place (a server or a service) and up to
/// 64 requests to it at once. Times are microseconds of any clock that does not go back.
///
/// The timer gives up no request: the caller cancels it.
#[derive(Clone)]
pub struct RetryTimer {
    timer: sys::tl_retry,
}

impl fmt::Debug for RetryTimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryTimer")
            .field("deadline", &self.deadline())
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}

// SAFETY of all calls below: each function reads and writes the timer that it is given and its other arguments, and
// nothing else; a timer that was made by `new` has all of its state set.
impl RetryTimer {
    /// Makes a timer.
    ///
    /// # Errors
    /// [`RetryError::Settings`]
    pub fn new(how: Settings) -> Result<Self, RetryError> {
        let how = sys::tl_retry_settings {
            rate_ppm: how.rate_ppm,
            price_us: how.price_us,
            budget: how.budget,
            first_wait_us: how.first_wait_us,
            min_wait_us: how.min_wait_us,
            max_wait_us: how.max_wait_us,
        };
        let mut timer = sys::tl_retry::ZERO;
        checked(unsafe { sys::tl_retry_init(&mut timer, &how) })?;
        Ok(Self { timer })
    }

    /// Takes over what an earlier timer of the same or a near place has learned, with less weight than its own
    /// answers will have (RFC 9040). Call it before the first request.
    ///
    /// # Errors
    /// [`RetryError::Begun`]
    pub fn inherit(&mut self, earlier: &Self) -> Result<(), RetryError> {
        checked(unsafe { sys::tl_retry_inherit(&mut self.timer, &earlier.timer) }).map(drop)
    }

    /// The request `id` is sent for the first time.
    ///
    /// # Errors
    /// [`RetryError::Full`], [`RetryError::Twice`], [`RetryError::Time`]
    pub fn sent(&mut self, id: u64, now_us: i64) -> Result<(), RetryError> {
        checked(unsafe { sys::tl_retry_sent(&mut self.timer, id, now_us) }).map(drop)
    }

    /// Returns when the next request is sent again; `None` if no request waits. An answer may make the time earlier, and
    /// a resend later.
    #[must_use]
    pub fn deadline(&self) -> Option<i64> {
        some(unsafe { sys::tl_retry_deadline(&self.timer) })
    }

    /// Returns the same for one request.
    #[must_use]
    pub fn deadline_of(&self, id: u64) -> Option<i64> {
        some(unsafe { sys::tl_retry_deadline_of(&self.timer, id) })
    }

    /// Returns a request whose wait has ended, which the caller now sends again, and begins its next wait; `None` if
    /// no wait has ended. Call it until it returns `None`.
    ///
    /// # Errors
    /// [`RetryError::Time`]
    pub fn fired(&mut self, now_us: i64) -> Result<Option<Again>, RetryError> {
        let mut again = sys::tl_retry_again::default();
        let code = checked(unsafe { sys::tl_retry_fired(&mut self.timer, now_us, &mut again) })?;
        Ok((code == sys::TL_RETRY_DUE).then_some(Again { id: again.id, copy: again.copy }))
    }

    /// The request is answered, and waits no longer. `copy` is the transmission that the answer is for: `Some(0)` the
    /// first, `Some(1)` the first resend, `None` if it is not known.
    ///
    /// # Errors
    /// [`RetryError::Unknown`], [`RetryError::Copy`], [`RetryError::Time`]
    pub fn answered(&mut self, id: u64, copy: Option<u32>, now_us: i64) -> Result<(), RetryError> {
        if copy == Some(sys::TL_RETRY_ANY) {
            return Err(RetryError::Copy);
        }
        let copy = copy.unwrap_or(sys::TL_RETRY_ANY);
        checked(unsafe { sys::tl_retry_answered(&mut self.timer, id, copy, now_us) }).map(drop)
    }

    /// The request is given up or no longer wanted. Nothing is learned from it.
    ///
    /// # Errors
    /// [`RetryError::Unknown`]
    pub fn cancelled(&mut self, id: u64) -> Result<(), RetryError> {
        checked(unsafe { sys::tl_retry_cancelled(&mut self.timer, id) }).map(drop)
    }

    /// Returns how many requests, answers and resends there were.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut out = sys::tl_retry_counts::default();
        unsafe { sys::tl_shim_retry_counts(&self.timer, &mut out) };
        Counts {
            requests: out.requests,
            answers: out.answers,
            resends: out.resends,
            needless: out.needless,
            unclear: out.unclear,
        }
    }
}

fn some(deadline_us: i64) -> Option<i64> {
    (deadline_us != sys::TL_RETRY_NEVER).then_some(deadline_us)
}
