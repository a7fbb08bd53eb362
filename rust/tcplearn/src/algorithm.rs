// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//! What estimators and resend policies share: specs, arithmetics, and states whose sizes the core states.
use alloc::{string::String, vec, vec::Vec};
use core::fmt;

use tcplearn_sys as sys;

/// Which arithmetic an estimator or a resend policy computes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Integers; the results are the same on every machine.
    Fixed,
    /// Double precision.
    Double,
}

/// Why a spec was refused: one line, which says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError(String);

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for SpecError {}

/// The state of one algorithm of the core.
#[derive(Clone)]
pub(crate) struct State {
    algorithm: *const sys::tl_algorithm,
    words: Vec<u64>,
}

// SAFETY: `algorithm` points to one of the core's constants, and the state has no pointer in it
unsafe impl Send for State {}
unsafe impl Sync for State {}

impl State {
    /// Makes the state of what `spec` says, an algorithm of the `kind`.
    pub(crate) fn new(kind: i32, spec: &str, arithmetic: Arithmetic) -> Result<Self, SpecError> {
        // a 0 would end the spec too soon; the core refuses a 1 as any control character
        let mut text: Vec<u8> = spec.bytes().map(|byte| byte.max(1)).collect();
        text.push(0);
        let mut params = [0u64; sys::PARAMS_BYTES / 8];
        let mut error = [0u8; sys::ERROR_BYTES];
        // SAFETY: `text` ends with 0; the buffers have the sizes that the core states
        let algorithm = unsafe {
            sys::tl_shim_read(
                kind,
                i32::from(arithmetic == Arithmetic::Fixed),
                text.as_ptr(),
                params.as_mut_ptr(),
                error.as_mut_ptr(),
                error.len(),
            )
        };
        if algorithm.is_null() {
            let line = error.iter().take_while(|byte| **byte != 0).copied().collect::<Vec<u8>>();
            return Err(SpecError(String::from_utf8_lossy(&line).into_owned()));
        }
        // SAFETY: the parameters are those of this algorithm; the state has the bytes that it asks for
        let words = unsafe {
            let bytes = sys::tl_shim_state_bytes(algorithm, params.as_ptr()) as usize;
            let mut words = vec![0u64; bytes.div_ceil(8)];
            sys::tl_shim_init(algorithm, words.as_mut_ptr(), params.as_ptr());
            words
        };
        Ok(Self { algorithm, words })
    }

    /// The algorithm that the state is of.
    pub(crate) fn algorithm(&self) -> *const sys::tl_algorithm {
        self.algorithm
    }

    pub(crate) fn read(&self) -> *const u64 {
        self.words.as_ptr()
    }

    pub(crate) fn write(&mut self) -> *mut u64 {
        self.words.as_mut_ptr()
    }
}

/// Returns the names of all algorithms of a kind, presets included.
pub(crate) fn names(kind: i32) -> impl Iterator<Item = String> {
    (0..).map_while(move |index| {
        // SAFETY: the function returns a constant of the core that ends with 0, or null past the end of its list
        let mut at = unsafe { sys::tl_shim_name(kind, index) };
        if at.is_null() {
            return None;
        }
        let mut name = String::new();
        while let byte @ 1.. = unsafe { *at } {
            name.push(char::from(byte));
            at = unsafe { at.add(1) };
        }
        Some(name)
    })
}
