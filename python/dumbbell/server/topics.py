"""Topics of the socket: what a browser can subscribe to.

A topic is `KIND/PATH`. Each kind has a source: a function that gives the events of one topic as an asynchronous
generator, which ends when there are no more or is closed when nobody listens. A source that is slower to be read than
to write leaves events out by itself: the socket takes the next one only when the last one is sent.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from pydantic import BaseModel

from dumbbell.engines.events import Event


class TopicSource(Protocol):
    """Gives the events of the topics of one kind."""

    def __call__(self, path: str, since: int | None) -> AsyncGenerator[Event | BaseModel, None]:
        """The events of one topic.

        Args:
            path: what follows `KIND/` in the topic; empty for a topic without one, such as `files`.
            since: number of the first event wanted; `None`: from now on.

        Raises `DumbbellError`, before the first event, if there is no such topic.
        """
        ...


Topics = dict[str, TopicSource]
"""Kind -> its source. `app.state.topics` of the application; routers add theirs when the application is made."""
