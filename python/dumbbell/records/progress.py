"""The events of a run as lines of JSON, for whoever looks on from another process: also `events.jsonl` of a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

Event = Mapping[str, Any]
FILE: Final = "events.jsonl"


def line(event: Event) -> str:
    """An event as a line without its end. The plan is left out: plan.json has it."""
    return json.dumps({key: value for key, value in event.items() if key != "plan"})


@contextmanager
def kept(directory: Path, on_event: Callable[[Event], None], *events: Event) -> Iterator[Callable[[Event], None]]:
    """Within, events that are told are also written to `events.jsonl` in `directory`, at once; first `events`.

    A disk that is full ends the lines and not the run. Raises `OSError` if the file cannot be made.
    """
    with (directory / FILE).open("w", encoding="utf-8", buffering=1) as file:
        is_open = True

        def write(event: Event) -> None:
            nonlocal is_open
            if is_open:
                try:
                    file.write(line(event) + "\n")
                except OSError:
                    is_open = False

        def tell(event: Event) -> None:
            on_event(event)
            write(event)

        for event in events:
            write(event)
        try:
            yield tell
        finally:
            with suppress(OSError):  # The rest of its buffer could not be written, either.
                file.close()
