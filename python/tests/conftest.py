# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Provides fixtures that several folders of tests use."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadGroupScheduling

from dask_cluster import Cluster
from samples import ROOT
from tcplearn import estimators


def pytest_configure() -> None:
    """Let idle threads of scikit-learn sleep. By default they spin, for minutes if other tests run beside
    them."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--screenshots", default="", help="a folder for what reports look like in a browser")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Shorten the name of a long value to its beginning and its length, because pytest-xdist sends every name
    to each process."""
    if isinstance(val, str | bytes) and len(val) > 120:
        return f"{ascii(val[:40])[:120]}... ({len(val)} long)"
    return None


@pytest.fixture
def installed_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Put examples/my_estimator on sys.path as pip would install it: its module and its entry point."""
    info = tmp_path / "estimator_of_a_test-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: estimator-of-a-test\nVersion: 0.1.0\n")
    # a copy: what pip leaves beside the original would be found too
    shutil.copy(ROOT / "examples" / "my_estimator" / "my_estimator.py", tmp_path)
    (info / "entry_points.txt").write_text(
        "[tcplearn.estimators]\nrunning-median = my_estimator:RunningMedian\nbroken = my_estimator:Nothing\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    estimators._users.cache_clear()
    yield "running-median"
    estimators._users.cache_clear()
    sys.modules.pop("my_estimator", None)


@pytest.fixture
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set the user's cache to an empty folder and return the path of tcplearn's cache in it."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder / "tcplearn"


@pytest.fixture(scope="session")
def drawing_script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the script that draws reports, made by this version and not taken from the user's cache."""
    from tcplearn.report import page

    folder = tmp_path_factory.mktemp("script")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        page._bundle()
    (script,) = folder.glob("tcplearn/vega-*.js")
    return script


@pytest.fixture
def cache_with_script(drawing_script: Path, own_cache: Path) -> None:
    """Put only the script that draws reports into the user's empty cache."""
    own_cache.mkdir(parents=True, exist_ok=True)
    (own_cache / drawing_script.name).symlink_to(drawing_script)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    pytest.importorskip("distributed")
    with ExitStack() as stack:
        yield Cluster(tmp_path, stack)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Yield a mounted file system of 64 KB; skip the test if mounting is not possible."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount")
    if done.returncode:
        pytest.skip(f"mounting a tmpfs is not permitted: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


class FromBothEnds(LoadGroupScheduling):
    """Schedules the longest tests first. If there are more processes than processors, the last process begins
    with the last tests, which wait (for the lab's guests, for example) more than they compute."""

    def _assign_work_unit(self, node: Any) -> None:
        if len(self.nodes) > len(os.sched_getaffinity(0)) and node is self.nodes[-1]:
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FromBothEnds | None:
    return FromBothEnds(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks at the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Sort the folders by the time they take, longest first, so that no process is left with them at the end,
    and keep tests that share a fixture of their file on one process (pytest-xdist, `--dist loadgroup`)."""
    budgets = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["tcplearn"]["test_budgets_s"]
    items.sort(key=lambda item: -budgets.get(item.path.parent.name, budgets["other"]))
    for item in items:
        shared = getattr(item, "_fixtureinfo", None)
        defined = [one for many in shared.name2fixturedefs.values() for one in many] if shared else []
        if any(one.scope == "module" for one in defined) and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(item.path.name))
