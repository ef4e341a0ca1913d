"""The report of an analysed capture, and the verbs that take its directory."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from made_capture import HEAD, handshake, long, lossy
from stages import thorough_after

import dumbbell
from dumbbell.captures.detail import Part, choose, keep, read
from dumbbell.cli import invoke
from dumbbell.errors import InputError
from dumbbell.report.captured.hosts import pairs
from dumbbell.report.captured.rounds import least_of_rounds
from dumbbell.report.captured.series import build
from dumbbell.report.model import Bars, Line, Points, Ticks
from dumbbell.report.relative import relative
from dumbbell.report.render.export import tables_of

MOST_BYTES = 3_000_000


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> dumbbell.Capture:
    folder = tmp_path_factory.mktemp("captured")
    (folder / "trace.pcap").write_bytes(long())
    return dumbbell.pcap(folder / "trace.pcap", output=folder / "out")


def test_it_has_a_panel_for_each_question(capture: dumbbell.Capture) -> None:
    plots = build(capture)
    assert [panel.key for panel in plots.panels] == [
        "throughput_bps", "rtt_ms", "in_flight_bytes", "limited_by", "sequence_bytes", "gap_ms",
        "gaps_percent", "events", "ladder",
    ]  # fmt: skip
    assert plots.missing == ()
    assert [group.label for group in plots.groups] == ["1 10.0.0.1:40000 → 10.0.0.2:80"]
    throughput = plots.panel("throughput_bps")
    assert throughput is not None
    rate = throughput.views[0].lines[0].values.max()
    # 1000 bytes each ms.
    assert rate * throughput.per_unit == pytest.approx(8e6, rel=0.02)
    events = plots.panel("events")
    assert events is not None
    (ticks,) = [mark for mark in events.views[0].marks if isinstance(mark, Ticks)]
    assert (events.views[0].lanes[0].key, len(ticks.time_s)) == ("fast", 20)


def test_the_sequence_has_single_packets_where_it_matters_and_every_repeat(capture: dumbbell.Capture) -> None:
    panel = build(capture).panel("sequence_bytes")
    assert panel is not None
    bars = {mark.name: mark for mark in panel.views[0].marks if isinstance(mark, Bars)}
    assert [state.key for state in panel.states] == ["fast"]
    repeats = bars["event"]
    assert repeats.low.to_list() == [1_000 * n for n in range(50, 2_000, 100)]
    assert (repeats.high - repeats.low).unique().to_list() == [1_000]
    packets = bars["packet"]
    assert packets.time_s[0] == pytest.approx(0.2)
    assert 100 < len(packets.time_s) < 2_000
    reasons = {part.why for part in choose(capture, capture.directions.head(1).to_dicts())}
    assert reasons == {"start", "losses", "largest RTT"}


def test_round_trips_have_their_least_per_round_and_that_of_the_handshake(capture: dumbbell.Capture) -> None:
    panel = build(capture).panel("rtt_ms")
    assert panel is not None
    # The capture has no timestamps: the way back is not known.
    assert [view.name for view in panel.views] == ["to the receiver and back"]
    lines = {mark.quantity: mark for mark in panel.views[0].marks if isinstance(mark, Line)}
    assert [one.key for one in panel.quantities] == ["rtt_ms", "rtt_round_min_ms", "rtt_handshake_ms"]
    assert lines[2].values.to_list() == [100, 100]
    assert lines[1].values.min() == lines[0].values.min() == pytest.approx(20)
    # A step holds until the next: that of each round is the same.
    assert lines[1].values.unique().to_list() == [20]


def test_rounds_end_when_what_was_sent_after_their_start_is_acknowledged() -> None:
    ends = np.array([100, 105, 110, 150, 210, 260, 330], dtype=np.int64)
    rtts = np.array([100, 100, 90, 50, 60, 40, 100], dtype=np.float64)
    # Sent at 0, 5, 20, 100, 150, 220, 230: nothing was sent behind 260, so the last round does not end.
    starts, least = least_of_rounds(ends, rtts)
    assert (starts.tolist(), least.tolist()) == ([100, 150, 210, 260], [90, 50, 60, 40])
    assert least_of_rounds(ends[:0], rtts[:0])[0].tolist() == []


def test_gaps_have_a_histogram_with_each_of_them(capture: dumbbell.Capture) -> None:
    panel = build(capture).panel("gaps_percent")
    assert panel is not None
    assert panel.across is not None
    (line,) = [mark for mark in panel.views[0].marks if isinstance(mark, Line)]
    assert line.values.sum() == pytest.approx(100)
    assert line.x is not None
    assert 0 < panel.across.left <= float(line.x[0])
    # A segment each ms.
    most = line.values.arg_max()
    assert most is not None
    assert line.x[most] <= 1 < line.x[most + 1]
    assert capture.gaps["gaps"].sum() == capture.directions["data_packets"].sum() - 1


def test_a_sequence_relative_to_its_rate_is_flat(capture: dumbbell.Capture) -> None:
    panel = build(capture).panel("sequence_bytes")
    assert panel is not None
    view = panel.views[0]
    assert view.mean_bps == pytest.approx(8e6, rel=0.05)
    shown = relative(view, 8e6)
    sent = next(mark for mark in shown.marks if isinstance(mark, Line) and mark.quantity == 0)
    assert float(sent.values.max()) - float(sent.values.min()) < 200_000 < 2_000_000  # type: ignore[arg-type]
    bars = {mark.name: mark for mark in shown.marks if isinstance(mark, Bars)}
    sizes = bars["event"].high - bars["event"].low
    assert sizes.round(6).unique().to_list() == [1_000]
    assert (shown.is_relative, shown.top) == (True, None)


def test_single_packets_are_those_of_the_file(capture: dumbbell.Capture) -> None:
    every = read(capture, [Part(1, 0, 1 << 60, "all")])
    assert every.left_out == 0
    assert every.segments.height == capture.summary["segments"]
    data = every.segments.filter(pl.col("bytes") > 0)
    assert data["class"].value_counts(sort=True).rows()[1:] == [("repeat", 20)]
    assert every.segments["flags"].head(3).to_list() == ["SYN", "SYN ACK", "ACK"]
    few = read(capture, [Part(1, 0, 1 << 60, "all")], most=10)
    assert (few.segments.height, few.left_out) == (10, every.segments.height - 10)


def test_every_packet_of_the_largest_connections_is_kept_beside_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "trace.pcap", tmp_path / "out"
    file.write_bytes(long(400) + long(300, port=40_001)[len(HEAD) :])
    assert invoke(["pcap", str(file), "--output", str(out), "--segments", "all"]) == 0
    found = dumbbell.pcap(out)
    segments = pl.read_parquet(out / "segments.parquet")
    assert segments.height == found.summary["segments"]
    assert (out / "report.html").is_file()
    packets = found.directions.group_by("connection").agg(pl.col("packets").sum()).sort("connection")
    assert segments["connection"].value_counts().sort("connection")["count"].to_list() == packets["packets"].to_list()
    keep(found, [1])
    kept = pl.read_parquet(out / "segments.parquet")
    assert kept["connection"].unique().to_list() == [1]
    # What the report draws leaves the kept rows alone.
    assert read(found, [Part(2, 0, 1 << 60, "a part")]).segments["connection"].unique().to_list() == [2]
    assert pl.read_parquet(out / "segments.parquet").height == kept.height


def test_a_file_that_changed_or_is_gone_costs_single_packets_only(tmp_path: Path) -> None:
    file = tmp_path / "trace.pcap"
    file.write_bytes(long(300))
    capture = dumbbell.pcap(file, output=tmp_path / "out")
    file.write_bytes(long(200))
    with pytest.raises(InputError, match="has changed"):
        read(capture, [Part(1, 0, 1, "all")])
    file.unlink()
    plots = build(capture)
    assert "is gone" in plots.missing[0]
    assert plots.panel("sequence_bytes") is not None


@pytest.mark.parametrize("digests", [None, [], [""], ["0" * 64]])
def test_a_stranger_s_analysis_reads_no_other_capture(tmp_path: Path, digests: list[str] | None) -> None:
    for name in ("own", "other"):
        (tmp_path / name).write_bytes(long(300))
    capture = dumbbell.pcap(tmp_path / "own", output=tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "capture.json").read_text())
    # Another capture has as many packets: whoever does not know what is in it cannot know its digest.
    summary["files"] = [str(tmp_path / "other")]
    summary["digests"] = digests
    if digests is None:
        del summary["digests"]
    (tmp_path / "out" / "capture.json").write_text(json.dumps(summary))
    capture = dumbbell.Capture(tmp_path / "out")
    with pytest.raises(InputError, match="has changed"):
        read(capture, [Part(1, 0, 1, "all")])
    assert "has changed" in build(capture).missing[0]


@pytest.mark.parametrize("where", [100, -100], ids=["beginning", "end"])
def test_a_capture_that_is_as_long_as_before_has_changed(tmp_path: Path, where: int) -> None:
    content = bytearray(long(3000))
    (tmp_path / "trace.pcap").write_bytes(content)
    capture = dumbbell.pcap(tmp_path / "trace.pcap", output=tmp_path / "out")
    read(capture, [Part(1, 0, 1, "all")])
    content[where] ^= 1
    (tmp_path / "trace.pcap").write_bytes(content)
    with pytest.raises(InputError, match="has changed"):
        read(capture, [Part(1, 0, 1, "all")])


@pytest.mark.parametrize("format", thorough_after(3, ["html", "csv", "svg", "png", "pdf"]))
def test_every_format_is_written(
    capture: dumbbell.Capture, format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / ("out" if format == "csv" else f"out.{format}")
    assert invoke(["report", str(capture.directory), "--format", format, "--output", str(place)]) == 0
    written = [Path(line) for line in capsys.readouterr().out.split()]
    assert written
    assert all(path.stat().st_size > 20 for path in written)
    if format == "csv":
        names = {path.name for path in written}
        assert {
            "throughput_bps.csv",
            "rtt_ms.csv",
            "rtt_round_min_ms.csv",
            "gaps_percent.csv",
            "sequence_packets.csv",
            "events.csv",
        } <= names
    if format == "html":
        assert written[0].stat().st_size < MOST_BYTES


def test_csv_has_the_bytes_of_packets(capture: dumbbell.Capture) -> None:
    rows = list(csv.DictReader(io.StringIO(tables_of(build(capture))["sequence_packets.csv"].decode())))
    assert {row["what"] for row in rows} == {"packet", "event"}
    first = next(row for row in rows if row["what"] == "event")
    assert (first["kind"], float(first["start"]), float(first["end"])) == ("fast", 50_000, 51_000)


def test_packets_cross_on_a_ladder_from_one_end_to_the_other(capture: dumbbell.Capture) -> None:
    panel = build(capture).panel("ladder")
    assert panel is not None
    lines = [mark for mark in panel.views[0].marks if isinstance(mark, Line)]
    to_server, to_client = ([value for value in line.values.to_list() if value is not None] for line in lines)
    assert to_server[:2] == [1.0, 0.0]
    assert to_client[:2] == [0.0, 1.0]
    assert lines[0].values.to_list()[2::3] == [None] * (len(lines[0].values) // 3)
    (again,) = [mark for mark in panel.views[0].marks if isinstance(mark, Points)]
    assert again.look == "resent"
    first_repeat = capture.events.filter(pl.col("bytes") > 0)["time_ns"][0] / 1e9
    assert again.time_s[0] == pytest.approx(first_repeat)
    assert panel.views[0].references[0].label == "client"


def test_pairs_of_hosts_have_a_table_and_a_lane_each(tmp_path: Path) -> None:
    first = long(2_000)
    # The same from another host, and half as long.
    other = long(1_000)[len(HEAD) :].replace(bytes([10, 0, 0, 1]), bytes([10, 0, 0, 9]))
    file = tmp_path / "trace.pcap"
    file.write_bytes(first + other)
    capture = dumbbell.pcap(file, output=tmp_path / "out")
    found, count = pairs(capture)
    assert count == 2
    assert [(pair.client, pair.server, pair.ports, pair.connections) for pair in found] == [
        ("10.0.0.1", "10.0.0.2", (80,), 1),
        ("10.0.0.9", "10.0.0.2", (80,), 1),
    ]
    assert found[0].to_server_bytes == 2_020_000
    assert sum(pair.packets for pair in found) == capture.directions["packets"].sum()
    panel = build(capture).panel("hosts")
    assert panel is not None
    assert [lane.name for lane in panel.views[0].lanes] == ["10.0.0.1 - 10.0.0.2", "10.0.0.9 - 10.0.0.2"]
    page = capture.report().read_text(encoding="utf-8")
    assert 'aria-label="Hosts"' in page


def test_many_connections_and_repeats_make_no_larger_page(tmp_path: Path) -> None:
    parts = [long(3_000, port=40_000 + n)[len(HEAD) :] for n in range(14)]
    file = tmp_path / "trace.pcap"
    file.write_bytes(HEAD + b"".join(parts))
    capture = dumbbell.pcap(file, output=tmp_path / "out")
    assert capture.report().stat().st_size < MOST_BYTES
    assert len(build(capture).groups) == 12


def test_an_analysed_directory_is_opened_again(capture: dumbbell.Capture, capsys: pytest.CaptureFixture[str]) -> None:
    again = dumbbell.pcap(capture.directory)
    assert again.connections.equals(capture.connections)
    assert invoke(["pcap", str(capture.directory), "--no-report"]) == 0
    assert capsys.readouterr().out.endswith(f"{capture.directory}\n")


def test_a_part_of_a_connection_is_drawn_packet_by_packet(
    capture: dumbbell.Capture, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build(capture).shown_s is None
    chosen = ["--connection", "1", "--from", "1 s", "--to", "1.2 s"]
    assert invoke(["pcap", str(capture.directory), *chosen]) == 0
    rows = pl.read_parquet(capture.directory / "segments.parquet")
    assert rows["time_ns"].min() >= 1_000_000_000  # type: ignore[operator]
    assert rows.filter(pl.col("bytes") > 0).height in range(200, 205)
    assert '"shownS":[1.0,1.2]' in (capture.directory / "report.html").read_text(encoding="utf-8")
    assert invoke(["pcap", str(capture.directory), "--from", "1 s"]) == 2
    assert "--connection" in capsys.readouterr().err


def test_a_capture_is_queried(capture: dumbbell.Capture, capsys: pytest.CaptureFixture[str]) -> None:
    sql = "select cause, count(*) as n from events group by cause"
    assert invoke(["query", str(capture.directory), sql, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"cause": "fast", "n": 20}]
    assert invoke(["query", str(capture.directory), "select nothing from events"]) == 2
    assert "events has connection" in capsys.readouterr().err


def test_captures_are_compared(capture: dumbbell.Capture, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other.pcap").write_bytes(lossy())
    other = dumbbell.pcap(tmp_path / "other.pcap", output=tmp_path / "other")
    assert invoke(["compare", str(capture.directory), str(other.directory), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert "files" in {one["key"] for one in told["settings"]}
    lost = next(one for one in told["metrics"] if one["metric"] == "lost behind the capture")
    assert (lost["a"], lost["b"]) == (20, 1)
    assert invoke(["compare", str(capture.directory), str(tmp_path)]) == 2
    assert "not an analysed capture" in capsys.readouterr().err


def test_text_of_a_file_stays_text(tmp_path: Path) -> None:
    file = tmp_path / "<img src=x onerror=alert(1)>.pcap"
    file.write_bytes(HEAD + b"".join(handshake()) + long(50)[len(HEAD) :])
    page = dumbbell.pcap(file, output=tmp_path / "out").report().read_text()
    assert "<img src=x" not in page
    assert "&lt;img src=x" in page
