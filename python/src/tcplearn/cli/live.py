# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn live`, which sets learned floors on this machine's own kernel. A floor is
the least time that the RTO adds to SRTT (the kernel's rto_min)."""

import contextlib
import enum
import json
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from tcplearn.cli import options as o
from tcplearn.cli import refresh
from tcplearn.cli.common import print_lines, say
from tcplearn.cli.groups import group
from tcplearn.cli.live_observe import AsJson, Target, observe
from tcplearn.cli.options import argument, flag, option
from tcplearn.errors import UserError

_CLEAR = "\x1b[H\x1b[2J"  # of a terminal
_TOP_EVERY_S = 2.0


class BackoffName(enum.StrEnum):
    bounded = "bounded"
    kernel = "kernel"


Backoff = Annotated[
    BackoffName,
    typer.Option(
        "--backoff",
        help="kernel: each timeout in a row doubles the wait. bounded: in the first 16 s of an outage a wait "
        "is at most the longer of 1 s and a sixth of the time that has passed (Linux 6.15 or later).",
    ),
]
Control = Annotated[
    float,
    option(
        "P",
        "Percentage of the new connections that keep the kernel's own timer, as a control group.",
        "--control-percent",
        min=0,
        max=99,
    ),
]


FirstRto = Annotated[
    Path | None,
    option(
        "MODEL",
        "Set the first RTO of new connections too, as `tcplearn first-rto load` does with this model.",
        "--first-rto",
    ),
]


def _first_rto(model: Path | None) -> str:
    """Return the hexadecimal settings of the BPF program that sets first RTOs, "" for no model. Raise
    UserError."""
    if not model:
        return ""
    from tcplearn.bpf import kernel
    from tcplearn.lab import sock_ops
    from tcplearn.learn.rtt import model as models

    return models.packed(models.read(sock_ops.shipped(model)), kernel.ticks_per_second()).hex()


class RampName(enum.StrEnum):
    steps = "steps"
    none = "none"


def _check(_: str, as_json: AsJson = False) -> None:
    """Show line by line what `tcplearn live` needs of this machine, and the settings on which its gain
    depends. The BPF program is loaded as a test, not attached. The exit code is 2 if live cannot be started
    here."""
    from tcplearn.live import conditions

    lines = [*conditions.lines()]
    if as_json:
        print_lines([json.dumps([vars(line) for line in lines], indent=1)])
    else:
        print_lines(f"{line.state:4} {line.name:11}  {line.text}" for line in lines)
    if missing := [line.name for line in lines[: conditions.needed_count()] if line.state == "no"]:
        raise UserError(f"live cannot be started here: {', '.join(missing)}")
    if not as_json:
        print_lines(
            ["live can be started here. To see what it would gain: tcplearn live observe -i any --for 5m"]
        )


def _run(
    _: str,
    command: Annotated[list[str], argument("-- COMMAND...", "The command and its arguments.")],
    observe: Annotated[bool, flag("Learn and count, but set no timer.", "--observe")] = False,
    backoff: Backoff = BackoffName.kernel,
    control_percent: Control = 0.0,
    first_rto: FirstRto = None,
    quiet: o.Quiet = False,
) -> int:
    """Run a command in a cgroup of its own, whose connections get learned floors of the retransmission timer.
    The exit code is that of the command. After the command ends, or tcplearn is killed, new connections have
    the kernel's own timers again."""
    from tcplearn.live import command as commands
    from tcplearn.live.sessions import settings_of

    code, counts = commands.run(
        command, settings_of(observe, backoff == "bounded", control_percent, _first_rto(first_rto))
    )
    if not quiet:
        say(commands.summary(counts, observe))
    return code


def _start(
    _: str,
    context: typer.Context,
    *,
    target: Target,
    backoff: Backoff = BackoffName.kernel,
    ramp: Annotated[
        RampName,
        typer.Option(
            help="steps: learned timers for 1, 2, 5, 10, 20, 50 % of the new connections, then all but the "
            "control group, each step if harm is excluded. none: at once all but the control group, no guard."
        ),
    ] = RampName.steps,
    control_percent: Control = 5.0,
    first_rto: FirstRto = None,
    kill_switch: Annotated[
        Path | None,
        option(
            "FILE",
            "While this file exists, new connections have the kernel's own timer.",
            show_default="/etc/tcplearn/live.off",
        ),
    ] = None,
    foreground: Annotated[
        bool, flag("Stay in the foreground, and log to standard error.", "--foreground")
    ] = False,
    state: Annotated[
        Path | None,
        option(
            "DIR",
            "Store the guard's state in this folder, and continue from it after a restart.",
            show_default="no state is stored",
        ),
    ] = None,
    settings: Annotated[
        Path | None, option("FILE.toml", "A file with the values of options that are not given.")
    ] = None,
) -> None:
    """Start to set learned floors of the retransmission timer for the new connections of a cgroup, or of the
    machine. A process stays that holds the BPF program; when this process ends, new connections have the
    kernel's own timers (are stock) again. A guard compares the connections with a control group, and makes
    new connections stock where floors do harm."""
    from tcplearn.live import holder, sessions
    from tcplearn.live.guard import Plan
    from tcplearn.live.settings_file import SettingsFile, read

    typed = {}
    for name in SettingsFile.model_fields:
        source = context.get_parameter_source(name)
        if source and source.name != "DEFAULT":
            typed[name] = context.params[name]
    of = (read(settings) if settings else SettingsFile()).model_copy(update=typed)
    folder = Target(Path(of.cgroup) if of.cgroup else None, of.unit, target.pid).folder()
    plan = None if of.ramp == "none" else Plan(control=of.control_percent / 100)
    control = 100.0 if plan else of.control_percent
    first = _first_rto(Path(of.first_rto) if of.first_rto else None)
    chosen = sessions.settings_of(False, of.backoff == "bounded", control, first)
    more = {"kill_switch": str(Path(of.kill_switch).absolute())} if of.kill_switch else {}
    if state:
        more["state"] = str(state.absolute())
    sessions.start(holder.Order(str(folder), chosen, plan, **more), foreground)
    if not foreground:
        undo = "tcplearn live stop" + (f" --cgroup {folder}" if target.pid or of.unit or of.cgroup else "")
        print_lines([f"started for new connections of {folder}; undo: {undo}"])


def _stop(_: str, *, target: Target) -> None:
    """Stop what `tcplearn live start` has started for a cgroup, or for the machine. Connections that are open
    keep the floor of their retransmission timer."""
    from tcplearn.live import sessions
    from tcplearn.live.command import summary

    print_lines([summary(sessions.stop(target.folder()))])


def _status(
    _: str,
    as_json: AsJson = False,
    prometheus: Annotated[bool, flag("Write metrics for Prometheus.", "--prometheus")] = False,
) -> None:
    """Show for which cgroups learned floors of the retransmission timer are set, what the guard (which stops
    floors that do harm) decided, and the counts of connections, round trips and retransmissions."""
    from tcplearn.live import prometheus as metrics
    from tcplearn.live import sessions

    found = sessions.status()
    if prometheus:
        print_lines(metrics.lines(found))
    elif as_json:
        print_lines([json.dumps(found, indent=1)])
    elif found:
        print_lines(line for session in found for line in sessions.lines(session))
    else:
        print_lines(["live is not started"])


def _top(
    _: str,
    once: Annotated[bool, flag("Show the tables once.", "--once")] = False,
    as_json: AsJson = False,
    duration: o.For = "",
) -> None:
    """Show destinations and connections: RTT, floor of the retransmission timer, losses, and the waiting that
    was saved. Refresh this every two seconds until Ctrl-C; show it once if the output is no terminal."""
    duration_s = refresh.seconds(duration)
    from tcplearn.live import top
    from tcplearn.live.conditions import need_all
    from tcplearn.live.connections import Reader

    need_all()
    with contextlib.closing(Reader()) as reader:
        if as_json or once or not sys.stdout.isatty():
            found = top.read(reader)
            text = [json.dumps(found, indent=1)] if as_json else [x for one in found for x in top.lines(one)]
            print_lines(text)
            return
        end = time.monotonic() + duration_s
        with contextlib.suppress(KeyboardInterrupt):
            while time.monotonic() < end:
                shown = [line for one in top.read(reader) for line in top.lines(one)]
                print_lines([f"{_CLEAR}{shown[0]}", *shown[1:], "", "Ctrl-C ends"])
                time.sleep(_TOP_EVERY_S)


def _report(
    _: str,
    files: Annotated[
        list[Path] | None,
        argument(
            "FILE...", "Output of `tcplearn live status --json`, also from other machines; - for a pipe."
        ),
    ] = None,
    as_json: AsJson = False,
    report: o.Report = None,
) -> None:
    """Show what learned floors of the retransmission timer have saved in comparison with the control group,
    how many retransmissions were spurious, and what the guard (which stops floors that do harm) did. The
    numbers are those in FILE, or else those of this machine."""
    from tcplearn.live import report as reports
    from tcplearn.live import sessions

    found = reports.read(files) if files else sessions.status()
    if not found and not files:
        raise UserError(
            "live is not started, so there is nothing to report: see `tcplearn live start --help`"
        )
    print_lines([json.dumps(reports.figures(found), indent=1)] if as_json else reports.lines(found))
    if report:
        from tcplearn.report import live as page

        page.write(found, report)


def _effects(_: str, runs: Annotated[int, option("N", "Simulated runs of each case.", min=10)] = 100) -> None:
    """Show how large an effect of learned floors of the retransmission timer must be to be seen with a given
    number of connections, and after how many rounds (a request and its answer) the guard stops floors that do
    harm. These are two tables in Markdown, by formula and by simulation. Nothing on the machine changes."""
    from tcplearn.live import power
    from tcplearn.output.markdown import table_of

    lost = [f"{1000 * loss:g} in 1,000 rounds lost" for loss in power.LOSSES]
    print_lines([table_of(["connections", *lost], power.effects(runs)), ""])
    connected = [
        f"connections of {length:g} rounds, " + (f"{many} open at a time" if many > 1 else "one by one")
        for length, many in power.CONNECTED
    ]
    print_lines([table_of(["spurious in 1,000 rounds", *connected], power.harms(runs))])


live_app = group(
    "Learn for each connection how short its retransmission timer may be, and set it by eBPF, on an "
    "unmodified kernel.",
    {
        "check": (_check, "Show whether live can run here, and what limits its gain."),
        "run": (_run, "Run a command with learned timers; nothing stays afterwards."),
        "start": (_start, "Set learned timers for a cgroup or the machine, with a guard."),
        "stop": (_stop, "Give new connections the kernel's own timers again."),
        "status": (_status, "Show what was started, what the guard did, and the counts."),
        "top": (_top, "Show tables of destinations and connections, refreshed."),
        "report": (_report, "Show how much waiting was saved, and at what cost."),
        "effects": (_effects, "Show how large an effect can be seen, and how soon harm ends."),
        "observe": (observe, "Learn, and count what learned timers would gain; set none."),
    },
)
