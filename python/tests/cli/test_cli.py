# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
import errno
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import fake
import polars as pl
import pytest
import stub

import tcplearn
from tcplearn.cli import main
from tcplearn.errors import UserError

WARNING = "tcplearn: warning: home.pcapng: 12 packets were cut short by the snap length\n"
STUB = [sys.executable, stub.__file__]


def refused(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 2) -> str:
    """Check that the command with `arguments` prints nothing on stdout, one line on stderr, and exits with
    `code`; return the line."""
    assert main(list(arguments)) == code
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert len(lines) == 1, err
    assert lines[0].startswith("tcplearn: ")
    assert "Traceback" not in err
    return lines[0]


def test_every_option_reaches_the_engine(engine: stub.Engine, capture: str) -> None:
    words = (
        "-e last -e jacobson:alpha=0.5 -e last --arithmetic fixed --sender [2001:db8::1]:443 --every-ack "
        "--min-samples 7 --min-rto-ms 1.5 --flow 443 --miss 0.02 --seed 5 --format csv -q"
    )
    assert main(["replay", capture, *words.split()]) == 0
    paths, options = engine.calls[0]
    assert paths == [Path(capture)]
    assert options == stub.Options(
        estimators=("last", "jacobson:alpha=0.5"),
        arithmetic="fixed",
        sender="[2001:db8::1]:443",
        every_ack=True,
        min_samples=7,
        min_rto_us=1500,
        flow="443",
        miss=0.02,
        seed=5,
    )


def test_defaults(engine: stub.Engine, capture: str) -> None:
    assert main(["replay", capture, "-q"]) == 0
    assert engine.calls[0][1] == stub.Options((), "double", "auto", False, 30, 0, "", None, 0)


def test_all_names_every_estimator_before_one_s_own(engine: stub.Engine, capture: str) -> None:
    assert main(["replay", capture, "-q", "--all", "-e", "last", "-e", "mine"]) == 0
    assert engine.calls[0][1].estimators == (*stub.ALL, "mine")


def test_formats_agree(
    engine: stub.Engine, capture: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", capture, "--format", "json"]) == 0
    out, err = capsys.readouterr()
    rows = json.loads(out)
    assert err == WARNING
    assert {row["flow"] for row in rows} == {row.flow for row in engine.replay.rows}

    assert main(["replay", capture, "--format", "json", "--total", "-q"]) == 0
    out, err = capsys.readouterr()
    assert err == WARNING  # --quiet leaves warnings
    assert [row["flow"] for row in json.loads(out)].count("total") == len(fake.ESTIMATORS)

    target = tmp_path / "out.csv"
    assert main(["replay", capture, "--format", "csv", "-q", "-o", str(target)]) == 0
    assert capsys.readouterr().out == ""
    assert pl.read_csv(target).height == len(rows)


@pytest.mark.parametrize("ending", ["csv", "json", "parquet", "txt"])
def test_the_name_of_the_file_chooses_the_format(
    engine: stub.Engine, capture: str, tmp_path: Path, ending: str
) -> None:
    target = tmp_path / f"out.{ending}"
    assert main(["replay", capture, "-q", "-o", str(target)]) == 0
    kind = "table" if ending == "txt" else ending
    chosen = tmp_path / "chosen"
    assert main(["replay", capture, "-q", "--format", kind, "-o", str(chosen)]) == 0
    if ending == "parquet":
        assert pl.read_parquet(target)["value"].len() == pl.read_parquet(chosen)["value"].len()
    else:
        assert target.read_text() == chosen.read_text()


def test_table_is_plain_in_a_pipe(
    engine: stub.Engine, capture: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", capture]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "all flows together" in out
    assert "in 7 flows, 5 of them too short to judge alone" in out
    assert main(["replay", capture, "--all"]) == 0
    assert "5 more flows too short to judge (12 to 16 samples each)" in capsys.readouterr().out


def test_parquet_into_a_pipe_but_not_to_a_terminal(capture: str, tmp_path: Path) -> None:
    words = [*STUB, "0", "replay", capture, "--format", "parquet", "-q"]
    done = subprocess.run(words, capture_output=True, check=True)
    assert pl.read_parquet(io.BytesIO(done.stdout)).height > 0
    pty = pytest.importorskip("pty")
    import os

    leader, follower = pty.openpty()
    shown = subprocess.run(words, stdout=follower, stderr=subprocess.PIPE, text=True)
    os.close(follower)
    os.close(leader)
    assert shown.returncode == 2
    assert shown.stderr == "tcplearn: Parquet is not for a terminal; add -o FILE or send it into a pipe\n"


def test_progress_on_a_terminal_only(capture: str) -> None:
    pty = pytest.importorskip("pty")
    import os

    words = [*STUB, "0.3", "replay", capture, "-q", "--format", "csv"]
    assert subprocess.run(words, capture_output=True, check=True).stderr == WARNING.encode()
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    del words[-3]
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=follower, check=True, env=environment)
    os.close(follower)
    shown = os.read(leader, 65536)
    os.close(leader)
    assert b"home.pcapng" in shown


def test_report_and_pictures(engine: stub.Engine, capture: str, tmp_path: Path) -> None:
    engine.replay = fake.replay(1, samples=300)
    page, folder = tmp_path / "out.html", tmp_path / "pictures"
    assert main(["replay", capture, "-q", "--report", str(page), "--pictures", str(folder)]) == 0
    assert "tcplearn replay" in page.read_text()
    assert {p.suffix for p in folder.iterdir()} == {".png", ".svg"}
    assert engine.replay.made_by["command"].startswith("tcplearn replay ")


def test_a_written_report_is_announced_and_not_proposed(
    engine: stub.Engine, capture: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "out.html"
    assert main(["replay", capture]) == 0
    out, err = capsys.readouterr()
    assert "Next: --report report.html" in out and "report:" not in err
    assert main(["replay", capture, "--report", str(page)]) == 0
    out, err = capsys.readouterr()
    assert "Next: --all" in out and err.endswith(f"report: {page}\n")


def test_a_file_named_twice_is_reported(
    engine: stub.Engine, capture: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", capture, capture, "-q", "-o", os.devnull]) == 0
    assert f"{capture}: named twice; it counts once\n" in capsys.readouterr().err


def test_an_estimator_is_shown_by_its_name(engine: stub.Engine, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["algorithms", "estimator", "jacobson"]) == 0
    shown = capsys.readouterr().out
    assert main(["algorithms", "jacobson"]) == 0
    assert capsys.readouterr().out == shown and "gain of SRTT" in shown


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("replay", "missing argument 'FILE...'"),
        ("repaly x", "no such command 'repaly'. Did you mean 'replay'?"),
        ("replay FILE --modle fixed", "no such option: --modle"),
        ("replay FILE --arithmetic quad", "'quad' is not one of 'double', 'fixed'"),
        ("replay FILE --min-samples 0", "greater than or equal to 1"),
        ("replay FILE --min-samples x", "--min-samples"),
        ("replay FILE --min-rto-ms nan", "--min-rto-ms"),
        ("replay FILE --rank beauty", "'beauty' is not one of 'timer', 'wait', 'timeouts', 'error', 'miss'"),
        ("replay FILE --live lo", "no such option: --live"),
        ("replay FILE --loss", "no such option: --loss"),
        ("replay FILE --resend", "no such option: --resend"),
        ("replay --suite DIRECTORY", "no such option: --suite"),
        ("replay FILE --sender nobody", "--sender nobody: not a sender"),
        ("replay FILE --sender 10.0.0.1:99999", "not a sender"),
        ("replay FILE --sender [::1", "not a sender"),
        ("replay FILE --format xml", "'xml'"),
        ("replay absent.pcap", "absent.pcap: no such file; check the path"),
        ("replay DIRECTORY", "is a directory; name the captures in it"),
        (
            "replay FILE -o absent/out.csv",
            "absent/out.csv: cannot write: no such file or directory; make its",
        ),
        ("replay FILE --report DIRECTORY", "cannot write: is a directory; name a file"),
        ("replay FILE --pictures FILE", "is a file; name a directory"),
        ("algorithms estimator jacobsen", "no algorithm is called 'jacobsen'; did you mean jacobson"),
        ("algorithms zzz", "`tcplearn algorithms` lists them"),
        ("first-rto load --model x", "see `tcplearn first-rto load --help`"),
        ("algorithms kinds of", "no kind of algorithm is called 'kinds'; the kinds are estimator, loss,"),
        ("algorithms los mlp", "no kind of algorithm is called 'los'; did you mean loss?"),
        ("algorithms loss mlp veno", "(veno); see `tcplearn algorithms --help`"),
        ("algorithms jacobsen", "no kind and no algorithm is called 'jacobsen'; did you mean jacobson"),
        ("algorithms first_rto", "no kind and no algorithm is called 'first_rto'; did you mean first-rto"),
        ("algorithms estimators", "'estimators'; did you mean estimator"),
        ("algorithms resend pricd", "'pricd'; did you mean priced, priced/spaced or priced/quarter?"),
        ("algorithms priced:spacing=hazard", "'priced:spacing=hazard'; did you mean priced?"),
        ("replay FILE --report out.txt", "--report out.txt: a page of HTML; name it report.html"),
        ("replay /dev/zero", "/dev/zero: is a device, which may have no end; name a file"),
    ],
)
def test_bad_usage(
    words: str, wanted: str, engine: stub.Engine, capture: str, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = str(Path(capture).parent)
    arguments = [w.replace("FILE", capture).replace("DIRECTORY", directory) for w in words.split()]
    assert wanted in refused(capsys, *arguments)
    assert engine.calls == []  # refused before the long work


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UserError("no estimator 'jacobsen'; did you mean jacobson?"), 2),
        (stub.TraceError("home.pcapng: not a capture;\ngive a pcap or pcapng file"), 2),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "gone.pcap"), 2),
        (OSError(errno.ENOSPC, "No space left on device"), 1),
        (MemoryError(), 1),
    ],
)
def test_expected_errors_are_one_line(
    error: Exception, code: int, engine: stub.Engine, capture: str, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.raises = error
    refused(capsys, "replay", capture, code=code)


def test_a_defect_is_not_hidden(engine: stub.Engine, capture: str) -> None:
    engine.raises = ValueError("a defect")
    with pytest.raises(ValueError, match="a defect"):
        main(["replay", capture])


def test_control_characters_do_not_reach_the_terminal(
    engine: stub.Engine, capture: str, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.raises = UserError("evil\x1b]0;title\x07.pcap: not a capture")
    assert "\x1b" not in refused(capsys, "replay", capture)


def test_interrupt(
    engine: stub.Engine, capture: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.raises = KeyboardInterrupt()
    assert main(["replay", capture, "-o", str(tmp_path / "out.csv"), "--format", "csv"]) == 130
    assert capsys.readouterr() == ("", "tcplearn: stopped\n")
    assert [p.name for p in tmp_path.iterdir()] == ["home.pcapng"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_interrupted_process(capture: str, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    process = subprocess.Popen(
        [*STUB, "30", "replay", capture],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "STUB_BEGUN": str(begun)},
    )
    while not begun.exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=10) == ("", "tcplearn: stopped\n")
    assert process.returncode == 130


@pytest.mark.skipif(sys.platform == "win32", reason="pipes")
def test_broken_pipe_is_silent(capture: str) -> None:
    process = subprocess.Popen(
        [*STUB, "0.5", "replay", capture, "-q", "--format", "csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout and process.stderr
    process.stdout.close()
    assert process.stderr.read() == WARNING.encode()
    assert process.wait() == 141
    process.stderr.close()


def test_estimators(engine: stub.Engine, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["algorithms", "estimator"]) == 0
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines()] == ["last", "jacobson", "jacobson/rfc6298"]
    assert main(["algorithms", "estimator", "jacobson"]) == 0
    out = capsys.readouterr().out
    assert "alpha" in out and "0.125" in out and "0 to 1" in out and "gain of SRTT" in out
    assert "every-ack | one-per-rtt" in out
    assert "any number" in out
    assert main(["algorithms", "estimator", "last"]) == 0
    assert "no parameters" in capsys.readouterr().out


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"tcplearn {tcplearn.__version__}\n"
    for words in ([], ["--help"], ["replay", "--help"], ["algorithms", "--help"]):
        assert main(words) == 0
        assert capsys.readouterr().out.startswith("Usage: tcplearn")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from tcplearn.cli import main; main(['replay', '--help']);"
        "sys.exit(','.join({'numpy', 'polars', 'altair', 'vl_convert', 'rich.table'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip() == ""
