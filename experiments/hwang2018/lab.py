# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Lists the runs of the senders of the paper hwang2018 on real Linux, and computes the contents of lab.md."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments.hwang2018 import criteria, figures
from experiments.hwang2018.sample import CALLS, CONFIDENCE, Sample, name_of
from experiments.lib.batches import Batch, Figures, LabRuns
from experiments.lib.runs import Floats, Run, grouped
from experiments.lib.statistics import Estimate
from tcplearn.lab import guest, kernel_log

FILES = (
    "loss-0", "loss-1e-3", "loss-1e-2", "loss-1e-1", "bursts", "beside-0", "beside-1e-2", "history-0",
    "history-1e-2", "codel", "reordered", "cellular",
)  # fmt: skip
METRICS = (
    "goodput_mbps", "mean_rtt_ms", "retransmitted_packets", "nstat.TcpExtTCPTimeouts", "beside_goodput_mbps",
    "jain_index", *CALLS, "queue_dropped_packets", "channel_dropped_packets", "needless_recoveries",
    "loss_decisions", "decision_differences", "instructions_per_decision", "instructions_per_ack",
    "instructions_per_ack_base",
)  # fmt: skip
LOSSY, OVER_TIME = "lab-loss-1e-2", ("reno+mlp/hwang2018", "reno+mlp", "cubic+mlp", "reno+adaptive")
POINTS = 700
#: The criteria use two scenarios without random loss, and two with it. A sender has runs in one of the two
#: without it, and in one of the two with it.
AT_LOSSLESS, AT_LOSSY = ("lab-loss-0", "lab-history-0"), (LOSSY, "lab-history-1e-2")
BBR = "bbr+none"


def keep(chosen: Any, folder: Path, measured: Mapping[str, float]) -> Figures:
    """Returns what is stored of one sender's transfer in the lab: its metrics and, for the senders in the
    figure of cwnd over time, the cwnd at some ACKs and at each loss."""
    metrics = {name: measured[name] for name in METRICS if measured.get(name) is not None}
    (sender,) = (arm.name for arm in guest.arms(chosen, 0) if arm.folder == folder.name)
    if chosen.name != LOSSY or sender.partition(":")[0] not in OVER_TIME:
        return metrics, {}
    c = kernel_log.opened(folder / "log").connection
    series: dict[str, Floats] = {}
    for name, of in (("ack", c.acks[:: max(1, len(c.acks) // POINTS)]), ("loss", c.losses)):
        series[f"{name}_s"] = (of["time_us"].astype(float) - float(c.acks["time_us"][0])) / 1e6
        series[f"{name}_cwnd"] = of["cwnd"].astype(float)
    return metrics, series | {"loss_cause": c.losses["cause"].astype(float)}


def batches(folder: Path, profile: str) -> list[Batch]:
    return [LabRuns(folder / "lab" / f"{name}.toml", profile or "full", keep) for name in FILES]


def base_of(sender: str) -> str:
    """Returns the name of the sender with the same congestion control as `sender` and no classifier."""
    return f"{sender.partition('+')[0]}+none"


def decides(sender: str) -> bool:
    return not sender.endswith("+none")


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    found = Sample.of(runs)
    parts = grouped(found, lambda run: run.scenario)
    by_rate = Sample()
    for run in found:
        if run.scenario.startswith("lab-loss-"):
            percent = run.parameters["path"]["hop"]["last"]["forward"].get("loss_percent", 0.0)
            by_rate.append(replace(run, labels={**run.labels, "loss_rate": percent / 100}))
    return {
        "kernels": ", ".join(sorted({run.host_version for run in runs})),
        "confidence": f"{100 * CONFIDENCE:.0f} %",
        "runs": len({(run.scenario, run.run) for run in runs}),
        "criteria": _criteria(found),
        "criteria_head": criteria.HEAD,
        "parts": {f"{name}: {of[0].parameters['title']}": Sample(of) for name, of in parts.items()},
        "found": found,
        "name_of": name_of,
        "base_of": base_of,
        "decides": decides,
        "bbr": BBR,
        "figures": [*figures.lab(by_rate), *figures.windows(found.at(scenario=LOSSY))],
    }


def _criteria(found: Sample) -> Iterator[list[str]]:
    for sender in filter(decides, found.senders()):
        at_lossy, at_lossless = (
            next((here for name in names if (here := found.at(scenario=name)).at(sender)), Sample())
            for names in (AT_LOSSY, AT_LOSSLESS)
        )
        own, without = at_lossy.at(sender), at_lossless.at(sender)
        for whose, base, least in (
            ("BBR's", at_lossy.at(BBR), criteria.OVER_BBR),
            ("its own without loss", without, criteria.OVER_LOSSLESS),
            ("Veno's", at_lossy.at("veno+none"), criteria.OVER_VENO),
        ):
            ratio = own.over(base, "goodput_mbps")
            yield criteria.judged(f"goodput at loss 0.01 over {whose}", sender, ratio, least)
        plain = at_lossless.at(base_of(sender)).total("retransmitted_packets")  # sums, as drops are bursty
        resent = Estimate(without.total("retransmitted_packets") / plain) if plain and without else Estimate()
        text = "no random loss: retransmissions over the plain sender's"
        yield criteria.judged(text, sender, resent, most=criteria.HARM)
    other, of = (round(found.total(name)) for name in ("decision_differences", "loss_decisions"))
    what, counted = "decisions that differ outside the kernel, on logged ACKs", f"{other} of {of} decisions"
    yield [what, "all", "0", counted, "", "missed" if other else "met"]
