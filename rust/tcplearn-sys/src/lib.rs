// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//! Declarations of the C core of tcplearn. Use the crate `tcplearn`, which wraps them.
//!
//! The structs are those of `tcplearn/retry.h` and `tcplearn/tcplearn.h`; `src/shim.c` checks their sizes when
//! it is compiled. All functions are re-entrant: the core has no global state.
#![no_std]
#![allow(non_camel_case_types)]
#![deny(missing_docs)]

/// Bytes of a [`tl_retry`].
pub const RETRY_BYTES: usize = 5904;
/// Bytes of the parameters of any algorithm, at most.
pub const PARAMS_BYTES: usize = 512;
/// Bytes of an error message that holds any (`TL_ERROR_BYTES_MAX`).
pub const ERROR_BYTES: usize = 512;
/// `TL_KIND_ESTIMATOR`
pub const TL_KIND_ESTIMATOR: i32 = 0;
/// `TL_KIND_RESEND`
pub const TL_KIND_RESEND: i32 = 3;
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

/// `struct tl_resend_event`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct tl_resend_event {
    pub time_us: i64,
    pub out_segments: u32,
}

/// `struct tl_resend_ack`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct tl_resend_ack {
    pub time_us: i64,
    pub rtt_us: i64,
    pub out_segments: u32,
    pub answers: u32,
}

/// `struct tl_resend_wait`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct tl_resend_wait {
    pub wait_us: i64,
    pub probe: u32,
}

/// `struct tl_algorithm`: one of the core's constants, and the first member of its estimator or resend policy.
#[repr(C)]
pub struct tl_algorithm {
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

    pub fn tl_shim_read(
        kind: i32,
        is_fixed: i32,
        spec: *const u8,
        params: *mut u64,
        error: *mut u8,
        error_bytes: usize,
    ) -> *const tl_algorithm;
    pub fn tl_shim_state_bytes(algorithm: *const tl_algorithm, params: *const u64) -> u32;
    pub fn tl_shim_init(algorithm: *const tl_algorithm, state: *mut u64, params: *const u64);
    pub fn tl_shim_name(kind: i32, index: u32) -> *const u8;

    pub fn tl_shim_estimator_update(
        estimator: *const tl_algorithm,
        state: *mut u64,
        sample: *const tl_sample,
    );
    pub fn tl_shim_estimator_query(
        estimator: *const tl_algorithm,
        state: *const u64,
        out: *mut tl_prediction,
    );

    pub fn tl_shim_resend_inherit(
        policy: *const tl_algorithm,
        state: *mut u64,
        from: *const tl_algorithm,
        earlier: *const u64,
    ) -> i32;
    pub fn tl_shim_resend_send(
        policy: *const tl_algorithm,
        state: *mut u64,
        event: *const tl_resend_event,
        out: *mut tl_resend_wait,
    );
    pub fn tl_shim_resend_timer(
        policy: *const tl_algorithm,
        state: *mut u64,
        event: *const tl_resend_event,
        out: *mut tl_resend_wait,
    );
    pub fn tl_shim_resend_ack(
        policy: *const tl_algorithm,
        state: *mut u64,
        ack: *const tl_resend_ack,
        out: *mut tl_resend_wait,
    );
}
