# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Decide which share of new connections gets learned minimum RTOs (floors). The share rises in steps from 1 %
to all but a control group. The next step is taken when the counts of retransmissions exclude that it would do
harm. If learned floors do harm, no new connection gets them for a time. A round is a request and its answer,
or a flight of segments and its ACK. This module uses neither BPF nor a clock: the time is an argument."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tcplearn.output.numbers import local_time

from . import evidence
from .arms import CONTROL, OURS, WHOLE, Counts, Place, Seen, added, minus, none, plus
from .epochs import Element, Epochs, together
from .guard_state import MOST_ENTRIES, KeptEntry, ShareCounts, State
from .places_guard import PlacesGuard, places_of

#: The next step is taken if it is excluded that floors, with the share of that step, add more than this
#: number of spurious retransmissions to a round, on average over all connections.
EXCLUDED = 0.004
LEAST_CONNECTIONS = 3  # connections with learned floors that a step must have before the next one
#: After this many rounds with floors and no sign of harm, the counts in which signs are sought begin anew.
_DOUBT_ROUNDS = 1000


@dataclass(frozen=True)
class Plan:
    """The steps in which the share of new connections with learned minimum RTOs (floors) rises."""

    control: float = 0.05  # share of connections that keep the kernel's timer
    # share of new connections with floors in each step; in a last step, all but the control group have them
    steps: tuple[float, ...] = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
    least_s: float = 60.0  # shortest time of a step
    again_s: float = 3600.0  # time without floors after harm was found; doubled each time
    again_most_s: float = 86400.0  # the longest such time

    def shares(self) -> list[int]:
        """Return the share of new connections that gets learned minimum RTOs (floors) in each step, in units
        of 1 / WHOLE."""
        most = 1 - self.control
        return [round(WHOLE * min(step, most)) for step in (*self.steps, most)]


@dataclass(frozen=True)
class Entry:
    """A decision of the guard, as a line of its journal."""

    at_s: float
    text: str


class Guard:
    """Decides which share of new connections gets learned minimum RTOs (floors). The BPF program is to be
    given `share`, in units of 1 / WHOLE, and `epoch`, a number that changes with it. `places` has the
    destination prefixes to which new connections get no floors. The argument `seen` of the methods has the
    BPF program's counts so far, the argument `arms` only those by epoch and arm (group of connections)."""

    def __init__(
        self,
        plan: Plan,
        now_s: float,
        seen: Seen,
        killed: bool = False,
        kept: State | None = None,
        why_anew: str = "",
    ) -> None:
        """Begin with the first step of `plan`, or continue from `kept`, the result of state() before a
        restart. `seen` has the BPF program's counts so far. `killed` says whether the kill switch, a file,
        exists. `why_anew` is the reason why an earlier state is not used, or ""."""
        self._plan = plan
        self._shares = plan.shares()
        self.step: int | None = 0  # None: stopped, until `again_at_s`
        self.again_at_s = 0.0
        self.killed = killed
        self.epochs = Epochs()
        self.places = PlacesGuard()
        self.journal: list[Entry] = []
        self._news: list[Entry] = []
        # how often the share has begun to rise (at first, and again after each stop because of harm), and the
        # number of the current epoch since then, from 1
        self._attempts, self._tests = 1, 0
        self._earlier: dict[str, float] = {}  # evidence of harm in earlier epochs of this attempt
        self._since_s = now_s  # when this epoch began
        # counts of connections with floors, by prefix, when this epoch began
        self._places_before: dict[bytes, Counts] = {}
        # counts of connections with floors, in all and by prefix, when the share last began to rise in steps
        self._before_ramp, self._places_before_ramp = none(), self._places_before
        self._cleared: Counts | None = None  # counts of connections with floors that had no sign of harm
        self._is_doubted = False  # whether the share was lowered because of a first sign of harm
        self._control_before = none()  # counts of the control group in the last epoch that had enough rounds
        self.begun_s = now_s  # since when the counts that are used were counted
        self._kept_places: dict[bytes, Place] = {}  # counts by prefix from before a restart
        if kept:
            self._keep_on(now_s, seen, kept)
        else:
            self._enter(now_s, seen, 0, self._killed_and(why_anew))

    @property
    def share(self) -> int:
        return self.epochs.share

    @property
    def epoch(self) -> int:
        return self.epochs.number

    def look(self, now_s: float, seen: Seen, killed: bool = False) -> None:
        """Decide, from the counts `seen`, which share of new connections gets learned minimum RTOs (floors),
        and to which destination prefixes they get none. If `killed`, no new connection gets a floor."""
        seen = self._since_kept(seen)
        if killed != self.killed:
            self.killed = killed
            why = "the kill switch is set" if killed else "the kill switch is gone"
            self._enter(now_s, seen, self.step, why)
        if self.killed:
            return
        if self.step is None:
            self._try_again(now_s, seen)
            return
        now = self.epochs.now(seen.arms)
        if why := self._harm(now):
            self._stop(now_s, seen, why)
            return
        self._doubt(now_s, seen, now[OURS])
        self._forward(now_s, seen)
        rate = evidence.spurious_rate(self._counted(CONTROL, seen.arms))
        for text in self.places.look(now_s, seen.places, rate):
            self._say(now_s, text)

    def is_pressing(self, arms: list[Element]) -> bool:
        """Return whether the counts `arms` by epoch and arm (group) show harm or the first sign of it. Then
        look() would change the share of new connections with learned minimum RTOs (floors). This takes much
        less time than look()."""
        if self.killed or self.step is None:
            return False
        now = self.epochs.now(arms)
        return bool(self._harm(now) or self._sign(arms, now[OURS]))

    def state(self, now_s: float, seen: Seen) -> State:
        """Return the guard's state, with the counts `seen`, from which it continues after a restart."""
        seen = self._since_kept(seen)
        by_share: dict[int, Element] = {}
        for share, had in self.epochs.earlier(seen.arms):
            by_share[share] = together(by_share[share], had) if share in by_share else had
        return State(
            saved_s=now_s,
            begun_s=self.begun_s,
            step=None if self.step is None else self._shares[self.step],
            again_s=self.again_at_s,
            attempts=self._attempts,
            tests=self._tests,
            earlier=self._earlier,
            epoch=ShareCounts(share=self.share, arms=self.epochs.now(seen.arms)),
            older=[ShareCounts(share=share, arms=had) for share, had in sorted(by_share.items())],
            before_ramp=self._before_ramp,
            cleared=self._cleared,
            doubted=self._is_doubted,
            control_before=self._control_before,
            places=self.places.kept_places(seen.places, self._places_before, self._places_before_ramp),
            stops=self.places.kept(now_s),
            journal=[KeptEntry(at_s=entry.at_s, text=entry.text) for entry in self.journal],
        )

    def news(self) -> list[Entry]:
        """Return the entries added to the journal since the last call."""
        news, self._news = self._news, []
        return news

    def _keep_on(self, now_s: float, seen: Seen, kept: State) -> None:
        self.journal = [Entry(entry.at_s, entry.text) for entry in kept.journal]
        self.again_at_s = min(kept.again_s, now_s + self._plan.again_most_s)
        step = None if kept.step is None else self._step_of(kept.step)
        if not kept.counts_at(now_s):
            self.places.keep_on(now_s, kept.stops, {})
            step = None if step is None and now_s < self.again_at_s else 0
            self._enter(now_s, seen, step, f"the counts until {local_time(kept.saved_s)} are no longer used")
            return
        had, before, before_ramp, judged = places_of(kept.places)
        self.places.keep_on(now_s, kept.stops, judged)
        self._kept_places, self.begun_s = had, kept.begun_s
        self._attempts, self._tests, self._earlier = kept.attempts, kept.tests, dict(kept.earlier)
        self._control_before = kept.control_before
        for older in kept.older:
            self.epochs.add_older(older.share, older.arms)
        why = self._killed_and(f"the guard continues from {local_time(kept.saved_s)}")
        if self._share_at(step) == kept.epoch.share:
            self._enter(now_s, seen, step, why, kept.epoch.arms)
            self._places_before, self._cleared = before, kept.cleared
            self._before_ramp, self._places_before_ramp = kept.before_ramp, before_ramp
        else:
            self.epochs.add_older(kept.epoch.share, kept.epoch.arms)
            self._remember(kept.epoch.share, kept.epoch.arms)
            self._enter(now_s, self._since_kept(seen), step, why)
        self._is_doubted = kept.doubted and step is not None and self._shares[step] == kept.step

    def _killed_and(self, why: str) -> str:
        return "; ".join(filter(None, ("the kill switch is set" if self.killed else "", why)))

    def _step_of(self, share: int) -> int:
        """Return the number of the plan's last step in which at most the share `share` of new connections
        gets learned minimum RTOs (floors), or 0. This share was in force before a restart; the plan may have
        changed since."""
        return max((at for at, most in enumerate(self._shares) if most <= share), default=0)

    def _share_at(self, step: int | None) -> int:
        return 0 if step is None or self.killed else self._shares[step]

    def _since_kept(self, seen: Seen) -> Seen:
        """Return `seen`, which began at 0 at a restart, with the earlier counts of destination prefixes
        added."""
        places = dict(seen.places)
        for key, had in self._kept_places.items():
            now = places.get(key)
            places[key] = (
                replace(now, stock=plus(now.stock, had.stock), ours=plus(now.ours, had.ours)) if now else had
            )
        return replace(seen, places=places)

    def _counted(self, group: int, arms: list[Element]) -> Counts:
        """Return what was counted on the connections of the arm number `group` since the guard began."""
        return added(element[group] for _, element in self.epochs.by_share(arms))

    def _try_again(self, now_s: float, seen: Seen) -> None:
        if now_s >= self.again_at_s:
            self._attempts += 1
            self._tests, self._earlier = 0, {}
            self._enter(now_s, seen, 0, "the guard tries again")

    def _harm(self, now: Element) -> str:
        return evidence.harm(now[CONTROL], now[OURS], self.share / WHOLE, self._tests, self._earlier)

    def _stop(self, now_s: float, seen: Seen, why: str) -> None:
        wait_s = min(self._plan.again_s * 2 ** (self._attempts - 1), self._plan.again_most_s)
        self.again_at_s = now_s + wait_s
        self._enter(now_s, seen, None, f"{why}; the guard tries again after {wait_s / 3600:.3g} h")

    def _doubt(self, now_s: float, seen: Seen, ours: Counts) -> None:
        """At the first sign of harm, go back from the last step (learned minimum RTOs for all but the control
        group) to the step before, in which fewer connections have them, so that harm is found sooner."""
        if self.step is None or not self._is_last:
            return
        if why := self._sign(seen.arms, ours):
            self._enter(now_s, seen, self.step - 1, f"to compare, because {why}")
            self._is_doubted = True
        elif self._recent(ours)["rounds"] > _DOUBT_ROUNDS:
            self._cleared = ours

    @property
    def _is_last(self) -> bool:
        """Return whether all connections but the control group get learned minimum RTOs."""
        return self.step == len(self._shares) - 1

    def _recent(self, ours: Counts) -> Counts:
        """Return `ours`, the counts of connections with learned minimum RTOs (floors), less those in which no
        sign of harm was found."""
        return minus(ours, self._cleared) if self._cleared else ours

    def _sign(self, arms: list[Element], ours: Counts) -> str:
        """Return a sentence about the first sign of harm, or "" if there is none or this is not the last
        step, in which all connections but the small control group get learned minimum RTOs (floors)."""
        if not self._is_last:
            return ""
        return evidence.first_sign(self._counted(CONTROL, arms), self._control_before, self._recent(ours))

    def _forward(self, now_s: float, seen: Seen) -> None:
        """Take the next step, in which a larger share of new connections gets learned minimum RTOs (floors),
        if this step has lasted long enough and `seen` excludes that the next one does harm."""
        step = self.step
        if step is None or self._is_last or now_s - self._since_s < self._plan.least_s:
            return
        most = EXCLUDED * WHOLE / self._shares[step + 1]
        control, ours = (self.epochs.now(seen.arms)[arm] for arm in (CONTROL, OURS))
        if self._is_doubted and evidence.is_undecided(control, ours, self.share / WHOLE):
            return
        here, ramp = ours, minus(self._counted(OURS, seen.arms), self._before_ramp)
        if not self.places.is_general(now_s, seen.places):
            here = self._without_stopped(now_s, here, seen, self._places_before)
            ramp = self._without_stopped(now_s, ramp, seen, self._places_before_ramp)
        # The control group is compared only with rounds of this step, as paths may have changed between the
        # steps. In the rounds of all steps together, all spurious retransmissions count as caused by floors.
        more = min(evidence.excess(control, here), evidence.most_spurious(ramp))
        if ours["connections"] >= LEAST_CONNECTIONS and more < most:
            why = (
                f"it is excluded that floors add more than {1000 * most:.0f} spurious retransmissions "
                "in 1,000 rounds"
            )
            self._enter(now_s, seen, step + 1, why, is_forward=True)

    def _without_stopped(
        self, now_s: float, ours: Counts, seen: Seen, before: Mapping[bytes, Counts]
    ) -> Counts:
        """Return `ours`, counts of connections with learned minimum RTOs (floors), without those to
        destination prefixes whose own counts alone show harm: new connections to these get no floors for a
        time, and none in the next step either. `before` has the counts of each prefix when the counting of
        `ours` began."""
        out = dict(ours)
        for key, stop in self.places.stopped(now_s).items():
            had, place = before.get(key), seen.places.get(key)
            if place and stop.is_sure:
                rounds = place.ours["rounds"] - (had["rounds"] if had else 0)
                out["rounds"] -= rounds
                out["rounds_lowered"] -= rounds  # how many of them had a lowered floor is not known by place
                out["spurious"] -= place.ours["spurious"] - (had["spurious"] if had else 0)
        out = {name: max(0, count) for name, count in out.items()}
        if ours["spurious"]:  # the squares are not known by place
            out["spurious_square"] = ours["spurious_square"] * out["spurious"] // ours["spurious"]
        return out

    def _enter(
        self,
        now_s: float,
        seen: Seen,
        step: int | None,
        why: str = "",
        had: Element | None = None,
        is_forward: bool = False,
    ) -> None:
        """Begin an epoch, a time in which the share of new connections with learned minimum RTOs (floors)
        does not change. The share is that of the plan's step number `step`, or 0 if `step` is None or the
        kill switch is set. With `had`, the counts of an epoch from before a restart, continue that epoch.
        `why` is the reason that the journal gives. `is_forward` says that the step follows the one before
        because harm was excluded."""
        share = self._share_at(step)
        if self.epochs.number >= 0:
            self._remember(self.share, self.epochs.now(seen.arms))
        self._is_doubted = self._is_doubted and step == self.step
        self.epochs.begin(share, seen.arms, had)
        self._places_before = {key: dict(place.ours) for key, place in seen.places.items()}
        if not is_forward:
            self._before_ramp, self._places_before_ramp = self._counted(OURS, seen.arms), self._places_before
        if share:
            self._tests = max(1, self._tests + (had is None))
        self.step, self._since_s, self._cleared = step, now_s, None
        does = f"{100 * share / WHOLE:.2g} % of the new connections have learned floors" if share else ""
        does = does or "new connections have no learned floors"
        self._say(now_s, f"{does}: {why}" if why else does)

    def _remember(self, share: int, epoch: Element) -> None:
        """Keep, from the counts `epoch` of an epoch that ends, what later epochs need. In the epoch that
        ends, the share `share` of new connections got learned minimum RTOs."""
        control, ours = epoch[CONTROL], epoch[OURS]
        self._earlier = evidence.carried(control, ours, share / WHOLE, max(1, self._tests), self._earlier)
        if evidence.has_enough(control):
            self._control_before = control

    def _say(self, now_s: float, text: str) -> None:
        self.journal.append(Entry(now_s, text))
        self._news.append(self.journal[-1])
        del self.journal[:-MOST_ENTRIES]
