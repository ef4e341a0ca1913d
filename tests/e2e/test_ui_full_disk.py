"""A disk without room, in the browser: the old file stays, the edits stay, and both meet again when there is room."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest
from application import Application, eventually, serving
from editing import SCENARIO, change, row, says
from playwright.sync_api import Browser, Page

SMALL = ("unshare", "--user", "--map-root-user", "--mount", "--", "sh", "-c")
MOUNT = 'mount -t tmpfs -o size=64k none "$0" && exec "$@"'
"""The server alone sees it, in a namespace of its own: nothing has to be unmounted, and nobody has to be root."""


def fill(workspace: Path) -> Path:
    """Take all the room. Returns the file that has it."""
    filler = workspace / "filler"
    with filler.open("wb", buffering=0) as out, suppress(OSError):
        while True:
            out.write(bytes(512))
    assert os.statvfs(workspace).f_bavail == 0
    return filler


def saved(page: Page, said: str) -> None:
    """Wait until the page says this of the file."""
    page.locator(f".file-name .saved:text-is('{said}')").wait_for()


@pytest.mark.firefox
def test_a_full_disk_loses_neither_the_file_nor_the_edits(tmp_path: Path, browser: Browser) -> None:
    with serving(tmp_path, (*SMALL, MOUNT, str(tmp_path))) as outside:
        inside = Path(f"/proc/{outside.process.pid}/root{tmp_path}")
        served = Application(inside, outside.process, outside.url, outside.complaints)
        (inside / "row.toml").write_text(SCENARIO)
        page = served.page(browser)
        served.open(page, "row.toml")
        row(page, "h1 \N{EN DASH} s1").click()
        change(page, "topology.links.0.rate", "20 Mbit/s")
        says(lambda: served.text("row.toml"), "20 Mbit/s")
        before = served.text("row.toml")
        filler = fill(inside)

        change(page, "topology.links.0.delay", "30 ms")
        saved(page, "not saved")
        alert = page.get_by_role("alert")
        assert alert.locator(".what").inner_text() == "row.toml could not be saved"
        assert "No space left on device" in alert.locator(".why").inner_text()
        assert "make room" in alert.locator(".hint").inner_text()
        assert served.text("row.toml") == before
        assert sorted(path.name for path in inside.iterdir()) == [".dumbbell", "filler", "row.toml"]
        # What is drawn is kept as what is written is; and a run would be one of another text.
        node = page.locator('[data-node="h2"] .shape').bounding_box()
        assert node is not None
        page.mouse.move(node["x"] + 9, node["y"] + 9)
        page.mouse.down()
        page.mouse.move(node["x"] + 49, node["y"] + 69, steps=4)
        page.mouse.up()
        page.locator(".engine").select_option("simulate")
        page.get_by_role("button", name="Run", exact=True).click()
        page.locator(".toast", has_text="row.toml is not saved").wait_for()
        assert not (inside / "runs").exists()
        # Trying in vain changes nothing, and neither does a reload.
        page.get_by_role("button", name="Try again").click()
        page.reload()
        saved(page, "not saved")
        page.get_by_role("alert").wait_for()
        row(page, "h1 \N{EN DASH} s1").click()
        shown = page.locator('.form-pane [data-key="topology.links.0.delay"] input').first
        assert shown.input_value().startswith("30")
        # Nor can a new file be made, and nothing of it is left.
        page.evaluate("location.hash = '#/files'")
        page.get_by_role("button", name="New scenario").first.click()
        page.get_by_role("dialog").get_by_role("button", name="Make it").click()
        page.locator(".toast.problem", has_text="No space left on device").wait_for()
        page.keyboard.press("Escape")
        assert served.text("row.toml") == before
        assert sorted(path.name for path in inside.iterdir()) == [".dumbbell", "filler", "row.toml"]

        served.open(page, "row.toml")
        saved(page, "not saved")
        filler.unlink()
        saved(page, "saved")
        eventually(lambda: page.get_by_role("alert").count() == 0, "the message goes")
        assert 'delay = "30 ms"' in served.text("row.toml")
        assert (inside / "row.layout.json").exists()
        # All of it can be undone, from before the disk was full, too: the node, the delay, the rate.
        page.locator("#main").focus()
        page.keyboard.press("Control+z")
        eventually(lambda: not (inside / "row.layout.json").exists(), "the place")
        for value in ('delay = "5 ms"', 'rate = "10 Mbit/s"'):
            page.keyboard.press("Control+z")
            says(lambda: served.text("row.toml"), value)
        assert served.text("row.toml") == SCENARIO
        served.forget_refusals(400)  # The run.
        served.forget_refusals(500)  # The new file: that a disk is full is no fault of the request.
