"""Queue disciplines, one to a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from validation.conformance.queues.base import Queue
from validation.conformance.queues.cake import Cake
from validation.conformance.queues.codel import Codel
from validation.conformance.queues.dualpi2 import DualPi2
from validation.conformance.queues.fifo import DropHead, DropTail
from validation.conformance.queues.fq import Fq
from validation.conformance.queues.fq_codel import FqCodel
from validation.conformance.queues.pie import Pie
from validation.conformance.queues.red import Red

KINDS: dict[str, Callable[..., Queue]] = {
    "drop-tail": DropTail,
    "drop-head": DropHead,
    "codel": Codel,
    "fq-codel": FqCodel,
    "fq": Fq,
    "cake": Cake,
    "pie": Pie,
    "red": Red,
    "dualpi2": DualPi2,
}


def queue(link: dict[str, Any], seed: int) -> Queue:
    """A link's queue, empty."""
    return KINDS[link["queue"]["kind"]](link, seed)
