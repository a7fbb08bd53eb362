# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import altair
import fake
import numpy as np
import pytest

from tcplearn import estimators, report
from tcplearn.errors import UserError
from tcplearn.replay import sentences
from tcplearn.replay.results import Replay
from tcplearn.report import charts, data, labels, palette, summary
from tcplearn.report import page as pages
from tcplearn.report import replay as replays
from tcplearn.report.pictures import gather, safe

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&\"'"


def page(replay: Replay) -> str:
    return replays.page(replay).html()


@pytest.fixture(scope="module")
def replay() -> Replay:
    return fake.replay(2, short=2, samples=400)


@pytest.fixture(scope="module")
def html(replay: Replay) -> str:
    return page(replay)


class Reader(HTMLParser):
    """Parses the elements, attributes and data island of a page as a browser does."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.island = ""
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = dict(attrs).get("id") == "page-data"

    def handle_data(self, text: str) -> None:
        if self._inside:
            self.island += text

    def page(self) -> Any:
        return json.loads(self.island, parse_constant=pytest.fail)


def test_nothing_is_loaded_from_anywhere(html: str) -> None:
    reader = Reader(html)
    for tag, attributes in reader.tags:
        assert "src" not in attributes and tag not in ("link", "iframe", "object", "base"), (tag, attributes)
        assert (attributes.get("href") or "#").startswith("#")
    policy = next(a["content"] for t, a in reader.tags if t == "meta" and "http-equiv" in a)
    assert policy and "default-src 'none'" in policy and "http" not in policy
    style = html[html.index("<style>") : html.index("</style>")]
    assert "url(" not in style and "@import" not in style
    assert "http" not in reader.island


def test_strings_of_the_trace_are_escaped(replay: Replay) -> None:
    rows = [replace(r, flow=EVIL, source=EVIL, note=EVIL) for r in replay.rows[: len(fake.ESTIMATORS)]]
    series = [replace(replay.series[0], flow=EVIL, source=EVIL)]
    evil = Replay(rows, [], series, [], [EVIL], [EVIL], {"version": EVIL, EVIL: EVIL})
    text = page(evil)
    tags = Reader(text).tags
    assert "img" not in (tag for tag, _ in tags)
    assert sum(tag == "script" for tag, _ in tags) == 3
    assert "alert(1)" in text


@pytest.mark.full
def test_size_is_bounded_for_eight_long_flows() -> None:
    made = fake.replay(1, samples=24_000)
    series, rows = made.series[0], made.rows
    many = Replay(made_by=made.made_by)
    for i in range(8):
        many.rows += [replace(r, flow=str(i)) for r in rows]
        many.series.append(replace(series, flow=str(i)))
        many.distributions += [replace(d, flow=str(i)) for d in made.distributions]
    assert len(page(many).encode()) < 3_000_000


def test_pictures_of_every_flow_and_of_all(html: str) -> None:
    got = [(p["flow"], p["kind"]) for p in Reader(html).page()["pictures"]]
    # the timers' waits before the predictions
    assert got == [(0, "timer"), (0, "errors")] + [
        (n, k) for n in (1, 2) for k in ("timer", "errors", "time")
    ]
    places = {a.get("id") for _, a in Reader(html).tags}
    assert all(p["id"] in places for p in Reader(html).page()["pictures"])


def chosen_rate(replay: Replay, **values: float) -> Replay:
    """Return the replay with one timer changed to one whose miss rate was requested."""
    timer = {"rto_miss_rate_requested": 0.1, "mean_flight_segments": 12.0, **values}
    rows = [r.changed(timer) if r.estimator == "linux" else r for r in replay.rows]
    return replace(replay, rows=rows)


def test_misses_are_shown_where_a_rate_was_requested(replay: Replay, html: str) -> None:
    assert "#misses" not in html and 'id="misses"' not in html
    shown = page(chosen_rate(replay, rto_miss_rate_before=0.11))
    assert 'href="#misses"' in shown and 'id="misses"' in shown
    assert "A miss rate of 10 % was requested of linux." in shown and ": the rate is kept." in shown
    assert {p["file"] for p in Reader(shown).page()["pictures"]} >= {"total-misses"}
    rows = replace(replay, series=[], distributions=[])  # the section is of these
    assert "too often" in page(chosen_rate(rows, rto_miss_rate_before=0.2))
    assert "more seldom than requested" in page(chosen_rate(rows, rto_miss_rate_before=0.01))
    assert "too few to tell" in page(chosen_rate(rows, rto_miss_rate_requested=1e-5))


def test_no_value_is_not_a_number(replay: Replay) -> None:
    broken = replace(
        replay.series[0],
        rtt_low_ms=np.full_like(replay.series[0].rtt_low_ms, np.nan),
        rto_ms={k: np.where(v > 50, np.inf, 0.0) for k, v in replay.series[0].rto_ms.items()},
    )
    rows = [
        r.changed({"rto_miss_rate": None, "mean_rto_ms": None, "mean_abs_error_ms": None})
        for r in replay.rows
    ]
    Reader(page(Replay(rows=rows, series=[broken]))).page()


def test_an_empty_replay_is_a_page() -> None:
    assert "No flow has enough samples" in page(Replay())
    assert "No flow has enough samples" in page(fake.replay(0, short=3))


def test_what_made_it_is_shown(html: str) -> None:
    for fact in ("0.1.0", "7749e64", "tcplearn replay home.pcapng", "snap length", "sender seen at"):
        assert fact in html
    assert "Glossary" in html and "Karn" in html


def test_written_whole_or_not_at_all(replay: Replay, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="make its directory first"):
        report.write_html(replay, tmp_path / "absent" / "out.html")
    report.write_html(replay, tmp_path / "out.html")
    assert [p.name for p in tmp_path.iterdir()] == ["out.html"]


def test_pictures_as_files(tmp_path: Path) -> None:
    made = fake.replay(1, samples=200)
    evil = "../../etc/passwd\0 <b>"
    made.rows = [replace(r, flow=evil) for r in made.rows]
    made.series = [replace(made.series[0], flow=evil)]
    made.distributions = [replace(d, flow=evil) for d in made.distributions]
    folder = tmp_path / "pictures"
    written = report.write_pictures(made, folder)
    assert sorted(written) == sorted(folder.iterdir())
    assert len(written) == 6
    for path in written:
        assert re.fullmatch(r"[A-Za-z0-9.-]+", path.name)
        start = path.read_bytes()[:8]
        assert start == b"\x89PNG\r\n\x1a\n" if path.suffix == ".png" else start.startswith(b"<svg")


def test_file_names_are_safe() -> None:
    assert safe("..") == "flow"
    assert safe("[2001:db8::1]:443 > x") == "2001-db8-1-443-x"
    assert len(safe("x" * 500)) <= 80


def test_thinning_keeps_the_extremes(replay: Replay) -> None:
    series = replay.series[0]
    thin = data.thinned(series, 50)
    assert len(thin.time_s) <= 50
    assert thin.rtt_high_ms.max() == series.rtt_high_ms.max()
    assert thin.rtt_low_ms.min() == series.rtt_low_ms.min()
    assert thin.per_point == series.per_point * 8


def test_never_is_drawn_below_once(replay: Replay) -> None:
    rows = replay.rows[: len(fake.ESTIMATORS)]
    points = {p["e"]: p for p in data.timer_rows(rows)}
    assert points["jacobson/rfc6298"]["never"] and points["jacobson/rfc6298"]["y"] == data.NEVER < 1
    assert all(p["y"] == p["fires"] for p in points.values() if not p["never"])
    assert data.miss_floor(rows) < 100 / rows[0].samples


def test_frontier() -> None:
    points = [{"x": x, "y": y} for x, y in ((1, 5), (2, 5), (2, 3), (3, 4), (9, 0.1))]
    assert data.frontier(points) == [points[0], points[2], points[4]]


def test_labels_stay_inside_and_apart() -> None:
    spots = [(40.0 + i % 3, 30.0 + i) for i in range(8)]
    got = labels.place(spots, [f"experts/{i}" for i in range(8)], 400, 300)
    for i, label in enumerate(got):
        assert label.box.left >= 0 and label.box.right <= 400 and label.box.top >= 0
        assert all(label.box.overlap(other.box) == 0 for other in got[:i])


def test_an_estimator_looks_the_same_everywhere() -> None:
    look = palette.looks([*fake.ESTIMATORS, "mine", "yours", "linreg:b0=1"])
    assert look["experts"].colour == look["experts/fitted"].colour != look["linreg"].colour
    assert look["mine"].colour != look["yours"].colour
    assert len({(v.colour, tuple(v.dash)) for v in look.values()}) == len(look)


def test_first_choice_is_baselines_and_the_best_that_learns(replay: Replay) -> None:
    rows = replay.rows[: len(fake.ESTIMATORS)]
    best = min(
        (r for r in rows if estimators.learned(r.estimator)), key=lambda r: r["mean_abs_error_ms"] or 0
    )
    assert summary.chosen(rows) == ["linux", "jacobson", best.estimator]


def test_the_verdict_comes_first(replay: Replay, html: str) -> None:
    body = html[html.index("<body>") :]
    answer = sentences.of(replay.answer())
    places = [body.index(s) for s in (answer[0], answer[-1], "<table>", "predicted the RTT best: its mean")]
    assert places == sorted(places)
    assert 'href="#reading"' in html and "How to read this" in html and "spurious timeout" in html


def test_summary_names_the_gain_and_what_the_timer_does(replay: Replay) -> None:
    rows = [r for r in replay.rows[: len(fake.ESTIMATORS)] if r.estimator in ("jacobson", "experts/fitted")]
    base, ours = rows
    better = ours.changed({"mean_abs_error_ms": 1.0, "rto_miss_rate": 0.03, "mean_rto_ms": 20.0})
    base = base.changed({"mean_abs_error_ms": 2.0, "rto_miss_rate": 0.01, "mean_rto_ms": 30.0})
    text = " ".join(summary.sentences(Replay(rows=[base, better])))
    assert "experts/fitted predicted the RTT best: its mean error of 1.00 ms is 50 % below" in text
    assert "3 % of the samples (jacobson: 1 %)" in text and text.count(": more samples outlast it.") == 1
    text = " ".join(summary.sentences(Replay(rows=[base, better.changed({"mean_abs_error_ms": 1.99})])))
    assert "no estimator predicted the RTT better than RFC 6298's formulas" in text
    text = " ".join(summary.sentences(Replay(rows=[better])))
    assert "jacobson" not in text


def test_specifications_are_valid_without_any_data() -> None:
    empty = {"t": [], "low": [], "high": [], "prediction": {}, "rto": {}}
    look = palette.looks(["last"])
    for still in (True, False):
        assert charts.over_time(empty, look, ["last"], still=still)
        assert charts.errors({}, look, ["last"], still=still)


def test_gather_without_series(replay: Replay) -> None:
    assert gather(Replay(rows=replay.rows)) == []


def test_one_wild_timer_does_not_flatten_the_others(replay: Replay) -> None:
    rows = replay.rows[: len(fake.ESTIMATORS)]
    wild = [r.changed({"mean_rto_ms": 1e9}) if r.estimator == "experts" else r for r in rows]
    points = {p["e"]: p for p in data.within(data.timer_rows(wild), charts.WAIT_SHOWN)}
    middle = sorted(p["wait"] for p in points.values())[len(points) // 2]
    assert points["experts"]["name"] == "experts → 1,000,000,000 ms" and points["experts"]["wait"] == 1e9
    assert points["experts"]["x"] == pytest.approx(charts.WAIT_SHOWN * middle)
    assert points["linux"]["name"] == "linux" and points["linux"]["x"] == points["linux"]["wait"]
    columns = data.series_columns(replay.series[0], 100)
    columns["prediction"]["experts"] = [1e9 for _ in columns["t"]]
    for still in (True, False):
        text = json.dumps(charts.over_time(columns, palette.looks(fake.ESTIMATORS), ["experts"], still=still))
        assert "clamp(datum.p," in text and "along the edge: beyond it" in text


def test_specifications_are_valid(replay: Replay) -> None:
    for part in gather(replay):
        for still in (True, False):
            for _, spec in part.specs(still=still):
                altair.Root.validate({k: v for k, v in spec.items() if k != "datasets"})


def test_what_draws_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = pages._bundle()
    monkeypatch.setattr(pages.vl_convert, "javascript_bundle", pytest.fail)
    assert pages._bundle() == made and len(made) > 500_000
    monkeypatch.setattr(pages.vl_convert, "javascript_bundle", lambda *_, **__: made)
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    assert pages._bundle() == made
