"""Forms of files, each with a line: how it is recognised, and what reads it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from dumbbell.fitting.fitted import Fit
from dumbbell.fitting.logs import iperf3, mahimahi, qlog, source, ss, table
from dumbbell.frozen import dataclass


@dataclass(frozen=True)
class Form:
    """A form of files."""

    title: str
    is_form: Callable[[bytes], bool]
    """Returns true if a file with these first bytes has this form."""
    read: Callable[[str, str, str | None], Fit]
    """Fits a path, from a file's text, its name, and the connection that the user named."""


FORMS: Final = (
    Form("iperf3 --json", iperf3.is_form, iperf3.fit),
    Form("qlog", qlog.is_form, qlog.fit),
    Form("log of ss -ti", ss.is_form, ss.fit),
    Form("Mahimahi trace", mahimahi.is_form, mahimahi.fit),
    Form("CSV of time, rate and delay", table.is_form, table.fit),
)


def form_of(path: Path) -> Form | None:
    """Returns the form of a file by its first bytes; None if it has none of these."""
    head = source.head(path)
    return next((form for form in FORMS if form.is_form(head)), None) if head else None


def fit(form: Form, path: Path, connection: str | None) -> Fit:
    """Fits a path to a file of a form. Raises `InputError` if it is damaged, or tells nothing."""
    return form.read(source.text(path), path.name, connection)
