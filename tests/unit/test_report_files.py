"""The files of `dumbbell report`: the page's words, figures, CSV."""

from __future__ import annotations

import html
import json
import os
import re
import warnings
from pathlib import Path

import polars as pl
import pytest
from stages import thorough_after
from synthetic_run import CHECKS, LATE, SCENARIO, STARVED, Synthetic

from dumbbell import report
from dumbbell.errors import DamagedFile, DumbbellError, InputError, RunFailed
from dumbbell.pipeline import results as pipeline
from dumbbell.plan.wire import document
from dumbbell.records import Run
from dumbbell.records.directory import find
from dumbbell.report import words, write_file
from dumbbell.report.render import tables
from dumbbell.report.render.markup import Html, el

ATTACK = '</title><script>alert("1")</script>'


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(Synthetic().write(tmp_path_factory.mktemp("run") / "run"))


@pytest.fixture
def assets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without the built front end: these tests are about words."""
    from dumbbell.report.render import html as module

    read = module.read
    monkeypatch.setattr(module, "read", lambda name: "" if name.startswith("assets/") else read(name))


def page(run: Run, tmp_path: Path) -> str:
    return report.write_html(run, tmp_path / "out" / "report.html").read_text()


def visible(page: str) -> str:
    """The words of the body in their order."""
    body = page[page.index("<body>") : page.index('<script type="application/json"')]
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))).strip()


BUSY = Synthetic(
    dropped_as=("dropped-early",), marked_share=0.1, slow_from_s=12, events=((15, {"up": False}), (15.5, {}))
)


@pytest.mark.usefixtures("assets")
class TestPage:
    def test_first_words_are_the_verdict(self, run: Run, tmp_path: Path) -> None:
        assert visible(page(run, tmp_path)).startswith("valid all 5 checks passed bbr-vs-cubic")

    def test_an_invalid_run_says_so_and_why(self, tmp_path: Path) -> None:
        spec = Synthetic(verdict="invalid", checks=[*CHECKS[1:], LATE, STARVED])
        text = visible(page(Run(spec.write(tmp_path / "run")), tmp_path))
        assert text.startswith("invalid 2 of 6 checks did not pass lateness : p99 51,204 us, allowed <= 300 us.")
        assert "The emulator was stopped" in text

    def test_other_attempts_are_counted_in_the_first_line(self, tmp_path: Path) -> None:
        spec = Synthetic(attempts={"failed": 2, "excluded": 1})
        text = visible(page(Run(spec.write(tmp_path / "run")), tmp_path))
        assert text.startswith("valid all 5 checks passed other attempts: 2 failed and 1 excluded as invalid")

    def test_packet_events_are_listed_by_reason(self, run: Run, tmp_path: Path) -> None:
        text = visible(page(Run(BUSY.write(tmp_path / "run")), tmp_path))
        expected = "Packet events Link Packets Dropped ECN-marked early bottleneck 100,000 35 10,000 (10.0 %)"
        assert expected in text
        assert "Packet events" not in visible(page(run, tmp_path)), "the table of links says it all"

    def test_changes_are_a_table(self, run: Run, tmp_path: Path) -> None:
        text = visible(page(Run(BUSY.write(tmp_path / "run")), tmp_path))
        assert "Changes At Link or router From then on 15 s bottleneck down 15.5 s bottleneck up" in text
        assert "Changes At" not in visible(page(run, tmp_path))

    def test_the_facts_are_in_words(self, tmp_path: Path) -> None:
        directory = BUSY.write(tmp_path / "run")
        plan = json.loads((directory / "plan.json").read_text())
        loss = {"model": "independent", "probability": 0.01}
        corruption = {"probability": 0.002, "correlation": 0.0}
        plan["links"][0] |= {"loss_before": [loss], "corruption": corruption}
        (directory / "plan.json").write_text(json.dumps(plan))
        text = visible(page(Run(directory), tmp_path))
        assert "Bottleneck 100 Mbit/s on average: 2 steps from 25 Mbit/s to 100 Mbit/s; left → right" in text
        assert "Queue drop-tail Loss 1 % before the queue Duration" in text
        assert "Engine emulate seed 1, packets one by one" in text
        assert "Besides, at bottleneck: 0.2 % corrupted." in text

    def test_a_failed_run_without_summary_is_invalid_and_names_what_is_missing(self, tmp_path: Path) -> None:
        directory = Synthetic().write(tmp_path / "run")
        manifest = json.loads((directory / "manifest.json").read_text())
        manifest |= {"status": "failed", "reason": "the emulator ended"}
        (directory / "manifest.json").write_text(json.dumps(manifest))
        for name in ("summary.json", "samples.parquet", "packets.parquet", "scenario.toml"):
            (directory / name).unlink()
        text = visible(page(Run(directory, incomplete=True), tmp_path))
        assert text.startswith("invalid this run failed: the emulator ended")
        assert "samples.parquet is missing" in text
        assert "packets.parquet is missing" in text

    def test_the_plan_is_its_json(self, run: Run, tmp_path: Path) -> None:
        inside = r"<summary>The plan: every default filled in</summary><pre>(.*?)</pre>"
        (written,) = re.findall(inside, page(run, tmp_path), re.DOTALL)
        assert json.loads(html.unescape(written)) == document(run.plan)

    def test_names_and_scenarios_cannot_become_markup(self, tmp_path: Path) -> None:
        spec = Synthetic(name=ATTACK, scenario=SCENARIO.replace("bbr-vs-cubic", ATTACK.replace('"', "'")))
        written = page(Run(spec.write(tmp_path / "run")), tmp_path)
        assert "<script>alert" not in written
        assert written.count("<script") == 2, "the data and the program"
        assert ATTACK in visible(written)

    def test_a_summary_without_a_verdict_is_refused(self, tmp_path: Path) -> None:
        directory = Synthetic().write(tmp_path / "run")
        summary = json.loads((directory / "summary.json").read_text())
        del summary["checks"]
        (directory / "summary.json").write_text(json.dumps(summary))
        with pytest.raises(DumbbellError, match="lacks checks"):
            page(Run(directory), tmp_path)

    def test_programs_that_are_not_the_kernel_s_are_named(self, run: Run, tmp_path: Path) -> None:
        assert "Congestion controls" not in visible(page(run, tmp_path))
        directory = Synthetic().write(tmp_path / "run")
        manifest = json.loads((directory / "manifest.json").read_text())
        manifest["algorithms"] = [
            {
                "label": "bbr3 (beta_keep=200)",
                "source": {"kind": "bundled", "name": "bbr3"},
                "parameters": {"beta_keep": 200},
                "source_sha256": "d07f0ffe94bc8ae7337a654840fdcec0",
                "registered": "db3_d69cd3",
                "loaded": "run",
            },
            {
                "label": "calm",
                "source": {"kind": "object", "path": "algorithms/calm.bpf.o"},
                "parameters": {},
                "source_sha256": None,
                "registered": "calm_d0fa9c",
                "loaded": "stay",
            },
        ]
        (directory / "manifest.json").write_text(json.dumps(manifest))
        text = visible(page(Run(directory), tmp_path))
        table = text[text.index("Congestion controls Name") : text.index("Links Link")]
        assert "bbr3 (beta_keep=200) bbr3 of dumbbell beta_keep=200 for this run db3_d69cd3 d07f0ffe94bc" in table
        assert "calm algorithms/calm.bpf.o defaults to stay, before this run calm_d0fa9c" in table

    def test_a_simulation_says_that_it_is_one_and_leaves_out_what_it_lacks(self, tmp_path: Path) -> None:
        spec = Synthetic(ccs=("cubic", "bbr3"), acks=True, engine="simulate")
        run = Run(spec.write(tmp_path / "run"))
        text = visible(page(run, tmp_path))
        assert "This is a simulation: no kernel took part." in text
        assert "Engine simulate seed 1" in text
        assert "Congestion controls Name In place of Parameters bbr3 bbr3 of dumbbell defaults Links" in text
        assert "Simulated 20 s in 0.25 s, 80 times as fast as real time" in text
        assert "Cost of simulating" in text
        assert run.repeat in text
        assert run.repeat.endswith("scenario.toml --engine simulate")
        emulated = visible(page(Run(Synthetic(ccs=spec.ccs, acks=True).write(tmp_path / "emulated")), tmp_path))
        for word in ("Registered as", "Privileges", "Kernel", "Sysctls of the hosts", "Cost of emulating"):
            assert word in emulated
            assert word not in text
        assert "This is a simulation" not in emulated

    def test_a_simulation_without_its_acks_says_so(self, tmp_path: Path) -> None:
        directory = Synthetic(engine="simulate").write(tmp_path / "run")
        plan = json.loads((directory / "plan.json").read_text())
        for acks, told in (("auto", True), ("off", False)):
            plan["record"]["acks"] = acks
            (directory / "plan.json").write_text(json.dumps(plan))
            assert ("acks.parquet is missing" in visible(page(Run(directory), tmp_path))) is told

    def test_an_empty_manifest_costs_only_what_it_would_tell(self, tmp_path: Path) -> None:
        directory = Synthetic().write(tmp_path / "run")
        (directory / "manifest.json").write_text('{"status": "complete"}')
        text = visible(page(Run(directory), tmp_path))
        assert text.startswith("valid")
        assert f"Repeat this run dumbbell run {directory}/scenario.toml" in text

    def test_of_many_links_those_that_carried_nothing_have_no_row(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        directory = Synthetic().write(tmp_path / "run")
        summary = json.loads((directory / "summary.json").read_text())
        idle = {**summary["links"][-1], "rate_bps": 1_000_000, "arrived_packets": 0}
        (directory / "summary.json").write_text(json.dumps({**summary, "links": [*summary["links"][:-1], idle]}))
        every, some = visible(page(Run(directory), tmp_path)), "1 other link carried nothing; summary.json lists all."
        monkeypatch.setattr(tables, "_MOST_LINKS", 1)
        few = visible(page(Run(directory), tmp_path))
        assert some not in every
        assert some in few
        assert every.count(f" {idle['name']} ") == few.count(f" {idle['name']} ") + 1


def test_a_front_end_that_was_not_built_is_an_error_with_a_hint(run: Run, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    from dumbbell.report.render import html as module

    monkeypatch.setattr(module, "files", lambda package: tmp_path)
    with pytest.raises(DumbbellError, match="make build"):
        page(run, tmp_path)


@pytest.mark.parametrize(
    ("format", "magic"), thorough_after(1, [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
)
def test_figures_are_written_and_the_same_each_time(run: Run, tmp_path: Path, format: str, magic: bytes) -> None:
    first, second = (report.write(run, format, tmp_path / f"{n}.{format}")[0].read_bytes() for n in (1, 2))
    assert first.startswith(magic)
    assert first == second


@pytest.mark.filterwarnings("error")
def test_figures_of_many_flows_and_of_none(tmp_path: Path) -> None:
    many = Run(Synthetic(ccs=("cubic", "bbr") * 20, duration_s=4, stagger_s=0.05).write(tmp_path / "many"))
    assert len(report.figure(many).axes) == 7
    directory = Synthetic().write(tmp_path / "none")
    for table in directory.glob("*.parquet"):
        table.unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DamagedFile)
        figure = report.figure(Run(directory))
    assert not figure.axes
    assert "samples.parquet is missing" in figure.texts[0].get_text()


def test_units_stand_beside_their_ticks_however_long_a_flow_s_name_is(tmp_path: Path) -> None:
    directory = Synthetic().write(tmp_path / "run")
    summary = json.loads((directory / "summary.json").read_text())
    summary["flows"][0]["label"] = "f1 cubic (with parameters=200 of any kind)"
    (directory / "summary.json").write_text(json.dumps(summary))
    figure = report.figure(Run(directory))
    figure.draw_without_rendering()
    first, lanes = figure.axes[0], figure.axes[-1]
    name = lanes.yaxis.get_tightbbox()
    unit = first.yaxis.label.get_window_extent()
    assert name is not None
    assert name.width > 100
    assert first.bbox.x0 - unit.x1 < 40, "in dots of a hundredth of an inch"


def test_figure_and_run_plot_are_one(run: Run) -> None:
    titles = [axes.get_title(loc="left") for axes in pipeline.Run(run.directory).plot().axes]
    assert titles[:5] == ["Goodput", "Sending rate", "Congestion window", "RTT", "Queue, bottleneck"]


def test_csv_holds_what_the_plots_show_in_units_that_never_change(run: Run, tmp_path: Path) -> None:
    written = {path.name: pl.read_csv(path) for path in report.write(run, "csv", tmp_path / "csv")}
    columns = ["goodput_bps", "sending_rate_bps", "cwnd_packets", "srtt_ms", "queue_bytes", "bytes_in_flight"]
    assert list(written) == [*(f"{column}.csv" for column in columns), "events.csv"]
    assert written["cwnd_packets.csv"].columns == ["time_s", "flow", "cwnd_packets"]
    assert written["cwnd_packets.csv"]["cwnd_packets"].max() == run.samples["cwnd_packets"].max()
    assert run.packets is not None
    assert written["queue_bytes.csv"]["queue_bytes"].max() == pytest.approx(run.packets["queue_bytes"].max())
    assert written["goodput_bps.csv"]["goodput_bps"].max() == pytest.approx(94.7e6, rel=0.01)


def test_csv_of_what_changes(tmp_path: Path) -> None:
    run = Run(BUSY.write(tmp_path / "run"))
    written = {path.name: pl.read_csv(path) for path in report.write(run, "csv", tmp_path / "csv")}
    assert written["goodput_bps.csv"]["flow"].unique().sort().to_list() == ["capacity", "f1", "f2"]
    assert written["sojourn_ms.csv"].columns == ["time_s", "link", "flow", "sojourn_ms"]
    assert written["changes.csv"].rows() == [(15.0, "bottleneck", "down"), (15.5, "bottleneck", "up")]
    assert set(written["events.csv"]["event"]) == {"early", "mark", "retransmission"}


@pytest.mark.filterwarnings("error")
def test_figures_name_changes_and_levels(tmp_path: Path) -> None:
    run = Run(BUSY.write(tmp_path / "run"))
    figure = report.figure(run)
    assert [text.get_text() for text in figure.axes[0].texts] == ["15 s: down"], "the second finds no room"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["f1 cubic", "f2 bbr", "capacity"]
    assert figure.axes[-1].get_title(loc="left") == "Packet events, from above: early, marked, resent"
    assert report.write(run, "svg", tmp_path / "f.svg")


def test_default_places_are_in_the_run_directory(run: Run) -> None:
    assert report.write(run, "svg") == [run.directory / "report.svg"]
    assert report.write(run, "csv")[0].parent == run.directory / "report-csv"


def test_unknown_formats_and_unwritable_places_are_refused(run: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="html, png, svg, pdf, csv"):
        report.write(run, "gif")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="--output"):
        report.write(run, "csv", tmp_path / "file")


def test_the_verb_prints_what_it_wrote(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from dumbbell.cli import invoke

    output = tmp_path / "figure.svg"
    assert invoke(["report", str(run.directory), "--format", "svg", "--output", str(output)]) == 0
    assert capsys.readouterr().out == f"{output}\n"
    assert output.read_bytes().startswith(b"<?xml")
    assert invoke(["report", str(tmp_path)]) == 2
    assert "no manifest.json" in capsys.readouterr().err


def test_active_times_have_two_digits(tmp_path: Path) -> None:
    directory = Synthetic().write(tmp_path / "run")
    summary = json.loads((directory / "summary.json").read_text())
    summary["flows"][0] |= {"start_s": 6.0042e-05, "stop_s": 4.99986}
    (directory / "summary.json").write_text(json.dumps(summary))
    assert "0.00 – 5.00" in tables.flows(Run(directory), ())  # noqa: RUF001  an en dash between numbers


def test_text_is_escaped_and_markup_is_not() -> None:
    assert el("b", "<i>", Html("<i>"), class_='"') == '<b class="&quot;">&lt;i&gt;<i></b>'


def test_words() -> None:
    assert [words.rate(97.34e6), words.rate(1e9), words.rate(None)] == ["97.3 Mbit/s", "1 Gbit/s", words.UNKNOWN]
    told = [words.measured_rate(bps) for bps in (18.93e6, 18.98e6, 19e6, 6e6, 5.996e6, 99.96e6, 240e6, 0.0, None)]
    assert told == [
        *("18.9 Mbit/s", "19.0 Mbit/s", "19.0 Mbit/s", "6.00 Mbit/s", "6.00 Mbit/s", "100 Mbit/s", "240 Mbit/s"),
        *("0 bit/s", words.UNKNOWN),
    ]
    assert [words.size(375_000), words.size(1.5e6)] == ["375 kB", "1.5 MB"]
    assert [words.seconds(20), words.seconds(0.005), words.seconds(0.0002)] == ["20 s", "5 ms", "200 µs"]
    assert [words.count(1, "packet"), words.count(164312, "packet")] == ["1 packet", "164,312 packets"]
    assert [words.share(share) for share in (0.9734, 0, 0.00017)] == ["97.3 %", "0.0 %", "0.017 %"]
    assert words.listed(["a", "b", "c"]) == "a, b and c"
    cost = {"simulated_s": 20.0, "wall_s": 0.3125, "times_real_time": 64.0}
    assert words.speed(cost) == "20 s in 0.31 s, 64 times as fast as real time"
    assert words.speed({**cost, "times_real_time": 12345.6}).endswith(" 12,346 times as fast as real time")
    assert words.speed(None) == words.speed({**cost, "times_real_time": None}) == ""


def test_several_runs_are_reported_each_in_its_place(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from dumbbell.cli import invoke

    runs = [str(run.directory), str(Synthetic(duration_s=2).write(tmp_path / "other"))]
    assert invoke(["report", *runs, "--format", "svg"]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{path}/report.svg" for path in runs]
    assert invoke(["report", *runs, "--format", "svg", "--output", str(tmp_path)]) == 0
    assert {"run.svg", "other.svg"} <= {path.name for path in tmp_path.iterdir()}
    assert invoke(["report", *runs, "--format", "csv", "--output", str(tmp_path / "one")]) == 2
    assert "hint: create it first" in capsys.readouterr().err


def test_a_scenario_s_name_means_its_latest_finished_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for age, name in enumerate(
        ("demo-0123456789ab", "demo-ba9876543210", "demo-two-0123456789ab", "demo-0123.failed-1")
    ):
        (tmp_path / "runs" / name).mkdir(parents=True)
        for file in ("manifest.json", "summary.json"):
            (tmp_path / "runs" / name / file).write_text("{}")
            os.utime(tmp_path / "runs" / name / file, (age, age))
    assert find("demo") == Path("runs/demo-ba9876543210")
    assert find("demo-two") == Path("runs/demo-two-0123456789ab")
    assert find("runs/demo-0123456789ab") == Path("runs/demo-0123456789ab")
    with pytest.raises(InputError, match="no run at dem"):
        find("dem")


def test_what_is_no_regular_file_is_never_replaced(tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match="cannot write /dev/full") as full:
        write_file(Path("/dev/full"), b"page")
    assert full.value.why == "No space left on device"
    assert Path("/dev/full").is_char_device()
    assert write_file(Path("/dev/null"), b"page") == Path("/dev/null")
    for folder in (tmp_path, Path(), Path("/")):
        with pytest.raises(InputError) as refused:
            write_file(folder, b"page")
        assert refused.value.why == "Is a directory"
