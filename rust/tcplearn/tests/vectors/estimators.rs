// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
use tcplearn::{estimators, Arithmetic, Estimator, Sample};

use crate::{cases, near, numbers, vectors, Case};

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

fn check(case: &Case) -> usize {
    let (spec, lines) = (&case.spec, &case.lines);
    let fixed = played(spec, Arithmetic::Fixed, &case.series);
    let double = played(spec, Arithmetic::Double, &case.series);
    assert_eq!((fixed.len(), double.len()), (lines.len(), lines.len()), "{spec}");
    for ((line, fixed), double) in lines.iter().zip(fixed).zip(double) {
        let v: Vec<f64> = line.split(',').map(|n| n.parse().unwrap()).collect();
        assert_eq!([fixed[0] * 256.0, fixed[1] * 256.0], v[..2], "{spec}, fixed point: {line}");
        let real = if v.len() > 2 { [v[2], v[3]] } else { [v[0] / 256.0, v[1] / 256.0] };
        for (got, want) in double.iter().zip(real) {
            near(*got, want, spec);
        }
    }
    lines.len()
}

#[test]
fn all_estimators() {
    let Some(folder) = vectors() else { return };
    let folder = folder.join("estimator");
    let answers: usize = estimators().flat_map(|name| cases(&folder, &name)).map(|case| check(&case)).sum();
    assert!(answers > 10_000, "{answers}");
}
