"""The helper process as the command sees it: a control pipe in, a stream of events out."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from dumbbell.engines.events import Event
from dumbbell.engines.orders import Order
from dumbbell.errors import RunFailed
from dumbbell.plan import wire

_QUOTED_LINES: Final = 8
_EXIT_S: Final = 10.0
"""Time from the end of the control pipe until the helper is gone: its namespaces die within milliseconds."""


class Silent(Exception):
    """No event came in time."""


class Ordered(Exception):
    """Somebody gives an order."""


class Wake:
    """Turns orders, which may come in a signal handler, into readiness of a descriptor: no event is lost half-read."""

    def __enter__(self) -> Self:
        """Open the pipe."""
        self.descriptor, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        os.close(self.descriptor)
        os.close(self._write)

    def up(self) -> None:
        """Add an order."""
        os.write(self._write, b"!")

    def take(self) -> None:
        """One order is taken."""
        os.read(self.descriptor, 1)


class Helper:
    """A running helper. Leaving the context ends it, and with it everything that it started."""

    def __init__(self, command: Sequence[str], stderr: Path, *descriptors: int) -> None:
        """Start `command`, in a new session so that Ctrl-C on a terminal reaches only us. It inherits `descriptors`."""
        self._stderr = stderr
        with stderr.open("wb") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
                pass_fds=descriptors,
            )
        self._control = _pipe(self._process.stdin)
        self._output = _pipe(self._process.stdout)
        os.set_blocking(self._output.fileno(), False)
        self._partial = b""
        self._ready: deque[Event] = deque()

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the control pipe, which ends the lab, and wait for the helper's end."""
        self._close_control()
        try:
            self._process.wait(_EXIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._output.close()

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def order(self, order: Order) -> None:
        """Give it an order. One that has ended gets none."""
        line = json.dumps({"order": order.order, **wire.part(order)})
        with suppress(BrokenPipeError):
            self._control.write(line.encode() + b"\n")
            self._control.flush()

    def next_event(self, wake: Wake, timeout_s: float) -> Event | None:
        """Wait for the next event; `None` once the helper has closed its output.

        Raises:
            Silent: nothing came within `timeout_s`.
            Ordered: an order came first.
            RunFailed: the output is no event.
        """
        deadline = time.monotonic() + timeout_s
        while not self._ready:
            with selectors.DefaultSelector() as selector:
                selector.register(self._output, selectors.EVENT_READ)
                selector.register(wake.descriptor, selectors.EVENT_READ)
                found = [key.fd for key, _ in selector.select(max(0.0, deadline - time.monotonic()))]
            if wake.descriptor in found:
                wake.take()
                raise Ordered
            if not found:
                raise Silent
            data = os.read(self._output.fileno(), 65536)
            if not data:
                return None
            *lines, self._partial = (self._partial + data).split(b"\n")
            self._ready.extend(_parse(line) for line in lines)
        return self._ready.popleft()

    def ending(self) -> str:
        """The way in which it ended and the last lines that it wrote to stderr, for an error's `why`. Waits for its
        end."""
        self._close_control()
        try:
            code = self._process.wait(_EXIT_S)
        except subprocess.TimeoutExpired:
            return self.last_words() or "it does not end"
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return "\n".join(filter(None, [how, self.last_words()]))

    def last_words(self) -> str:
        """The last lines that it wrote to stderr."""
        text = self._stderr.read_text(encoding="utf-8", errors="replace").strip()
        return "\n".join(text.splitlines()[-_QUOTED_LINES:])

    def _close_control(self) -> None:
        # Closing flushes an unsent order, perhaps to a helper that has ended.
        with suppress(BrokenPipeError):
            self._control.close()


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None, "Popen was asked for pipes"
    return stream


def _parse(line: bytes) -> Event:
    try:
        event: Any = json.loads(line)
        if isinstance(event, Mapping) and "event" in event:
            return event
    except ValueError:
        pass
    raise RunFailed(
        "the lab's helper wrote a line that is not an event",
        repr(line[:200].decode(errors="replace")),
        "the compiled core and this package are of different versions: build again",
    )
