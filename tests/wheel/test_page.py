"""The page of a wheel that is installed where nothing else of ours is, in a browser that reaches no other machine."""

from __future__ import annotations

import pytest
from application import Application, chromium
from root import USER, Root

DUMBBELL = "/opt/dumbbell/bin/dumbbell"


@pytest.mark.parametrize("user", [None, USER], ids=["root", "ordinary user"])
def test_it_serves_the_whole_page(installed: Root, user: str | None) -> None:
    options = "--as-root" if user is None else ""
    script = f"mkdir -p ~/networks; exec {DUMBBELL} ui ~/networks --no-open {options}"
    with installed.running(script, user) as server, chromium() as browser:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        home = "/root" if user is None else "/home/ann"
        application = Application(installed.path(f"{home}/networks"), server, url)
        page = application.page(browser)
        page.get_by_role("button", name="New scenario").first.click()
        page.locator(".template", has_text="shared-bottleneck").click()
        page.get_by_role("dialog").get_by_role("button", name="Make it").click()
        page.locator(".react-flow__node").first.wait_for()
        # The text's editor, the simulator and the report are loaded when they are first needed.
        page.keyboard.press("e")
        page.locator(".cm-content").wait_for()
        page.locator(".engine").select_option("simulate")
        page.get_by_role("button", name="Run", exact=True).click()
        page.locator(".dock").get_by_role("link", name="Report").click()
        page.frame_locator("iframe").locator(".verdict").wait_for()
        (name,) = (path.name for path in application.workspace.glob("*.toml"))
        page.evaluate(f"location.hash = '#/whatif/{name}'")
        page.locator(".whatif .plot canvas").first.wait_for()
        assert application.complaints == []
