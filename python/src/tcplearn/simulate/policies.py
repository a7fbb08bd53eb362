# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines pydantic types that check three kinds of entries of a scenario file: startup policies (initial
windows), resend policies (waits before retransmissions) and first RTOs."""

from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, Discriminator, Field, Tag

from tcplearn import algorithms
from tcplearn.scenario.check import TABLE, TEXT, Table

Startup = Annotated[str, AfterValidator(partial(algorithms.checked, algorithms.STARTUP))]
#: Senders that know what no sender can know, in the simulator only: which packets are dropped, or how RTTs
#: and losses are distributed.
LIMITS = ("clairvoyant", "clairvoyant/doubling", "statistical")


def _resend(text: str) -> str:
    return text if text in ("", *LIMITS) else algorithms.checked(algorithms.RESEND, text)


Resend = Annotated[str, AfterValidator(_resend)]
FirstRtoSpec = Annotated[str, AfterValidator(partial(algorithms.checked, algorithms.FIRST_RTO))]
Weight = Annotated[float, Field(ge=0, le=64)]
Micros = Annotated[int, Field(ge=1000, le=60_000_000)]


class FirstRto(Table):
    """A model that computes the first RTO of a connection. It has no parameters for hop counts and address
    prefixes, because simulated hosts have neither."""

    last: Weight  # weights for known destinations; both 0: not used
    high: Weight
    nothing_us: Micros  # for unknown destinations
    floor_us: Micros = 20_000
    cap_us: Micros = 1_000_000

    def settings(self) -> dict[str, Any]:
        """Return the model's numbers as the C library takes them, weights with 16 fractional bits."""
        place = [0, round(self.last * 2**16), round(self.high * 2**16)]
        return {
            "place": place if any(place) else None,
            "nothing": [self.nothing_us, 0, 0],
            "floor_us": min(self.floor_us, self.cap_us),
            "cap_us": self.cap_us,
            "max_age_us": 7 * 86_400_000_000,
        }

    def algorithm(self) -> str:
        """Return this model as the text of a first-RTO policy with parameters, "rfc6298:place=on,..."."""
        of = self.settings()
        place = "off"
        if of["place"]:
            _, last, high = of["place"]
            place = f"on,place_last={last / 2**16:.9f},place_high={high / 2**16:.9f}"
        return (
            f"rfc6298:place={place},nothing=on,nothing_constant_us={self.nothing_us},"
            f"floor_us={of['floor_us']},cap_us={of['cap_us']},max_age_s={of['max_age_us'] // 1_000_000}"
        )


FirstRtoPolicy = Annotated[  # a policy of the core as text, or a table with a model's numbers
    Annotated[FirstRtoSpec, Tag(TEXT)] | Annotated[FirstRto, Tag(TABLE)],
    Discriminator(lambda value: TEXT if isinstance(value, str) else TABLE),
]
