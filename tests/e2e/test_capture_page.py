"""The report of a capture in a browser, opened from disk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_capture import long
from playwright.sync_api import Browser
from stages import thorough_after
from test_report_page import Opened, drag

import dumbbell
from dumbbell.cli import invoke

# Tests of one process share the page.
pytestmark = pytest.mark.xdist_group("capture page")

PANELS = [
    "throughput_bps", "rtt_ms", "in_flight_bytes", "limited_by", "sequence_bytes", "gap_ms", "gaps_percent", "events",
    "ladder",
]  # fmt: skip


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("captured")
    files = [folder / f"{number}.pcap" for number in range(3)]
    for number, file in enumerate(files):
        file.write_bytes(long(2_000, port=40_000 + number))
    return dumbbell.pcap(*files, output=folder / "out").report()


@pytest.fixture
def opened(browser: Browser, page_file: Path, request: pytest.FixtureRequest) -> Iterator[Opened]:
    found = Opened(browser, page_file, scheme=getattr(request, "param", "light"))
    yield found
    found.close()


@pytest.mark.parametrize("opened", thorough_after(1, ["light", "dark"]), indirect=True)
def test_it_opens_offline_and_silently(opened: Opened) -> None:
    plots = opened.page.locator("[data-plot]").evaluate_all("all => all.map(one => one.dataset.plot)")
    assert plots == PANELS
    assert opened.complaints == []
    assert [url for url in opened.requests if not url.startswith(("file:", "data:"))] == []
    assert opened.page.locator(".verdict").inner_text() == "No problems found in the capture."
    rows = opened.page.locator("table[aria-label='Connections'] tbody tr")
    assert rows.count() == 3
    assert "10.0.0.1:40001 → 10.0.0.2:80" in rows.nth(1).inner_text()


def test_a_part_that_was_asked_for_is_shown_first(browser: Browser, page_file: Path) -> None:
    folder = str(page_file.parent)
    assert invoke(["pcap", folder, "--connection", "1", "--from", "1 s", "--to", "1.2 s"]) == 0
    opened = Opened(browser, page_file)
    opened.page.locator(".plot .u-over").first.hover()
    shown = opened.page.get_by_label("Time under the crosshair").inner_text()
    opened.close()
    assert invoke(["pcap", folder]) == 0
    (time_s,) = re.findall(r"[\d.]+", shown)
    assert float(time_s) == pytest.approx(1.1, abs=0.01)


def test_no_legend_reaches_into_its_plot(opened: Opened) -> None:
    wide = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.innerText)"
    assert opened.page.locator(".side").evaluate_all(wide) == []


def test_repeats_have_their_causes_in_colour(opened: Opened) -> None:
    panel = opened.page.locator("[data-plot=sequence_bytes]")
    assert panel.locator(".states li").all_inner_texts() == ["fast"]
    before = panel.locator("canvas").evaluate("canvas => canvas.toDataURL()")
    panel.get_by_label("Direction whose sequence is shown").select_option(index=2)
    assert panel.locator("canvas").evaluate("canvas => canvas.toDataURL()") != before


def test_connections_are_sorted_by_a_column(opened: Opened) -> None:
    table = opened.page.locator("table[aria-label='Connections']")
    numbers = table.locator("tbody th")
    head = table.locator("thead th").filter(has_text="Connection").first
    assert numbers.all_inner_texts() == ["1", "2", "3"]
    for order, sorting in ((["1", "2", "3"], "ascending"), (["3", "2", "1"], "descending")):
        head.locator("button").click()
        assert numbers.all_inner_texts() == order
        assert head.get_attribute("aria-sort") == sorting
    largest = table.locator("thead th").filter(has_text="Most in flight")
    largest.locator("button").press("Enter")
    assert (largest.get_attribute("aria-sort"), head.get_attribute("aria-sort")) == ("descending", None)
    column = table.locator("thead th").all_inner_texts().index(largest.inner_text())
    values = table.locator("tbody tr").evaluate_all(
        f"rows => rows.map(row => Number(row.cells[{column}].dataset.value))"
    )
    assert values == sorted(values, reverse=True)
    assert opened.complaints == []


def test_bytes_are_shown_relative_to_a_rate(opened: Opened) -> None:
    panel = opened.page.locator("[data-plot=sequence_bytes]")
    picture = "canvas => canvas.toDataURL()"
    seen = [panel.locator("canvas").evaluate(picture)]
    choice = panel.get_by_label("Bytes are shown")
    assert not panel.get_by_label("Rate in Mbit/s").is_visible()
    choice.select_option("less the mean rate")
    seen.append(panel.locator("canvas").evaluate(picture))
    choice.select_option("less another rate")
    rate = panel.get_by_label("Rate in Mbit/s")
    assert 7 < float(rate.input_value()) < 9
    rate.fill("4")
    seen.append(panel.locator("canvas").evaluate(picture))
    # The crosshair reads what is shown: at 4 Mbit/s half of what was sent is left.
    panel.locator(".u-over").hover()
    ahead = float(panel.locator(".matrix output").first.inner_text().replace(",", ""))
    choice.select_option("from 0")
    panel.locator(".u-over").hover(position={"x": 5, "y": 20})
    panel.locator(".u-over").hover()
    sent = float(panel.locator(".matrix output").first.inner_text().replace(",", ""))
    assert 0.4 < ahead / sent < 0.6
    opened.page.mouse.move(0, 0)
    assert panel.locator("canvas").evaluate(picture) == seen[0]
    assert len(set(seen)) == 3
    assert opened.complaints == []


def test_the_histogram_of_gaps_has_an_axis_of_its_own(opened: Opened) -> None:
    panel = opened.page.locator("[data-plot=gaps_percent]")
    before = panel.locator("canvas").evaluate("canvas => canvas.toDataURL()")
    drag(opened.page, PANELS.index("throughput_bps"), 0.1, 0.4)
    opened.page.mouse.move(0, 0)
    assert panel.locator("canvas").evaluate("canvas => canvas.toDataURL()") == before
    # A pointer there tells no time.
    panel.locator(".u-over").hover()
    assert opened.page.get_by_label("Time under the crosshair").inner_text() == ""


def test_zooming_shows_single_packets_in_all_panels(opened: Opened) -> None:
    before = opened.drawn()
    place = PANELS.index("sequence_bytes")
    for _ in range(3):
        drag(opened.page, place, 0.05, 0.25)
    opened.page.mouse.move(0, 0)
    after = opened.drawn()
    over_time = [at for at, key in enumerate(PANELS) if key != "gaps_percent"]
    assert all(before[at] != after[at] for at in over_time)
    assert opened.complaints == []


def test_gaps_are_read_on_a_logarithmic_axis(opened: Opened) -> None:
    panel = opened.page.locator("[data-plot=gap_ms]")
    assert panel.locator(".matrix th[scope=col]").all_inner_texts() == ["mean", "longest", "least"]
    panel.locator(".u-over").hover()
    mean, longest, least = (float(text) for text in panel.locator(".matrix output").all_inner_texts()[:3])
    # A segment each ms; those sent again come between two.
    assert 0.9 < mean <= 1
    assert longest == pytest.approx(1)
    assert 0 <= least <= 1
