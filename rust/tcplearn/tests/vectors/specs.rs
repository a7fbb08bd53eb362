// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//! The lines that the core says of specs, which every program says.
use std::fs;

use tcplearn::{Arithmetic, Estimator, ResendPolicy};

use crate::vectors;

/// The line that refuses a spec; empty where it is accepted.
fn line(kind: &str, spec: &str, arithmetic: Arithmetic) -> Option<String> {
    let made = match kind {
        "estimator" => Estimator::new(spec, arithmetic).map(drop),
        "resend" => ResendPolicy::new(spec, arithmetic).map(drop),
        _ => return None,
    };
    Some(made.err().map_or(String::new(), |error| error.to_string()))
}

#[test]
fn all_specs() {
    let Some(folder) = vectors() else { return };
    let text = fs::read(folder.join("specs.tsv")).unwrap();
    let mut specs = 0;
    // a spec that is not UTF-8 is no str
    for said in text.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok()) {
        let Some((kind, rest)) = said.split_once('\t') else { continue };
        let (spec, want) = rest.split_once('\t').unwrap();
        for arithmetic in [Arithmetic::Fixed, Arithmetic::Double] {
            if let Some(got) = line(kind, spec, arithmetic) {
                assert_eq!(got, want, "{spec}");
                specs += 1;
            }
        }
    }
    assert!(specs > 100, "{specs}");
}
