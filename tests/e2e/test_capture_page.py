"""The report of a capture in a browser, opened from disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from made_capture import long
from playwright.sync_api import Browser
from test_report_page import Opened, drag

import dumbbell

PANELS = ["throughput_bps", "rtt_ms", "in_flight_bytes", "limited_by", "sequence_bytes", "gap_ms", "events", "ladder"]


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


@pytest.mark.parametrize("opened", ["light", "dark"], indirect=True)
def test_it_opens_offline_and_silently(opened: Opened) -> None:
    plots = opened.page.locator("[data-plot]").evaluate_all("all => all.map(one => one.dataset.plot)")
    assert plots == PANELS
    assert opened.complaints == []
    assert [url for url in opened.requests if not url.startswith(("file:", "data:"))] == []
    assert opened.page.locator(".verdict").inner_text().startswith("complete")
    rows = opened.page.locator("table[aria-label='Connections'] tbody tr")
    assert rows.count() == 3
    assert "10.0.0.1:40001 → 10.0.0.2:80" in rows.nth(1).inner_text()


def test_repeats_have_their_causes_in_colour(opened: Opened) -> None:
    panel = opened.page.locator("[data-plot=sequence_bytes]")
    assert panel.locator(".states li").all_inner_texts() == ["fast"]
    before = panel.locator("canvas").evaluate("canvas => canvas.toDataURL()")
    panel.locator("select").select_option(index=2)
    assert panel.locator("canvas").evaluate("canvas => canvas.toDataURL()") != before


def test_zooming_shows_single_packets_in_all_panels(opened: Opened) -> None:
    before = opened.drawn()
    place = PANELS.index("sequence_bytes")
    for _ in range(3):
        drag(opened.page, place, 0.05, 0.25)
    opened.page.mouse.move(0, 0)
    after = opened.drawn()
    assert all(one != other for one, other in zip(before, after, strict=True))
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
