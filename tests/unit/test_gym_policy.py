"""Policies, and the programs in C that they are exported as: in the simulator they do what the policy does."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stages import thorough_after

import dumbbell
from dumbbell import gym
from dumbbell.cli import invoke
from dumbbell.errors import InputError
from dumbbell.gym.export import write
from dumbbell.gym.policy import FEATURES, Policy, features
from dumbbell.gym.terms import Field
from tests.unit.gym_networks import calm, figures, held, one

NEEDS_CLANG = pytest.mark.skipif(shutil.which("clang") is None, reason="apt-get install clang")


def deep(paces: bool) -> Policy:
    """A perceptron that holds a queue: the linear policy through units, and small weights of chance."""
    policy = Policy.zero((4,), interval="0.5 rtt", paces=paces)
    (into, _), (out, _) = policy.layers
    rng = np.random.default_rng(3)
    weights, bias = calm().layers[0]
    into, out = rng.normal(size=into.shape) / 50, rng.normal(size=out.shape) / 50
    into[0] = weights[0]
    out[0, 0], biases = 1.0, np.array([bias[0], 0.1, -0.1, 0.0])
    return Policy.made([(into, biases), (out, np.zeros(len(out)))], "0.5 rtt")


@NEEDS_CLANG
@pytest.mark.parametrize(
    "network", thorough_after(1, [{"topology.bottleneck.loss": "0.5 %"}, {}, {"topology.rtt": "100 ms"}]), ids=str
)
@pytest.mark.parametrize(
    "policy", [calm(), calm("10 ms"), deep(False), deep(True)], ids=["line", "10ms", "deep", "paced"]
)
def test_an_exported_policy_does_what_the_policy_does(policy: Policy, network: dict[str, Any], tmp_path: Path) -> None:
    write(policy, "mine", tmp_path / "mine.bpf.c")
    expected = held(policy, network, tmp_path)
    program = {**network, "flows.0.cc": str(tmp_path / "mine.bpf.c")}
    run = dumbbell.run(one(duration="10 s"), program, directory=tmp_path, engine="simulate", report=False)
    # Integers round down, and a window that differs by a packet shifts every loss after it.
    goodput, rtt = figures(run)
    assert goodput == pytest.approx(expected[0], rel=0.03)
    assert rtt == pytest.approx(expected[1], rel=0.03)
    assert goodput > 1e6


def test_features_are_within_their_bounds_and_0_without_a_sample() -> None:
    rng = np.random.default_rng(1)
    seen = rng.uniform(0, 1000, (1000, len(Field)))
    seen[::3, Field.RTT_MEAN] = 0
    found = features(seen)
    assert found.shape == (1000, len(FEATURES))
    assert np.isfinite(found).all()
    assert (found >= -1).all() and (found <= 4).all()  # noqa: PT018
    assert (found[::3, [0, 1, 4]] == 0).all()
    empty = features(np.zeros(len(Field)))
    assert (empty == 0).all()


def test_a_policy_is_read_as_it_was_written(tmp_path: Path) -> None:
    policy = deep(True)
    policy.write(tmp_path / "policy.json")
    again = Policy.read(tmp_path / "policy.json")
    assert again.interval == policy.interval
    assert (again.parameters == policy.parameters).all()
    assert (again.with_parameters(policy.parameters * 0).parameters == 0).all()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"features": ["queue"]}, "has other features"),
        ({"layers": []}, "0 layers"),
        ({"layers": [{"weights": [[1, 2]], "biases": [0]}]}, "wrong shape"),
        ({"layers": [{"weights": [[1e9, 0, 0, 0, 0]], "biases": [0]}]}, "weight out of range"),
        ({"layers": [{"weights": [[float("nan"), 0, 0, 0, 0]], "biases": [0]}]}, "weight out of range"),
        ({"layers": [{"weights": [[0] * 5] * 99, "biases": [0] * 99}]}, "99 units"),
        ({"layers": [{"weights": [[0] * 5] * 3, "biases": [0] * 3}]}, "3 outputs"),
        ({"layers": 1}, "is no policy"),
        ({"layers": [{"weights": [[10**400] * 5], "biases": [0]}]}, "is no policy"),
        ({"interval": "soon"}, "interval"),
    ],
)
def test_what_is_no_policy_is_refused_in_words(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    calm().write(tmp_path / "policy.json")
    given = {**json.loads((tmp_path / "policy.json").read_text()), **change}
    (tmp_path / "policy.json").write_text(json.dumps(given))
    with pytest.raises(InputError, match=said):
        Policy.read(tmp_path / "policy.json")


def test_a_file_that_is_nested_without_end_is_no_policy(tmp_path: Path) -> None:
    (tmp_path / "policy.json").write_text("[" * 200_000)
    with pytest.raises(InputError, match="is no policy"):
        Policy.read(tmp_path / "policy.json")


def test_the_command_writes_a_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calm().write(tmp_path / "policy.json")
    assert invoke(["cc", "export", str(tmp_path / "policy.json"), "-o", str(tmp_path / "mine.bpf.c")]) == 0
    text = (tmp_path / "mine.bpf.c").read_text()
    assert "CONGESTION_CONTROL(mine," in text
    assert "@" not in text
    assert invoke(["cc", "export", str(tmp_path / "policy.json"), "-o", str(tmp_path / "cubic.bpf.c")]) == 2
    assert "cubic is a congestion control already" in capsys.readouterr().err
    assert invoke(["cc", "export", str(tmp_path / "none.json"), "-o", str(tmp_path / "mine.bpf.c")]) == 2


def test_a_zero_policy_keeps_the_window() -> None:
    policy = Policy.zero()
    env = gym.make(one(duration="1 s"), flow="mine")
    seen, _ = env.reset(seed=1)
    for _ in range(20):
        seen, *_ = env.step(policy(seen))
    assert seen[Field.WINDOW] == 10
