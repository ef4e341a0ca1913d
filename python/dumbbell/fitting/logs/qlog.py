"""qlog, as JSON or as JSON-SEQ (draft-ietf-quic-qlog-main-schema, from version 0.3): events of a QUIC connection."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final

from dumbbell.errors import InputError
from dumbbell.fitting.fitted import Fit
from dumbbell.fitting.logs import quic
from dumbbell.fitting.logs.document import number, parsed, record, rows, table, word

SOURCE: Final = "qlog"
_SEPARATOR: Final = "\x1e"
_FORM: Final = re.compile(rb'\A[\s\x1e]*\{(?:.{0,4000}?)"(?:qlog_version|qlog_format|file_schema)"', re.DOTALL)
_DELTA: Final = ("delta", "relative_to_previous_event")
"""Names of the format in which a time counts from the event before."""


def is_form(head: bytes) -> bool:
    """Returns true for a JSON object, or a sequence of them, that names qlog."""
    return _FORM.match(head) is not None


def fit(text: str, name: str, connection: str | None) -> Fit:
    """Fits a path to the connection that sent most. Raises `InputError`."""
    traces = list(_traces(text, name))
    logs = [quic.read(events) for events in traces]
    if not any(log.sent for log in logs):
        why = "it has no event packet_sent with a number and a length in the space of 1-RTT packets"
        raise InputError(f"{name} has no packets", why, "log the sender, with events of transport and recovery")
    if connection is None:
        chosen = max(range(len(logs)), key=lambda at: len(logs[at].sent))
    elif connection.isdecimal() and len(connection) < 9 and 1 <= int(connection) <= len(logs):
        chosen = int(connection) - 1
    else:
        raise InputError(f"{name} has no connection {connection}", f"it has {len(logs)}", "--connection names one: 1")
    return quic.fit(logs[chosen], name, chosen + 1, SOURCE)


def _traces(text: str, name: str) -> Iterator[Iterator[tuple[float, str, Mapping[str, Any]]]]:
    """Events of each connection in the file."""
    # A list of all records would be many times as large as the text.
    between = _SEPARATOR if _SEPARATOR in text[:100] else "\n"
    records = (match[0] for match in re.finditer(rf"[^{between}]++", text) if not match[0].isspace())
    if (first := record(next(records, ""))) and "traces" not in first and (second := next(records, None)) is not None:
        others = (one for part in chain((second,), records) if (one := record(part)))
        yield _events(table(first.get("trace")) or first, others)
        return
    for trace in rows(table(parsed(text.replace(_SEPARATOR, ""), name)).get("traces")):
        events = trace.get("events")
        if isinstance(events, list) and events and isinstance(events[0], list):
            why = "its events are lists, as in drafts before version 0.3"
            raise InputError(f"{name} cannot be read", why, "write it with a newer version")
        yield _events(trace, iter(rows(events)))


def _events(
    trace: Mapping[str, Any], events: Iterator[Mapping[str, Any]]
) -> Iterator[tuple[float, str, Mapping[str, Any]]]:
    """Time, ms, name without its category, and data of each event."""
    common = table(trace.get("common_fields"))
    is_delta = word(common.get("time_format") or trace.get("time_format")) in _DELTA
    now, first = 0.0, None
    for event in events:
        time = number(event.get("time"))
        if time != time:
            continue
        first = time if first is None else first
        # Times since 1970 in ms have no digits left for ns.
        now = now + time if is_delta else time - first
        yield now, word(event.get("name")).rpartition(":")[2], table(event.get("data"))
