# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implement the loss classifiers from docs/algorithms/loss, in floats and in integers, with the classes of
loss_numbers.py (durations in 2^-8 us, ratios with 30 fractional bits)."""

import json
from pathlib import Path

from arithmetic import clamp
from loss_connection import FEATURES, Connection, count
from loss_series import BEGUN, CONGESTION, RANDOM, TIMEOUT, UNDONE

MODELS = Path(__file__).resolve().parents[2] / "core" / "models"


def model(number):
    return json.loads((MODELS / f"loss_{('wide', 'hwang2018')[number]}.json").read_text())


class Classifier:
    """The base class of loss classifiers. The method `decide` of a classifier returns the probability that a
    loss is due to congestion, and the cause. Before the first RTT sample, a classifier that `needs_rtt`
    answers congestion."""

    needs_rtt = True

    def __init__(self, numbers, p):
        self.n, self.p, self.path = numbers, p, Connection(numbers)
        self.one, self.said = numbers.number(1), CONGESTION
        self.start()

    def start(self):
        pass

    def learn(self, at, cause):
        pass

    def ack(self, a):
        self.path.ack(a)

    def answer(self, congestion, threshold):
        return congestion, CONGESTION if congestion >= threshold else RANDOM

    def rule(self, congested):
        return self.answer(self.one if congested else self.n.number(0), self.one)

    def known(self):
        return self.path.rtts > 0

    def decide(self, at):
        answer = self.rule(True)
        if self.known() or not self.needs_rtt:
            answer = self.judge(self.path.features(at), at)
        self.said = answer[1]
        return answer

    def change(self, at):
        self.learn(at, at.cause if at.cause < 2 else self.said)
        self.path.change(at)


class Always(Classifier):
    needs_rtt = False

    def judge(self, f, at):
        return self.rule(self.p["cause"] == CONGESTION)


class Oracle(Classifier):
    needs_rtt = False

    def judge(self, f, at):
        return self.rule((at.truth if at.truth < 2 else self.p["otherwise"]) == CONGESTION)


class Veno(Classifier):
    def judge(self, f, at):
        return self.rule(f["veno_packets"] >= self.n.ratio(self.p["beta"]))


class Threshold(Classifier):
    def judge(self, f, at):
        x, limit = f[FEATURES[self.p["feature"]]], self.n.ratio(self.p["limit"])
        return self.rule(x <= limit if self.p["side"] == 0 else x >= limit)


class Mlp(Classifier):
    def congestion(self, f):
        return self.n.logistic(self.n.perceptron(model(self.p["model"]), f))

    def judge(self, f, at):
        return self.answer(self.congestion(f), self.n.ratio(self.p["threshold"]))


class Adaptive(Mlp):
    def start(self):
        self.threshold, self.window, self.wrong = self.n.ratio(self.p["threshold"]), 0, 0

    def learn(self, at, cause):
        n, p = self.n, {k: self.n.ratio(v) for k, v in self.p.items()}
        if at.change == UNDONE:
            self.window = 0
        if at.change not in (BEGUN, TIMEOUT):
            return
        if self.window:
            windows = n.div(n.number(self.path.since), self.window) - n.number(1)
            wrong = at.change == TIMEOUT or windows < p["soon"]
            if wrong:
                self.threshold = n.times(self.threshold, p["fall"])
            else:
                self.threshold += n.times(p["highest"] - self.threshold, p["rise"])
            self.threshold = max(self.threshold, p["lowest"])
            self.wrong = self.wrong + 1 if wrong else 0
        if cause == CONGESTION:
            self.wrong = 0
        self.window = count(at.cwnd) if at.change == BEGUN and cause == RANDOM else 0

    def judge(self, f, at):
        p, cause = self.answer(self.congestion(f), self.threshold)
        return p, CONGESTION if 0 < self.p["keeps"] <= self.wrong else cause


class History(Mlp):
    def start(self):
        self.past, self.losses = self.n.number(0), 0

    def log_odds(self, f):
        return self.n.log_odds(model(self.p["model"]), f)

    def learn(self, at, cause):
        if at.change != BEGUN or not self.known():
            return
        most = self.n.ratio(self.p["most"])
        said = clamp(self.log_odds(self.path.features(at)), -most, most)
        self.losses += 1
        self.past += self.n.div(said - self.past, min(self.losses + 1, self.p["memory"]))

    def judge(self, f, at):
        n, p = self.n, {k: self.n.ratio(v) for k, v in self.p.items()}
        odds = n.times(self.log_odds(f), p["answer"]) + n.times(self.past, p["past"]) + p["bias"]
        return self.answer(n.probability(odds), p["threshold"])


class Online(Classifier):
    """A loss classifier that counts packets and losses by load. A load is a pair: the level of the queue, and
    whether the window is large."""

    LOADS = tuple((level, large) for level in range(9) for large in (False, True))

    def start(self):
        self.forget()
        self.floor, self.top, self.window, self.skip = None, self.n.us(0), 0, 0
        self.last, self.kept, self.recovers = None, False, False

    def forget(self):
        self.packets = dict.fromkeys(self.LOADS, 0)
        self.lost = dict.fromkeys(self.LOADS, self.n.number(0))
        self.counted = False

    def load(self):
        path, n = self.path, self.n
        delay, limits = path.srtt - path.low, [n.div(path.low, 32)]
        while len(limits) < 7:
            limits.append(limits[-1] * 2)
        span = self.top - path.low
        full = delay >= limits[0] and delay >= span - n.div(span, 16)
        before = n.product(path.packet, max(self.window, 1))
        large = self.window == 0 or path.srtt >= before - n.div(before, 4)
        return 8 if full else sum(delay >= limit for limit in limits), large

    def halve(self, load):
        if self.lost[load] >= self.n.number(self.p["memory"]) or self.packets[load] >= 1 << 18:
            self.lost = {key: self.n.div(value, 2) for key, value in self.lost.items()}
            self.packets = {key: value // 2 for key, value in self.packets.items()}

    def lose(self):
        self.lost[self.last] += self.one
        self.halve(self.last)

    def ack(self, a):
        super().ack(a)
        if not self.known():
            return
        self.top = max(self.top, self.path.srtt)
        if self.floor is None or self.path.low < self.floor - self.n.div(self.floor, 16):
            self.forget()
            self.floor = self.path.low
        if self.recovers:
            return
        if self.skip:
            self.skip = max(0, self.skip - a.delivered)
            return
        load = self.load()
        self.packets[load] += min(a.delivered, 1 << 18)
        self.halve(load)

    def begin(self, at, cause):
        self.last = self.load()
        self.counted = self.known() and not self.recovers and not self.skip
        if self.counted:
            self.lose()
        self.kept, self.recovers = cause == RANDOM, True
        cwnd = count(at.cwnd // 2 if at.cwnd < at.ssthresh else at.cwnd)
        self.window = max(cwnd, self.window + (cwnd - self.window) // 8)

    def learn(self, at, cause):
        if at.change == BEGUN:
            self.begin(at, cause)
            return
        if at.change == UNDONE and self.counted:
            self.lost[self.last] = max(self.n.number(0), self.lost[self.last] - self.one)
        if at.change == TIMEOUT and self.recovers and self.kept and self.counted:
            self.lose()
        if at.change in (UNDONE, TIMEOUT):
            self.counted = False
        if at.change == TIMEOUT:
            self.kept = False
        if self.recovers or at.change == TIMEOUT:
            self.skip = 0 if self.kept or at.change == UNDONE else count(at.cwnd)
        self.recovers = False

    def lows(self):
        """Return how many of the lowest loads of the path count as low: the smallest number that together had
        at least the share `low` of all packets. The number is reduced if no packet would be left for a higher
        load."""
        total = sum(self.packets.values())
        least = self.n.product(self.n.ratio(self.p["low"]), max(1, total))
        sums = [sum(self.packets[load] for load in self.LOADS[:k]) for k in range(len(self.LOADS) + 1)]
        enough = next((k for k, some in enumerate(sums) if self.n.number(some) >= least), len(self.LOADS))
        return min(enough, max(k for k, some in enumerate(sums) if some < total or not k))

    def share(self, a, b):
        return self.n.number(0) if b <= 0 else self.one if a >= b else self.n.quotient(a, b)

    def judge(self, f, at):
        n, prior = self.n, self.n.ratio(self.p["prior"])
        low, here = self.lows(), self.LOADS.index(self.load())
        if here < low:
            lower, these = self.LOADS[:low], self.LOADS[low:]
        else:
            lower, these = self.LOADS[:here], [self.LOADS[here]]
        lost, packets = sum(self.lost[key] for key in lower), sum(self.packets[key] for key in lower)
        sent = sum(self.packets[key] for key in these)
        expected = n.div(n.product(lost, sent), packets) if packets and sent else n.number(0)
        chance = n.times(
            self.share(expected, sum(self.lost[key] for key in these) + prior), self.share(lost, lost + prior)
        )
        return self.answer(self.one - chance, n.ratio(self.p["threshold"]))


MLP = {"model": 0, "threshold": 0.4}
HISTORY = {
    "model": 0, "threshold": 0.35, "answer": 0.75, "past": 0.45, "bias": -0.25, "memory": 16, "most": 3,
}  # fmt: skip
ADAPTIVE = {
    "model": 0, "threshold": 0.3, "lowest": 0.05, "highest": 0.5,
    "fall": 0.5, "rise": 0.125, "soon": 1, "keeps": 3,
}  # fmt: skip
SRTT = FEATURES.index("rtt_min_to_srtt")
CLASSIFIERS = {  # name: (class, default parameters, variants); each is run on every series
    "congestion": (Always, {"cause": 0}, []),
    "random": (Always, {"cause": 1}, []),
    "oracle": (Oracle, {"otherwise": 0}, [{"otherwise": 1}]),
    "veno": (Veno, {"beta": 3}, [{"beta": 0.5}, {"beta": 25}]),
    "threshold": (
        Threshold,
        {"feature": SRTT, "limit": 0.8, "side": 0},
        [{"feature": FEATURES.index("log_packets_since"), "limit": 6.5, "side": 1}],
    ),
    "mlp": (Mlp, MLP, [{"threshold": 0.2}, {"model": 1}]),
    "mlp/hwang2018": (Mlp, {"model": 1, "threshold": 0.5}, []),
    "adaptive": (
        Adaptive,
        ADAPTIVE,
        [
            {"threshold": 1, "highest": 1, "keeps": 0},
            {"threshold": 1, "fall": 0.9, "keeps": 1, "soon": 0.25},
            {"threshold": 0.9, "soon": 8, "rise": 0.5},
        ],
    ),
    "history": (
        History,
        HISTORY,
        [
            {"answer": 0.25, "past": 2, "bias": 1.5, "memory": 2},
            {"answer": 4, "past": 4, "bias": -8, "most": 24},
            {"model": 1, "threshold": 0.7, "most": 0.5, "memory": 5},
        ],
    ),
    "online": (
        Online,
        {"threshold": 0.5, "prior": 2, "low": 0.5, "memory": 64},
        [
            {"threshold": 0.9, "prior": 0.25},
            {"threshold": 0.95, "prior": 0, "low": 0.25, "memory": 8},
            {"threshold": 0.7, "prior": 0.5, "low": 0.75},
        ],
    ),
}
