# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that no module of the package imports itself through other modules."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import grimp
import pytest


def test_no_circle_of_imports() -> None:
    """Test for import cycles. Imports within functions, imports for types alone, and those of packages count
    too."""
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
