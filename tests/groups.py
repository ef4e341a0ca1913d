"""Tests of one `xdist_group` run in one process: a plugin of pytest.

pytest-xdist 3.8 appends the group to a private attribute, from which pytest 9.2 does not make a test's id any more.
"""

from __future__ import annotations

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Appends to a test's id what `--dist loadgroup` distributes it by, in workers of pytest-xdist."""
    if not getattr(config.option, "loadgroup", False):
        return
    for item in items:
        group = item.get_closest_marker("xdist_group")
        if group and not item.nodeid.endswith(f"@{group.args[0]}"):
            item._id = type(item.id).parse(f"{item.nodeid}@{group.args[0]}")
