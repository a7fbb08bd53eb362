# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The startup policies, resend policies and first RTOs of a scenario file, checked by the core."""

from typing import Annotated, Any

from pydantic import AfterValidator, Discriminator, Field, Strict, Tag

from tcplearn import algorithms
from tcplearn.scenario.check import TABLE, TEXT, Table


def _startup(text: str) -> str:
    return algorithms.checked(algorithms.STARTUP, text)


def _resend(text: str) -> str:
    return algorithms.checked(algorithms.RESEND, text) if text else text


def _first_rto(text: str) -> str:
    return algorithms.checked(algorithms.FIRST_RTO, text)


Startup = Annotated[str, AfterValidator(_startup)]
Resend = Annotated[str, AfterValidator(_resend)]
Weight = Annotated[float, Strict(), Field(ge=0, le=64)]
Micros = Annotated[int, Strict(), Field(ge=1000, le=60_000_000)]


class FirstRto(Table):
    """A model of `tcplearn train rtt`, but for its hops and prefixes: no host here has either."""

    last: Weight  # of a place that is known; with `high` zero there is no such step
    high: Weight
    nothing_us: Micros  # of one that is not
    floor_us: Micros = 20_000
    cap_us: Micros = 1_000_000

    def settings(self) -> dict[str, Any]:
        """As the core takes it: weights with 16 fractional bits; a place is remembered for a week."""
        place = [0, round(self.last * 2**16), round(self.high * 2**16)]
        return {
            "place": place if any(place) else None,
            "nothing": [self.nothing_us, 0, 0],
            "floor_us": min(self.floor_us, self.cap_us),
            "cap_us": self.cap_us,
            "max_age_us": 7 * 86_400_000_000,
        }

    def algorithm(self) -> str:
        """The same as the core's users type it."""
        of = self.settings()
        place = "off"
        if of["place"]:
            _, last, high = of["place"]
            place = f"on,place_last={last / 2**16:.9f},place_high={high / 2**16:.9f}"
        return (
            f"rfc6298:place={place},nothing=on,nothing_constant_us={self.nothing_us},"
            f"floor_us={of['floor_us']},cap_us={of['cap_us']},max_age_s={of['max_age_us'] // 1_000_000}"
        )


#: A policy of the core, or the figures of a model.
FirstRtoPolicy = Annotated[
    Annotated[str, AfterValidator(_first_rto), Tag(TEXT)] | Annotated[FirstRto, Tag(TABLE)],
    Discriminator(lambda value: TEXT if isinstance(value, str) else TABLE),
]
