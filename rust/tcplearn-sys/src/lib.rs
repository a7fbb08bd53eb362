// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//! Declarations of the C core of tcplearn. Use the crate `tcplearn`, which wraps them.
//!
//! The structs are those of `tcplearn/retry.h` and `tcplearn/tcplearn.h`; `src/shim.c` checks their sizes when
//! it is compiled. All functions are re-entrant: the core has no global state.
#![no_std]
#![allow(non_camel_case_types)]
#![deny(missing_docs)]

/// Bytes of a [`tl_retry`].
pub const RETRY_BYTES: usize = 6280;
/// Bytes of the parameters of any algorithm, at most.
pub const PARAMS_BYTES: usize = 512;
/// Bytes of an error message that holds any (`TL_ERROR_BYTES_MAX`).
pub const ERROR_BYTES: usize = 512;
/// Of `tl_retry_fired`: a request is to be sent again.
pub const TL_RETRY_DUE: i32 = 1;
/// It is not known which transmission an answer is for.
pub const TL_RETRY_ANY: u32 = u32::MAX;
/// No wait runs.
pub const TL_RETRY_NEVER: i64 = i64::MAX;

/// The state of a retry timer. It has no pointer in it and may be copied.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tl_retry {
    state: [u64; RETRY_BYTES / 8],
}

impl tl_retry {
    /// Memory for `tl_retry_init`.
    pub const ZERO: Self = Self { state: [0; RETRY_BYTES / 8] };
}

/// `struct tl_retry_settings`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct tl_retry_settings {
    pub rate_ppm: u32,
    pub price_us: i64,
    pub budget: u32,
    pub first_wait_us: i64,
    pub min_wait_us: i64,
    pub max_wait_us: i64,
}

/// `struct tl_retry_again`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct tl_retry_again {
    pub id: u64,
    pub copy: u32,
}

/// `struct tl_retry_counts`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct tl_retry_counts {
    pub requests: u64,
    pub answers: u64,
    pub resends: u64,
    pub needless: u64,
    pub unclear: u64,
}

/// `struct tl_sample`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct tl_sample {
    pub time_us: i64,
    pub sent_us: i64,
    pub rtt_us: i64,
    pub ack_delay_us: i64,
    pub flight_segments: u32,
    pub ttl: u8,
    pub hops: u8,
}

/// `struct tl_prediction`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct tl_prediction {
    pub rtt_us: f64,
    pub rto_us: f64,
}

/// `struct tl_estimator`: one of the core's constants.
#[repr(C)]
pub struct tl_estimator {
    _private: [u8; 0],
}

#[allow(missing_docs)]
extern "C" {
    pub fn tl_retry_defaults(how: *mut tl_retry_settings);
    pub fn tl_retry_init(timer: *mut tl_retry, how: *const tl_retry_settings) -> i32;
    pub fn tl_retry_inherit(timer: *mut tl_retry, earlier: *const tl_retry) -> i32;
    pub fn tl_retry_sent(timer: *mut tl_retry, id: u64, now_us: i64) -> i32;
    pub fn tl_retry_deadline(timer: *const tl_retry) -> i64;
    pub fn tl_retry_deadline_of(timer: *const tl_retry, id: u64) -> i64;
    pub fn tl_retry_fired(timer: *mut tl_retry, now_us: i64, again: *mut tl_retry_again) -> i32;
    pub fn tl_retry_answered(timer: *mut tl_retry, id: u64, copy: u32, now_us: i64) -> i32;
    pub fn tl_retry_cancelled(timer: *mut tl_retry, id: u64) -> i32;
    pub fn tl_shim_retry_counts(timer: *const tl_retry, out: *mut tl_retry_counts);

    pub fn tl_shim_estimator_read(
        spec: *const u8,
        is_fixed: i32,
        params: *mut u64,
        error: *mut u8,
        error_bytes: usize,
    ) -> *const tl_estimator;
    pub fn tl_shim_estimator_bytes(estimator: *const tl_estimator, params: *const u64) -> u32;
    pub fn tl_shim_estimator_init(estimator: *const tl_estimator, state: *mut u64, params: *const u64);
    pub fn tl_shim_estimator_update(
        estimator: *const tl_estimator,
        state: *mut u64,
        sample: *const tl_sample,
    );
    pub fn tl_shim_estimator_query(
        estimator: *const tl_estimator,
        state: *const u64,
        out: *mut tl_prediction,
    );
    pub fn tl_shim_estimator_name(index: usize) -> *const u8;
}
