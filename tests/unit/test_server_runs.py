"""Runs of a workspace as the web application sees them: lists, places, what they tell, comparisons."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import HTTPException
from serving import Served, serving
from synthetic_run import CHECKS, LATE, Synthetic

from dumbbell.errors import InputError
from dumbbell.pipeline.results import Run
from dumbbell.records.directory import PARTIAL, RunDirectory
from dumbbell.records.files import write_json
from dumbbell.records.progress import FILE, kept
from dumbbell.report import overlay
from dumbbell.server import children, live, run_places
from dumbbell.server.children import Children
from dumbbell.server.results import AT_LEAST, Listing
from dumbbell.server.run_messages import AskRows, AskTable, RunTable

RUN_ID = "0123456789ab"


def run(root: Path, name: str, **keys: Any) -> Path:
    """A complete run in the workspace."""
    spec = Synthetic(name=name, duration_s=2, packets=False, **keys)
    return spec.write(root / "runs" / f"{name}-{RUN_ID}")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("workspace")
    run(root, "alpha")
    run(root, "beta", ccs=("cubic", "cubic"), verdict="invalid", checks=[*CHECKS[1:], LATE])
    run(root, "gamma", rate_bps=20e6)
    return root


@pytest.fixture(scope="module")
def served(workspace: Path) -> Iterator[Served]:
    with serving(workspace) as found:
        yield found


# The table


def table(root: Path, **asked: Any) -> RunTable:
    return Listing(root).table(AskTable(**asked))


def named(found: RunTable) -> list[str]:
    return [one.removesuffix(f"-{RUN_ID}") for one in found.ids]


def scenario(path: Path, text: str, overrides: list[str] | None = None) -> None:
    """Give a run another scenario."""
    (path / "scenario.toml").write_text(text)
    manifest = json.loads((path / "manifest.json").read_text())
    write_json(path / "manifest.json", {**manifest, "name": "same", "overrides": overrides or []})


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of one scenario, with three buffers and two rates."""
    root = tmp_path_factory.mktemp("varied")
    for number, (name, rate, buffer) in enumerate(
        [("a", "900 kbit/s", "2 bdp"), ("b", "10 Mbit/s", "0.5 bdp"), ("c", "10 Mbit/s", "1 bdp")]
    ):
        path = run(root, name, rate_bps=20e6 * (number + 1))
        scenario(path, f'name = "same"\nseed = 3\n[bottleneck]\nrate = "{rate}"\nbuffer = "{buffer}"\n')
        os.utime(path / "scenario.toml", (number, number))
    return root


def test_the_table_is_newest_first_and_says_what_came_of_each(workspace: Path) -> None:
    for number, name in enumerate(("beta", "alpha", "gamma")):
        os.utime(workspace / "runs" / f"{name}-{RUN_ID}" / "scenario.toml", (number, number))
    found = table(workspace)
    assert named(found) == ["gamma", "alpha", "beta"]
    assert (found.total, found.running, found.groups) == (3, 0, [])
    beta = found.rows[2]
    assert (beta.verdict, beta.checks, beta.left_over) == ("invalid", ["lateness"], False)


def test_search_looks_at_names_settings_flows_tags_and_checks(workspace: Path, varied: Path) -> None:
    def names(**wanted: str) -> set[str]:
        return set(named(table(workspace, **wanted)))

    assert names(search="lateness") == {"beta"}
    assert names(search="ALPHA") == {"alpha"}
    assert names(verdict="invalid") == {"beta"}
    assert names(search="gamma bbr") == {"gamma"}
    assert names(search="nothing of the kind") == set()
    assert set(named(table(varied, search="rate=10 buffer=1"))) == {"c"}


def test_columns_are_what_differs_and_the_commonest_figures(varied: Path) -> None:
    found = table(varied)
    assert found.shown[:2] == ["bottleneck.rate", "bottleneck.buffer"]
    columns = {one.key: one for one in found.columns}
    assert [columns[key].title for key in found.shown[:5]] == [
        "rate",
        "buffer",
        "total goodput",
        "Jain's index",
        "f1 goodput",
    ]
    assert (columns["seed"].differs, columns["bottleneck.rate"].differs) == (False, True)
    assert all(one.runs == 3 for one in found.columns)
    row = next(one for one in found.rows if one.id.startswith("a-"))
    assert row.cells[:2] == ["900 kbit/s", "2 bdp"]
    summary = json.loads((varied / "runs" / row.id / "summary.json").read_text())
    goodput = found.shown.index(next(key for key in found.shown if columns[key].title == "f1 goodput"))
    assert row.cells[goodput] == pytest.approx(summary["flows"][0]["goodput_bps"] / 1e6)


def test_names_say_by_what_runs_differ(varied: Path, tmp_path: Path) -> None:
    assert [one.label for one in table(varied).rows] == [
        "rate 10 Mbit/s, buffer 1 bdp",
        "rate 10 Mbit/s, buffer 0.5 bdp",
        "rate 900 kbit/s, buffer 2 bdp",
    ]
    one, two = run(tmp_path, "one"), run(tmp_path, "two")
    scenario(one, 'name = "same"\n[[flows]]\ncc = "bbr"\nstart = "1 s"\n', ["flows.0.start=1 s"])
    scenario(two, 'name = "same"\n[[flows]]\ncc = "cubic"\n')
    assert {one.label for one in table(tmp_path).rows} == {"flows.0.cc bbr, flows.0.start 1 s", "flows.0.cc cubic"}
    manifest = json.loads((two / "manifest.json").read_text())
    write_json(two / "manifest.json", {**manifest, "scenario_source": "lab/my net.toml"})
    assert {one.name for one in table(tmp_path).rows} == {"same", "same (my net.toml)"}


def test_values_are_sorted_by_what_they_mean(varied: Path) -> None:
    assert named(table(varied, sort="bottleneck.rate"))[0] == "a"
    assert named(table(varied, sort="bottleneck.buffer")) == ["b", "c", "a"]
    assert named(table(varied, sort="bottleneck.buffer", descending=True)) == ["a", "c", "b"]
    assert len(named(table(varied, sort="no such column"))) == 3


def test_runs_without_a_value_come_last_in_either_order(tmp_path: Path) -> None:
    for name, text in {"none": "", "one": "seed = 1", "ten": "seed = 10", "nine": "seed = 9"}.items():
        scenario(run(tmp_path, name), text)
    assert named(table(tmp_path, sort="seed")) == ["one", "nine", "ten", "none"]
    assert named(table(tmp_path, sort="seed", descending=True)) == ["ten", "nine", "one", "none"]


def test_groups_have_common_settings_and_means(varied: Path) -> None:
    found = table(varied, group="bottleneck.rate", sort="bottleneck.buffer", columns=["bottleneck.buffer", "seed"])
    assert [(one.value, one.runs, one.cells) for one in found.groups] == [
        ("900 kbit/s", 1, ["2 bdp", "3"]),
        ("10 Mbit/s", 2, [None, "3"]),
    ]
    assert named(found) == ["a", "b", "c"]
    figure = next(one.key for one in found.columns if one.title == "total goodput")
    one, two = (row.cells[0] for row in table(varied, columns=[figure], search="rate=10").rows)
    group = table(varied, group="bottleneck.rate", columns=[figure]).groups[1]
    assert isinstance(one, float)
    assert isinstance(two, float)
    assert group.cells == [pytest.approx((one + two) / 2)]


def test_a_row_changes_when_its_run_does(tmp_path: Path) -> None:
    path = run(tmp_path, "delta")
    listing = Listing(tmp_path)
    assert listing.table(AskTable()).rows[0].tags == []
    manifest = json.loads((path / "manifest.json").read_text())
    write_json(path / "manifest.json", {**manifest, "tags": ["baseline"]})
    found = listing.table(AskTable(tag="baseline"))
    assert [one.tags for one in found.rows] == [["baseline"]]
    assert found.tags == ["baseline"]
    shutil.rmtree(path)
    assert listing.rows(AskRows(ids=[path.name])).rows == []
    assert listing.table(AskTable()).ids == []


def test_rows_come_as_they_are_asked_for(tmp_path: Path) -> None:
    first = run(tmp_path, "many")
    for number in range(24):
        shutil.copytree(first, first.with_name(f"{first.name}.{number + 1}"))
    listing = Listing(tmp_path)
    found = listing.table(AskTable(rows=10))
    assert (len(found.ids), [one.id for one in found.rows]) == (25, found.ids[:10])
    later = listing.rows(AskRows(ids=[found.ids[20], "../gone", found.ids[12]], columns=found.shown))
    assert [one.id for one in later.rows] == [found.ids[20], found.ids[12]]
    assert all(len(one.cells) == len(found.shown) for one in later.rows)


def test_of_thousands_of_new_runs_the_latest_are_given_first(tmp_path: Path) -> None:
    first = run(tmp_path, "many")
    for number in range(AT_LEAST + 20):
        copy = first.with_name(f"{first.name}.{number + 1}")
        copy.mkdir()
        for name in ("manifest.json", "summary.json", "scenario.toml"):
            os.link(first / name, copy / name)
    listing = Listing(tmp_path, patience_s=0)
    found = listing.table(AskTable())
    assert (len(found.ids), found.total, found.unread) == (AT_LEAST, AT_LEAST, 21)
    found = listing.table(AskTable())
    assert (len(found.ids), found.total, found.unread) == (AT_LEAST + 21, AT_LEAST + 21, 0)


# Places


@pytest.mark.parametrize("name", ["..", ".", "a/b", "../x", "", "a\0b", "x" * 300])
def test_what_is_no_name_of_a_run_is_not_looked_for(tmp_path: Path, name: str) -> None:
    with pytest.raises(HTTPException):
        run_places.find(tmp_path, name)


def test_the_id_of_a_run_that_went_on_leads_to_what_became_of_it(tmp_path: Path) -> None:
    writing = RunDirectory.begin(tmp_path / "runs", "mine", RUN_ID)
    going = writing.path.name
    assert run_places.pid_of(going) == os.getpid()
    assert run_places.find(tmp_path, going) == writing.path
    (writing.path / "scenario.toml").write_text("")
    write_json(writing.path / "manifest.json", {"status": "running"})
    assert run_places.standing(writing.path).status == "running"
    assert children.holder(writing.path / "lock") == os.getpid()
    ended = writing.fail("failed", "it was too much")
    assert run_places.find(tmp_path, going) == ended
    standing = run_places.standing(ended)
    assert (standing.status, standing.problem) == ("failed", "it was too much")


def test_nobody_is_stopped_who_does_not_work_there(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    with pytest.raises(InputError, match="is not going on"):
        children.stop_holder(tmp_path / "lock", "early", [os.getpid()], "the run x")


# What a run tells


def progress(number: int) -> dict[str, Any]:
    return {"event": "progress", "time_ns": number, "flows": [], "links": []}


def test_events_are_kept_in_the_run_s_directory(tmp_path: Path) -> None:
    heard: list[Any] = []
    with kept(tmp_path, heard.append, {"event": "planned", "plan": object()}) as tell:
        tell(progress(1))
        lines = (tmp_path / FILE).read_text().splitlines()
        assert [json.loads(line) for line in lines] == [{"event": "planned"}, progress(1)]
    assert heard == [progress(1)]


def test_a_tail_follows_a_directory_that_is_renamed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    tail = live.Tail(tmp_path / "a")
    try:
        assert tail.lines() == []
        with (tmp_path / "a" / FILE).open("w", buffering=1) as file:
            file.write("one\ntw")
            assert tail.lines() == [b"one"]
            (tmp_path / "a").rename(tmp_path / "b")
            file.write("o\n")
            assert tail.lines() == [b"two"]
        assert (tail.number, tail.path) == (2, tmp_path / "b")
    finally:
        tail.close()


def test_who_comes_back_gets_what_was_missed_and_nothing_twice() -> None:
    lines = [json.dumps(progress(number)).encode() for number in range(10)]
    (replay,) = live.parsed(lines, 0, 4)
    assert replay["event"] == "replay"
    assert [event["n"] for event in replay["events"]] == [4, 5, 6, 7, 8, 9]
    assert replay["n"] == 9
    assert list(live.parsed(lines[9:], 9, 10)) == []
    (one,) = live.parsed([lines[9]], 9, 0)
    assert (one["event"], one["n"]) == ("progress", 9)


def test_of_a_long_run_only_progress_is_left_out() -> None:
    many = 3 * live.MOST_PROGRESS
    events = [{"event": "changed", "n": 5}, *({**progress(number), "n": number} for number in range(many))]
    events.insert(1000, {"event": "refused", "n": 1})
    found = live.thinned(events)
    assert len(found) == live.MOST_PROGRESS + 2
    assert {"changed", "refused"} <= {event["event"] for event in found}
    assert found[-1] == events[-1]


def test_a_damaged_line_is_left_out() -> None:
    assert [event["n"] for event in live.parsed([b"{", b'{"event": "x"}'], 0, 0)] == [1]


async def heard(root: Path, name: str, since: int | None, enough: int) -> list[Any]:
    found = []
    async for event in live.Live(root, Children(root))(name, since):
        found.append(event)
        if len(found) == enough:
            break
    return found


def test_a_topic_begins_with_the_state_and_ends_with_the_end(tmp_path: Path) -> None:
    writing = RunDirectory.begin(tmp_path / "runs", "mine", RUN_ID)
    going = writing.path.name
    write_json(writing.path / "manifest.json", {"status": "running"})
    (writing.path / "scenario.toml").write_text("")

    async def follow() -> list[Any]:
        task = asyncio.create_task(heard(tmp_path, going, None, 4))
        with kept(writing.path, lambda _: None) as tell:
            await asyncio.sleep(0.15)
            tell(progress(1))
            await asyncio.sleep(0.15)
            tell(progress(2))
            await asyncio.sleep(0.15)
        writing.fail("interrupted", "somebody stopped it")
        return await asyncio.wait_for(task, 10)

    first, one, two, last = asyncio.run(follow())
    assert (first["event"], first["status"], first["id"]) == ("state", "running", going)
    assert [(one["time_ns"], one["n"]), (two["time_ns"], two["n"])] == [(1, 0), (2, 1)]
    assert (last["status"], last["id"]) == ("interrupted", f"mine-{RUN_ID}.failed-1")


# Over HTTP


def test_a_run_s_details_have_what_its_plots_need(served: Served) -> None:
    found = served.json("GET", f"/api/runs/alpha-{RUN_ID}")
    assert (found["status"], found["verdict"], found["engine"]) == ("complete", "valid", "emulate")
    legend = found["legend"]
    assert [flow["id"] for flow in legend["flows"]] == ["f1", "f2"]
    assert len(legend["groups"]) == 2
    assert legend["groups"][0]["light"].startswith("#")
    limited = [link for link in legend["links"] if link["rate_bps"]]
    assert limited[0]["buffer_bytes"] > 0
    assert "summary.json" in found["files"]


def test_a_report_has_an_origin_of_its_own(served: Served) -> None:
    status, headers, content = served.ask("GET", f"/api/runs/alpha-{RUN_ID}/report.html")
    assert status == 200
    assert headers["content-security-policy"].startswith("sandbox")
    assert "allow-same-origin" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert content.startswith(b"<!doctype html>")


@pytest.mark.parametrize("name", ["../manifest.json", "%2e%2e%2fx", "logs", "nothing.json"])
def test_only_files_of_the_run_are_given(served: Served, name: str) -> None:
    status, _, _ = served.ask("GET", f"/api/runs/alpha-{RUN_ID}/files/{name}")
    assert status in (400, 404)


def test_a_link_out_of_a_run_is_not_followed(served: Served, workspace: Path) -> None:
    link = workspace / "runs" / f"gamma-{RUN_ID}" / "secret.json"
    link.symlink_to("/etc/passwd")
    try:
        status, _, content = served.ask("GET", f"/api/runs/gamma-{RUN_ID}/files/secret.json")
        assert status == 400
        assert json.loads(content)["why"] == "Its secret.json leads out of the workspace"
    finally:
        link.unlink()


def test_runs_are_compared_settings_first(served: Served) -> None:
    found = served.json("POST", "/api/compare", {"runs": [f"alpha-{RUN_ID}", f"gamma-{RUN_ID}", f"beta-{RUN_ID}"]})
    assert [one["name"] for one in found["runs"]] == ["alpha", "gamma", "beta"]
    settings = {one["key"]: one["values"] for one in found["settings"]}
    assert settings["flows.1.workload.cc"] == ["bbr", "bbr", "cubic"]
    rate = next(values for key, values in settings.items() if key.endswith("rate_bps"))
    assert rate[0] == rate[2] != rate[1]
    goodput = next(one for one in found["figures"] if (one["of"], one["measure"]) == ("f1", "goodput"))
    assert len(goodput["values"]) == 3
    status, _, content = served.ask("POST", "/api/compare", {"runs": [f"alpha-{RUN_ID}"]})
    assert status == 400
    assert json.loads(content)["what"] == "nothing to compare"


def test_runs_lie_over_each_other_as_the_command_draws_them(served: Served, workspace: Path) -> None:
    names = [f"{name}-{RUN_ID}" for name in ("alpha", "gamma")]
    query = "&".join(f"run={name}" for name in names)
    runs = [Run(workspace / "runs" / name) for name in names]
    for format, kind in (("svg", "image/svg+xml"), ("csv", "text/csv")):
        drawn = overlay.content(runs, format, ["goodput"])
        status, headers, content = served.ask("GET", f"/api/overlay.{format}?{query}&plots=goodput")
        assert (status, headers["content-type"].partition(";")[0]) == (200, kind)
        assert "sandbox" in headers["content-security-policy"]
        assert content == drawn
    assert served.ask("GET", f"/api/overlay.tex?{query}")[0] == 400
    assert served.ask("GET", f"/api/overlay.svg?run={names[0]}")[0] == 400


@pytest.mark.parametrize("plot", ["goodput", "rtt", "cwnd", "queue"])
def test_curves_of_records_are_thinned_out(served: Served, plot: str) -> None:
    found = served.json("GET", f"/api/runs/alpha-{RUN_ID}/series?plot={plot}&points=20")
    assert found["curves"]
    for curve in found["curves"]:
        assert 2 <= len(curve["t"]) <= 45
        assert len(curve["t"]) == len(curve["y"])
        assert curve["t"] == sorted(curve["t"])


def test_less_time_has_finer_curves(served: Served) -> None:
    path = f"/api/runs/alpha-{RUN_ID}/series?plot=rtt&points=10"
    (whole, *_) = served.json("GET", path)["curves"]
    middle = 0.25 * whole["t"][0] + 0.75 * whole["t"][-1]
    (part, *_) = served.json("GET", f"{path}&from={middle}&to={whole['t'][-1] + 1}")["curves"]
    assert part["t"][0] >= middle
    assert len(part["t"]) > sum(time >= middle for time in whole["t"])
    assert served.ask("GET", f"{path}&from=-1", None)[0] == 422
    assert all(one["t"] == [] for one in served.json("GET", f"{path}&from=1000&to=2000")["curves"])


def test_a_tag_is_given_and_a_run_removed(tmp_path: Path) -> None:
    run(tmp_path, "alpha")
    run(tmp_path, "beta")
    with serving(tmp_path) as served:
        served.json("POST", "/api/runs/tags", {"ids": [f"beta-{RUN_ID}"], "tag": "base"})
        assert [one["id"] for one in served.json("POST", "/api/runs/table", {"tag": "base"})["rows"]] == [
            f"beta-{RUN_ID}"
        ]
        status, _, _ = served.ask("POST", "/api/runs/tags", {"ids": [f"beta-{RUN_ID}"], "tag": "no tag"})
        assert status == 400
        served.json("POST", "/api/runs/remove", {"ids": [f"beta-{RUN_ID}"]})
        assert [one["id"] for one in served.json("POST", "/api/runs/table", {})["rows"]] == [f"alpha-{RUN_ID}"]
        assert not (tmp_path / "runs" / f"beta-{RUN_ID}").exists()


def test_a_run_that_goes_on_is_not_removed(tmp_path: Path) -> None:
    writing = RunDirectory.begin(tmp_path / "runs", "mine", RUN_ID)
    write_json(writing.path / "manifest.json", {"status": "running"})
    with serving(tmp_path) as served:
        status, _, content = served.ask("POST", "/api/runs/remove", {"ids": [writing.path.name]})
    assert status == 400, content
    assert writing.path.exists()
    fcntl.flock(writing.lock, fcntl.LOCK_UN)


def test_what_is_wrong_with_a_scenario_is_said_before_anything_starts(served: Served, workspace: Path) -> None:
    (workspace / "bad.toml").write_text('name = "bad"\nduration = 5\n')
    status, _, content = served.ask("POST", "/api/runs", {"path": "bad.toml"})
    assert status == 400
    assert json.loads(content)["what"].startswith("bad.toml:2: duration = 5: ")
    for path in ("../x.toml", "runs", "nothing.toml", "/etc/passwd"):
        status, _, _ = served.ask("POST", "/api/runs", {"path": path})
        assert status in (400, 404), path
    assert not list((workspace / "runs").glob(f"{PARTIAL}*"))


@pytest.mark.parametrize("name", ["../x", "a/b", "", "-x", "a b", "x" * 65])
def test_a_lab_s_name_leads_nowhere_else(served: Served, name: str) -> None:
    status, _, _ = served.ask("POST", "/api/labs", {"path": "mine.toml", "name": name})
    assert status == 422


def test_a_file_s_name_is_no_option() -> None:
    assert run_places.argument("--output=x.toml") == "./--output=x.toml"
    assert run_places.argument("a/b.toml") == "a/b.toml"


SIMULATED = """\
name = "short"
duration = "2 s"

[topology]
kind = "dumbbell"
pairs = 1
rtt = "20 ms"
bottleneck = { rate = "5 Mbit/s", buffer = "1 bdp" }

[[flows]]
from = "s1"
to = "r1"
cc = "cubic"
"""


def test_a_run_is_that_of_the_command_line_and_tells_its_events(tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(SIMULATED)
    with serving(tmp_path) as served, served.page() as page:
        started = served.json("POST", "/api/runs", {"path": "short.toml", "engine": "simulate"})
        assert started["kind"] == "run"
        assert started["command"] == "dumbbell run short.toml --engine simulate"
        topic = f"run/{started['id']}"
        assert page.request(do="subscribe", topic=topic)["type"] == "ack"
        until = time.monotonic() + 60
        while time.monotonic() < until:
            page.hear(30)
            events = [one["event"] for one in page.events if one["topic"] == topic]
            if events and events[-1]["event"] == "state" and events[-1]["report"]:
                break
        flat = [one for event in events for one in event.get("events", [event])]
        assert [one["status"] for one in flat if one["event"] == "state"][-1] == "complete"
        told = [one["event"] for one in flat if "n" in one and one["event"] != "replay"]
        assert told[0] == "planned"
        assert "simulating" in told
        assert [one["n"] for one in flat if "n" in one] == sorted({one["n"] for one in flat if "n" in one})
        done = served.json("GET", f"/api/runs/{started['id']}")
    from dumbbell.pipeline.run import run as by_command

    again = by_command(tmp_path / "short.toml", engine="simulate", directory=tmp_path / "again", report=False)
    assert done["run_id"] == again.run_id
    assert done["id"] == f"short-{again.run_id}"
