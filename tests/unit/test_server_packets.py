"""Lists of packets in the server: bounded, followed by topics, ended when nobody follows. No lab takes part."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from fastapi import HTTPException

from dumbbell._core import PacketList
from dumbbell.errors import InputError
from dumbbell.labs.capture import HEADER, Place
from dumbbell.labs.network import Network
from dumbbell.labs.packets import State
from dumbbell.server import packets as module
from dumbbell.server.packets import PacketLists

ARP = bytes.fromhex("ffffffffffff020202020202080600010800060400010202020202020a0000010000000000000a00")


class Fed:
    """A list that the test feeds, in place of a lab."""

    made: list[Fed]

    def __init__(self, lab: Path, place: Place) -> None:
        self.place = place
        reader, self.writer = os.pipe()
        self._list = PacketList(reader, "h1-eth0", 100, 1 << 20)
        os.write(self.writer, HEADER)
        Fed.made.append(self)

    @property
    def state(self) -> State:
        is_over, lost, first, end = self._list.state()
        return State(is_over, lost, first, end)

    def rows(self, since: int, most: int, words: str) -> tuple[list[dict[str, Any]], int]:
        text, following = self._list.rows(since, most, words)
        return json.loads(text), following

    def come(self, last: int) -> None:
        frame = ARP + bytes([0, last])
        sizes = len(frame).to_bytes(4, "little") * 2
        os.write(self.writer, bytes(8) + sizes + frame)

    def stop(self) -> None:
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1


@pytest.fixture(autouse=True)
def fed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    Fed.made = []
    monkeypatch.setattr(module, "Packets", Fed)
    monkeypatch.setattr(Network, "of", lambda lab: None)
    monkeypatch.setattr(module, "place_of", lambda network, words: Place(*words))
    yield
    for one in Fed.made:
        one.stop()


def test_a_topic_follows_packets_that_have_its_words(tmp_path: Path) -> None:
    async def scene() -> None:
        lists = PacketLists()
        made = await lists.open("net", tmp_path, ["h1", "eth0"])
        assert made.place == "h1-eth0"
        (packets,) = Fed.made
        for last in (1, 2, 11):
            packets.come(last)
        async with aclosing(lists(f"{made.id}/arp h1-eth0", None)) as events, asyncio.timeout(60):
            found: list[str] = []
            while len(found) < 3:
                found += [row.info for row in (await anext(events)).rows]
            assert found[2] == "who has 10.0.0.11? tell 10.0.0.1"
            packets.come(1)
            event = await anext(events)
            while not event.rows:
                event = await anext(events)
            assert [row.number for row in event.rows] == [3]
            packets.stop()
            while not event.is_over:
                event = await anext(events)
        # What has come stays until somebody closes the list.
        assert lists.get(made.id).state.end == 4
        lists.close(made.id)
        with pytest.raises(HTTPException):
            lists.get(made.id)

    asyncio.run(scene())


def test_a_list_that_nobody_follows_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ALONE_S", 0.1)

    async def scene() -> None:
        lists = PacketLists()
        made = await lists.open("net", tmp_path, ["h1", "eth0"])
        async with aclosing(lists(made.id, None)) as events, asyncio.timeout(60):
            await anext(events)
            await asyncio.sleep(0.3)
            lists.get(made.id)
        async with asyncio.timeout(60):
            while Fed.made[0].writer >= 0:
                await asyncio.sleep(0.05)
        with pytest.raises(HTTPException):
            lists.get(made.id)

    asyncio.run(scene())


def test_there_are_only_so_many_lists(tmp_path: Path) -> None:
    async def scene() -> None:
        lists = PacketLists()
        for _ in range(module.MOST):
            await lists.open("net", tmp_path, ["h1", "eth0"])
        with pytest.raises(InputError, match="no further list"):
            await lists.open("net", tmp_path, ["h1", "eth0"])
        lists.close_all()
        await lists.open("net", tmp_path, ["h1", "eth0"])
        lists.close_all()

    asyncio.run(scene())


def test_lists_that_are_asked_for_at_once_are_counted_before_they_are_there(tmp_path: Path) -> None:
    async def scene() -> None:
        lists = PacketLists()
        asked = [lists.open("net", tmp_path, ["h1", "eth0"]) for _ in range(3 * module.MOST)]
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert sum(isinstance(one, InputError) for one in found) == 2 * module.MOST
        assert len(Fed.made) == module.MOST
        lists.close_all()
        await lists.open("net", tmp_path, ["h1", "eth0"])
        lists.close_all()

    asyncio.run(scene())
