"""The votes of a forest; `benches.identify.grow` grows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Tree = list[list[Any]]
"""Nodes: `[feature, threshold, left, right]`, or a leaf: `[class, share, ...]` by turns."""


def shares(trees: Sequence[Tree], values: Sequence[float], count: int) -> npt.NDArray[np.float64]:
    """The share of the trees' votes for each class."""
    votes = np.zeros(count)
    for tree in trees:
        node = tree[0]
        while len(node) == 4 and isinstance(node[0], str):
            node = tree[node[2] if values[int(node[0])] < node[1] else node[3]]
        for place in range(0, len(node), 2):
            votes[node[place]] += node[place + 1]
    return np.asarray(votes / max(1e-9, votes.sum()))
