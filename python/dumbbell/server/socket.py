"""The WebSocket of a page: topics, commands, acknowledgements."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import Final

from fastapi import APIRouter, HTTPException, WebSocket, WebSocketDisconnect
from pydantic import TypeAdapter, ValidationError

from dumbbell.errors import DumbbellError, InputError
from dumbbell.server import messages as m
from dumbbell.server.document import Stale
from dumbbell.server.documents import Documents
from dumbbell.server.problems import problem
from dumbbell.server.topics import Topics, TopicSource

MOST_SOCKETS: Final = 32
MOST_TOPICS: Final = 100
"""Topics of one socket."""
LARGEST: Final = 9_000_000
"""Bytes of a message: a text of 2 MB, each character escaped, and some room."""
PING_S: Final = 20.0

_REQUEST: Final = TypeAdapter[m.Request](m.Request)
router = APIRouter()


@router.websocket("/api/socket")
async def socket(websocket: WebSocket) -> None:
    """Speak with one page until it leaves."""
    state = websocket.app.state
    if state.sockets >= MOST_SOCKETS:
        await websocket.close(1013, f"at most {MOST_SOCKETS} pages")
        return
    state.sockets += 1
    try:
        await websocket.accept()
        await Connection(websocket, state.topics, state.documents).serve()
    finally:
        state.sockets -= 1


class Connection:
    """A page that is connected."""

    def __init__(self, websocket: WebSocket, topics: Topics, documents: Documents) -> None:
        """Starts without subscriptions."""
        self._websocket, self._topics, self._documents = websocket, topics, documents
        self._subscribed: dict[str, asyncio.Task[None]] = {}
        self._writing = asyncio.Lock()

    async def serve(self) -> None:
        """Answer until the page leaves."""
        pinging = asyncio.create_task(self._ping())
        try:
            while True:
                await self._answer(await self._websocket.receive_text())
        except (WebSocketDisconnect, RuntimeError, KeyError):
            return  # KeyError: a binary message, which this socket does not know.
        finally:
            for task in (pinging, *self._subscribed.values()):
                task.cancel()
            await asyncio.gather(pinging, *self._subscribed.values(), return_exceptions=True)

    async def _answer(self, text: str) -> None:
        if len(text) > LARGEST:
            await self._websocket.close(1009, "too large")
            return
        try:
            request = _REQUEST.validate_json(text)
        except (ValidationError, RecursionError) as error:
            first = error.errors()[0]["msg"] if isinstance(error, ValidationError) else "nested too deeply"
            told = m.Problem(what="this is not a request", why=first)
            await self._send(m.Reject(id=None, why="problem", problem=told))
            return
        match request:
            case m.Subscribe():
                await self._subscribe(request)
            case m.Unsubscribe():
                await self._unsubscribe(request.topic)
                await self._send(m.Ack(id=request.id))
            case m.SendCommand():
                await self._command(request)

    async def _command(self, request: m.SendCommand) -> None:
        kind, _, path = request.topic.partition("/")
        try:
            if kind != "document":
                raise InputError(f"{request.topic} takes no commands")
            done = await self._documents.command(path, request.command, request.base, self)
        except Stale:
            await self._reject(request, path, "stale", None)
        except DumbbellError as error:
            await self._reject(request, path, "problem", problem(error.problems[0]))
        else:
            await self._send(done.model_copy(update={"id": request.id}))

    async def _reject(self, request: m.SendCommand, path: str, why: str, problem: m.Problem | None) -> None:
        # The state follows as an event: the client's is not what the author of the command believed.
        revision = self._documents.revision(path)
        await self._send(m.Reject(id=request.id, revision=revision, why=why, problem=problem))  # type: ignore[arg-type]

    # Topics

    async def _subscribe(self, request: m.Subscribe) -> None:
        topic = request.topic
        kind, _, path = topic.partition("/")
        source = self._topics.get(kind)
        if source is None or len(self._subscribed) >= MOST_TOPICS:
            what = f"there is no topic {topic!r}" if source is None else f"more than {MOST_TOPICS} topics"
            await self._send(m.Reject(id=request.id, why="problem", problem=m.Problem(what=what)))
            return
        await self._unsubscribe(topic)
        self._subscribed[topic] = asyncio.create_task(self._tell(request, source, path))

    async def _unsubscribe(self, topic: str) -> None:
        task = self._subscribed.pop(topic, None)
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _tell(self, request: m.Subscribe, source: TopicSource, path: str) -> None:
        """Send a topic's events. The acknowledgement comes before the first of them, or when none comes at once."""
        try:
            async with aclosing(source(path, request.since)) as events:
                first = asyncio.ensure_future(anext(events, None))
                try:
                    await asyncio.wait([first], timeout=0.05)
                    if first.done():
                        first.result()
                    await self._send(m.Ack(id=request.id))
                    event = await first
                finally:
                    first.cancel()
                    with suppress(asyncio.CancelledError, DumbbellError, StopAsyncIteration):
                        await first
                while event is not None:
                    await self._send(m.TopicEvent(topic=request.topic, event=event))
                    event = await anext(events, None)
        except (WebSocketDisconnect, RuntimeError):
            return  # The page has left.
        except Exception as error:
            # Whatever it is, the page hears of it, and may subscribe again.
            self._subscribed.pop(request.topic, None)
            await self._send(m.Reject(id=request.id, why="problem", problem=_why_not(request.topic, error)))

    async def _send(self, message: m.Message) -> None:
        text = message.model_dump_json()
        async with self._writing:
            await self._websocket.send_text(text)

    async def _ping(self) -> None:
        while True:
            await asyncio.sleep(PING_S)
            await self._send(m.Ping())


def _why_not(topic: str, error: Exception) -> m.Problem:
    """Returns the problem that ends a topic, or keeps it from beginning."""
    match error:
        case DumbbellError():
            return problem(error.problems[0])
        case HTTPException(detail=dict() as told):
            return m.Problem.model_validate(told)
        case OSError():
            return m.Problem(what=f"{topic} cannot be read", why=error.strerror or str(error))
    why = f"{type(error).__name__}: {error}"
    return m.Problem(what=f"{topic} cannot be sent", why=why, hint="this is a mistake of dumbbell")
