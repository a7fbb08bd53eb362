# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes exp_tables.h, the core's tables of powers of 2 and e; with --check only checks that file."""

import sys
from decimal import ROUND_HALF_EVEN, Context, Decimal
from pathlib import Path

HEADER = Path(__file__).resolve().parents[1] / "include" / "tcplearn" / "arithmetic" / "exp_tables.h"
CONTEXT = Context(prec=60)

TOP = """\
/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Made by core/tools/exp_tables.py. Tables of powers that the exponentials of weights_fixed.h and
 * experts_q16_arithmetic.h multiply; core/tests/test_numbers checks their results. Each table is in a
 * function, so that an object file contains it once, and only if it is used. */
#ifndef TCPLEARN_EXP_TABLES_H
#define TCPLEARN_EXP_TABLES_H

#include "../deps.h"
"""
FUNCTION = """
{comment}
TL_FN uint64_t {name}(uint64_t j)
{{
	/* clang-format off */
	static const uint32_t table[{count}] = {{
{rows}
	}};
	/* clang-format on */

	return table[j];
}}
"""

# Corrections {index: units of the last bit}, so that products of three entries round as exact powers do.
EIGHTHS = {58: -3, 85: -1, 94: 1}
THOUSANDTHS = {0: -1}
MICROTHS = {9: -3, 12: 1, 41: -3, 63: -1}


def rounded(value):
    return int(value.to_integral_value(ROUND_HALF_EVEN, CONTEXT))


def power_of_two(j):
    return rounded(CONTEXT.multiply(Decimal(4122220954), CONTEXT.power(Decimal(2), Decimal(-j) / 256)))


def powers_of_e(count, parts, bits, off):
    """Return round(e^(-j/`parts`) * 2^`bits`) + `off`.get(j, 0) for each j < `count`."""
    exact = (CONTEXT.exp(CONTEXT.divide(Decimal(-j), Decimal(parts))) for j in range(count))
    return [rounded(CONTEXT.multiply(v, Decimal(1 << bits))) + off.get(j, 0) for j, v in enumerate(exact)]


def function(name, comment, values):
    lines = (values[k : k + 8] for k in range(0, len(values), 8))
    rows = ",\n".join("\t\t" + ", ".join(f"{v}u" for v in line) for line in lines)
    return FUNCTION.format(name=name, comment=comment, count=len(values), rows=rows)


CORRECTED = """\
/* e^(-j/8) with 31 fractional bits. In this table and the two below it, a few entries differ by up to three
 * units from the rounded value, so that every product rounds as the exact product does. */"""


def text():
    tables = [
        (
            "tl_exp2_table",
            "/* 4122220954 * 2^(-j/256), rounded */",
            [power_of_two(j) for j in range(256)],
        ),
        ("tl_q16_eighths", CORRECTED, powers_of_e(95, 8, 31, EIGHTHS)),
        ("tl_q16_1024ths", "/* e^(-j/1024) with 32 */", powers_of_e(128, 1024, 32, THOUSANDTHS)),
        ("tl_q16_65536ths", "/* e^(-j/65536) with 28 */", powers_of_e(64, 65536, 28, MICROTHS)),
    ]
    return "".join([TOP, *(function(*table) for table in tables), "\n#endif\n"])


def main(arguments):
    if arguments == ["--check"]:
        if HEADER.read_text() == text():
            return 0
        print(f"{HEADER.name}: not what core/tools/exp_tables.py gives")
        return 1
    HEADER.write_text(text())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
