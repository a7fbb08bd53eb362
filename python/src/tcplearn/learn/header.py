# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Generate the common parts of the models' C headers: an enum of models, and a function that selects one."""

from collections.abc import Sequence


def choices(kind: str, prefix: str, names: Sequence[str]) -> str:
    """Return the C code of `enum tl_KIND_choice` (KIND: `kind`) with enumerators for `names`, which begin
    with `prefix`."""
    enum = ", ".join(f"{prefix}_{name.upper()} = {k}" for k, name in enumerate(names))
    return f"\nenum tl_{kind}_choice {{ {enum} }};\n"


def chooser(signature: str, prefix: str, function: str, names: Sequence[str]) -> str:
    """Return a C function with the head `signature` that fills `out` by calling `function`_NAME, where NAME
    is number `model` in `names`, or the first name if there is no such number."""
    lines = "\n".join(
        f"\t{'else ' if k else ''}if (model == {prefix}_{name.upper()})\n\t\t{function}_{name}(out);"
        for k, name in enumerate(names[1:])
    )
    return f"\nTL_FN void {signature}\n{{\n{lines}\n\telse\n\t\t{function}_{names[0]}(out);\n}}\n\n#endif\n"
