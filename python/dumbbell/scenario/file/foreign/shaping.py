"""Commands of `tc` at a node's interface: what of them a link of a scenario can say. None is run."""

from __future__ import annotations

import re
from typing import Final

Shaping = dict[str, str]
"""Keys of a link, in the direction that leaves the interface, as TOML writes their values."""

NANOSECONDS: Final = {"us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_TIME: Final = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)\s*(us|usecs?|ms|msecs?|s|secs?)?", re.ASCII)
_RATE: Final = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)(|[kmgt]?)(bit|bps)", re.ASCII | re.IGNORECASE)
_SIZE: Final = re.compile(r"(\d{1,15})(b?|k|kb|m|mb)", re.ASCII | re.IGNORECASE)
_PREFIXES: Final = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_HANDLES: Final = ("handle", "parent")


def taken(words: list[str], shaping: dict[str, Shaping], defaults: dict[str, str]) -> bool:
    """Take a command of `tc`. False: a link cannot say all of it, and nothing is taken.

    Args:
        words: of the command, behind `tc`.
        shaping: by interface; added to.
        defaults: minor number of the class of HTB that all packets enter, by interface; added to.
    """
    match words:
        case ["qdisc", "add" | "replace", "dev", interface, "root", "handle", _, "htb", "default", minor] | [
            "qdisc", "add" | "replace", "dev", interface, "handle", _, "root", "htb", "default", minor
        ]:  # fmt: skip
            defaults[interface] = minor.removeprefix("0x").lstrip("0")
            return True
        case ["class", "add" | "replace" | "change", "dev", interface, "parent", _, "classid", id_, "htb", *rest]:
            if id_.rpartition(":")[2].lstrip("0") != defaults.get(interface):
                return False
            try:
                given = dict(zip(rest[::2], rest[1::2], strict=True))
                # Without other traffic a class may have all of its ceiling.
                rate = _rate(given.get("ceil", given["rate"]))
            except (KeyError, ValueError):
                return False
            if given.keys() - {"rate", "ceil", "burst", "cburst", "prio", "quantum"}:
                return False
            shaping.setdefault(interface, {})["rate"] = rate
            return True
        case ["qdisc", "add" | "replace" | "change", "dev", interface, *rest]:
            while rest and (rest[0] == "root" or (rest[0] in _HANDLES and len(rest) > 1)):
                rest = rest[1 if rest[0] == "root" else 2 :]
            try:
                found = {"netem": _netem, "tbf": _tbf}[rest[0]](rest[1:]) if rest else None
            except (KeyError, ValueError, IndexError):
                return False
            if found is None:
                return False
            shaping.setdefault(interface, {}).update(found)
            return True
    return False


def _netem(words: list[str]) -> Shaping:
    """Raises `ValueError`, `IndexError` or `KeyError` if a link cannot say it."""
    found: Shaping = {}
    while words:
        key, words = words[0], words[1:]
        match key:
            case "delay":
                delay, words = time(words[0]), words[1:]
                jitter = 0
                if words and words[0][0].isdigit():
                    jitter, words = time(words[0]), words[1:]
                found |= delayed(delay, jitter)
            case "loss":
                words = words[1:] if words[0] == "random" else words
                found["loss"], words = f'"{_percentage(words[0])} %"', words[1:]
            case "rate":
                found["rate"], words = _rate(words[0]), words[1:]
            case "limit":
                int(words[0])
                words = words[1:]
            case _:
                raise ValueError(key)
    return found


def _tbf(words: list[str]) -> Shaping:
    """The burst is left out: a link sends packet by packet. Raises as `_netem`."""
    given = dict(zip(words[::2], words[1::2], strict=True))
    found = {"rate": _rate(given.pop("rate"))}
    for key in ("burst", "buffer", "maxburst"):
        given.pop(key, None)
    if "limit" in given:
        found["buffer"] = f'"{_size(given.pop("limit"))} B"'
    elif "latency" in given:
        found["buffer"] = f'"{shortest(time(given.pop("latency")))}"'
    if given:
        raise ValueError(given)
    return found


def delayed(delay: int, jitter: int) -> Shaping:
    """The keys of netem's delay, which it draws from delay - jitter to delay + jitter. Nanoseconds."""
    if not jitter:
        return {"delay": f'"{shortest(delay)}"'}
    least = max(delay - jitter, 0)
    return {
        "delay": f'"{shortest(least)}"', "jitter": f'"{shortest(delay + jitter - least)}"', "reordering": "true",
    }  # fmt: skip


def time(text: str) -> int:
    """Nanoseconds; without a unit they are microseconds, as tc reads them. Raises `ValueError`."""
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text} is not a time")
    unit = next(unit for unit in NANOSECONDS if (match[2] or "us").startswith(unit))
    return round(float(match[1]) * NANOSECONDS[unit])


def shortest(ns: int) -> str:
    """A time in the largest unit in which it is a whole number."""
    for unit in ("s", "ms", "us"):
        if ns % NANOSECONDS[unit] == 0:
            return f"{ns // NANOSECONDS[unit]} {unit}"
    return f"{ns} ns"


def _rate(text: str) -> str:
    match = _RATE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text} is not a rate")
    bits = round(float(match[1]) * _PREFIXES[match[2].lower()] * (1 if match[3].lower() == "bit" else 8))
    for unit, size in (("Gbit/s", 10**9), ("Mbit/s", 10**6), ("kbit/s", 10**3)):
        if bits and bits % size == 0:
            return f'"{bits // size} {unit}"'
    return f'"{bits} bit/s"'


def _size(text: str) -> int:
    """Bytes; tc's k and m are powers of 1,024."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text} is not a size")
    return int(match[1]) << {"k": 10, "m": 20}.get(match[2][:1].lower(), 0)


def _percentage(text: str) -> str:
    number = text.removesuffix("%")
    if not re.fullmatch(r"\d{1,3}(\.\d{1,9})?", number, re.ASCII):
        raise ValueError(f"{text} is not a percentage")
    return number
