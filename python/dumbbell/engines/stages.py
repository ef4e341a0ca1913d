"""The stages of a run in words, as every display of its progress names them."""

from __future__ import annotations

from typing import Final

STAGES: Final = {
    "helper": "building the lab",
    "lab": "starting hosts and links",
    "converging": "waiting for routes and spanning trees",
    "started": "running",
    "simulating": "simulating",
    "stopping": "stopping early; the records so far are kept (Ctrl-C again: end at once)",
    "done": "writing the records",
    "composing": "judging the run",
}
"""Event -> the stage that begins with it."""
