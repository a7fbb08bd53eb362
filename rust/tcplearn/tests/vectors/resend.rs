// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
use tcplearn::{resend_policies, Arithmetic, ResendAck, ResendAnswer, ResendPolicy, ResendWait};

use crate::{cases, near, numbers, vectors, Case};

const NO_TIMER: [i64; 2] = [0, 0];

fn said(wait: ResendWait) -> [i64; 2] {
    [wait.wait_us, wait.probe.into()]
}

fn answers(number: i64) -> ResendAnswer {
    match number {
        0 => ResendAnswer::First,
        1 => ResendAnswer::Later,
        _ => ResendAnswer::Unclear,
    }
}

/// The wait after each event, and whether a probe is sent at its end.
fn played(case: &Case, arithmetic: Arithmetic) -> Vec<[i64; 2]> {
    let mut policy = ResendPolicy::new(&case.spec, arithmetic).unwrap();
    let mut event = |line: &str| {
        let (word, rest) = line.split_once(',').unwrap_or((line, "0"));
        let v = numbers(rest);
        match word {
            "send" => said(policy.send(v[0], v[1] as u32)),
            "timer" => said(policy.timer(v[0], v[1] as u32)),
            "ack" => policy
                .ack(&ResendAck {
                    time_us: v[0],
                    rtt_us: v[1],
                    out_segments: v[2] as u32,
                    answers: answers(v[3]),
                })
                .map_or(NO_TIMER, said),
            "next" => {
                let earlier = policy.clone();
                policy = ResendPolicy::new(&case.spec, arithmetic).unwrap();
                policy.inherit(&earlier).unwrap();
                NO_TIMER
            }
            _ => panic!("{line}"),
        }
    };
    case.series.lines().map(&mut event).collect()
}

fn check(case: &Case) -> usize {
    let (spec, lines) = (&case.spec, &case.lines);
    let fixed = played(case, Arithmetic::Fixed);
    let double = played(case, Arithmetic::Double);
    assert_eq!((fixed.len(), double.len()), (lines.len(), lines.len()), "{spec}");
    for ((line, fixed), double) in lines.iter().zip(fixed).zip(double) {
        let v: Vec<f64> = line.split(',').map(|n| n.parse().unwrap()).collect();
        assert_eq!(fixed.map(|n| n as f64), v[..2], "{spec}, fixed point: {line}");
        let real = if v.len() > 2 { &v[2..] } else { &v[..] };
        for (got, want) in double.iter().zip(real) {
            near(*got as f64, *want, spec);
        }
    }
    lines.len()
}

#[test]
fn all_resend_policies() {
    let Some(folder) = vectors() else { return };
    let folder = folder.join("resend");
    let waits: usize =
        resend_policies().flat_map(|name| cases(&folder, &name)).map(|case| check(&case)).sum();
    assert!(waits > 10_000, "{waits}");
}
