"""The simulator as WebAssembly gives the tables of `--engine simulate`: their digests are equal."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dumbbell.core import core
from dumbbell.records.digests import digest, digests
from dumbbell.scenario import load
from dumbbell.server.whatif import of_scenario

ROOT = Path(__file__).parents[2]
MODULE = ROOT / "web" / "simulator.wasm"
needs_module = pytest.mark.skipif(
    not MODULE.exists() or not shutil.which("node"),
    reason="tools/wasm has not built the simulator, or there is no node",
)

SHORT = {"duration": "3 s", "topology.bottleneck.rate": "20 Mbit/s", "record.packets": True, "record.acks": True}
SCENARIOS: dict[str, tuple[str, dict[str, Any]]] = {
    **{cc: ("bbr-vs-cubic", {**SHORT, "flows.0.cc": cc}) for cc in ("cubic", "reno", "bbr", "bbr3", "vegas", "dctcp")},
    "loss": ("bbr-vs-cubic", {**SHORT, "topology.bottleneck.loss": "1 %", "seed": 7}),
    "loss, another seed": ("bbr-vs-cubic", {**SHORT, "topology.bottleneck.loss": "1 %", "seed": 8}),
    "jitter": ("bbr-vs-cubic", {**SHORT, "topology.bottleneck.jitter": "4 ms", "topology.bottleneck.reordering": True}),
    "normal jitter": (
        "bbr-vs-cubic",
        {**SHORT, "topology.bottleneck.jitter": {"distribution": "normal", "mean": "2 ms", "sd": "1 ms"}, "seed": 3},
    ),
    "bursts of loss": ("gilbert-elliott", {"duration": "3 s"}),
    "datagrams": ("udp-cross-traffic", {"duration": "3 s", "flows.1.start": "1 s", "flows.1.stop": "2 s"}),
    "pings": ("latency-under-load", {"duration": "3 s"}),
    "requests": ("incast", {"duration": "2 s", "flows.0.stop": "1.9 s", "flows.0.answer": "websearch"}),
    "CoDel": ("bbr-vs-cubic", {**SHORT, "topology.bottleneck.queue": "fq-codel", "flows.0.ecn": True}),
    "a parking lot": ("parking-lot", {"duration": "2 s"}),
    "no packets": ("short-flows", {"record.packets": False, "record.acks": False}),
}


@pytest.fixture(scope="module")
def in_wasm() -> dict[str, dict[str, str]]:
    """The digests of all scenarios' tables, by the module."""
    plans = [of_scenario(load(name, overrides)).plan for name, overrides in SCENARIOS.values()]
    node = subprocess.run(
        ["node", ROOT / "tests" / "unit" / "simulate.mjs", MODULE],
        input=json.dumps(plans),
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(SCENARIOS, json.loads(node.stdout), strict=True))


@needs_module
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_tables_are_those_of_the_engine(scenario: str, in_wasm: dict[str, dict[str, str]], tmp_path: Path) -> None:
    name, overrides = SCENARIOS[scenario]
    (tmp_path / "plan.json").write_text(of_scenario(load(name, overrides)).plan)
    core.simulate(tmp_path, True, lambda _: True)
    found = digests(tmp_path)
    assert {"samples", "links"} <= found.keys()
    assert in_wasm[scenario] == found


@needs_module
def test_digests_tell_runs_apart(in_wasm: dict[str, dict[str, str]]) -> None:
    samples = [one["samples"] for one in in_wasm.values()]
    assert len(set(samples)) == len(samples)


@needs_module
def test_the_memory_of_the_module_is_bounded() -> None:
    pages = """
        const { instance } = await WebAssembly.instantiate(require("node:fs").readFileSync(process.argv[1]));
        const { memory } = instance.exports;
        let pages = memory.buffer.byteLength >> 16;
        try { for (;; pages += 1024) memory.grow(1024); } catch (thrown) { console.log(pages); }
    """
    node = subprocess.run(
        ["node", "-e", f"(async () => {{{pages}}})()", MODULE], capture_output=True, text=True, check=True
    )
    assert (1 << 14) - 1024 < int(node.stdout) <= 1 << 14


@needs_module
def test_what_cannot_be_simulated_is_refused_in_words() -> None:
    plan = json.loads(of_scenario(load("bbr-vs-cubic")).plan)
    plan["flows"][0]["workload"] = {"kind": "command", "command": "true", "server_command": None}
    node = subprocess.run(
        ["node", ROOT / "tests" / "unit" / "simulate.mjs", MODULE],
        input=json.dumps([json.dumps(plan), "no plan"]),
        capture_output=True,
        text=True,
        check=True,
    )
    command, nonsense = json.loads(node.stdout)
    assert "--engine emulate" in command["problems"][0]["hint"]
    assert nonsense["problems"][0]["what"]


def test_a_digest_is_of_values_and_not_of_their_encoding() -> None:
    words = pl.DataFrame({"flow": ["a", "b", None], "x": pl.Series([1, None, 3], dtype=pl.UInt16)})
    encoded = words.with_columns(pl.col("flow").cast(pl.Categorical), pl.col("x").cast(pl.UInt64))
    assert digest(words) == digest(encoded)
    changed = [
        words.with_columns(x=pl.Series([1, 0, 3], dtype=pl.UInt16)),
        words.with_columns(flow=pl.Series(["a", "c", None])),
        words.rename({"x": "y"}),
        words.reverse(),
        words.select("x", "flow"),
    ]
    assert len({digest(one) for one in [words, *changed]}) == 6
