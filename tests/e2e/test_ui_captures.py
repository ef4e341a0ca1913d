"""A capture is dropped into the page: the answer in words, estimates, what another algorithm would do, a scenario."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from accessibility import serious, too_wide
from application import DUMBBELL, Application
from playwright.sync_api import Browser, Page, expect
from stages import thorough_after

import dumbbell
from dumbbell.captures.points import FILE, interfaces
from tools import whatif

pytestmark = [
    pytest.mark.skipif(not (whatif.WEB / "simulator.wasm").exists(), reason="tools/wasm has built no simulator"),
    pytest.mark.xdist_group("captures"),
]
SCENARIO: dict[str, Any] = {
    "name": "policed",
    "duration": "8 s",
    "topology": {
        "kind": "dumbbell",
        "pairs": 1,
        "rtt": "40 ms",
        "bottleneck": {
            "rate": "20 Mbit/s",
            "buffer": "100 kB",
            "policer": {"rate": "6 Mbit/s", "burst": "40 kB"},
        },
    },
    "flows": [{"from": "s1", "to": "r1", "cc": "cubic"}],
    "record": {"capture": True, "packets": False, "acks": False},
}


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A capture of all interfaces of a bottleneck, and those where a sender would have taken it."""
    run = dumbbell.run(SCENARIO, (), tmp_path_factory.mktemp("captured"), engine="simulate", report=False)
    return run.directory / FILE, list(interfaces(run.plan, "sender"))


def answered(page: Page, capture: tuple[Path, list[str]]) -> None:
    """Drop the capture, and name the sender's interfaces when the page asks for them."""
    file, sender = capture
    page.get_by_role("link", name="Captures").click()
    page.locator(".captures input[type=file]").set_input_files(file)
    expect(page.get_by_role("alert")).to_contain_text("shows no end of the path alone")
    page.get_by_label("Interfaces").fill(", ".join(sender))
    page.get_by_role("button", name="Fit it").click()
    page.wait_for_selector(".captures-answer")
    page.wait_for_selector(".whatif .plot canvas")
    page.wait_for_selector(".whatif:not([data-busy])")


def test_a_capture_becomes_an_answer_and_a_scenario(
    application: Application, page: Page, capture: tuple[Path, list[str]]
) -> None:
    answered(page, capture)
    application.forget_refusals(400)
    file, sender = capture
    words = [word for name in sender for word in ("--interface", name)]
    told = json.loads(subprocess.check_output([DUMBBELL, "fit", file, *words, "--json"]))
    assert told["answer"][0].startswith("A policer limits this transfer")
    for sentence in told["answer"]:
        expect(page.locator(".captures-answer")).to_contain_text(sentence)
    rows = page.locator(".captures > .estimates tbody tr")
    assert [row.locator("th, td").all_inner_texts() for row in rows.all()] == told["table"]
    titles = page.locator(".whatif-plots h3, .whatif-plots .frame-head").all_inner_texts()
    assert all(any(name in title for title in titles) for name in ("Goodput", "RTT", "Bytes in flight")), titles
    expect(page.locator(".kept-note")).to_have_text("Pale and dashed: measured.")
    # Measured and simulated goodput of the whole transfer: a policer's rate less headers.
    now, _, before = page.locator(".whatif-figures td.n").first.inner_text().partition("\n")
    assert float(now) == pytest.approx(float(before), rel=0.1)
    assert float(before) == pytest.approx(told["goodput_bps"] / 1e6, rel=0.05)

    page.get_by_label("reno", exact=True).check()
    page.get_by_role("button", name="Repeat the transfer").click()
    repeated = page.get_by_label("What if").locator("tbody tr th")
    expect(repeated).to_have_text(
        ["captured", "as captured, cubic", "cc = bbr3", "cc = bbr", "cc = reno", "queue = fq-codel"]
    )

    rate = page.get_by_label("Rate of Bottleneck, in Mbit/s")
    rate.fill("3")
    rate.press("Enter")
    expect(page.locator(".exactly code").first).to_contain_text("topology.bottleneck.rate=3 Mbit/s")
    page.get_by_role("button", name="Save as a scenario").click()
    page.get_by_role("textbox", name="File").fill("path.toml")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    page.wait_for_selector(".editor .canvas")
    saved = application.text("path.toml")
    assert 'rate = "3 Mbit/s"' in saved
    assert "policer = { rate =" in saved
    page.go_back()
    page.wait_for_selector(".captures-answer")


def test_a_fit_is_cancelled(application: Application, page: Page, capture: tuple[Path, list[str]]) -> None:
    page.evaluate("location.hash = '#/captures'")
    # Its answer never comes.
    page.route("**/api/fit?*", lambda _: None)
    page.locator(".captures input[type=file]").set_input_files(capture[0])
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".captures-reading")).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize(("width", "scheme"), thorough_after(1, [(390, "dark"), (1440, "light")]))
def test_it_fits_its_window_and_keeps_nobody_out(
    application: Application, browser: Browser, capture: tuple[Path, list[str]], width: int, scheme: str
) -> None:
    page = application.page(browser, width=width, height=844, scheme=scheme)
    page.evaluate("location.hash = '#/captures'")
    page.wait_for_selector(".captures .drop")
    assert [*too_wide(page), *serious(page)] == []
    answered(page, capture)
    application.forget_refusals(400)
    assert [*too_wide(page), *serious(page)] == []
    page.context.close()
