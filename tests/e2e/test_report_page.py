"""The report in a browser, opened from disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from stages import thorough_after
from synthetic_run import CHECKS, LATE, Synthetic

from dumbbell import report
from dumbbell.records import Run

# Tests of one process share the reports.
pytestmark = pytest.mark.xdist_group("report page")

CODEL = {
    **{"kind": "fq-codel", "target_ns": 5_000_000, "interval_ns": 100_000_000, "quantum_bytes": 1514, "flows": 1024},
    **{"ecn": True, "ce_threshold_ns": None},
}


class Reports(dict[str, Path]):
    """Reports by name, each written when it is opened for the first time."""

    def __init__(self, folder: Path, specs: dict[str, Synthetic]) -> None:
        super().__init__()
        self._folder, self._specs = folder, specs

    def __missing__(self, name: str) -> Path:
        run = Run(self._specs[name].write(self._folder / name))
        self[name] = report.write_html(run, self._folder / f"{name}.html")
        return self[name]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    specs = {
        "valid": Synthetic(),
        "invalid": Synthetic(verdict="invalid", checks=[*CHECKS[1:], LATE]),
        "links": Synthetic(packets=False),
        "hostile": Synthetic(name='</script><script>document.title="hacked"</script>'),
        "busy": Synthetic(
            queue=CODEL,
            dropped_as=("dropped-early", "dropped-tail"),
            marked_share=0.02,
            slow_from_s=12,
            events=((5, {"delay_ns": 20_000_000}), (15, {"up": False}), (15.5, {})),
        ),
        "acks": Synthetic(ccs=("cubic", "bbr3"), rate_bps=20e6, duration_s=14, stagger_s=1, acks=True),
        "many": Synthetic(ccs=("cubic", "bbr") * 500, duration_s=10, sample_s=0.05, stagger_s=0.001),
    }
    return Reports(tmp_path_factory.mktemp("reports"), specs)


class Opened:
    """A report in a page, and all that it asked for or complained about."""

    def __init__(self, browser: Browser, path: Path, width: int = 1280, scheme: str = "light") -> None:
        self.page: Page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector(".u-over")

    def drawn(self) -> list[str]:
        """The content of each plot, as pixels."""
        return [canvas.evaluate("canvas => canvas.toDataURL()") for canvas in self.page.locator(".plot canvas").all()]

    def close(self) -> None:
        self.page.close()


@pytest.fixture
def open_report(browser: Browser, reports: dict[str, Path]) -> Iterator[Any]:
    opened: list[Opened] = []

    def start(name: str, **options: Any) -> Opened:
        opened.append(Opened(browser, reports[name], **options))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def drag(page: Page, plot: int, start: float, end: float) -> None:
    over = page.locator(".plot .u-over").nth(plot)
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + start * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + end * box["width"], y, steps=5)
    page.mouse.up()


@pytest.mark.parametrize(
    ("name", "plots"),
    thorough_after(4, [("valid", 7), ("invalid", 7), ("busy", 8), ("acks", 12), ("links", 7), ("many", 7)]),
)
@pytest.mark.parametrize("scheme", thorough_after(1, ["light", "dark"]))
def test_opens_offline_and_silently(open_report: Any, name: str, plots: int, scheme: str) -> None:
    opened = open_report(name, scheme=scheme)
    assert opened.page.locator(".plot canvas").count() == plots
    assert opened.complaints == []
    assert [url for url in opened.requests if not url.startswith(("file:", "data:"))] == []
    assert len([url for url in opened.requests if url.startswith("file:")]) == 1


def test_the_first_line_is_the_verdict(open_report: Any) -> None:
    first = open_report("valid").page.locator("body").inner_text().splitlines()[0]
    assert first.startswith("valid")
    page = open_report("invalid").page
    assert page.locator("body").inner_text().startswith("invalid")
    assert "p99 51,204 us" in page.locator(".verdict").inner_text()


def test_programs_that_are_not_the_kernel_s_have_a_table(open_report: Any) -> None:
    rows = "table[aria-label='Congestion controls'] tbody tr"
    (row,) = open_report("acks").page.locator(rows).all()
    said = [" ".join(cell.split()) for cell in row.locator("th, td").all_inner_texts()]
    assert said == ["bbr3", "bbr3 of dumbbell", "defaults", "for this run", "db3_012345", "0123456789ab"]
    assert open_report("valid").page.locator(rows).count() == 0


def test_a_hostile_name_is_only_text(open_report: Any) -> None:
    page = open_report("hostile").page
    assert page.title().endswith(": valid")
    assert page.locator("h1").inner_text().startswith("</script><script>")


def test_zooming_one_plot_zooms_all_and_a_double_click_shows_all_again(open_report: Any) -> None:
    opened = open_report("valid")
    whole = opened.drawn()
    drag(opened.page, 1, 0.25, 0.5)
    opened.page.mouse.move(0, 0)
    zoomed = opened.drawn()
    assert all(before != after for before, after in zip(whole, zoomed, strict=True))
    assert opened.page.get_by_role("button", name="Show the whole run").is_enabled()
    opened.page.locator(".plot .u-over").nth(3).dblclick(position={"x": 30, "y": 60})
    opened.page.mouse.move(0, 0)
    assert opened.drawn() == whole
    assert opened.page.get_by_role("button", name="Show the whole run").is_disabled()


def test_the_crosshair_reads_the_same_time_in_all_plots(open_report: Any) -> None:
    page = open_report("valid").page
    drag(page, 1, 0.7, 0.7)
    values = page.locator(".values output").all_inner_texts()
    assert len([value for value in values if value]) >= 11, "2 flows in 5 plots, and the queue"
    assert page.locator(".controls .time").inner_text().startswith("t = 14.0")
    assert all(page.locator(".u-cursor-x").nth(i).is_visible() for i in range(7))


def test_the_legend_toggles_a_flow_in_every_plot(open_report: Any) -> None:
    opened = open_report("valid")
    whole = opened.drawn()
    flow = opened.page.locator("button.flow").nth(1)
    flow.click()
    assert flow.get_attribute("aria-pressed") == "false"
    without = opened.drawn()
    changed = [before != after for before, after in zip(whole, without, strict=True)]
    assert changed == [True, True, True, True, False, True, True], "all but the queue"
    flow.click()
    assert opened.drawn() == whole


def test_shift_click_shows_a_flow_alone_and_again_all(open_report: Any) -> None:
    page = open_report("valid").page
    flows = page.locator("button.flow")

    def pressed() -> list[str | None]:
        return [button.get_attribute("aria-pressed") for button in flows.all()]

    flows.nth(1).click(modifiers=["Shift"])
    assert pressed() == ["false", "true"]
    flows.nth(1).click(modifiers=["Shift"])
    assert pressed() == ["true", "true"]


def test_keys_move_zoom_and_reset(open_report: Any) -> None:
    opened = open_report("valid")
    whole = opened.drawn()
    opened.page.locator(".canvas").nth(2).focus()
    opened.page.keyboard.press("ArrowRight")
    assert opened.page.locator(".controls .time").inner_text().startswith("t = 10.")
    opened.page.keyboard.press("+")
    assert opened.drawn() != whole
    opened.page.keyboard.press("0")
    assert opened.drawn() == whole


def test_the_queue_of_another_link_can_be_chosen(open_report: Any) -> None:
    opened = open_report("links")
    before = opened.drawn()
    opened.page.get_by_label("Link whose queue is shown").select_option("bottleneck-reverse")
    after = opened.drawn()
    assert [a != b for a, b in zip(before, after, strict=True)] == [False, False, False, False, True, False, False]
    assert "bottleneck-reverse" in opened.page.locator('[data-plot="queue_bytes"] .note').inner_text()


@pytest.mark.thorough
def test_a_thousand_flows_have_a_short_legend_and_all_their_lines(open_report: Any, reports: dict[str, Path]) -> None:
    assert reports["many"].stat().st_size < 10e6
    page = open_report("many").page
    assert page.locator("button.flow").all_inner_texts() == ["cubic × 500", "bbr × 500"]  # noqa: RUF001
    assert page.locator("table[aria-label=Flows] tbody tr").count() == 1000


@pytest.mark.parametrize("width", thorough_after(1, [400, 1280, 1920]))
@pytest.mark.parametrize("name", ["valid", "acks"])
def test_no_width_makes_the_page_scroll_sideways(open_report: Any, width: int, name: str) -> None:
    page = open_report(name, width=width).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_plots_follow_the_width_of_the_window(open_report: Any) -> None:
    page = open_report("valid").page
    page.set_viewport_size({"width": 700, "height": 900})
    # The page's policy lets Playwright evaluate an expression once, but not poll it: `wait_for_function` would fail.
    for _ in range(100):
        if page.evaluate("document.querySelector('.plot .uplot').clientWidth") < 700:
            break
        page.wait_for_timeout(50)
    else:
        pytest.fail("the plots are still as wide as the window was")
    assert page.evaluate("document.documentElement.scrollWidth") <= 700


def test_plots_have_names_and_descriptions_for_screen_readers(open_report: Any) -> None:
    page = open_report("valid").page
    labels = [canvas.get_attribute("aria-label") or "" for canvas in page.locator(".canvas").all()]
    assert labels[2].startswith("Congestion window in packets over 20 s: f1 cubic from 10.0 to 509")
    assert "25 tail" in labels[6]


def test_packet_events_have_a_lane_for_each_reason(open_report: Any) -> None:
    page = open_report("busy").page
    label = page.locator(".canvas").nth(7).get_attribute("aria-label") or ""
    assert label.startswith("Packet events over time. f1: 11 tail, 14 early, ")
    drag(page, 7, 0.769, 0.769)
    assert "marked, 2 resent; f2: " in page.get_by_label("Packet events at the crosshair").inner_text()


def test_a_capacity_that_changes_is_a_curve_with_a_name_and_a_value(open_report: Any) -> None:
    page = open_report("busy").page
    drag(page, 0, 0.7, 0.7)
    values = page.locator('[data-plot="goodput_bps"] .values div').all_inner_texts()
    assert [" ".join(value.split()) for value in values][2] == "capacity 25.0"
    page.locator("button.flow").nth(0).click()
    assert page.locator('[data-plot="goodput_bps"] .values .hidden').count() == 1, "the capacity stays"


def test_waits_have_a_curve_per_flow(open_report: Any) -> None:
    opened = open_report("busy")
    values = opened.page.locator('[data-plot="sojourn_ms"] .values div').all_inner_texts()
    assert [value.strip() for value in values] == ["f1 cubic", "f2 bbr"]
    whole = opened.drawn()
    opened.page.locator("button.flow").nth(1).click()
    changed = [before != after for before, after in zip(whole, opened.drawn(), strict=True)]
    assert changed == [True, True, True, True, False, True, True, True]


def test_changes_of_the_plan_are_drawn_in_every_plot(browser: Browser, tmp_path: Path) -> None:
    """The same run, but for the events that the plan names."""
    drawn = []
    for name, events in (("with", ((5, {"delay_line_packets": 100_000}),)), ("without", ())):
        run = Run(Synthetic(events=events).write(tmp_path / name))
        opened = Opened(browser, report.write_html(run, tmp_path / f"{name}.html"))
        drawn.append(opened.drawn())
        opened.close()
    assert all(one != other for one, other in zip(*drawn, strict=True))


def test_printing_shows_the_plots_on_white(open_report: Any) -> None:
    opened = open_report("valid", scheme="dark")
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    ground = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(253, 253, 251)"
    assert opened.page.pdf()[:4] == b"%PDF"


def over(page: Page, plot: str, at: float, height: float = 0.5) -> None:
    """Put the pointer on a plot."""
    target = page.locator(f'[data-plot="{plot}"] .u-over').first
    target.scroll_into_view_if_needed()
    box = target.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + at * box["width"], box["y"] + height * box["height"])


def test_states_are_named_under_the_pointer_and_in_a_legend(open_report: Any) -> None:
    page = open_report("acks").page
    order = [plot.get_attribute("data-plot") for plot in page.locator(".plot").all()]
    assert order[:4] == ["goodput_bps", "sending_rate_bps", "bbr_state", "delivery_rate_bps"]
    over(page, "bbr_state", 1.1 / 14)
    assert page.locator('[data-plot="bbr_state"] .values').inner_text().split() == ["f2", "STARTUP"]
    over(page, "cwnd_packets", 3 / 14)
    assert "PROBE_BW: CRUISE" in page.locator('[data-plot="bbr_state"] .values').inner_text()
    legend = page.get_by_label("Colours of states").locator("li").all_inner_texts()
    assert legend[:2] == ["STARTUP", "DRAIN"]
    assert legend[-1] == "PROBE_RTT"
    label = page.locator('[data-plot="bbr_state"] .canvas').get_attribute("aria-label") or ""
    assert "f2: STARTUP 0.23 s, DRAIN 0.06 s, PROBE_BW: DOWN 0." in label


def test_values_of_acks_stand_in_a_table_by_flow_and_quantity(open_report: Any) -> None:
    page = open_report("acks").page
    over(page, "delivery_rate_bps", 0.5)
    table = page.locator('[data-plot="delivery_rate_bps"] .matrix')
    assert table.locator("thead th").all_inner_texts() == ["rate", "bw", "bw_lo", "bw_hi"]
    rows = [row.all_inner_texts() for row in (table.locator(f"tbody tr:nth-child({n}) > *") for n in (1, 2))]
    assert [row[0].strip() for row in rows] == ["f1", "f2"]
    assert rows[0][2:] == ["", "", ""], "CUBIC has no model"
    rate, bandwidth = (float(text) for text in rows[1][1:3])
    assert 1 < rate <= bandwidth * 1.1
    page.locator("button.flow").nth(0).click()
    assert table.locator("tbody tr.hidden").count() == 1


def test_zooming_shows_single_acks(open_report: Any) -> None:
    opened = open_report("acks")
    page = opened.page
    page.locator('[data-plot="snd_nxt_bytes"] .canvas').focus()
    for _ in range(9):
        page.keyboard.press("+")
    over(page, "snd_nxt_bytes", 0.5)
    cells = page.locator('[data-plot="snd_nxt_bytes"] tbody tr').nth(1).locator("output")
    first = cells.nth(0).inner_text()
    assert first.count(".") == 1
    assert len(first.partition(".")[2]) == 3, "to the kilobyte"
    over(page, "snd_nxt_bytes", 0.9)
    assert float(cells.nth(0).inner_text()) > float(first)
    assert opened.complaints == []


def test_kleinrock_s_plot_follows_the_time_axis_and_the_crosshair(open_report: Any) -> None:
    opened = open_report("acks")
    page = opened.page

    def kleinrock() -> list[str]:
        canvases = page.locator('[data-plot="kleinrock"] canvas').all()
        return [canvas.evaluate("canvas => canvas.toDataURL()") for canvas in canvases]

    whole = kleinrock()
    over(page, "srtt_ms", 0.5)
    rings = page.locator('[data-plot="kleinrock"] .ring:visible')
    assert rings.count() == 4, "where each flow is at that time, in both plots"
    page.mouse.move(0, 0)
    assert rings.count() == 0
    assert kleinrock() == whole
    drag(page, 2, 0.3, 0.5)
    page.mouse.move(0, 0)
    assert all(one != other for one, other in zip(whole, kleinrock(), strict=True)), "other times are a shade"
    page.get_by_role("button", name="Show the whole run").click()
    page.get_by_label("Colours of points").select_option("by BBR state")
    assert all(one != other for one, other in zip(whole, kleinrock(), strict=True))


def test_a_point_of_kleinrock_s_plot_says_which_ack_it_is(open_report: Any) -> None:
    page = open_report("acks").page
    target = page.locator('[data-plot="kleinrock"] .u-over').nth(1)
    target.scroll_into_view_if_needed()
    box = target.bounding_box()
    assert box is not None
    said = set()
    for x in range(5, 95, 3):
        page.mouse.move(box["x"] + box["width"] * x / 100, box["y"] + box["height"] * 0.4)
        said.add(page.get_by_label("ACK at the crosshair").inner_text())
    found = [text for text in said if text]
    assert found
    assert all("BDP in flight" in text and "Mbit/s, RTT " in text and "t = " in text for text in found)
