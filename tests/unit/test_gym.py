"""Training environments: Gymnasium's and PettingZoo's own checks, and what observations and actions mean."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test

from dumbbell import gym
from dumbbell.core import core
from dumbbell.errors import InputError, ScenarioError
from dumbbell.gym.reward import reward
from dumbbell.gym.terms import Field, Terms
from tests.unit.gym_networks import one, two

Array = np.ndarray[Any, np.dtype[np.float64]]


def test_gymnasium_checks_it() -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*spec.*")
        check_env(gym.make(one(), flow="mine"), skip_render_check=True)


def test_pettingzoo_checks_it() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(gym.make_parallel(two(), flows=["a", "b"]), num_cycles=1000)


def episode(env: Any, seed: int, act: Any) -> tuple[Array, list[float], dict[str, Any]]:
    """Observations, rewards, and the account of the end."""
    seen, info = env.reset(seed=seed)
    rows, rewards = [seen], []
    while True:
        seen, reward, terminated, truncated, info = env.step(act(seen))
        rows.append(seen)
        rewards.append(reward)
        if terminated or truncated:
            return np.array(rows), rewards, info


def steady(window: float) -> Any:
    """Goes to a window in packets."""
    return lambda seen: [np.clip(max(window / seen[Field.WINDOW], 1) - max(seen[Field.WINDOW] / window, 1), -1, 1)]


def test_the_numbers_mean_what_they_say() -> None:
    rows, rewards, info = episode(gym.make(one(), flow="mine", interval="10 ms"), 1, steady(20.0))
    late = rows[len(rows) // 2 : -1]
    # 20 packets in 40 ms are 6 Mbit/s: there is no queue, and nothing is lost.
    assert np.median(late[:, Field.WINDOW]) == pytest.approx(20, abs=0.1)
    assert late[:, Field.LOST].sum() == 0
    assert np.median(late[:, Field.RTT_MEAN]) == pytest.approx(0.042, abs=0.002)
    assert np.median(late[:, Field.MIN_RTT]) == pytest.approx(0.042, abs=0.002)
    rate = late[:, Field.DELIVERED].sum() / late[:, Field.DURATION].sum()
    assert rate == pytest.approx(20 / 0.042, rel=0.05)
    assert late[:, Field.DURATION].min() >= 0.01
    assert (late[:, Field.IS_DUE] == 1).all()
    assert info["received_bytes"]["mine"] == pytest.approx(4 * rate * 1448, rel=0.05)
    assert np.isfinite(rewards).all()


def test_the_default_reward_is_the_same_for_one_and_many() -> None:
    rows, rewards, _ = episode(gym.make(one(duration="1 s"), flow="mine"), 1, lambda _: [0.1])
    assert reward(rows[1:]) == pytest.approx(rewards)
    row = np.zeros(len(Field))
    # 10 packets in 12 ms are 10 Mbit/s; the RTT is twice the minimum; 2 % are lost, but for rounding.
    row[[Field.DURATION, Field.DELIVERED, Field.RTT_MEAN, Field.MIN_RTT]] = 0.012, 10, 0.08, 0.04
    assert reward(row) == pytest.approx(0.012 * np.log(10 / 2))
    row[[Field.DELIVERED, Field.LOST]] = 9.8, 0.2
    assert reward(row) == pytest.approx(0.012 * np.log(9.8 / 2 / 2))
    assert np.isfinite(reward(np.zeros((2, len(Field))))).all()
    assert np.isfinite(reward(np.zeros(len(Field))))


def test_a_larger_window_fills_the_queue_and_overflows_it() -> None:
    queued, _, _ = episode(gym.make(one(), flow="mine"), 1, steady(50.0))
    late = queued[len(queued) // 2 : -1]
    assert np.median(late[:, Field.RTT_MEAN]) == pytest.approx(50 * 1514 * 8 / 10e6, rel=0.05)
    lossy, _, _ = episode(gym.make(one(), flow="mine"), 1, steady(200.0))
    assert lossy[:, Field.LOST].sum() > 0


def test_the_same_seed_and_actions_give_the_same_bytes() -> None:
    networks = [{"topology.rtt": f"{rtt} ms"} for rtt in (20, 40, 80)]

    def drawn(seed: int, gain: float) -> bytes:
        env = gym.make(one(duration="1 s"), flow="mine", networks=networks)
        rng = np.random.default_rng(1)
        return episode(env, seed, lambda _: rng.uniform(-gain, gain, 1))[0].tobytes()

    assert drawn(3, 0.2) == drawn(3, 0.2)
    assert drawn(3, 0.2) != drawn(3, 0.1)
    assert len({drawn(seed, 0.2) for seed in range(8)}) > 2


def test_a_network_is_drawn_by_a_function() -> None:
    env = gym.make(
        one(duration="1 s"), flow="mine", networks=lambda rng: {"topology.rtt": f"{rng.integers(10, 100)} ms"}
    )
    drawn = [env.reset(seed=seed)[1]["network"]["topology.rtt"] for seed in (1, 2, 1)]
    assert drawn[0] == drawn[2] != drawn[1]


def test_intervals_are_times_round_trips_or_acks() -> None:
    def median_s(interval: str) -> float:
        return float(np.median(episode(gym.make(one(), flow="mine", interval=interval), 1, steady(20.0))[0][10:, 1]))

    assert median_s("50 ms") == pytest.approx(0.05, rel=0.1)
    # The first ACK after half of 42 ms; one comes each 2 ms.
    assert 0.021 <= median_s("0.5 rtt") <= 0.0235
    assert median_s("ack") < 0.005


def test_an_outage_is_told_and_actions_in_it_count_for_nothing() -> None:
    outage = {"at": "1 s", "link": "bottleneck", "down_for": "1 s"}
    rows, _, _ = episode(gym.make(one(events=[outage]), flow="mine", timeout="200 ms"), 1, lambda _: [0.0])
    stalled = rows[:-1][rows[:-1, Field.IS_DUE] == 0]
    # Timeouts double meanwhile, so the flow resumes later than the link.
    assert 4 <= len(stalled) <= 10
    assert (np.diff(stalled[:, Field.DURATION]) > 0.1).any()
    env = gym.make(one(events=[outage]), flow="mine")
    moved, _, _ = episode(env, 1, lambda seen: [0.0 if seen[Field.IS_DUE] else 1.0])
    assert moved[:, Field.WINDOW].max() == 10


def test_a_pacing_rate_spreads_packets() -> None:
    def queue(action: list[float]) -> float:
        env = gym.make(one(), flow="mine", paces=len(action) > 1)
        rows, _, _ = episode(env, 1, lambda seen: [steady(20.0)(seen)[0], *action[1:]])
        return float(np.median(rows[20:, Field.IN_FLIGHT]))

    # Half a window per RTT leaves half of the window unused.
    assert queue([0.0, -1.0]) < 0.7 * queue([0.0])


def test_a_flow_with_a_size_is_terminated() -> None:
    flow = {"id": "mine", "from": "h1", "to": "h2", "cc": "cubic", "bytes": "100 kB"}
    env = gym.make(one(flows=[flow]), flow="mine")
    env.reset(seed=1)
    ends = [False, False]
    while not any(ends):
        _, _, *ends, info = env.step([0.2])
    assert ends == [True, False]
    assert info["received_bytes"] == {"mine": 100_000}
    with pytest.raises(Exception, match=r"call reset\(\)"):
        env.step([0.0])


def test_many_step_together_as_each_would_alone_on_any_number_of_threads() -> None:
    networks = [{"topology.rtt": f"{rtt} ms"} for rtt in (20, 60)]

    def stepped(count: int, threads: int, first: int) -> tuple[Array, Array, Array]:
        env = gym.make_vector(one(duration="1 s"), count, flow="mine", networks=networks, threads=threads)
        rows = [env.reset(seed=first)[0]]
        rewards, ends = [], []
        for _ in range(150):
            seen, reward, terminated, truncated, _ = env.step(np.full((count, 1), 0.01))
            rows.append(seen)
            rewards.append(reward)
            ends.append(terminated | truncated)
        return np.array(rows), np.array(rewards), np.array(ends)

    four, threaded, last = stepped(4, 1, 1), stepped(4, 3, 1), stepped(1, 1, 4)
    assert all((a == b).all() for a, b in zip(four, threaded, strict=True))
    assert (four[0][:, 3:] == last[0]).all()
    # Each ended, was reset by the next step without a reward, and goes on.
    assert four[2].sum(axis=0).min() >= 1
    at = int(np.flatnonzero(four[2][:, 0])[0])
    assert four[1][at + 1, 0] == 0
    assert four[0][at + 2, 0, Field.DURATION] < 0.5
    assert (four[0][at + 2, :, Field.WINDOW] < 12).any()


def test_agents_are_flows_and_end_by_themselves() -> None:
    env = gym.make_parallel(two(), flows=["a", "b"])
    env.reset(seed=1)
    ended: dict[str, str] = {}
    while env.agents:
        _, _, terminated, truncated, infos = env.step({agent: np.array([0.02]) for agent in env.agents})
        ended |= {agent: "terminated" for agent, is_over in terminated.items() if is_over}
        ended |= {agent: "truncated" for agent, is_over in truncated.items() if is_over}
    assert ended == {"a": "truncated", "b": "terminated"}
    assert infos["a"]["received_bytes"]["b"] == 300_000


def test_an_episode_is_written_as_an_ordinary_run(tmp_path: Path) -> None:
    env = gym.make(one(), flow="mine", networks=[{"topology.rtt": "30 ms"}])
    rng = np.random.default_rng(1)
    rows, _, info = episode(env, 5, lambda _: rng.uniform(-0.2, 0.25, 1))
    run = env.write(tmp_path)
    (flow,) = run.summary["flows"]
    assert flow["received_bytes"] == info["received_bytes"]["mine"]
    assert flow["cc"].startswith("policy-")
    assert run.samples["cwnd_packets"].max() == int(rows[:, Field.WINDOW].max())
    assert (run.directory / "report.html").exists()
    assert 'rtt = "30 ms"' in (run.directory / "scenario.toml").read_text()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"flow": "yours"}, "the scenario has no flow yours"),
        ({"interval": "soon"}, "interval:"),
        ({"interval": "9999 rtt"}, "interval: 9999 rtt"),
        ({"timeout": "-1 s"}, "timeout:"),
    ],
)
def test_what_cannot_be_is_refused_in_words(change: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        gym.make(one(), **{"flow": "mine", **change})


def test_what_cannot_be_simulated_is_refused_in_words() -> None:
    udp = {"id": "mine", "from": "h1", "to": "h2", "protocol": "udp", "rate": "1 Mbit/s"}
    with pytest.raises((InputError, ScenarioError)):
        gym.make(one(flows=[udp]), flow="mine")
    with pytest.raises(ScenarioError, match="no kernel"):
        gym.make(one(emulate={"kernel": "6.12"}), flow="mine")
    pair = {"id": "mine", "from": "h1", "to": "h2", "cc": "cubic", "connections": 2}
    with pytest.raises(InputError, match="one flow can be held here"):
        gym.make(one(flows=[pair]), flow="mine")


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ([float("nan")], "not finite"),
        ([float("inf")], "not finite"),
        ([], "an action of 0 numbers"),
        ([0.1, 0.2], "an action of 2 numbers"),
        ("up", "no array of numbers"),
    ],
)
def test_an_action_that_is_none_is_refused_and_the_episode_goes_on(action: Any, said: str) -> None:
    env = gym.make(one(), flow="mine").unwrapped
    env.reset(seed=1)
    with pytest.raises(InputError, match=said):
        env.step(action)
    seen, *_ = env.step([0.0])
    assert seen[Field.IS_DUE] == 1


def test_actions_of_many_are_refused_in_words() -> None:
    many = gym.make_vector(one(), 2, flow="mine")
    many.reset(seed=1)
    with pytest.raises(InputError, match="an action of 3 numbers"):
        many.step(np.zeros((3, 1)))
    with pytest.raises(InputError, match="expected 2, one for each"):
        many.reset(options={"networks": [{}]})
    agents = gym.make_parallel(two(), flows=["a", "b"])
    agents.reset(seed=1)
    with pytest.raises(InputError, match="no action of b"):
        agents.step({"a": np.zeros(1)})
    with pytest.raises(InputError, match="agents are a, b"):
        agents.step({"a": np.zeros(1), "b": np.zeros(1), "c": np.zeros(1)})


def test_environments_of_nothing_are_refused_in_words() -> None:
    with pytest.raises(InputError, match="0 environments"):
        gym.make_vector(one(), 0, flow="mine")
    with pytest.raises(InputError, match="networks is empty"):
        gym.make(one(), flow="mine", networks=[])
    for flows in ([], ["a", "a"]):
        with pytest.raises(InputError, match="each once"):
            gym.make_parallel(two(), flows=flows)


def test_without_the_extra_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"gymnasium is not installed") as error:
        gym.make(one(), flow="mine")
    assert "dumbbell[gym]" in error.value.hint


def test_fields_are_those_of_the_core() -> None:
    assert [field.name.lower() for field in Field] == [name for name, *_ in core.held_fields()]
    assert Terms.parse("0.5 rtt", "1 s", False).interval_rtts == 0.5
