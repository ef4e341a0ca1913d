"""Spaces of observations and actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from gymnasium.spaces import Box, Space

from dumbbell.core import core
from dumbbell.errors import InputError
from dumbbell.gym.networks import Episode
from dumbbell.gym.reward import Array
from dumbbell.gym.terms import Field, Terms


def observations() -> Space[Array]:
    """Numbers with their units, as `core.held_fields` lists them."""
    most = np.array([most for _, _, most, _ in core.held_fields()])
    return cast(Space[Array], Box(np.zeros_like(most), most, dtype=np.float64))


def actions(terms: Terms) -> Space[Array]:
    """Factors: `a` from 0 to 1 is 1 + a, from -1 to 0 it is 1 / (1 - a).

    The first changes the window, the second sets the pacing rate, in windows per smoothed RTT.
    """
    return cast(Space[Array], Box(-1.0, 1.0, (terms.width,), dtype=np.float64))


def numbers(given: Any, count: int, terms: Terms) -> Array:
    """Actions of `count` flows, a row each. Raises `InputError` if their shape is another, or they are not finite."""
    expected = f"expected {terms.width} for each of {count}" if count > 1 else f"expected {terms.width}"
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("an action is no array of numbers", str(error), f"{expected}, from -1 to 1") from error
    if found.size != count * terms.width:
        many = f"{found.size} number" if found.size == 1 else f"{found.size} numbers"
        raise InputError(f"an action of {many}", f"{expected}, from -1 to 1", "paces=True adds the second")
    if not np.isfinite(found).all():
        why = "a policy that has diverged gives nan"
        raise InputError("an action has a number that is not finite", why, "look at its weights and its inputs")
    return found.reshape(count, terms.width)


def stepped(episodes: Sequence[Episode], given: Array | None, threads: int = 1) -> tuple[Array, list[bool]]:
    """Steps episodes to their next decision; their observations, a row each, and whether they are over."""
    agents = len(episodes[0].network.flows)
    seen = np.zeros((len(episodes), agents, len(Field)))
    action = None if given is None else np.ascontiguousarray(given, dtype=np.float64)
    over = core.step_held([one.run for one in episodes], None if action is None else action.data, seen.data, threads)
    return seen, over
