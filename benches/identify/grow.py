"""Extremely randomised trees (Geurts, Ernst, Wehenkel, Machine Learning 63, 2006): a split is the best of a few."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from dumbbell.captures.identify.forest import Tree

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

TREES: Final = 48
_LEAST_LEAF: Final = 2
_DIGITS: Final = 4


def grow(values: Floats, classes: Ints, count: int, seed: int = 1) -> list[Tree]:
    """Trees for rows of `values` whose classes are 0 to `count` - 1. The same seed gives the same trees."""
    random = np.random.default_rng(seed)
    return [_tree(values, classes, count, random) for _ in range(TREES)]


def _tree(values: Floats, classes: Ints, count: int, random: np.random.Generator) -> Tree:
    tree: Tree = []
    _node(tree, values, classes, count, random)
    return tree


def _node(tree: Tree, values: Floats, classes: Ints, count: int, random: np.random.Generator) -> int:
    place = len(tree)
    tree.append([])
    held = np.bincount(classes, minlength=count)
    split = None if (held > 0).sum() < 2 or len(classes) < 2 * _LEAST_LEAF else _split(values, classes, count, random)
    if split is None:
        for one in np.flatnonzero(held):
            tree[place] += [int(one), round(float(held[one] / held.sum()), 3)]
        return place
    feature, threshold = split
    is_left = values[:, feature] < threshold
    left = _node(tree, values[is_left], classes[is_left], count, random)
    right = _node(tree, values[~is_left], classes[~is_left], count, random)
    # The feature is text, which tells a node from a leaf.
    tree[place] = [str(feature), threshold, left, right]
    return place


def _split(values: Floats, classes: Ints, count: int, random: np.random.Generator) -> tuple[int, float] | None:
    """The best of some splits: a feature each, and a threshold by chance."""
    low, high = values.min(axis=0), values.max(axis=0)
    varying = np.flatnonzero(high > low)
    best, best_score = None, np.inf
    tries = max(4, round(2 * np.sqrt(values.shape[1])))
    for feature in random.permutation(varying)[:tries]:
        threshold = round(float(random.uniform(low[feature], high[feature])), _DIGITS)
        is_left = values[:, feature] < threshold
        least = min(is_left.sum(), (~is_left).sum())
        if least < _LEAST_LEAF:
            continue
        score = sum(_impurity(classes[side], count) for side in (is_left, ~is_left))
        if score < best_score:
            best, best_score = (int(feature), threshold), score
    return best


def _impurity(classes: Ints, count: int) -> float:
    """Gini's impurity times the number of rows."""
    held = np.bincount(classes, minlength=count)
    return float(len(classes) - (held**2).sum() / len(classes))
