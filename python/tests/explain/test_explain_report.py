# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the report of `tcplearn explain` and its pictures of the packets."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import altair as alt
import pytest
import thin
import vl_convert
from scenes import ANSWERED, ASKED, SCENES
from talk import Talk, pcap_of

from tcplearn.cli import main
from tcplearn.explain import run, sequence
from tcplearn.report import explain as report
from tcplearn.report import explain_charts
from tcplearn.report.page import VEGALITE


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a capture of requests to two servers: of the first some are lost, and the second is slow."""
    lossy, slow = Talk(port=40_000), Talk(port=40_001, server="10.0.0.9")
    thin.traffic(lossy, 1, 400, 0.03)
    SCENES["slow_server"](slow)
    path = tmp_path_factory.mktemp("report") / "requests.pcap"
    path.write_bytes(pcap_of(lossy, slow))
    return path


def test_each_picture_is_drawn(capture: Path) -> None:
    found = run([capture])
    page = report.page(found, sequence.of(found))
    names = [picture.file for picture in page.pictures]
    assert names[:2] == ["answer", "stalls"]
    assert names[2:] == [f"packets-{n}" for n in range(1, 11)]
    for picture in page.pictures[:3]:
        alt.Chart.from_dict({k: v for k, v in picture.spec.items() if k != "$schema"}, validate=True)
        svg = vl_convert.vegalite_to_svg(picture.spec, vl_version=VEGALITE, allowed_base_urls=[])
        assert svg.count("<path") > 5
    html = "".join(page.body)
    assert "sudo ip route" in html and "Why requests were slow" in html


def test_the_packets_of_a_request(tmp_path: Path) -> None:
    talk = Talk()
    SCENES["request_lost"](talk)
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_of(talk))
    first = sequence.of(run([path]))[0]
    points = [(round(point.ms), point.byte, point.end, point.again) for point in first.points]
    assert points == [
        (0, ASKED + 199, "client", False),
        (242, ASKED + 199, "client", True),
        (282, ANSWERED, "server", False),
    ]
    assert first.title.startswith("282 ms at")


def test_what_a_pipe_gave_is_not_read_again(tmp_path: Path) -> None:
    talk = Talk()
    SCENES["request_lost"](talk)
    os.mkfifo(tmp_path / "a.pcap")
    threading.Thread(target=(tmp_path / "a.pcap").write_bytes, args=(pcap_of(talk),), daemon=True).start()
    found = run([tmp_path / "a.pcap"])
    assert found.requests.height and sequence.of(found) == []


@pytest.mark.usefixtures("cache_with_script")
def test_the_file(capture: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "report.html"
    assert main(["explain", str(capture), "--report", str(target), "--host", "10.0.0.2"]) == 0
    html = target.read_text()
    assert '"file":"answer"' in html and "packets-10" in html and "10.0.0.9" not in html
    assert "report: " in capsys.readouterr().err


def test_an_ack_is_drawn_in_the_stream_that_it_acknowledges() -> None:
    """Test that an ACK is drawn in the stream that it acknowledges. When the request begins, the client's
    stream is at 50,000 bytes and the server's at 900,000."""
    points = [
        sequence.Point(0.0, 50_100, 100, "client"),
        sequence.Point(20.0, 50_100, 0, "server, ACK"),
        sequence.Point(21.0, 901_000, 1000, "server"),
        sequence.Point(22.0, 901_000, 0, "client, ACK"),
        sequence.Point(23.0, 905_000, 4000, "server"),
    ]
    spec = explain_charts.sequence(sequence.Sequence("a request", points))
    (values,) = spec["datasets"].values() if "datasets" in spec else (spec["data"]["values"],)
    assert [(row["end"], row["from"], row["to"]) for row in values] == [
        ("client", 0.0, 0.1),
        ("server, ACK", 0.1, 0.1),
        ("server", 0.0, 1.0),
        ("client, ACK", 1.0, 1.0),
        ("server", 1.0, 5.0),
    ]
