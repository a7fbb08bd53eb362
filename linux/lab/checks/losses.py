# SPDX-License-Identifier: GPL-2.0-only
"""Checks the sysctl net.tcplearn.loss, which selects a loss classifier, in the virtual machine of `tcplearn
lab`."""

import socket
import struct
from pathlib import Path

import failures
from guest import counters, enter, expect, log_bytes, sh, sysctl, unprivileged
from packet_host import Host
from transfers import connect, load, path, records, serve, transfer
from wire import ACK as ACKNOWLEDGES
from wire import MSS, SCRIPT4, SYN

ACK, LOSS, CHANGE = 2, 8, 9
SETTING = "net.tcplearn.loss"
#: The log's records of ACKs, and of decisions on losses: probability, cause, flight, cwnd, ssthresh.
WINDOWS, DECISION = struct.Struct("<24x8x16x8xII"), struct.Struct("<24xqIIII")
CHANGED = struct.Struct("<24xI")
BEGUN, ENDED, UNDONE = range(3)
ECN_ECHO = 0x40
STATE_AT = 85


def refuses(setting, texts, stays):
    for text in texts:
        try:
            sysctl(setting, text)
        except OSError:
            pass
        else:
            expect(False, f"{text[:60]!r} was taken")
        expect(sysctl(setting) == stays, f"after {text[:60]!r}: {sysctl(setting)!r}")


def takes_or_refuses(setting, known, good, bad):
    load()
    expect(sysctl(setting) == "none", f"at first {sysctl(setting)!r}")
    kind = setting.rpartition(".")[2]
    names = sysctl(f"net.tcplearn.available_{kind}{'es' if kind == 'loss' else 's'}").split()
    expect(names[0] == "none" and known < set(names), f"there are {names}")
    for spec in (*names[1:], *good):
        sysctl(setting, spec)
        expect(sysctl(setting) == spec, f"{spec} is shown as {sysctl(setting)!r}")
    refuses(setting, bad, good[-1])
    sysctl(setting, "none")
    file = f"/proc/sys/net/tcplearn/{kind}"
    said = unprivileged(f"echo {names[1]} 2>/dev/null >{file}; cat {file}")
    expect(said == "none", f"after an unprivileged write {said!r}")


def check_a_setting_of_losses_is_taken_whole_or_refused():
    good = (
        "mlp:threshold=.4",
        "mlp:threshold=0.1234567891",
        "adaptive:threshold=0.3,highest=0.5",
        "veno:beta=5",
    )
    bad = (
        "nobody", "mlp:", "mlp:threshold", "mlp:threshold=", "mlp:threshold=2", "mlp:threshold=-0.1",
        "mlp:threshold=0.1x", "mlp:threshold=.", "mlp:threshold=0.1,", "mlp:limit=1", "mlp,threshold=1",
        "mlp:threshold=99999999999999999999", "x" * 300, "mlp:" + "threshold=0.4," * 40,
    )  # fmt: skip
    takes_or_refuses(SETTING, {"mlp", "mlp/hwang2018", "adaptive"}, good, bad)


def check_an_own_model_is_taken_whole_or_refused():
    load()
    setting = "net.tcplearn.loss_model"
    expect(sysctl(setting) == "none", f"at first {sysctl(setting)!r}")
    good = "tcplearn-mlp-1 tiny 1 1 log_flight 0 1073741824 0 16777216 0 16777216"
    sysctl(setting, good)
    sysctl(SETTING, "mlp:model=own")
    bad = (
        "", "tiny", good + " 0", good.rpartition(" ")[0], good.replace("log_flight", "moon"),
        good.replace(" 0 ", " x "),
        good.replace("1073741824", "0"), good.replace("1073741824", "9" * 40), good.replace("tiny", "t;ny"),
        good.replace("1 1", "99999 99999"), good.replace("16777216", "1073741825"), good + " " * 70000,
        good.replace("tiny", "x" * 40),
    )  # fmt: skip
    refuses(setting, bad, "tiny")
    sysctl(setting, "none")
    expect(sysctl(setting) == "none", "the model stays")
    sysctl(SETTING, "none")


def check_a_kept_window_is_what_it_was():
    load()
    enter("c0")
    serve(5130)
    path(15, "loss 0.7%")  # so rare that a recovery has few losses
    sysctl("net.tcplearn.log", 1)
    for base, loss in ((b"tl-reno", "random"), (b"tl-cubic", "random"), (b"tl-cubic", "congestion")):
        sysctl(SETTING, loss)
        kept = reduced = 0
        for _ in range(3):  # because a transfer may have no recovery without a timeout
            transfer(5130, 3_000_000, base)
            found = _windows_after(loss)
            kept, reduced = kept + found[0], reduced + found[1]
        now = counters()
        expect(
            kept and now["loss_kept"] > 1 if loss == "random" else reduced and not kept,
            f"{loss}: {kept}, {reduced}: {now}",
        )


def _windows_after(loss):
    events = [r for r in records(log_bytes(), None) if r[6] in (ACK, LOSS)]
    kept = reduced = 0
    for i, record in enumerate(events):
        if record[6] != LOSS:
            continue
        _, cause, _, cwnd, ssthresh = DECISION.unpack_from(record)
        after = _first_open(events[i + 1 :])
        if after is None:
            continue
        if cause:
            grown = cwnd <= after[0] <= 2 * cwnd  # the ACK that ended the recovery may increase cwnd
            expect(grown and after[1] == ssthresh, f"{loss}: {cwnd}, {ssthresh} became {after}")
        kept += cause
        reduced += not cause and after[0] < cwnd
    return kept, reduced


def _first_open(events):
    for record in events:
        if record[6] == LOSS or record[STATE_AT] == 4:
            return None
        if record[STATE_AT] == 0:
            return WINDOWS.unpack_from(record)
    return None


def check_a_recovery_is_undone_by_duplicate_sacks_after_it():
    load()
    host = Host("reno", "linux")  # with tl-reno as default, the namespace would keep the module loaded
    sysctl("net.ipv4.tcp_ecn", 1)
    sysctl(SETTING, "random")
    sysctl("net.tcplearn.log", 1)
    for between, wanted in ((_out_of_order, [BEGUN, ENDED, UNDONE]), (_congestion, [BEGUN, ENDED])):
        c = _recovered(host)
        between(c)
        c.send(ack=1 + 9 * MSS, sack=[(1, 1 + MSS)])
        c.wait(20)
        c.write(MSS)
        c.expect(ACKNOWLEDGES, seq=1 + 9 * MSS)
        c.send(ack=1 + 10 * MSS)
        c.wait(20)
        changes = [CHANGED.unpack_from(record)[0] for record in records(log_bytes(), CHANGE)]
        c.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        c.socket.close()  # abort, so that no connection keeps a reference to the module
        expect(changes == wanted, f"{between.__name__}: {changes}, not {wanted}")


def _recovered(host):
    c = host.opened()
    c.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"tl-reno")
    c.socket.connect_ex((SCRIPT4, 80))
    c.expect(SYN, seq=0)
    c.wait(20)
    c.send(SYN | ACKNOWLEDGES | ECN_ECHO, seq=0, mss=MSS)
    c.expect(ACKNOWLEDGES, seq=1, ack=1)
    c.write(6 * MSS)
    c.expect_full(6)
    c.wait(20)
    for k in range(1, 4):
        c.send(ack=1, sack=[(1 + MSS, 1 + (k + 1) * MSS)])
    c.expect(ACKNOWLEDGES, seq=1, size=MSS)
    c.wait(20)
    c.send(ack=1 + 6 * MSS)
    return c


def _out_of_order(c):
    c.write(3 * MSS)
    c.expect_full(3, first=6)
    c.wait(20)
    c.send(ack=1 + 6 * MSS, sack=[(1 + 7 * MSS, 1 + 8 * MSS)])


def _congestion(c):
    for first, flags in ((6, ACKNOWLEDGES | ECN_ECHO), (7, ACKNOWLEDGES), (8, ACKNOWLEDGES)):
        c.write(MSS)
        c.expect_full(1, first=first)
        c.wait(20)
        c.send(flags, ack=1 + (first + 1) * MSS)


def check_vegas_keeps_its_own_answer_to_losses():
    load()
    enter("c0")
    serve(5131)
    path(15, "loss 2%")
    sysctl(SETTING, "random")
    transfer(5131, 300_000, b"tl-vegas")
    now = counters()
    expect(now["connections"] == 1 and not now["loss_decisions"], f"{now}")


def states(slab):
    """Return the number of objects in the slab cache `slab`, or None if the kernel merged this cache with
    another."""
    lines = Path("/proc/slabinfo").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{slab} ")), None)


def states_end(setting, spec, slab, port):
    load()
    enter("c0")
    serve(port)
    sysctl(setting, spec)
    before = states(slab)
    if before is None:
        return
    kept = [connect(port) for _ in range(200)]
    for s in kept:
        s.sendall(b"x" * 100)
    sysctl(setting, "none")  # existing connections keep the algorithm
    expect(states(slab) - before >= 200, f"{states(slab) - before} states of 200 connections")
    for i, s in enumerate(kept):
        if i % 2:
            s.close()
        else:
            s.setsockopt(6, 13, b"cubic")
    shrink = f"for f in /sys/kernel/slab/{slab}/shrink; do [ ! -e $f ] || echo 1 >$f; done"
    sh(f"sleep 1; echo 1 >/proc/sys/vm/drop_caches; {shrink}", check=False)
    expect(states(slab) - before < 100, f"{states(slab) - before} states remain")


def check_a_state_of_losses_goes_with_its_connection():
    states_end(SETTING, "adaptive", "tcplearn_loss", 5132)


def check_an_allocation_that_fails_in_a_setting_of_losses():
    sh(f"insmod {failures.FAILING}")
    for n in (1, 2):
        failures.fails_next(n)
        said = failures.refused(SETTING, b"mlp")
        expect(said == "Cannot allocate memory", f"allocation {n}: {said}")
        expect(failures.has_failed() and sysctl(SETTING) == "none", f"allocation {n}: {sysctl(SETTING)}")
    failures.fails_next(3)
    sysctl(SETTING, "mlp")
    expect(not failures.has_failed(), "the setting has a third allocation")
    failures.fails_next(0)
    serve(5133)
    enter("c0")
    sysctl(SETTING, "mlp")
    failures.fails_next(2)  # the first allocation is the connection's own state
    transfer(5133, 50_000)
    now = counters()
    expect(now["connections"] == 1 and now["fallbacks"] == 1, f"without a classifier: {now}")
