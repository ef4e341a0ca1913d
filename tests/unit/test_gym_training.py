"""The example that trains a policy: it learns, and learns the same each time."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dumbbell import gym
from dumbbell.gym.policy import Policy

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "train_policy.py"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The example with three of its networks."""
    spec = spec_from_file_location("train_policy", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "NETWORKS", module.NETWORKS[:3])
    return module


def test_three_generations_are_better_than_none_and_the_same_again(example: Any) -> None:
    trained, again = example.train(3), example.train(3)
    assert (trained.parameters == again.parameters).all()
    policies = [Policy.zero(interval=example.INTERVAL), trained]
    env = gym.make_vector(
        example.SCENARIO, len(policies) * len(example.NETWORKS), flow="mine", interval=example.INTERVAL
    )
    before, after = example.evaluate(env, policies, seed=99)
    # The reward is a logarithm: 0.1 more is 10 % more power.
    assert after > before + 0.1
    assert np.isfinite(after)
