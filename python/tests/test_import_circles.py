# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""No module of the package imports itself by way of others."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import grimp
import pytest


def test_no_circle_of_imports() -> None:
    """Imports within functions and for types alone count, too, and so does what a package itself imports."""
    graph = grimp.build_graph("tcplearn", cache_dir=None)

    def sort() -> None:
        TopologicalSorter(
            {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
        ).prepare()

    sort()
    assert "tcplearn.output.terminal" in graph.find_modules_directly_imported_by("tcplearn.lab.table")
    graph.add_import(importer="tcplearn.errors", imported="tcplearn.lab.run")
    with pytest.raises(CycleError):
        sort()
