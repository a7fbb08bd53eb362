# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Define and validate the state of the guard, which limits the harm of `tcplearn live`, as it is stored over
restarts. Destination prefixes whose keys are no longer valid after a reboot are left out."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from .arms import ARMS, KEY_BYTES, WHOLE, Counts, none, side_names
from .evidence import is_evidence

#: Stored counts are used for a day after the guard ended. Learned minimum RTOs that were found harmful are
#: tried again after a day at most, so those that were found harmless are not trusted for longer either; and
#: paths differ between the hours of a day.
COUNTS_FOR_S = 86400.0
#: The version of the file's form. Add 1 if the form, the meaning of a count, or what learned minimum RTOs do
#: changes.
FORMAT: Final = 3
MOST_PLACES, MOST_ENTRIES = 4096, 100
_NETNS_DIGITS = 16  # hexadecimal digits of the network namespace in a key
_MOST_TEXT = 500


def _is_counts(names: frozenset[str], value: Counts) -> Counts:
    if value.keys() != names or not all(0 <= count < 2**64 for count in value.values()):
        raise ValueError("not the counts of this version")
    return value


def _of_arm(value: Counts) -> Counts:
    return _is_counts(frozenset(none()), value)


def _of_side(value: Counts) -> Counts:
    return _is_counts(frozenset(side_names()), value)


def _of_tests(value: dict[str, float]) -> dict[str, float]:
    if not is_evidence(value):
        raise ValueError("unknown tests")
    return value


ArmCounts = Annotated[Counts, AfterValidator(_of_arm)]
SideCounts = Annotated[Counts, AfterValidator(_of_side)]
Element = Annotated[list[ArmCounts], Field(min_length=ARMS, max_length=ARMS)]
Key = Annotated[str, Field(pattern=f"^[0-9a-f]{{{2 * KEY_BYTES}}}$")]
Seconds = Annotated[float, Field(ge=0, le=1e11, strict=False)]  # since 1970
Logarithm = Annotated[float, Field(ge=-1e9, le=1e9, strict=False)]
Share = Annotated[int, Field(ge=0, le=WHOLE)]
Number = Annotated[int, Field(ge=1, le=10**6)]
Text = Annotated[str, Field(max_length=_MOST_TEXT, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class KeptPlace(_Part):
    """A destination prefix with connections that had learned minimum RTOs, and its counts, as stored."""

    key: Key
    stock: SideCounts
    ours: SideCounts
    epoch: SideCounts | None  # `ours` when the epoch (the time with one share) began
    before_ramp: SideCounts | None  # `ours` when the share last began to rise in steps
    judged: SideCounts | None  # the part of `ours` that is left out: PlacesGuard.judged()


class KeptStop(_Part):
    """A stop, as stored: a time in which new connections to a prefix get, or got, no learned minimum RTO."""

    key: Key
    until_s: Seconds
    times: Number
    why: Text
    is_sure: bool  # stopped by its own counts alone


class KeptEntry(_Part):
    at_s: Seconds
    text: Text


class ShareCounts(_Part):
    """The counts, by arm (group), of the connections that began while the share `share` / WHOLE of new
    connections got learned minimum RTOs (floors)."""

    share: Share
    arms: Element


class State(_Part):
    """The guard's state as stored: the fields of the classes Guard and PlacesGuard. The share is that of new
    connections with learned minimum RTOs (floors). An epoch is a time in which the share does not change."""

    format: Literal[3] = FORMAT
    boot: Annotated[str, Field(max_length=64)] = ""  # the random number of the machine's current boot
    netns: Annotated[int, Field(ge=0, lt=2**64)] = 0  # of the guard, as in the keys of destination prefixes
    saved_s: Seconds
    begun_s: Seconds  # since when the counts that are used were counted
    step: Share | None  # the share in the current step; None: 0 until `again_s`, because of harm
    again_s: Seconds
    attempts: Number  # how often the share has begun to rise
    tests: Annotated[int, Field(ge=0, le=10**9)]  # number of the current epoch since then, from 1
    earlier: Annotated[dict[str, Logarithm], AfterValidator(_of_tests)]  # evidence of harm in earlier epochs
    epoch: ShareCounts  # of the current epoch
    older: list[ShareCounts]  # of earlier epochs, added up by share
    before_ramp: ArmCounts  # of connections with floors, when the share last began to rise in steps
    cleared: ArmCounts | None  # of connections with floors that had no sign of harm
    doubted: bool  # whether the share was lowered because of a first sign of harm
    control_before: ArmCounts  # of the control group in the last epoch with enough rounds
    places: Annotated[list[KeptPlace], Field(max_length=MOST_PLACES)]
    stops: Annotated[list[KeptStop], Field(max_length=MOST_PLACES)]
    journal: Annotated[list[KeptEntry], Field(max_length=MOST_ENTRIES)]

    def counts_at(self, now_s: float) -> bool:
        """Return whether the stored counts are used at the time `now_s`: for a day after they were stored,
        unless the clock was set back."""
        return 0 <= now_s - self.saved_s <= COUNTS_FOR_S

    def here(self, boot: str, netns: int) -> State:
        """Return the state with the keys of prefixes as in the machine's current boot `boot`. A key contains
        the number of a network namespace, and the kernel numbers these anew at each boot. So after a reboot
        only the prefixes of the guard's own namespace, which now has the number `netns`, are kept."""
        if boot == self.boot:
            return self
        before, now = (number.to_bytes(8, "little").hex() for number in (self.netns, netns))
        places = [
            place.model_copy(update={"key": now + place.key[_NETNS_DIGITS:]})
            for place in self.places
            if place.key.startswith(before)
        ]
        stops = [
            stop.model_copy(update={"key": now + stop.key[_NETNS_DIGITS:]})
            for stop in self.stops
            if stop.key.startswith(before)
        ]
        return self.model_copy(update={"places": places, "stops": stops, "boot": boot, "netns": netns})


def state_of(text: str | bytes) -> State:
    """Return the guard's state in the JSON text `text`. Raise ValueError with the reason in one line."""
    try:
        return State.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        if first["loc"] == ("format",):
            raise ValueError("it is of another version of tcplearn") from error
        where = ".".join(map(str, first["loc"])) or "JSON"
        raise ValueError(f"it is damaged: {where}: {first['msg'].lower()}") from error
