"""Small policies that can be exported as C: linear ones, and perceptrons with few units."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from dumbbell import inputs, outputs
from dumbbell.errors import InputError, unwritable
from dumbbell.frozen import dataclass
from dumbbell.gym.reward import Array
from dumbbell.gym.terms import Field, parse_interval

ONE: Final = 1024
"""1 in fixed point."""
FEATURES: Final = {
    "queue": "mean RTT / minimum RTT - 1, at most 4",
    "trend": "(latest RTT - mean RTT) / minimum RTT, -1 to 1",
    "loss": "lost / (delivered + lost)",
    "marks": "CE-marked / delivered, at most 1",
    "waiting": "window x (mean RTT - minimum RTT) / mean RTT / 16: packets that wait in a queue, at most 4 x 16",
}
"""Inputs of a policy, all without a unit; 0 without an RTT."""
MOST: Final = 4.0
WAITING: Final = 16
WIDEST: Final = 16
"""Units of a layer: what they hold must fit into the 512 bytes of a BPF program's stack."""
DEEPEST: Final = 3
_LARGEST_WEIGHT: Final = 1000.0
_LARGEST: Final = 1 << 20


def features(seen: Array) -> Array:
    """The inputs of a policy, of an array whose last axis is an observation."""
    columns = (Field.DELIVERED, Field.LOST, Field.CE, Field.RTT_MEAN, Field.RTT_LATEST, Field.MIN_RTT, Field.WINDOW)
    delivered, lost, ce, rtt, latest, least, window = (seen[..., column] for column in columns)
    has_rtt = (rtt > 0) & (least > 0)
    rtt, least = np.where(has_rtt, rtt, 1.0), np.where(has_rtt, least, 1.0)
    above = np.maximum(rtt - least, 0.0)
    trend = np.where(has_rtt, (latest - rtt) / least, 0.0)
    found = (
        np.minimum(above / least, MOST),
        np.clip(trend, -1.0, 1.0),
        lost / np.maximum(delivered + lost, 1),
        np.minimum(ce / np.maximum(delivered, 1), 1.0),
        np.minimum(window * above / rtt / WAITING, MOST),
    )
    return np.stack(found, axis=-1)


@dataclass(frozen=True)
class Policy:
    """Layers of weights (outputs x inputs) and biases; each output is limited to -1 to 1.

    The last layer's outputs are the action. Weights are multiples of 1/1024, as in the exported program.
    """

    layers: tuple[tuple[Array, Array], ...]
    interval: str
    """Time between two decisions, as environments take it."""

    def __call__(self, seen: Array) -> Array:
        """The action for each observation, which the last axis of `seen` is."""
        values = features(seen)
        for weights, biases in self.layers:
            values = np.clip(values @ weights.T + biases, -1.0, 1.0)
        return values

    @property
    def paces(self) -> bool:
        """True if its action has a pacing rate."""
        return len(self.layers[-1][1]) > 1

    @property
    def parameters(self) -> Array:
        """All weights and biases as one vector."""
        return np.concatenate([part.ravel() for layer in self.layers for part in layer])

    def with_parameters(self, values: Array) -> Policy:
        """A policy of the same shape with other weights and biases."""
        layers, at = [], 0
        for weights, biases in self.layers:
            end = at + weights.size
            layers.append((_fixed(values[at:end].reshape(weights.shape)), _fixed(values[end : end + biases.size])))
            at = end + biases.size
        return Policy(tuple(layers), self.interval)

    @classmethod
    def zero(cls, hidden: Sequence[int] = (), interval: str = "1 rtt", paces: bool = False) -> Self:
        """A policy that never changes the window. Raises `InputError` if its layers are too many or too wide."""
        return cls.made(
            [
                (np.zeros((wide, of)), np.zeros(wide))
                for of, wide in zip((len(FEATURES), *hidden), (*hidden, 1 + paces), strict=True)
            ],
            interval,
        )

    @classmethod
    def made(cls, layers: Sequence[tuple[Array, Array]], interval: str) -> Self:
        """A policy of these layers. Raises `InputError` if it cannot be exported."""
        parse_interval(interval)
        if not 1 <= len(layers) <= DEEPEST:
            raise InputError(f"a policy of {len(layers)} layers", f"expected 1 to {DEEPEST}", "")
        given = len(FEATURES)
        for weights, biases in layers:
            if weights.ndim != 2 or weights.shape != (biases.size, given) or biases.ndim != 1:
                raise InputError("a layer of the wrong shape", f"expected weights for {given} inputs, and biases", "")
            if not 1 <= biases.size <= WIDEST:
                raise InputError(f"a layer of {biases.size} units", f"expected 1 to {WIDEST}", "")
            if not all(
                np.isfinite(part).all() and (np.abs(part) <= _LARGEST_WEIGHT).all() for part in (weights, biases)
            ):
                raise InputError("a weight out of range", f"expected -{_LARGEST_WEIGHT:g} to {_LARGEST_WEIGHT:g}", "")
            given = biases.size
        if given > 2:
            raise InputError(f"a policy with {given} outputs", "expected the window, and perhaps the pacing rate", "")
        return cls(tuple((_fixed(weights), _fixed(biases)) for weights, biases in layers), interval)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON. Raises `RunFailed` if that fails."""
        layers = [{"weights": weights.tolist(), "biases": biases.tolist()} for weights, biases in self.layers]
        text = json.dumps({"interval": self.interval, "features": list(FEATURES), "layers": layers}, indent=1)
        try:
            outputs.write(Path(path), f"{text}\n")
        except OSError as error:
            raise unwritable(Path(path), error) from None

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """The policy in a file that `write` wrote. Raises `InputError`."""
        try:
            given: Any = json.loads(inputs.read(path, _LARGEST))
            if given["features"] != list(FEATURES):
                raise InputError(f"{path} has other features", f"expected {', '.join(FEATURES)}", "")
            layers = [(np.array(one["weights"], dtype=float), np.array(one["biases"], dtype=float))
                      for one in given["layers"]]  # fmt: skip
            return cls.made(layers, str(given["interval"]))
        except OSError as error:
            raise InputError(f"cannot read {path}", error.strerror or str(error), "") from None
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise InputError(
                f"{path} is no policy", f"{type(error).__name__}: {error}", "Policy.write makes one"
            ) from None


def _fixed(values: Array) -> Array:
    """Multiples of 1/1024."""
    return np.asarray(np.round(values * ONE) / ONE)
