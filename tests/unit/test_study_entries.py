"""The parts of its plans that a study keeps, and their use in descriptions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dumbbell
from dumbbell.statistics.metrics import values

FLOODED: dict[str, Any] = {
    "name": "flooded",
    "duration": "3 s",
    "topology": {
        "kind": "dumbbell",
        "pairs": 2,
        "rtt": ["20 ms", "40 ms"],
        "bottleneck": {"rate": "10 Mbit/s", "buffer": "200 ms"},
    },
    "flows": [
        {"from": "s1", "to": "r1", "protocol": "udp", "rate": "11 Mbit/s"},
        {"from": "s*", "to": "r*", "connections": 4, "cc": "reno", "bytes": "15 kB", "start": "1500 ms"},
    ],
}


def test_a_full_queue_has_no_power_though_nobody_has_seen_it_empty(tmp_path: Path) -> None:
    study = dumbbell.run(FLOODED, engine="simulate", repeat=2, directory=tmp_path, report=False)
    flows = study.flows.filter(run=0).select("group", "to", "base_rtt_ms", "has_size").rows()
    mice = [("f2", end, rtt, True) for end, rtt in (("r1", 20.0), ("r2", 40.0))]
    assert flows == [("f1", "r1", 20.0, False), *mice, *mice]
    assert study.flows["rtt_min_ms"].min() > 100  # type: ignore[operator]
    for value in values(study, "power")["value"]:
        assert 0.05 < value < 0.3
