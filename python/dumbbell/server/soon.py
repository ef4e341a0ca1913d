"""The page at once, and the rest as soon as it is imported: that takes a second, while the browser loads the page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from dumbbell.server import assets

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Soon:
    """An application that is being made."""

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        """`make` takes its time; it is called in a thread when the server starts."""
        self._make = make
        self._made: asyncio.Future[ASGIApp] | None = None
        self._lifespan: asyncio.Task[None] | None = None
        self._orders: asyncio.Queue[Message] = asyncio.Queue()
        self._answers: asyncio.Queue[Message] = asyncio.Queue()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer for the page; let all else wait for the application."""
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
            return
        path = scope["path"]
        if scope["type"] == "http" and not path.startswith("/api"):
            await assets.answer(path, scope["method"], send)
            return
        assert self._made is not None, "requests come after the start"
        app = await asyncio.shield(self._made)
        await app(scope, receive, send)

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Start and end as the server does. What fails while it starts ends the server."""
        await receive()
        self._made = asyncio.ensure_future(self._begin(scope))
        await send({"type": "lifespan.startup.complete"})
        await receive()
        if self._made.done() and self._made.exception() is None and self._lifespan is not None:
            await self._orders.put({"type": "lifespan.shutdown"})
            await self._lifespan
        else:
            self._made.cancel()
        await send({"type": "lifespan.shutdown.complete"})

    async def _begin(self, scope: Scope) -> ASGIApp:
        app = await asyncio.to_thread(self._make)
        self._lifespan = asyncio.create_task(_run(app, scope, self._orders.get, self._answers.put))
        await self._orders.put({"type": "lifespan.startup"})
        told = await self._answers.get()
        if told["type"] != "lifespan.startup.complete":
            raise RuntimeError(told.get("message", "the application did not start"))
        return app


async def _run(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    await app(scope, receive, send)
