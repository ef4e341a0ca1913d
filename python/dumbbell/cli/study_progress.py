"""What the console shows while a study goes on."""

from __future__ import annotations

from typing import Final

from dumbbell.cli import display
from dumbbell.cli.display import Display, Event, fitting, say

LINE_EVERY_S: Final = 2.0


def speed(event: Event) -> str:
    """`412 runs/s, done in 1 min 5 s`, from a progress event."""
    finished, wall_s = event["runs"] - event["found"], event["wall_s"]
    if not finished or not wall_s:
        return ""
    rate = finished / wall_s
    return f"{rate:,.0f} runs/s, done in {_span((event['of'] - event['runs']) / rate)}"


def _span(seconds: float) -> str:
    whole = round(seconds)
    hours, minutes = whole // 3600, whole % 3600 // 60
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"


class Lines(Display):
    """Plain lines: the size of the study, and how far it is every two seconds."""

    def __init__(self) -> None:
        self._next_s = LINE_EVERY_S

    def __call__(self, event: Event) -> None:
        """Take an event."""
        if event["event"] == "planned":
            say(f"{event['cells']:,} cells, {event['runs']:,} runs")
        elif event["event"] == "progress" and event["wall_s"] >= self._next_s:
            say(f"{event['runs']:,} of {event['of']:,} runs, {speed(event)}")
            self._next_s += LINE_EVERY_S


class Bar(display.Bar):
    """A progress bar with the speed beside it.

    Drawing begins with the first event: it takes a thread, and with one planning could not fork.
    """

    def __init__(self) -> None:
        super().__init__("{task.completed:,.0f} / {task.total:,.0f}", "speed")

    def __call__(self, event: Event) -> None:
        """Take an event."""
        if self._task is None:
            self._progress.start()
            self._task = self._progress.add_task("planning", total=event.get("of", 0), speed="")
        if event["event"] == "planning":
            self._progress.update(self._task, completed=event["cells"], total=event["of"])
        elif event["event"] == "progress":
            failed = f", {event['failed']:,} failed" if event["failed"] else ""
            self._progress.update(
                self._task,
                description="runs",
                completed=event["runs"],
                total=event["of"],
                speed=speed(event) + failed,
            )


def progress(quiet: bool) -> Display:
    """What suits where the output goes."""
    return fitting(quiet, Lines, Bar)
