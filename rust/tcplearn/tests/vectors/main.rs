// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//! The golden vectors of the repository: fixed point equal to the bit, double precision to 1e-12.
use std::fs;
use std::path::{Path, PathBuf};

mod estimators;
mod resend;
mod retry;
mod specs;

/// The folder of vectors; a published crate has none.
fn vectors() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    if !folder.is_dir() {
        eprintln!("skipped: the golden vectors are in the repository, not in the crate");
        return None;
    }
    Some(folder)
}

fn numbers(rest: &str) -> Vec<i64> {
    // ids exceed the signed range
    rest.split(',').map(|n| n.parse().unwrap_or_else(|_| n.parse::<u64>().unwrap() as i64)).collect()
}

/// One case of a file of expected outputs: the spec of the algorithm, the text of the series, the outputs.
struct Case {
    spec: String,
    series: String,
    lines: Vec<String>,
}

/// All cases of an algorithm; `folder` is that of its kind.
fn cases(folder: &Path, name: &str) -> Vec<Case> {
    let file = folder.join(format!("expected/{}.csv", name.replace('/', "--")));
    let text = fs::read_to_string(&file).unwrap_or_else(|_| panic!("{}", file.display()));
    let case = |text: &str| {
        let mut lines = text.lines();
        let head = lines.next().unwrap();
        let (series, parameters) = head.split_once(',').map_or((head, ""), |(s, p)| (s, p));
        Case {
            spec: if parameters.is_empty() { name.into() } else { format!("{name}:{parameters}") },
            series: fs::read_to_string(folder.join(format!("series/{series}.csv"))).unwrap(),
            lines: lines.map(String::from).collect(),
        }
    };
    text.split("case,").skip(1).map(case).collect()
}

/// Checks a number of double precision.
fn near(got: f64, want: f64, spec: &str) {
    assert!((got - want).abs() <= 1e-12 * want.abs().max(1.0), "{spec}: {got}, not {want}");
}
