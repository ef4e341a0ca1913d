"""The report of a study in a browser, opened from disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from synthetic_study import Synthetic

from dumbbell import Study
from dumbbell.report.study import write
from dumbbell.scenario.study import Plot

# Tests of one process share the page.
pytestmark = pytest.mark.xdist_group("study page")

CELLS = [
    {"b.buffer": buffer, "t.rtt": rtt, "queue.kind": kind}
    for buffer in ("0.1 bdp", "1 bdp", "10 bdp")
    for rtt in ("10 ms", "50 ms")
    for kind in ("drop-tail", "codel")
]


def goodput(cell: Any, cc: str) -> float:
    return (20.0 if cc == "cubic" else 40.0) * (2 if cell["queue.kind"] == "codel" else 1)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    told = [{"expectation": "jain_index >= 0.95", "answer": "fails", "why": "mean 0.9, 3 runs (all cells alike)"}]
    judged, reasons = {4: "suspect", 16: "suspect"}, {4: "lateness, stall", 16: "stall"}
    known = Synthetic(
        cells=CELLS, repeat=3, goodput_mbit=goodput, fct_s=1.0, verdicts=judged, reasons=reasons,
        manifest={"expectations": told},
    )  # fmt: skip
    study = Study(known.write(folder / "study"))
    return write(study, "html", folder / "study.html")[0]


@pytest.fixture
def complaints() -> list[str]:
    return []


@pytest.fixture(
    params=[("light", 1280), pytest.param(("dark", 390), marks=pytest.mark.thorough)], ids=["desktop", "phone"]
)
def page(browser: Browser, path: Path, complaints: list[str], request: pytest.FixtureRequest) -> Iterator[Page]:
    scheme, width = request.param
    opened = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", lambda asked: complaints.append(asked.url) if not asked.url.startswith("file:") else None)
    opened.set_default_timeout(60_000)
    opened.goto(path.as_uri())
    opened.wait_for_selector(".card svg")
    yield opened
    opened.close()


def card(page: Page, name: str) -> Any:
    return page.locator(f'.card[data-plot="{name}"]').first


def test_opens_offline_silently_and_fits(page: Page, complaints: list[str]) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert card(page, "goodput_share").locator("path.curve").count() == 4
    assert card(page, "heat").locator("rect").count() == 6
    assert card(page, "cdf-fct").locator("path.curve").count() == 4
    assert complaints == []


def test_a_point_opens_its_runs_with_a_command_for_each(page: Page, complaints: list[str]) -> None:
    drawing = card(page, "goodput_share").locator(".canvas svg")
    drawing.focus()
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        drawing.press(key)
    dialog = page.locator("dialog.runs")
    assert "buffer 1 bdp" in dialog.locator("h3").inner_text()
    assert "n = 3" in dialog.inner_text()
    rows = dialog.locator("tbody tr")
    assert rows.count() == 3
    rows.nth(2).locator("button").click()
    seed = rows.nth(2).locator("td").first.inner_text()
    command = dialog.locator("pre").inner_text()
    assert f"--cell 4 --repetition {int(seed) - 1}" in command
    judged = dialog.locator("td.judged").all_inner_texts()
    assert sorted(judged) == ["suspect (lateness, stall)", "suspect (stall)", "valid"]
    assert "2 of 3 runs suspect" in dialog.inner_text()
    dialog.locator("button.close").click()
    assert not dialog.is_visible()
    assert complaints == []


def test_the_first_lines_say_how_far_it_can_be_trusted(page: Page) -> None:
    banner = page.locator(".verdict")
    assert banner.locator("strong").inner_text() == "suspect"
    assert banner.evaluate("one => one.classList.contains('invalid')"), "an expectation failed"
    told = banner.inner_text()
    assert "36 runs: 34 valid, 2 suspect (stall 2, lateness 1)" in told
    assert "1 of 1 expectation failed" in told
    assert "jain_index >= 0.95: fails: mean 0.9, 3 runs" in told


def test_runs_on_disk_have_the_command_that_writes_their_report(browser: Browser, tmp_path: Path) -> None:
    directory = Synthetic(manifest={"engine": "emulate"}).write(tmp_path / "study")
    (directory / "runs").mkdir()
    opened = browser.new_page()
    opened.goto(write(Study(directory), "html")[0].as_uri())
    opened.locator("button.point").first.click()
    assert opened.locator("dialog.runs a").count() == 0
    row = opened.locator("dialog.runs tbody tr").first
    row.locator("button").click()
    run_id = row.locator("code").inner_text()
    assert opened.locator("#again").inner_text() == f"dumbbell report {directory}/runs/synthetic-{run_id}"
    opened.close()


def test_an_algorithm_alone_in_a_plot_has_its_own_colour(browser: Browser, tmp_path: Path) -> None:
    cells = [{"t.rtt": rtt} for rtt in ("10 ms", "30 ms", "50 ms")]
    study = Study(Synthetic(cells=cells, ccs=("udp", "cubic")).write(tmp_path / "study"))
    opened = browser.new_page()
    opened.goto(write(study, "html")[0].as_uri())

    def colours(name: str) -> list[str | None]:
        found = opened.locator(f'.card[data-plot="{name}"]').last.locator(".canvas g.series").all()
        return [one.get_attribute("style") for one in found]

    opened.wait_for_selector(".card svg")
    of_udp, of_cubic = colours("rtt_p50")
    assert of_udp != of_cubic
    assert colours("retransmitted_segments") == [of_cubic]
    assert colours("utilisation") == [None], "neutral"
    opened.close()


@pytest.mark.parametrize(("across", "count"), [(None, 4), ("case", 1)])
def test_bars_that_pictures_draw_apart_stand_apart(
    browser: Browser, tmp_path: Path, across: str | None, count: int
) -> None:
    """Where bars differ more than twentyfold, and nobody asked for the key across, as in the study's pictures."""
    cells = [{"case": case, "b.cc": cc} for case in ("slow", "b", "c", "d") for cc in ("cubic", "reno")]
    known = Synthetic(
        cells=cells, repeat=2, ccs=("cubic",), goodput_mbit=lambda cell, _: 2.0 if cell["case"] == "slow" else 50.0
    )
    study = Study(known.write(tmp_path / "study"))
    opened = browser.new_page(viewport={"width": 390, "height": 900})
    described = None if across is None else Plot(across=across)
    opened.goto(write(study, "html", described=described)[0].as_uri())
    opened.wait_for_selector(".card svg")
    goodput = card(opened, "goodput")
    assert goodput.locator(".canvas > svg").count() == count
    assert goodput.locator("rect.bar").count() == 8
    assert len(study.plot("goodput", by="run", across=across).axes) == count
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if across is None:
        first = goodput.locator(".canvas").first
        assert first.locator("text.title").last.inner_html() == "slow"
        assert first.locator("rect.bar").first.bounding_box()["height"] > 60  # type: ignore[index]
    goodput.locator("button.name").first.click()
    assert goodput.locator("rect.bar").count() == 4
    opened.get_by_label("across").first.select_option(index=1)
    assert goodput.locator(".canvas > svg").count() == 1
    opened.get_by_label("across").first.select_option(index=0)
    assert goodput.locator(".canvas > svg").count() == count
    assert goodput.locator("rect.bar").count() == 4, "what is hidden stays so"
    opened.close()


def test_a_number_of_a_table_opens_its_runs(page: Page) -> None:
    page.locator("button.point").first.click()
    assert page.locator("dialog.runs tbody tr").count() == 3


def test_the_reader_chooses_what_is_drawn_how(page: Page, complaints: list[str]) -> None:
    axis = card(page, "goodput").locator("text.title").first
    assert axis.inner_html() == "buffer (bdp)"
    page.get_by_label("across").first.select_option(label="kind")
    assert axis.inner_html() == "kind"
    assert card(page, "goodput_share").locator("rect.bar").count() == 8
    page.get_by_label("curves by").select_option(label="none")
    assert card(page, "goodput_share").locator("rect.bar").count() == 4
    assert complaints == []


def test_the_pointer_reads_a_point(page: Page) -> None:
    drawing = card(page, "utilisation").locator(".canvas svg")
    drawing.scroll_into_view_if_needed()
    # Two curves meet in this point: whichever is described, it is of one cell.
    point = drawing.locator("circle:not(.ring)").first.bounding_box()
    assert point is not None
    page.mouse.move(point["x"] + 2, point["y"] + 2)
    assert "95 %:" in card(page, "utilisation").locator(".tip").inner_text()


def test_a_legend_s_entry_shows_and_hides_its_curve_in_all_plots(page: Page, complaints: list[str]) -> None:
    entry = card(page, "goodput_share").locator("button.name").nth(1)
    assert entry.inner_text() == "CUBIC, rtt 50 ms"
    entry.click()
    for name in ("goodput_share", "rtt_p50", "cdf-fct"):
        assert card(page, name).locator(".canvas path.curve").count() == 3, name
        assert card(page, name).locator("button.name").nth(1).get_attribute("aria-pressed") == "false"
    entry.click(modifiers=["Shift"])
    assert card(page, "rtt_p50").locator(".canvas path.curve").count() == 1
    entry.click(modifiers=["Shift"])
    assert card(page, "rtt_p50").locator(".canvas path.curve").count() == 4
    assert complaints == []


def test_a_colour_means_one_thing_on_the_page(page: Page) -> None:
    def colours(name: str) -> set[str | None]:
        found = card(page, name).locator(".canvas g.series").all()
        return {one.get_attribute("style") for one in found}

    of_algorithms = colours("goodput_share")
    assert len(of_algorithms) == 2
    assert colours("cdf-fct") == of_algorithms
    assert len(colours("utilisation")) == 2
    assert not colours("utilisation") & of_algorithms, "curves of no algorithm have colours of their own"


def test_any_table_can_be_chosen(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opens a study with more tables than its page lists."""
    monkeypatch.setattr("dumbbell.report.study.page.MOST_TABLES", 1)
    cells = [{"t.rtt": rtt, "queue.kind": kind} for rtt in ("10 ms", "50 ms") for kind in ("codel", "pie", "red")]
    opened = browser.new_page()
    opened.goto(write(Study(Synthetic(cells=cells).write(tmp_path / "study")), "html")[0].as_uri())
    table = opened.locator("#any-table")
    table.get_by_label("metric").select_option(label="Queueing delay, 95th percentile, bottleneck (ms)")
    table.get_by_label("across").select_option(label="kind")
    assert table.locator("tbody th").all_inner_texts() == ["codel", "pie", "red"]
    table.locator("button.point").first.click()
    assert "9.00 ms" in opened.locator("dialog.runs").inner_text()
    opened.close()
