"""Each view of the web application fits windows of several widths, and keeps nobody out, in both colour schemes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from accessibility import serious, too_wide
from application import Application, serving
from playwright.sync_api import Browser
from stages import thorough_after
from views import furnish, views

from tools import whatif


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """A server whose folder has everything that can be looked at."""
    workspace = tmp_path_factory.mktemp("views") / "work"
    workspace.mkdir()
    furnish(workspace, "views")
    with serving(workspace) as served:
        yield served


@pytest.mark.real_time
@pytest.mark.xdist_group("views")
@pytest.mark.parametrize(
    ("width", "scheme"),
    thorough_after(1, [(390, "dark"), (1440, "light"), (1024, "dark"), (390, "light")]),
)
def test_each_view_fits_its_window_and_keeps_nobody_out(
    furnished: Application, browser: Browser, width: int, scheme: str
) -> None:
    page = furnished.page(browser, width=width, height=844, scheme=scheme)
    wrong = {}
    for name, show in views(furnished.workspace).items():
        if name == "what if" and not (whatif.WEB / "simulator.wasm").exists():
            continue
        show(page)
        page.wait_for_timeout(250)  # Colours of what is hovered change in a moment.
        if found := [*too_wide(page), *serious(page)]:
            wrong[name] = found
        page.keyboard.press("Escape")
    page.context.close()
    assert wrong == {}
