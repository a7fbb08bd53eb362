# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the runner of many jobs: which results are stored, what happens when jobs fail, and which processes
end with the runner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tcplearn import jobs
from tcplearn.errors import UserError
from tcplearn.jobs import Job, JobFailedError, Place, Store


def square(x: int) -> dict[str, int]:
    if x < 0:
        raise JobFailedError(f"{x}: is negative", "a log\n")
    return {"square": x * x}


def pid(_: int) -> dict[str, int]:
    time.sleep(60)
    return {}


def much(folder: str, k: int) -> str:
    """Return a result that is larger than the buffer of a pipe, once the file `go` exists in `folder`."""
    (Path(folder) / f"worker{k}").write_text(str(os.getpid()))
    while not (Path(folder) / "go").exists():
        time.sleep(0.02)
    return "r" * 1_000_000


def is_alive(process: str) -> bool:
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", process], capture_output=True, text=True
    ).stdout.strip()
    return bool(state) and not state.startswith("Z")


def of(*numbers: int) -> list[Job]:
    return [Job(f"key{x}", square, (x,), f"square of {x}") for x in numbers]


def run(work: list[Job], folder: Path, *, in_processes: bool = False, **options: Any) -> jobs.Done:
    pool = Place(2).pool(folder / "logs", in_processes=in_processes)
    return jobs.run(work, Store(folder), pool, say=lambda _: None, **options)


@pytest.mark.parametrize("in_processes", [False, True])
def test_a_failure_does_not_stop_the_others(tmp_path: Path, in_processes: bool) -> None:
    done = run(of(1, -2, 3), tmp_path, in_processes=in_processes)
    assert {key: found["square"] for key, found in done.results.items()} == {"key1": 1, "key3": 9}
    (line,) = done.failures
    assert line.startswith("square of -2: -2: is negative; log: ")
    assert Path(line.partition("; log: ")[2].partition(";")[0]).read_text() == "a log\n"
    assert line.endswith("; again: the same command")  # it is none of ours


def test_what_is_kept_is_not_run_again(tmp_path: Path) -> None:
    first = run(of(1, 2), tmp_path)
    broken = [Job(job.key, pid, job.arguments) for job in of(1, 2)]
    assert run(broken, tmp_path).results == first.results
    assert run(of(1, 2), tmp_path, fresh=True).results == first.results


def test_a_result_of_another_format_is_absent(tmp_path: Path) -> None:
    run(of(3), tmp_path)
    assert Store(tmp_path).get(of(3)[0]) is not None
    assert Store(tmp_path, 2).get(of(3)[0]) is None


def test_two_places_are_one_too_many(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="give one of them"):
        Place(scheduler="x:1", slurm=2).pool(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        "1",
        "[" * 100_000,
        "9" * 5000,
        '{"function": 1, "arguments": []}',
        '{"function": "", "arguments": []}',
        '{"function": "nowhere:x", "arguments": []}',
        '{"function": "json:nothing", "arguments": []}',
        '{"function": "json:loads", "arguments": 1}',
    ],
)
def test_a_job_that_is_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(UserError, match="no job of tcplearn"):
        jobs.repeated(tmp_path / "x.json")


def with_workers(job: str, folder: Path) -> subprocess.Popen[str]:
    """Start a process that runs two jobs in worker processes and stores their results below `folder`, its
    first argument. `job` is the code of the k-th job's function and arguments, in which `t` is this
    module."""
    program = (
        "import sys; from pathlib import Path; from tcplearn import jobs; import test_jobs as t\n"
        "if __name__ == '__main__':\n"
        f"    work = [jobs.Job(str(k), {job}) for k in range(2)]\n"
        "    t.run(work, Path(sys.argv[1]) / 'kept', in_processes=True)\n"
    )
    (folder / "program.py").write_text(program)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    words = [sys.executable, str(folder / "program.py"), str(folder)]
    return subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True)


def test_worker_processes_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    parent = with_workers("t.pid, (k,)", tmp_path)

    def children() -> list[str]:
        shown = subprocess.run(["ps", "-ewwo", "ppid,pid,args"], capture_output=True, text=True, check=True)
        lines = [line.split(None, 2) for line in shown.stdout.splitlines()]
        return [pid for ppid, pid, args in lines if ppid == str(parent.pid) and "spawn_main" in args]

    deadline = time.monotonic() + 30
    while len(workers := children()) < 2:
        assert time.monotonic() < deadline and parent.poll() is None, "no workers"
        time.sleep(0.1)
    time.sleep(1)  # their first act
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 10
    while any(map(is_alive, workers)):
        assert time.monotonic() < deadline, "workers are left behind"
        time.sleep(0.1)


def test_workers_that_are_killed_in_the_middle_of_a_result(tmp_path: Path) -> None:
    """Test that a run whose workers are killed while they send a result ends with an error, and does not wait
    for the rest of the result."""
    parent = with_workers("t.much, (sys.argv[1], k)", tmp_path)
    try:
        while len(workers := [file.read_text() for file in tmp_path.glob("worker?")]) < 2 or "" in workers:
            assert parent.poll() is None
            time.sleep(0.02)
        parent.send_signal(signal.SIGSTOP)  # it reads nothing, so both workers wait with a part in the pipe
        (tmp_path / "go").touch()
        time.sleep(1)
        for worker in workers:
            os.kill(int(worker), signal.SIGKILL)
        parent.send_signal(signal.SIGCONT)
        _, said = parent.communicate(timeout=60)
    finally:
        parent.kill()
    assert parent.returncode == 1 and "a worker process died" in said
