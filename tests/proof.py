"""Tests that measure against the wall clock, and measurements that prove nothing: a plugin of pytest.

A test marked `real_time` that fails gets a second chance, alone, from `python -m tools.second_chances`. A test whose
measurement is worth nothing, as the machine was too busy, is *not proven*: neither passed nor skipped, and counted.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any, NoReturn

import pytest

CATEGORY = "not proven"


class NotProven(pytest.skip.Exception):  # type: ignore[name-defined,misc]
    """Ends a test without a result."""


def not_proven(reason: str) -> NoReturn:
    """Ends a test whose measurement is worth nothing, as the machine was too busy.

    Args:
        reason: Checks that failed and what they measured.
    """
    __tracebackhide__ = True
    raise NotProven(reason)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options of this plugin."""
    parser.addoption("--strict-proof", action="store_true", help="a test that is not proven fails")
    parser.addoption("--outcomes", metavar="FILE", help="write failed and not proven tests to FILE, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    """Records outcomes in the process that hears of all tests: workers of pytest-xdist hear of their own."""
    if config.getoption("outcomes") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Outcomes(Path(config.getoption("outcomes"))))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Adds to a report what `Outcomes` reads. Attributes of simple types cross from workers of pytest-xdist."""
    report = yield
    report.test = _name(item)
    report.is_real_time = item.get_closest_marker("real_time") is not None
    if call.excinfo is not None and call.excinfo.errisinstance(NotProven):
        report.not_proven = str(call.excinfo.value)
        if item.config.getoption("strict_proof"):
            report.outcome, report.longrepr = "failed", f"not proven: {report.not_proven}"
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Returns the category of a test that is not proven."""
    return (CATEGORY, "?", "NOT PROVEN") if report.skipped and _reason(report) else None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Prints a line for each test that is not proven."""
    for report in terminalreporter.getreports(CATEGORY):
        terminalreporter.write_line(f"NOT PROVEN {report.test}: {_reason(report)}")


class Outcomes:
    """Outcomes of a session's tests, as `tools/second_chances.py` reads them."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._failed = dict[str, None]()
        """Failed tests that are not marked `real_time`."""
        self._real_time = dict[str, str]()
        """Test marked `real_time` -> outcome."""
        self._not_proven = dict[str, str]()
        """Test, marked or not -> reason."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notes the outcome of a phase of a test: setup, call or teardown."""
        # The report of a crashed worker has none of the attributes.
        test = getattr(report, "test", report.nodeid)
        outcome = report.outcome if report.failed or not _reason(report) else CATEGORY
        if outcome == CATEGORY:
            self._not_proven[test] = _reason(report)
        if getattr(report, "is_real_time", False):
            if self._real_time.get(test, "passed") == "passed" or report.failed:
                self._real_time[test] = outcome
        elif report.failed:
            self._failed[test] = None

    def pytest_sessionfinish(self) -> None:
        """Writes the file."""
        found = {"failed": [*self._failed], "real_time": self._real_time, "not_proven": self._not_proven}
        self._file.write_text(json.dumps(found), encoding="utf-8")


def _name(item: pytest.Item) -> str:
    """Returns the node id without the group that pytest-xdist appends."""
    group = item.get_closest_marker("xdist_group")
    return item.nodeid.removesuffix(f"@{group.args[0]}") if group and group.args else item.nodeid


def _reason(report: pytest.TestReport) -> str:
    return getattr(report, "not_proven", "")
