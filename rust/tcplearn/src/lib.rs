// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#![doc = include_str!("../README.md")]
#![no_std]
#![deny(missing_docs)]
#![warn(clippy::pedantic)]

#[cfg(feature = "alloc")]
extern crate alloc;

#[cfg(feature = "alloc")]
mod algorithm;
#[cfg(feature = "alloc")]
mod estimator;
#[cfg(feature = "alloc")]
mod resend;
mod retry;

#[cfg(feature = "alloc")]
pub use algorithm::{Arithmetic, SpecError};
#[cfg(feature = "alloc")]
pub use estimator::{estimators, Estimator, Prediction, Sample};
#[cfg(feature = "alloc")]
pub use resend::{resend_policies, OtherPolicy, ResendAck, ResendAnswer, ResendPolicy, ResendWait};
pub use retry::{Again, Counts, RetryError, RetryTimer, Settings};
