"""Every key of a link, from the scenario to the plan."""

import math
from typing import Any

import pytest
from planning import PLAIN, dumbbell, forward, link

DEFAULT = forward()


def test_a_plain_link() -> None:
    assert DEFAULT == PLAIN | {
        "name": "bottleneck", "from": "left", "to": "right", "rate_bps": 10_000_000, "buffer": {"packets": 100},
        "delay_ns": 15_000_000,
    }  # fmt: skip


QUEUES: dict[str, tuple[Any, dict[str, Any]]] = {
    "drop-tail": ("drop-tail", {"kind": "drop-tail", "ce_threshold": None}),
    "drop-head": ({"kind": "drop-head"}, {"kind": "drop-head", "ce_threshold": None}),
    "DCTCP's step": (
        {"kind": "drop-tail", "ce_threshold": "30 packets"},
        {"kind": "drop-tail", "ce_threshold": {"packets": 30}},
    ),
    "a step in bytes": (
        {"kind": "drop-head", "ce_threshold": "60 kB"},
        {"kind": "drop-head", "ce_threshold": {"bytes": 60_000}},
    ),
    "a sojourn": (
        {"kind": "drop-tail", "ce_threshold": "1 ms"},
        {"kind": "drop-tail", "ce_threshold": {"sojourn": 1_000_000}},
    ),
    # 100 packets are 151400 B: max_th half of that, min_th a third of max_th.
    "RED": (
        "red",
        {
            "kind": "red", "min_th_bytes": 25_233, "max_th_bytes": 75_700, "max_p": 0.1, "weight": 0.002,
            "average_packet_bytes": 1514, "gentle": True, "ecn": False, "adaptive": False,
        },
    ),
    "RED's own": (
        {
            "kind": "red", "min_th": "5 packets", "max_th": "30 ms", "max_p": "2 %", "weight": 0.01,
            "average_packet": "1000 B", "gentle": False, "ecn": True, "adaptive": True,
        },
        {
            "kind": "red", "min_th_bytes": 7570, "max_th_bytes": 37_500, "max_p": 0.02, "weight": 0.01,
            "average_packet_bytes": 1000, "gentle": False, "ecn": True, "adaptive": True,
        },
    ),
    # C = 10 Mbit/s / (8 x 1514 B) = 825.6 packets/s; 1 - exp(-1/C).
    "ARED": (
        {"kind": "ared", "min_th": "10 kB"},
        {
            "kind": "red", "min_th_bytes": 10_000, "max_th_bytes": 30_000, "max_p": 0.1,
            "weight": pytest.approx(-math.expm1(-8 * 1514 / 10**7), rel=1e-14),
            "average_packet_bytes": 1514, "gentle": True, "ecn": False, "adaptive": True,
        },
    ),
    "CoDel": (
        "codel",
        {
            "kind": "codel", "target_ns": 5_000_000, "interval_ns": 100_000_000, "ecn": False, "ce_threshold_ns": None,
        },
    ),
    "CoDel's own": (
        {"kind": "codel", "target": "1 ms", "interval": "20 ms", "ecn": True, "ce_threshold": "500 us"},
        {"kind": "codel", "target_ns": 10**6, "interval_ns": 2 * 10**7, "ecn": True, "ce_threshold_ns": 500_000},
    ),
    "FQ-CoDel": (
        "fq-codel",
        {
            "kind": "fq-codel", "target_ns": 5_000_000, "interval_ns": 100_000_000, "quantum_bytes": 1514,
            "flows": 1024, "ecn": True, "ce_threshold_ns": None,
        },
    ),
    "PIE": (
        "pie",
        {
            "kind": "pie", "target_ns": 15_000_000, "t_update_ns": 15_000_000, "alpha": 0.125, "beta": 1.25,
            "max_burst_ns": 150_000_000, "ecn": False, "mark_ecnth": 0.1,
        },
    ),
    "FQ": ({"kind": "fq", "quantum": "300 B"}, {"kind": "fq", "quantum_bytes": 300, "flows": 1024}),
    # 10 Mbit/s send 305 B in 1/4096 s.
    "CAKE": (
        "cake",
        {
            "kind": "cake", "target_ns": 5_000_000, "interval_ns": 100_000_000, "quantum_bytes": 305,
            "isolation": "triple-isolate", "ecn": True,
        },
    ),
    "CAKE's own": (
        {"kind": "cake", "rtt": "20 ms", "isolation": "flows", "quantum": "1514 B", "ecn": False},
        {
            "kind": "cake", "target_ns": 1_000_000, "interval_ns": 20_000_000, "quantum_bytes": 1514,
            "isolation": "flows", "ecn": False,
        },
    ),
    "DualPI2": (
        {"kind": "dualpi2", "k": 3},
        {
            "kind": "dualpi2", "target_ns": 15_000_000, "t_update_ns": 15_000_000, "alpha": 0.15, "beta": 3.0, "k": 3.0,
            "min_th_ns": 800_000, "range_ns": 400_000, "classic_share": 0.1,
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", QUEUES)
def test_queues(case: str) -> None:
    given, expected = QUEUES[case]
    assert forward(queue=given) == DEFAULT | {"queue": expected}


@pytest.mark.parametrize(("rate", "quantum"), [("6250 kbit/s", 300), ("25 Mbit/s", 762), ("100 Mbit/s", 1514)])
def test_cake_s_quantum_is_that_of_the_manual(rate: str, quantum: int) -> None:
    """tc-cake(8), "EXAMPLES": the tins of a shaper at 100 Mbit/s, and its target and interval."""
    queue = link(dumbbell({"rate": rate, "queue": "cake"}))["queue"]
    assert queue["quantum_bytes"] == quantum
    assert (queue["target_ns"], queue["interval_ns"]) == (5_000_000, 100_000_000)


LOSSES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "independent": ({"rate": "1 %"}, {"probability": 0.01}),
    "correlated": ({"rate": "1 %", "correlation": "25 %"}, {"probability": 0.01, "correlation": 0.25}),
    "netem": ({"rate": "0.5 %", "correlation": "25 %"}, {"probability": 0.005, "correlation": 0.25}),
    "gilbert-elliott": (
        {"p": "1 %", "r": "10 %"},
        {"p": 0.01, "r": 0.1, "loss_bad": 1.0, "loss_good": 0.0},
    ),
    "four-state": ({"p13": "1 %"}, {"p13": 0.01, "p31": 0.99, "p32": 0.0, "p23": 1.0, "p14": 0.0}),
    "burst": ({"rate": "1 %", "packets": 4}, {"probability": 0.01, "packets": 4}),
    "periodic": ({"every": 100}, {"every": 100, "offset": 99}),
    "trace": ({"lost": [3, 17], "repeat": 100}, {"lost": [3, 17], "period": 100}),
}


@pytest.mark.parametrize("model", LOSSES)
def test_losses(model: str) -> None:
    given, expected = LOSSES[model]
    plan = {"model": model, **expected}
    assert forward(loss={"model": model, **given}) == DEFAULT | {"loss_before": [plan]}
    after = {"model": model, **given, "position": "after-queue"}
    assert forward(loss=after) == DEFAULT | {"loss_after": [plan]}
    both = forward(loss=["2 %", after])
    assert both == DEFAULT | {"loss_before": [{"model": "independent", "probability": 0.02}], "loss_after": [plan]}


JITTERS: dict[str, tuple[Any, dict[str, Any], float]] = {
    "a time": ("5 ms", {"kind": "uniform", "min_ns": 0, "max_ns": 5_000_000}, 0.0),
    "uniform": (
        {"min": "1 ms", "max": "2 ms", "correlation": "25 %"},
        {"kind": "uniform", "min_ns": 1_000_000, "max_ns": 2_000_000},
        0.25,
    ),
    "normal": (
        {"distribution": "normal", "mean": "2 ms", "sd": "0.5 ms"},
        {"kind": "normal", "mean_ns": 2_000_000, "sd_ns": 500_000},
        0.0,
    ),
    "pareto": (
        {"distribution": "pareto", "min": "1 ms", "shape": 3},
        {"kind": "pareto", "min_ns": 1_000_000, "shape": 3.0},
        0.0,
    ),
}


@pytest.mark.parametrize("case", JITTERS)
def test_jitter(case: str) -> None:
    given, distribution, correlation = JITTERS[case]
    jitter = {"distribution": distribution, "correlation": correlation}
    assert forward(jitter=given, reordering=True) == DEFAULT | {"jitter": jitter, "reordering": True}


OTHERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "reorder": (
        {"reorder": "1 %"},
        {"reorder": {"probability": 0.01, "correlation": 0.0, "gap": 1, "delay_ns": 0}},
    ),
    "reorder as netem": (
        {"reorder": {"rate": "25 %", "correlation": "50 %", "gap": 5, "delay": "1 ms"}},
        {"reorder": {"probability": 0.25, "correlation": 0.5, "gap": 5, "delay_ns": 1_000_000}},
    ),
    "delay line": ({"delay_line": "1000 packets"}, {"delay_line_packets": 1000}),
    "mark": ({"mark": "2 %"}, {"marking": {"probability": 0.02, "correlation": 0.0}}),
    "duplicate": ({"duplicate": "0.1 %"}, {"duplication": {"probability": 0.001, "correlation": 0.0}}),
    "corrupt": (
        {"corrupt": {"rate": "0.1 %", "correlation": "25 %"}},
        {"corruption": {"probability": 0.001, "correlation": 0.25}},
    ),
    "policer": (
        {"policer": {"rate": "8 Mbit/s", "burst": "30 kB"}},
        {"policer": {"rate_bps": 8_000_000, "burst_bytes": 30_000}},
    ),
    "slots": (
        {"slots": {"interval": "2 ms"}},
        {"slots": {"min_interval_ns": 2_000_000, "max_interval_ns": 2_000_000, "packets": None, "bytes": None}},
    ),
    "random slots": (
        {"slots": {"min_interval": "1 ms", "max_interval": "5 ms", "packets": 32, "bytes": "64 kB"}},
        {"slots": {"min_interval_ns": 10**6, "max_interval_ns": 5 * 10**6, "packets": 32, "bytes": 64_000}},
    ),
    "down": ({"up": False}, {"up": False}),
    "overhead": ({"overhead": "24 B"}, {"overhead_bytes": 24}),
    # Values without effect are not in the plan, and its links therefore compare equal.
    "nothing": (
        {
            "loss": "0 %",
            "jitter": "0 ms",
            "duplicate": "0 %",
            "corrupt": "none",
            "mark": "0 %",
            "reorder": "0 %",
            "slots": "none",
        },
        {},
    ),
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_keys(case: str) -> None:
    given, expected = OTHERS[case]
    assert forward(**given) == DEFAULT | expected


def test_the_reverse_direction_has_rate_buffer_queue_and_overhead_of_the_forward_one_and_no_impairments() -> None:
    impaired = {"loss": "1 %", "jitter": "1 ms", "duplicate": "1 %", "reorder": "1 %", "delay_line": "9 packets"}
    shared = {"rate": "10 Mbit/s", "buffer": "100 packets", "queue": "pie", "overhead": "24 B"}
    plan = dumbbell({**shared, **impaired, "policer": {"rate": "1 Mbit/s", "burst": "3 kB"}})
    there, back = link(plan), link(plan, "bottleneck-reverse")
    ends = {"name": "bottleneck-reverse", "from": "right", "to": "left"}
    assert back == DEFAULT | ends | {"queue": there["queue"], "overhead_bytes": 24}


def test_the_reverse_direction_has_keys_of_its_own() -> None:
    plan = dumbbell({"rate": "10 Mbit/s", "queue": "pie", "reverse": {"queue": "codel", "loss": "1 %"}})
    assert link(plan)["loss_before"] == []
    back = link(plan, "bottleneck-reverse")
    assert (back["queue"]["kind"], len(back["loss_before"])) == ("codel", 1)


def test_red_is_measured_by_the_rate_and_holds_a_third() -> None:
    red = forward(queue={"kind": "red", "max_th": "0.5 bdp"})["queue"]
    # 10 Mbit/s x 30 ms = 37500 B.
    assert (red["min_th_bytes"], red["max_th_bytes"]) == (6250, 18_750)
    red = forward(rate="unlimited", buffer="unlimited", queue={"kind": "ared", "min_th": "4 packets"})["queue"]
    assert (red["min_th_bytes"], red["max_th_bytes"], red["weight"]) == (6056, 18_168, 0.002)
