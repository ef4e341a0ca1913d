"""Bottlenecks are found in any network: figures, metrics and reports of parking lots whose bottlenecks are known."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from parking_lot import Cross, run, scenario

from dumbbell import report
from dumbbell.analysis.metrics import between, bottlenecks
from dumbbell.below import Below, confined
from dumbbell.cli.run import print_run
from dumbbell.errors import DumbbellError
from dumbbell.pipeline.results import Run
from dumbbell.report.facts import facts
from dumbbell.report.levels import capacities
from dumbbell.report.model import Line, Panel, States
from dumbbell.report.render import sections
from dumbbell.report.render.export import tables
from dumbbell.report.series import build
from dumbbell.statistics.frames import limited_links, main_link

PERIOD_S = 3
MOVING = [Cross(link, PERIOD_S * link, PERIOD_S * (link + 1), 12) for link in range(3)]


@pytest.fixture(scope="module")
def moving(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Cross traffic moves the bottleneck of f1 from link to link, every three seconds."""
    return run(tmp_path_factory.mktemp("moving") / "run", scenario(cross=MOVING, duration_s=3 * PERIOD_S))


@pytest.fixture(scope="module")
def differing(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Links of different rates: the second is the narrowest for f1."""
    cross = [Cross(0, 0, 4, 5), Cross(2, 0, 4, 5)]
    return run(tmp_path_factory.mktemp("differing") / "run", scenario((30, 10, 20), cross, duration_s=4))


def by(rows: list[dict[str, Any]], key: str) -> Mapping[str, dict[str, Any]]:
    return {row[key]: row for row in rows}


def panel(of: Run, key: str) -> Panel:
    found = build(of).panel(key)
    assert found is not None
    return found


def test_figures_name_the_bottleneck_of_each_flow(moving: Run) -> None:
    flows, links = by(moving.summary["flows"], "id"), by(moving.summary["links"], "name")
    # The flow has each link as its bottleneck in a third of its time.
    assert flows["f1"]["bottleneck_share"] == pytest.approx(1 / 3, abs=0.05)
    for number in range(3):
        crossing = flows[f"cross{number + 1}"]
        assert crossing["bottleneck"] == f"link{number}"
        assert crossing["bottleneck_share"] > 0.85
        # Nine seconds of f1 and three of the datagrams cross each link; in three it is the bottleneck of both.
        assert links[f"link{number}"]["bottleneck_share"] == pytest.approx(6 / 12, abs=0.06)
    assert links["link0-reverse"]["bottleneck_share"] is None
    assert moving.flows["bottleneck"].to_list() == [flow["bottleneck"] for flow in moving.summary["flows"]]


def test_the_course_of_a_path_is_known(moving: Run) -> None:
    paths = {path.flows[0]: path for path in bottlenecks(moving.directory)}
    assert paths["f1"].links == ["link0", "link1", "link2"]
    assert paths["cross2"].links == ["link1"]
    for number in range(3):
        middle_ns = (number + 0.7) * PERIOD_S * 1e9
        (last,) = [link for since, link in paths["f1"].course if since <= middle_ns][-1:]
        assert last == f"link{number}"


@pytest.mark.parametrize("name", ["plan.json", "links.parquet"])
def test_files_of_the_run_do_not_lead_out_and_are_regular(moving: Run, tmp_path: Path, name: str) -> None:
    copy = shutil.copytree(moving.directory, tmp_path / "below" / "run")
    path, outside = copy / name, tmp_path / name
    shutil.move(path, outside)
    path.symlink_to(outside)
    assert bottlenecks(copy) == bottlenecks(moving.directory)
    with confined(Below(copy.parent)):
        with pytest.raises(DumbbellError, match=f"{name}: .*outside"):
            bottlenecks(copy)
        with pytest.raises(DumbbellError, match=f"{name}: .*outside"):
            between(copy, 0, 10**9)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(DumbbellError, match=f"{name}: .*Not a regular file"):
        bottlenecks(copy)


def test_the_least_rate_is_the_bottleneck_whatever_its_name(differing: Run) -> None:
    flows = by(differing.summary["flows"], "id")
    assert flows["f1"]["bottleneck"] == "link1"
    assert flows["f1"]["bottleneck_share"] > 0.9
    # 5 of 30 and of 20 Mbit/s: nothing in the network limits datagrams.
    assert flows["cross1"]["bottleneck"] is flows["cross1"]["bottleneck_share"] is None
    known = facts(differing)
    assert known.limited_links[0].name == "link1"
    assert known.has_several


def test_capacity_lines_are_the_least_of_each_way(differing: Run) -> None:
    known = facts(differing)
    told = {tuple(link.name for link in way.links): way for way in known.ways}
    assert {way: told[way].narrowest.name for way in told} == {
        ("link0", "link1", "link2"): "link1",
        ("link0",): "link0",
        ("link2",): "link2",
    }
    assert [level.label for level in capacities(known)] == ["link1 10 Mbit/s", "link2 20 Mbit/s", "link0 30 Mbit/s"]


def test_bandwidth_delay_products_are_those_of_ways(differing: Run) -> None:
    # 10 Mbit/s x 30 ms of f1; 30 and 20 Mbit/s x 10 ms of datagrams.
    assert facts(differing).bdps_bytes == pytest.approx((25_000, 37_500))


def dumbbell_of(**more: Any) -> dict[str, Any]:
    topology = {
        "kind": "dumbbell",
        "rtt": "30 ms",
        "bottleneck": {"rate": "10 Mbit/s", "reverse": {"rate": "1 Mbit/s"}},
    }
    return {"name": "x", "duration": "1 s", "topology": topology, "flows": [{"from": "s1", "to": "r1"}], **more}


def test_a_dumbbell_has_one_way_also_with_flows_in_both_directions(tmp_path: Path) -> None:
    both = [{"from": "s1", "to": "r1"}, {"from": "r1", "to": "s1"}]
    known = facts(run(tmp_path / "run", dumbbell_of(flows=both)))
    assert not known.has_several
    assert [[link.name for link in way.links] for way in known.ways] == [["bottleneck"]]
    assert [level.label for level in capacities(known)] == ["capacity 10 Mbit/s"]


def test_a_capacity_that_changes_is_the_least_of_a_way(tmp_path: Path) -> None:
    slower = [{"at": "1 s", "link": "link0", "rate": "8 Mbit/s"}]
    made = run(tmp_path / "run", scenario((20, 10), duration_s=2, events=slower))
    (view,) = panel(made, "goodput_bps").views
    (capacity,) = [line for line in view.marks if isinstance(line, Line) and line.is_level]
    found = pl.DataFrame({"t": view.time_s, "v": capacity.values})
    assert found.filter(pl.col("t") < 0.9)["v"].to_list() == pytest.approx([10] * 90, rel=0.01)
    assert found.filter(pl.col("t") > 1.1)["v"].to_list() == pytest.approx([8] * 90, rel=0.01)


def test_the_report_shows_which_link_was_the_bottleneck_when(moving: Run) -> None:
    found = panel(moving, "bottleneck")
    (view,) = found.views
    # Datagrams cross one limited link each: there is nothing to choose from.
    assert [lane.name for lane in view.lanes] == ["f1"]
    (blocks,) = view.marks
    assert isinstance(blocks, States)
    words = [found.states[code].word for code in blocks.state]
    middle = [(start + end) / 2 for start, end in zip(blocks.start_s, blocks.end_s, strict=True)]
    for number in range(3):
        long = [
            (end - start, word)
            for start, end, at, word in zip(blocks.start_s, blocks.end_s, middle, words, strict=True)
            if number * PERIOD_S <= at < (number + 1) * PERIOD_S
        ]
        assert max(long)[1] == f"link{number}"
    rows = pl.read_csv(tables(moving)["bottleneck.csv"])
    assert rows.columns == ["time_s", "end_s", "flow", "state"]
    assert {*rows["state"]} == {"link0", "link1", "link2"}


def test_the_delay_of_the_whole_path_is_the_sum_of_its_links(moving: Run) -> None:
    views = {view.name: view for view in panel(moving, "sojourn_ms").views}
    assert [*views] == ["whole path", *(link.name for link in facts(moving).crossed)]
    (line,) = [line for line in views["whole path"].lines if line.flow == "f1"]
    packets = moving.packets.filter(
        pl.col("flow") == "f1", pl.col("link").cast(pl.String).is_in(["link0", "link1", "link2"])
    )
    delivered = packets.filter(pl.col("fate") == "delivered")
    waits = delivered.group_by("packet").agg(pl.col("sojourn_ns").sum(), pl.len())
    arrived = waits.filter(pl.col("len") == 3)["sojourn_ns"] / 1e6
    assert line.values.max() == pytest.approx(arrived.max())
    told = by(moving.summary["flows"], "id")["f1"]["queue_ms"]
    assert told["p50"] == pytest.approx(arrived.quantile(0.5, "linear"))
    assert told["max"] == pytest.approx(arrived.max())


def test_a_figure_shows_the_queues_that_data_cross(moving: Run) -> None:
    titles = [axes.get_title(loc="left") for axes in report.figure(moving).axes]
    assert [title for title in titles if title.startswith("Queue, ")] == [
        f"Queue, {link.name}" for link in facts(moving).crossed
    ]
    assert "Bottleneck" in titles


def test_the_page_names_the_limited_links_and_the_bottlenecks(differing: Run) -> None:
    told = sections.facts(differing, facts(differing))
    assert "Limited links" in told
    assert "10 Mbit/s to 30 Mbit/s" in told
    assert "<dd>link1<small>for" in told
    page = report.write(differing, "html")[0].read_text(encoding="utf-8")
    assert "As bottleneck" in page


def test_events_of_several_links_are_named(tmp_path: Path) -> None:
    slower = [{"at": "1 s", "link": "link1", "rate": "5 Mbit/s"}]
    made = run(tmp_path / "run", scenario((20, 20), duration_s=2, events=slower))
    (change,) = build(made).changes
    assert "link1" in change.label
    assert by(made.summary["flows"], "id")["f1"]["bottleneck"] == "link1"


def test_a_run_without_packets_has_the_same_bottlenecks(tmp_path: Path, moving: Run) -> None:
    bare = run(tmp_path / "run", scenario(cross=MOVING, duration_s=3 * PERIOD_S, record={"packets": False}))
    keys = ("bottleneck", "bottleneck_share")
    assert [[flow[key] for key in keys] for flow in bare.summary["flows"]] == [
        [flow[key] for key in keys] for flow in moving.summary["flows"]
    ]
    assert panel(bare, "bottleneck").views[0].lanes


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ({"core": (0.2, 0.9), "edge": (0.7, 0.8), "spare": (0.0, 0.3)}, ["edge", "core"]),
        ({"core": (0.2, 0.9), "bottleneck": (0.1, 0.5)}, ["bottleneck"]),
        ({"core": (None, 0.4), "edge": (None, 0.6)}, ["edge"]),
        ({}, []),
    ],
)
def test_the_main_link_of_a_study_is_found(links: Any, expected: list[str]) -> None:
    rows = [{"link": name, "bottleneck_share": share, "utilisation": used} for name, (share, used) in links.items()]
    schema = {"link": pl.String, "bottleneck_share": pl.Float64, "utilisation": pl.Float64}
    frames: Any = SimpleNamespace(links=pl.DataFrame(rows, schema=schema))
    assert limited_links(frames) == expected
    assert main_link(frames) == (expected[0] if expected else "")


def test_many_flows_have_a_lane_per_path(tmp_path: Path) -> None:
    of = run(tmp_path / "run", scenario((20, 10), [Cross(0, 0, 1, 5)], ("cubic",) * 13, duration_s=1))
    (view,) = panel(of, "bottleneck").views
    assert [(lane.name, lane.group) for lane in view.lanes] == [("a → b", None)]
    assert "A lane per path" in view.note
    (blocks,) = view.marks
    assert isinstance(blocks, States)
    assert blocks.end_s.max() == 1


def test_the_console_names_the_bottleneck_of_each_flow(
    differing: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    print_run(differing, report=False)
    told = capsys.readouterr().out
    assert re.search(r"^f1 cubic .* link1 \(\d+ %\) *$", told, re.MULTILINE)
    assert re.search(r"^cross1 udp .* – *$", told, re.MULTILINE)  # noqa: RUF001
    print_run(run(tmp_path / "run", dumbbell_of()), report=False)
    (head,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("flow ")]
    assert "bottleneck" not in head


def test_the_console_lists_the_links_that_matter_of_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rates = (20, 20, 20, 10, 20, 20, 20)
    print_run(run(tmp_path / "run", scenario(rates, duration_s=1)), report=False)
    told = capsys.readouterr().out
    links = told.split("Rate-limited links")[1].split("\n\n")[0].splitlines()
    assert "12 of 14" in links[0]
    assert links[2].startswith("link3 "), "the bottleneck comes first"
    assert len(links) == 2 + 12
