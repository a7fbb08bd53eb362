// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//! The golden vectors of the repository: fixed point equal to the bit, double precision to 1e-12.
use std::fs;
use std::path::{Path, PathBuf};

use tcplearn::{estimators, Arithmetic, Estimator, RetryError, RetryTimer, Sample, Settings};

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

fn code(of: Result<(), RetryError>) -> i64 {
    match of {
        Ok(()) => 0,
        Err(RetryError::Full) => -1,
        Err(RetryError::Twice) => -2,
        Err(RetryError::Unknown) => -3,
        Err(RetryError::Time) => -4,
        Err(RetryError::Copy) => -5,
        Err(RetryError::Settings) => -6,
        Err(_) => -7,
    }
}

fn made(v: &[i64]) -> RetryTimer {
    let how = Settings {
        rate_ppm: v[0].try_into().unwrap(),
        price_us: v[1],
        budget: v[2].try_into().unwrap(),
        first_wait_us: v[3],
        min_wait_us: v[4],
        max_wait_us: v[5],
    };
    RetryTimer::new(how).unwrap()
}

#[test]
fn retry_timer() {
    let Some(folder) = vectors() else { return };
    let text = fs::read_to_string(folder.join("retry.csv")).unwrap();
    let mut timer = RetryTimer::new(Settings::default()).unwrap();
    let mut earlier = timer.clone();
    let mut lines = 0;
    for line in text.lines() {
        let (word, rest) = line.split_once(',').unwrap();
        let v = numbers(rest);
        if word == "settings" {
            earlier = timer;
            timer = made(&v);
            continue;
        }
        let (arguments, mut got) = match word {
            "sent" => (2, vec![code(timer.sent(v[0] as u64, v[1]))]),
            "fired" => (1, {
                let found = timer.fired(v[0]);
                let again = found.ok().flatten();
                let due = found.map_or_else(|error| code(Err(error)), |again| again.is_some().into());
                vec![due, again.map_or(0, |a| a.id as i64), again.map_or(0, |a| a.copy.into())]
            }),
            "answered" => (3, vec![code(timer.answered(v[0] as u64, u32::try_from(v[1]).ok(), v[2]))]),
            "cancelled" => (1, vec![code(timer.cancelled(v[0] as u64))]),
            "inherit" => (0, vec![code(timer.inherit(&earlier))]),
            "sums" => (0, {
                let n = timer.counts();
                [n.requests, n.answers, n.resends, n.needless, n.unclear].map(|n| n as i64).to_vec()
            }),
            _ => panic!("{line}"),
        };
        if word != "sums" {
            got.push(timer.deadline().unwrap_or(-1));
        }
        lines += 1;
        assert_eq!(got, v[arguments..], "line {lines}: {line}");
    }
    assert!(lines > 5000);
}

fn samples(text: &str) -> (usize, i64, usize, Vec<Sample>) {
    let mut lines = text.lines().filter(|line| !line.starts_with('#')).peekable();
    let (mut rounds, mut period_us, mut every) = (1, 0, 1);
    if let Some(rest) = lines.peek().unwrap().strip_prefix("repeat,") {
        let v = numbers(rest);
        (rounds, period_us, every) = (v[0] as usize, v[1], v[2] as usize);
        lines.next();
    }
    let read = |line: &str| {
        let v = numbers(line.strip_prefix("sample,").unwrap());
        Sample {
            time_us: v[0],
            sent_us: v[1],
            rtt_us: v[2],
            ack_delay_us: v[3],
            flight_segments: v[4] as u32,
            ttl: v[5] as u8,
            hops: v[6] as u8,
        }
    };
    (rounds, period_us, every, lines.map(read).collect())
}

/// The predictions that the vectors ask for: before the first sample and after each one.
fn played(spec: &str, arithmetic: Arithmetic, series: &str) -> Vec<[f64; 2]> {
    let mut estimator = Estimator::new(spec, arithmetic).unwrap();
    let (rounds, period_us, every, samples) = samples(series);
    let mut out = Vec::new();
    let mut asked = |estimator: &Estimator| {
        let next = estimator.query();
        out.push([next.rtt_us, next.rto_us]);
    };
    asked(&estimator);
    let mut number = 0;
    for round in 0..rounds as i64 {
        for sample in &samples {
            let later_us = round * period_us;
            estimator.update(&Sample {
                time_us: sample.time_us + later_us,
                sent_us: sample.sent_us + later_us,
                ..*sample
            });
            number += 1;
            if number % every == 0 {
                asked(&estimator);
            }
        }
    }
    out
}

fn check(name: &str, case: &str, lines: &[&str], folder: &Path) -> usize {
    let (series, parameters) = case.split_once(',').map_or((case, ""), |(s, p)| (s, p));
    let spec = if parameters.is_empty() { name.into() } else { format!("{name}:{parameters}") };
    let series = fs::read_to_string(folder.join(format!("series/{series}.csv"))).unwrap();
    let fixed = played(&spec, Arithmetic::Fixed, &series);
    let double = played(&spec, Arithmetic::Double, &series);
    assert_eq!((fixed.len(), double.len()), (lines.len(), lines.len()), "{spec}");
    for ((line, fixed), double) in lines.iter().zip(fixed).zip(double) {
        let v: Vec<f64> = line.split(',').map(|n| n.parse().unwrap()).collect();
        assert_eq!([fixed[0] * 256.0, fixed[1] * 256.0], v[..2], "{spec}, fixed point: {line}");
        let real = if v.len() > 2 { [v[2], v[3]] } else { [v[0] / 256.0, v[1] / 256.0] };
        for (got, want) in double.iter().zip(real) {
            assert!((got - want).abs() <= 1e-12 * want.abs().max(1.0), "{spec}: {got}, not {want}");
        }
    }
    lines.len()
}

#[test]
fn all_estimators() {
    let Some(folder) = vectors() else { return };
    let folder = folder.join("estimator");
    let mut answers = 0;
    for name in estimators() {
        let file = folder.join(format!("expected/{}.csv", name.replace('/', "--")));
        let text = fs::read_to_string(&file).unwrap_or_else(|_| panic!("{}", file.display()));
        for case in text.split("case,").skip(1) {
            let lines: Vec<&str> = case.lines().collect();
            answers += check(&name, lines[0], &lines[1..], &folder);
        }
    }
    assert!(answers > 10_000, "{answers}");
}
