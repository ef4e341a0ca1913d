"""Mutations of inputs: of bytes, and of values as JSON and YAML have them, which stay JSON."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any, Final

NUMBERS: Final = (0, 1, -1, 2, 255, 65_536, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64, 10**30, 0.5, -0.0, 1e308)
WORDS: Final = (
    "",
    "0",
    "-1",
    "1e999",
    "nan",
    "inf",
    "null",
    "10.0.0.1/8",
    "::1/64",
    "a" * 300,
    "\u0000",
    "é",
    "\ud800",
    "\n",
)
MOST_DEPTH: Final = 40


def spliced(data: bytes, random: Random) -> bytes:
    """The bytes with some of them flipped, overwritten, deleted, repeated or moved, one to four times."""
    found = bytearray(data)
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(found) + 1)
        end = min(len(found), at + random.choice((1, 1, 2, 4, 16, 64)))
        match random.randrange(7):
            case 0 if at < len(found):
                found[at] ^= 1 << random.randrange(8)
            case 1:
                del found[at:end]
            case 2:
                found[at:at] = found[at:end] * random.choice((1, 1, 2, 20))
            case 3:
                to = random.randrange(len(found) + 1)
                found[to:to] = found[at:end]
            case 4:
                found[at:end] = str(random.choice(NUMBERS)).encode()
            case 5:
                found[at:at] = random.choice(WORDS).encode(errors="surrogatepass")
            case _:
                found[at:end] = bytes(random.randrange(256) for _ in range(end - at))
    return bytes(found)


def restructured(value: Any, random: Random) -> Any:
    """The value with parts of it removed, replaced, exchanged or added, one to three times."""
    value = copy.deepcopy(value)
    for _ in range(random.randint(1, 3)):
        found = list(places(value))
        if not found:
            return value
        holder, key = random.choice(found)
        other = copy.deepcopy(_at(*random.choice(found)))
        match random.randrange(6):
            case 0:
                del holder[key]
            case 1:
                holder[key] = other
            case 2:
                holder[key] = random.choice((*NUMBERS, *WORDS, None, True, [], {}, [[]], {"": {}}))
            case 3 if isinstance(holder, list):
                holder.insert(key, other)
            case 3:
                holder[str(random.choice(found)[1])] = other
            case 4 if isinstance(old := holder[key], str) and old:
                holder[key] = spliced(old.encode(errors="surrogatepass"), random).decode(errors="replace")
            case _ if isinstance(old := holder[key], int | float):
                holder[key] = random.choice((old + 1, old - 1, -old, old * 1000, str(old)))
    return value


def as_json(value: Any) -> bytes:
    """JSON, which is YAML, too."""
    return json.dumps(value, ensure_ascii=False, default=str).encode(errors="surrogatepass")


def places(value: Any, depth: int = 0) -> Any:
    """Each list or table of the value, with each of its places."""
    if depth > MOST_DEPTH or not isinstance(value, list | dict):
        return
    for key in range(len(value)) if isinstance(value, list) else list(value):
        yield value, key
        yield from places(value[key], depth + 1)


def _at(holder: Any, key: Any) -> Any:
    return holder[key]
