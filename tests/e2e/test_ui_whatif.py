"""Sliders of "What if" move curves that the page simulates: those of `dumbbell run --engine simulate`."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from application import DUMBBELL, Application, eventually, serving
from playwright.sync_api import Browser, Locator, Page, expect

from dumbbell.records.digests import digests
from dumbbell.scenario import bundled
from dumbbell.scenario.file.toml import parse
from tools import whatif

# Tests of one process share a server.
pytestmark = [
    pytest.mark.skipif(not (whatif.WEB / "simulator.wasm").exists(), reason="tools/wasm has built no simulator"),
    pytest.mark.xdist_group("what if"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """One server for all tests: "What if" changes no file."""
    workspace = tmp_path_factory.mktemp("what-if") / "work"
    workspace.mkdir()
    with serving(workspace) as served:
        yield served


@pytest.fixture
def application(server: Application) -> Iterator[Application]:
    """The shared server. What a page complains about fails the test that opened it."""
    server.complaints.clear()
    yield server
    assert server.complaints == [], "\n".join(server.complaints)


@pytest.fixture
def page(application: Application, browser: Browser) -> Iterator[Page]:
    text = (
        bundled.text("bbr-vs-cubic").replace('duration = "20 s"', 'duration = "5 s"').replace("100 Mbit/s", "40 Mbit/s")
    )
    (application.workspace / "mine.toml").write_text(text)
    opened = application.page(browser)
    application.open(opened, "mine.toml")
    opened.get_by_role("link", name="What if").click()
    settled(opened)
    yield opened
    opened.context.close()


def settled(page: Page) -> None:
    """Wait until the newest values are shown."""
    page.wait_for_selector(".whatif .plot canvas")
    page.wait_for_timeout(100)
    page.wait_for_selector(".whatif:not([data-busy])")


def slider(page: Page, key: str) -> Locator:
    return page.locator(f'[data-knob="{key}"] input[type=range]')


def goodputs(page: Page) -> list[str]:
    return page.locator(".whatif-figures table").first.locator("tbody tr td:nth-child(2)").all_inner_texts()


def drawn(page: Page) -> list[str]:
    return [canvas.evaluate("canvas => canvas.toDataURL()") for canvas in page.locator(".plot canvas").all()]


def digests_shown(page: Page) -> dict[str, str]:
    page.get_by_role("button", name="Digests of its tables").click()
    page.wait_for_selector(".digests")
    found = page.locator(".digests > div")
    return {str(one.get_attribute("data-table")): str(one.get_attribute("data-digest")) for one in found.all()}


def digests_of_command(page: Page, folder: Path) -> dict[str, str]:
    """Digests of the run that the page's own command makes."""
    words = shlex.split(page.locator(".exactly code").first.inner_text())
    assert words[:2] == ["dumbbell", "run"]
    before = set((folder / "runs").glob("[!.]*"))
    subprocess.run([DUMBBELL, *words[1:]], cwd=folder, check=True, capture_output=True)
    (run,) = set((folder / "runs").glob("[!.]*")) - before
    return digests(run)


@pytest.mark.firefox
def test_a_slider_is_dragged_and_the_last_value_is_shown(application: Application, page: Page) -> None:
    """Acceptance scenario 17."""
    before = drawn(page)
    rate = slider(page, "topology.bottleneck.rate")
    box = rate.bounding_box()
    assert box
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.69, middle)
    page.mouse.down()
    for i in range(20):
        page.mouse.move(box["x"] + box["width"] * (0.68 - 0.02 * i), middle)
        page.wait_for_timeout(30)
    page.mouse.up()
    last = rate.get_attribute("aria-valuetext")
    settled(page)
    expect(page.locator(".exactly code").first).to_contain_text(f"topology.bottleneck.rate={last}")
    eventually(lambda: drawn(page) != before)
    # Flows cannot get more than the last value, and one gets a good part of it.
    rate_now = float(str(last).split()[0])
    assert rate_now < 20
    assert 0.5 * rate_now < max(map(float, goodputs(page))) <= rate_now
    assert digests_shown(page) == digests_of_command(page, application.workspace)


def test_any_key_and_words_are_turned_too(application: Application, page: Page) -> None:
    page.locator('[data-knob="flows.1.cc"] select').select_option("bbr3")
    page.get_by_label("One more value").select_option("topology.bottleneck.loss")
    slider(page, "topology.bottleneck.loss").fill("60")
    page.get_by_label("Any key and its value").fill("topology.bottleneck.jitter=2 ms")
    page.keyboard.press("Enter")
    page.locator('[data-knob="seed"] .knob-value input').fill("12")
    page.keyboard.press("Enter")
    settled(page)
    expect(page.locator(".whatif-figures")).to_contain_text("f2 bbr3")
    assert digests_shown(page) == digests_of_command(page, application.workspace)


def test_a_value_that_is_wrong_is_said_as_the_command_line_says_it(application: Application, page: Page) -> None:
    shown = goodputs(page)
    page.get_by_label("Any key and its value").fill("topology.bottleneck.rate=5 apples")
    page.keyboard.press("Enter")
    expect(page.locator(".whatif-problem")).to_contain_text("topology.bottleneck.rate=5 apples")
    assert goodputs(page) == shown
    page.get_by_role("button", name="Leave out topology.bottleneck.rate=5 apples").click()
    expect(page.locator(".whatif-problem")).to_be_hidden()
    # The browser itself notes each request that is refused.
    assert all("400" in one for one in application.complaints)
    application.complaints.clear()


def test_kept_curves_stay_beside_new_ones(page: Page) -> None:
    (cubic, bbr) = goodputs(page)
    page.get_by_role("button", name="Keep these curves").click()
    slider(page, "topology.rtt").focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    settled(page)
    eventually(lambda: goodputs(page)[0] != f"{cubic}\n{cubic}")
    rows = [text.split() for text in goodputs(page)]
    assert [row[1] for row in rows] == [cubic, bbr]
    assert page.locator(".frame-values, .plot").first.inner_text()
    expect(page.locator(".whatif-plots")).to_contain_text("f1 cubic, kept")
    page.get_by_role("button", name="Forget the kept curves").click()
    expect(page.locator(".whatif-plots")).not_to_contain_text("kept")


def simulated(page: Page) -> float:
    said = re.search(r"([\d.]+) of", page.locator(".player-time").inner_text())
    assert said
    return float(said[1])


@pytest.mark.real_time
def test_a_run_is_played_paused_and_stepped(page: Page) -> None:
    whole = goodputs(page)
    page.get_by_label("Speed").select_option("0.25")
    page.get_by_role("button", name="Play from the beginning").click()
    eventually(lambda: 0.2 < simulated(page) < 4)
    page.get_by_role("button", name="Pause").click()
    page.wait_for_timeout(200)
    paused = simulated(page)
    before = drawn(page)
    page.wait_for_timeout(400)
    assert simulated(page) == paused
    assert drawn(page) == before
    page.get_by_role("button", name="One round trip further (30.0 ms)").click()
    eventually(lambda: abs(simulated(page) - paused - 0.03) < 0.002)
    page.get_by_label("Speed").select_option("100")
    page.get_by_role("button", name="Play on").click()
    eventually(lambda: simulated(page) == 5)
    # Played in pieces, it is the same run.
    eventually(lambda: goodputs(page) == whole)
    page.get_by_role("button", name="Whole run").click()
    settled(page)
    assert goodputs(page) == whole


def test_what_is_seen_is_saved_as_a_scenario(application: Application, page: Page) -> None:
    slider(page, "topology.bottleneck.buffer").focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    buffer = slider(page, "topology.bottleneck.buffer").get_attribute("aria-valuetext")
    settled(page)
    seen = digests_shown(page)
    page.get_by_role("button", name="Save as a scenario").click()
    page.get_by_label("File", exact=True).fill("shallow")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_selector(".editor .canvas")
    assert page.evaluate("location.hash") == "#/edit/shallow.toml"
    assert parse(application.text("shallow.toml"))["topology"]["bottleneck"]["buffer"] == buffer
    assert application.text("shallow.toml").startswith("# One CUBIC")
    page.get_by_role("link", name="What if").click()
    settled(page)
    assert digests_shown(page) == seen


def test_it_fits_narrow_windows_and_has_no_serious_fault(
    application: Application, browser: Browser, page: Page
) -> None:
    axe = (whatif.WEB / "node_modules" / "axe-core" / "axe.min.js").read_text()
    for width, scheme in ((1440, "light"), (1024, "dark"), (390, "light"), (390, "dark")):
        narrow = application.page(browser, width, 844, scheme)
        narrow.evaluate("location.hash = '#/whatif/mine.toml'")
        settled(narrow)
        assert narrow.evaluate("document.documentElement.scrollWidth") <= width
        narrow.evaluate(axe)
        found = narrow.evaluate("axe.run().then(({ violations }) => violations)")
        serious = [
            (one["id"], [node["html"] for node in one["nodes"]])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        assert serious == []
        narrow.context.close()


# Without a server


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("alone") / "what-if.html"
    whatif.page(out)
    return out


def test_a_page_without_a_server_gives_the_same_runs(alone: Path, browser: Browser, tmp_path: Path) -> None:
    complaints: list[str] = []
    page = browser.new_context().new_page()
    page.set_default_timeout(60_000)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda asked: None if asked.url.startswith(("file:", "blob:")) else complaints.append(asked.url))
    page.goto(alone.as_uri())
    settled(page)
    assert digests_shown(page) == digests_of_command(page, tmp_path)
    for key, place in (
        ("topology.bottleneck.rate", 40),
        ("topology.rtt", 77),
        ("topology.bottleneck.buffer", 100),
        ("flows.0.start", 33),
        ("flows.1.start", 111),
        ("seed", 200),
    ):
        slider(page, key).fill(str(place))
    page.locator('[data-knob="flows.0.cc"] select').select_option("bbr3")
    page.locator('[data-knob="flows.1.cc"] select').select_option("dctcp")
    page.locator('[data-knob="topology.bottleneck.loss"] select').select_option("0.1 %")
    settled(page)
    command = page.locator(".exactly code").first.inner_text()
    assert command.count("--set") == 2 + 9
    assert digests_shown(page) == digests_of_command(page, tmp_path)
    assert complaints == []
    page.context.close()
