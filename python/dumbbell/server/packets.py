"""Lists of packets of labs: started and stopped by the page, followed by topics, saved as pcapng."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Final

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from dumbbell.errors import InputError
from dumbbell.labs.capture import place_of
from dumbbell.labs.network import Network
from dumbbell.labs.packets import Packets
from dumbbell.server import run_places
from dumbbell.server.lab_messages import ListedPackets, PacketHeader, PacketList, PacketWhole, StartPackets

MOST: Final = 8
"""Lists at a time, of up to 32 MB each."""
ALONE_S: Final = 20.0
"""Time after which a list that nobody follows ends."""
ROWS: Final = 1_000
"""Rows of an event."""
EVERY_S: Final = 0.2


class _List:
    def __init__(self, lab: str, packets: Packets) -> None:
        self.id = secrets.token_hex(8)
        self.lab, self.packets = lab, packets
        self.followers = 0
        self.end: asyncio.TimerHandle | None = None

    @property
    def message(self) -> PacketList:
        return PacketList(id=self.id, lab=self.lab, place=str(self.packets.place))


class PacketLists:
    """The lists of this server."""

    def __init__(self) -> None:
        """None yet."""
        self._all: dict[str, _List] = {}
        self._beginning = 0
        """Lists that count although they are not there yet: a lab's answer takes time."""

    async def open(self, lab: str, folder: Path, words: list[str]) -> PacketList:
        """Begin a list. Raises `InputError` if there is no such place, or there are too many lists."""
        if len(self._all) + self._beginning >= MOST:
            raise InputError("no further list of packets", f"{MOST} are open", "close one of them")
        self._beginning += 1
        try:
            place = await run_in_threadpool(lambda: place_of(Network.of(folder), words))
            made = _List(lab, await run_in_threadpool(Packets, folder, place))
            self._all[made.id] = made
        finally:
            self._beginning -= 1
        self._leave(made)
        return made.message

    def get(self, name: str) -> Packets:
        """The packets of a list. Raises 404."""
        return self._get(name).packets

    def message_of(self, name: str) -> PacketList:
        """The name and the place of a list. Raises 404."""
        return self._get(name).message

    def close(self, name: str) -> None:
        """End a list, and forget its packets."""
        found = self._all.pop(name, None)
        if found is None:
            raise run_places.absent("list of packets", name)
        if found.end is not None:
            found.end.cancel()
        asyncio.get_running_loop().run_in_executor(None, found.packets.stop)

    def close_all(self) -> None:
        """End all lists."""
        for one in list(self._all):
            self.close(one)

    async def __call__(self, path: str, since: int | None) -> AsyncGenerator[ListedPackets, None]:
        """The source of topics `packets/ID/WORDS`: rows with all words, from the oldest that is kept on."""
        name, _, words = path.partition("/")
        found = self._get(name)
        found.followers += 1
        if found.end is not None:
            found.end.cancel()
        at, before = since or 0, None
        try:
            while True:
                rows, at = await run_in_threadpool(found.packets.rows, at, ROWS, words)
                state = found.packets.state
                if rows or state != before:
                    yield ListedPackets.model_validate({**vars(state), "rows": rows, "next": at})
                before = state
                if len(rows) < ROWS:
                    await asyncio.sleep(EVERY_S)
        finally:
            found.followers -= 1
            self._leave(found)

    def _get(self, name: str) -> _List:
        found = self._all.get(name)
        if found is None:
            raise run_places.absent("list of packets", name)
        return found

    def _leave(self, packet_list: _List) -> None:
        """Let a list end soon, unless somebody follows it."""
        if packet_list.followers == 0 and packet_list.id in self._all:

            def forget() -> None:
                if packet_list.followers == 0 and packet_list.id in self._all:
                    self.close(packet_list.id)

            packet_list.end = asyncio.get_running_loop().call_later(ALONE_S, forget)


def router(lists: PacketLists) -> APIRouter:
    """The routes of lists."""
    from dumbbell.server.labs import find

    made = APIRouter(prefix="/api/packets")

    @made.post("")
    async def start(asked: StartPackets) -> PacketList:
        """Begin a list of the packets at an interface or on links."""
        return await lists.open(asked.lab, await run_in_threadpool(find, asked.lab), asked.of)

    @made.post("/{name}/stop")
    def stop(name: str) -> PacketList:
        """End the capture. The packets stay as long as somebody follows the list."""
        lists.get(name).stop()
        return lists.message_of(name)

    @made.delete("/{name}")
    async def forget(name: str) -> dict[str, bool]:
        """End the capture, and forget the packets."""
        lists.close(name)
        return {"closed": True}

    @made.get("/{name}/packet/{number}")
    def packet(name: str, number: int) -> PacketWhole:
        """A packet with the fields of its headers."""
        found = lists.get(name).whole(number) if number >= 0 else None
        if found is None:
            raise run_places.absent("packet", str(number))
        headers = [
            PacketHeader(name=one["name"], fields=[tuple(field) for field in one["fields"]]) for one in found["headers"]
        ]
        return PacketWhole.model_validate({**found, "headers": headers})

    @made.get("/{name}/file")
    def file(name: str, words: str = "") -> Response:
        """The packets in which all words occur, as a pcapng file."""
        told = lists.message_of(name)
        as_name = re.sub(r"[^A-Za-z0-9.-]", "_", f"{told.lab}-{told.place}.pcapng")
        headers = {"Content-Disposition": f'attachment; filename="{as_name}"'}
        return Response(lists.get(name).pcapng(words), media_type="application/x-pcapng", headers=headers)

    return made
