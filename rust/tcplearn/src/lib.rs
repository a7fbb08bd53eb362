// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#![doc = include_str!("../README.md")]
#![no_std]
#![deny(missing_docs)]
#![warn(clippy::pedantic)]

#[cfg(feature = "alloc")]
extern crate alloc;

#[cfg(feature = "alloc")]
mod estimator;
mod retry;

#[cfg(feature = "alloc")]
pub use estimator::{estimators, Arithmetic, Estimator, Prediction, Sample, SpecError};
pub use retry::{Again, Counts, RetryError, RetryTimer, Settings};
