"""Firefox 153 behind a relay that mends three faults of Playwright's driver of WebDriver BiDi, version 1.65.

- The driver sends `emulation.setMediaFeaturesOverride` to each context, which Firefox does not know: no page would
  open. The relay answers, and sets the colour scheme by Firefox's own code.
- It types texts in a way that React overlooks.
- It overlooks downloads that no navigation began.

All else passes through.

Usage:
    python firefox_relay.py FIREFOX ARGUMENTS...   in place of FIREFOX ARGUMENTS...
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from asyncio import Future, Task
from contextlib import suppress
from itertools import count
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

OWN_IDS = 1 << 40
"""First number of the relay's own commands: the driver counts from 1."""
SET_SCHEME = """(page, scheme) => {
  const path = "chrome://remote/content/shared/NavigableManager.sys.mjs";
  const { NavigableManager } = ChromeUtils.importESModule(path);
  const context = NavigableManager.getBrowsingContextById(page);
  if (context) context.prefersColorSchemeOverride = scheme;
}"""
"""Firefox's code for the setting of its developer tools, in a window of its own."""
TYPING = "function bidiInsertText(window, text) {"
"""Beginning of the driver's own code that types a text."""
TYPED = f"{TYPING} if (window.document.execCommand('insertText', false, text)) return;"
"""The same as an edit of the browser's: React overlooks a value that a script sets before its event."""
LONG: dict[str, Any] = {"max_size": None, "compression": None, "ping_interval": None}
"""Options of connections: messages of any length, and no deadline."""


class Relay:
    """The connection of one driver."""

    def __init__(self, driver: ServerConnection, firefox: ClientConnection) -> None:
        self.driver = driver
        self.firefox = firefox
        self.schemes: dict[str, str] = {}
        """Colour scheme of each user context."""
        self.pages: dict[str, str] = {}
        """Colour scheme of each page."""
        self.answers: dict[int, Future[Any]] = {}
        self.ids = count(OWN_IDS)
        self.window: str | None = None
        """A window of Firefox, where its own code runs."""
        self.tasks: set[Task[None]] = set()

    async def run(self) -> None:
        down = asyncio.create_task(self.from_firefox())
        with suppress(ConnectionClosed):
            async for text in self.driver:
                await self.from_driver(str(text))
        await self.firefox.close()
        await down

    async def from_driver(self, text: str) -> None:
        command = json.loads(text)
        if command["method"] != "emulation.setMediaFeaturesOverride":
            await self.firefox.send(text.replace(TYPING, TYPED))
            return
        asked = command["params"]
        scheme = asked["features"].get("prefers-color-scheme") or "none"
        self.schemes |= dict.fromkeys(asked.get("userContexts", ()), scheme)
        for page in asked.get("contexts", ())[:1]:  # What follows are its frames, which have the page's scheme.
            self.pages[page] = scheme
            self.later_set(page, scheme)
        await self.driver.send(json.dumps({"type": "success", "id": command["id"], "result": {}}))

    async def from_firefox(self) -> None:
        with suppress(ConnectionClosed):
            async for text in self.firefox:
                message = json.loads(text)
                if answer := self.answers.pop(message.get("id"), None):
                    answer.set_result(message)
                    continue
                method, told = message.get("method", ""), message.get("params", {})
                if method == "browsingContext.contextCreated":
                    if told["parent"] is None and told["userContext"] in self.schemes:
                        self.pages[told["context"]] = self.schemes[told["userContext"]]
                        self.later_set(told["context"], self.pages[told["context"]])
                elif method == "browsingContext.navigationCommitted" and told["context"] in self.pages:
                    # A site of its own gets a process of its own, where the setting is lost.
                    self.later_set(told["context"], self.pages[told["context"]])
                elif method.startswith("browsingContext.download"):
                    told["download"] = told.get("download") or told["navigation"] or told["url"]
                    text = json.dumps(message)
                await self.driver.send(text)
        await self.driver.close()

    def later_set(self, page: str, scheme: str) -> None:
        task = asyncio.create_task(self.set_scheme(page, scheme))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def set_scheme(self, page: str, scheme: str) -> None:
        if self.window is None:
            tree = await self.ask("browsingContext.getTree", {"moz:scope": "chrome", "maxDepth": 0})
            self.window = tree["contexts"][0]["context"]
        values = [{"type": "string", "value": value} for value in (page, scheme)]
        call = {"functionDeclaration": SET_SCHEME, "awaitPromise": False, "arguments": values}
        answer = await self.ask("script.callFunction", {**call, "target": {"context": self.window}})
        if answer["type"] != "success":
            raise RuntimeError(f"Firefox set no colour scheme: {answer}")

    async def ask(self, method: str, params: dict[str, Any]) -> Any:
        """Sends a command of the relay's own. Returns its result."""
        number = next(self.ids)
        self.answers[number] = asyncio.get_running_loop().create_future()
        await self.firefox.send(json.dumps({"id": number, "method": method, "params": params}))
        answer = await self.answers[number]
        if answer["type"] != "success":
            raise RuntimeError(f"{method}: {answer['message']}")
        return answer["result"]


async def main(command: list[str]) -> int:
    """Runs Firefox, and tells the driver the relay's address in place of Firefox's."""
    process = await asyncio.create_subprocess_exec(
        *(command[0], "--remote-allow-system-access", *command[1:]), stderr=asyncio.subprocess.PIPE, limit=1 << 24
    )
    assert process.stderr is not None
    servers: list[Server] = []
    async for line in process.stderr:
        text = line.decode(errors="replace")
        if listening := re.search(r"WebDriver BiDi listening on (ws://\S+)", text):
            at = listening[1]

            async def relay(driver: ServerConnection, at: str = at) -> None:
                assert driver.request is not None
                async with connect(at + driver.request.path, **LONG) as firefox:
                    await Relay(driver, firefox).run()

            servers.append(await serve(relay, "127.0.0.1", 0, **LONG))
            text = f"WebDriver BiDi listening on ws://127.0.0.1:{servers[0].sockets[0].getsockname()[1]}\n"
        sys.stderr.write(text)
        sys.stderr.flush()
    return await process.wait()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
