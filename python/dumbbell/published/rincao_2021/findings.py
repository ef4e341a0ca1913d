"""The findings of rincao-2021, each under every reading of its text."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from dumbbell.published.model import Finding, Judged
from dumbbell.published.rincao_2021 import judges, printed
from dumbbell.published.rincao_2021.grid import Mix
from dumbbell.published.rincao_2021.judges import STARVED, TAKEN, percent
from dumbbell.published.rincao_2021.readings import READINGS

Judge = Callable[..., Judged]
"""Judges studies under a `reading`."""


def _each(text: str, judge: Judge, theirs: str, turns: str) -> tuple[Finding, ...]:
    """The finding under every reading."""
    return tuple(
        Finding(text, partial(judge, reading=reading), theirs, turns, reading=reading.said) for reading in READINGS
    )


def _alone(mbit: int, cubic: int) -> str:
    """Their mean change of an algorithm alone."""
    mix = Mix(mbit, cubic)
    return percent(printed.mean_change(mix, mix.first))


_KEPT: Final = printed.kept_by_cubic()
_ABOVE: Final = printed.bbr_above_cubic()
_WORST: Final = printed.most_lost()
_MEAN: Final = "the mean of 5, 10, 15, 20 and 30 connections"
_FIGURE: Final = "in the text on a figure"
_BYTES: Final = (
    "more bytes in a run: ours of 30 connections has 187.2 MB, which are 129,282 segments of 1448 bytes, so 60,000 are "
    "nearly one in two. Longer transfers: not tested. BBR as of kernel 4.15: not tested"
)

FINDINGS: Final = (
    *_each(
        "At 300 Mbit/s CUBIC alone loses more from 10 to 30 % UDP than these take of the rest, 22 %",
        partial(judges.loses, mix=Mix(300, 100), cc="cubic", low=-1, high=-TAKEN),
        f"{_alone(300, 100)}, {_MEAN}",
        "even UDP (300-cubic, 300-cubic-mininet), or CUBIC without HyStart beside the bursts "
        "(300-cubic-bursts-no-hystart): with either it loses less. A sender that spreads UDP over less than 100 ms: "
        "not tested",
    ),
    *_each(
        "At 100 Mbit/s BBR alone loses less than half of what UDP takes, 11 %",
        partial(judges.loses, mix=Mix(100, 0), cc="bbr", low=-TAKEN / 2, high=1),
        f"{_alone(100, 0)}, {_MEAN}",
        "even UDP (100-bbr, 100-bbr-mininet): with it BBR loses more. Where it can't be told, more repetitions: not "
        "tested",
    ),
    *_each(
        "At 100 Mbit/s CUBIC alone loses less than half of what UDP takes, too",
        partial(judges.loses, mix=Mix(100, 100), cc="cubic", low=-TAKEN / 2, high=1),
        f"{_alone(100, 100)}, {_MEAN}",
        "nothing that was tried: CUBIC loses more under every reading. Theirs is a mean of -30 % with 5 and 10"
        " connections, which bursts show (100-cubic-bursts), and of hardly a change with 15 and more. CUBIC as"
        " of kernel 4.15: not tested",
    ),
    *_each(
        "At 100 Mbit/s BBR loses less than CUBIC, where each is alone",
        partial(judges.loses_less, mbit=100),
        f"BBR {_alone(100, 0)}, CUBIC {_alone(100, 100)}",
        "even UDP: with it both lose alike (100-bbr, 100-cubic, 100-bbr-mininet, 100-cubic-mininet)",
    ),
    *_each(
        "At 300 Mbit/s BBR loses less than CUBIC, where each is alone",
        partial(judges.loses_less, mbit=300),
        f"BBR {_alone(300, 0)}, CUBIC {_alone(300, 100)}",
        "even UDP: with it both lose alike (300-bbr, 300-cubic), and on Mininet's links BBR loses more "
        "(300-bbr-mininet, 300-cubic-mininet)",
    ),
    *_each(
        "CUBIC loses up to 59 % of its throughput from 10 to 30 % UDP, in some cell",
        judges.cubic_loses,
        f"{percent(_WORST[0])} in {_WORST[1]}",
        "which cells are looked at, as it is the largest of 40; where it can't be told, more repetitions: not tested",
    ),
    *_each(
        "At 100 Mbit/s CUBIC alone reaches 95 % utilisation with 10 connections at 10 and 20 % UDP, but not at 30 %",
        judges.utilisation,
        f"95 %, {_FIGURE}",
        "another end of a run than that of its last transfer: not tested",
    ),
    *_each(
        "At 100 Mbit/s BBR alone retransmits more than ten times what CUBIC alone does",
        partial(judges.retransmits_more, mbit=100),
        f"20,000 to 30,000 segments against hundreds, {_FIGURE}",
        "nothing that was tried",
    ),
    *_each(
        "At 300 Mbit/s BBR alone retransmits more than ten times what CUBIC alone does",
        partial(judges.retransmits_more, mbit=300),
        f"60,000 to 70,000 segments of BBR, {_FIGURE}; none of CUBIC",
        "nothing that was tried",
    ),
    *_each(
        "At 100 Mbit/s BBR alone retransmits 20,000 to 30,000 segments",
        partial(judges.retransmits, mix=Mix(100, 0), low=20_000, high=30_000),
        f"20,000 to 30,000, {_FIGURE}",
        _BYTES,
    ),
    *_each(
        "At 100 Mbit/s CUBIC alone retransmits hundreds of segments, 100 to 1,000",
        partial(judges.retransmits, mix=Mix(100, 100), low=100, high=1_000),
        f"hundreds, {_FIGURE}",
        "nothing that was tried",
    ),
    *_each(
        "At 300 Mbit/s BBR alone retransmits 60,000 to 70,000 segments",
        partial(judges.retransmits, mix=Mix(300, 0), low=60_000, high=70_000),
        f"60,000 to 70,000, {_FIGURE}; we take them as BBR's",
        _BYTES,
    ),
    *_each(
        "BBR has more than CUBIC in every cell of every mix",
        judges.bbr_above,
        f"in {sum(one > 1 for one in _ABOVE)} of {len(_ABOVE)}, {min(_ABOVE):.1f} to {max(_ABOVE):.1f} times as much",
        "whose the elephants are: where they are BBR's, it holds (the parts -elephants). Where it can't be "
        "told, more repetitions: not tested",
    ),
    *_each(
        "BBR does not starve CUBIC: in every cell of every mix CUBIC keeps more than half of what it has alone",
        judges.no_starvation,
        f"in {sum(one > STARVED for one in _KEPT)} of {len(_KEPT)}, least {min(_KEPT):.3f}, so their own numbers fail "
        f"it; in {sum(one < 1 for one in _KEPT)} of {len(_KEPT)} CUBIC has less than alone. Below one half BBR has "
        "taken more than it has left. A bound of 1/3, below all their numbers, could not fail",
        "whose the elephants are: where they are BBR's, CUBIC has mice only, and keeps less than half in most "
        "cells (the parts -elephants). Where it can't be told, more repetitions: not tested",
    ),
)
