# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The common parts of generated C headers of several models: their numbers, and the choice of one."""

from collections.abc import Sequence


def choices(kind: str, prefix: str, names: Sequence[str]) -> str:
    """Return `enum tl_KIND_choice` with a number for each name."""
    enum = ", ".join(f"{prefix}_{name.upper()} = {k}" for k, name in enumerate(names))
    return f"\nenum tl_{kind}_choice {{ {enum} }};\n"


def chooser(signature: str, prefix: str, function: str, names: Sequence[str]) -> str:
    """Return the end of the header: a function that fills `out` from FUNCTION_NAME of the chosen `model`; an
    unknown number gives the first name."""
    lines = "\n".join(
        f"\t{'else ' if k else ''}if (model == {prefix}_{name.upper()})\n\t\t{function}_{name}(out);"
        for k, name in enumerate(names[1:])
    )
    return f"\nTL_FN void {signature}\n{{\n{lines}\n\telse\n\t\t{function}_{names[0]}(out);\n}}\n\n#endif\n"
