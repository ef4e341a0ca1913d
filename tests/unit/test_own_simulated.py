"""A user's own congestion control in the simulator: the object that a kernel would load, run without one."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dumbbell
from dumbbell.core import core
from dumbbell.engines.missing import missing
from dumbbell.engines.registry import engine
from dumbbell.errors import RunFailed, ScenarioError
from dumbbell.pipeline.planned import planned
from dumbbell.plan import wire
from dumbbell.plan.algorithms import objects
from dumbbell.scenario import load
from dumbbell.scenario.resolve import resolve

pytestmark = pytest.mark.skipif(shutil.which("clang") is None, reason="apt-get install clang")

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial"
CALM = (TUTORIAL / "calm.bpf.c").read_text()
END = "\tstate->round_end = tp->snd_nxt;\n"
"""A line of `cong_avoid` that is reached once a round trip."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(TUTORIAL / "calm.toml", tmp_path)
    shutil.copy(TUTORIAL / "calm.bpf.c", tmp_path)


def changed(line: str) -> str:
    assert END in CALM
    Path("other.bpf.c").write_text(CALM.replace(END, line + END))
    return "flows.0.cc=other.bpf.c"


def test_it_does_what_the_tutorial_says_the_same_each_time() -> None:
    runs = [dumbbell.run("calm.toml", engine="simulate", report=False, directory=name) for name in ("a", "b")]
    figures, again = (next(one for one in run.summary["links"] if one["name"] == "bottleneck") for run in runs)
    assert figures["drops"] == 0
    # The target of 4 packets takes 2.4 ms; slow start learns a round trip late.
    assert 2 < figures["queue_ms"]["p50"] < 4
    assert figures["queue_ms"]["max"] > 100
    assert figures == again
    tables = [run.directory.joinpath("samples.parquet").read_bytes() for run in runs]
    assert tables[0] == tables[1]


def test_its_parameters_are_set_in_a_study_of_many_runs() -> None:
    vary = {"flows.0.cc.parameters.target": [4, 20]}
    study = dumbbell.run("calm.toml", engine="simulate", vary=vary, repeat=2, report=False)
    waits = study.links.filter(pl.col("link") == "bottleneck").sort("cell")["queue_p50_ms"].to_list()
    assert waits[0] < 4
    assert waits[-1] > 3 * waits[0]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("\tfor (volatile int i = 0; i >= 0;) i = 1;\n", "a call has taken 1000000 instructions and goes on"),
        ("\ttp->srtt_us = 0;\n", "it writes 4 bytes where it may not write"),
        ("\t*(volatile __u32 *)((char *)state + 4000) = 1;\n", "it writes 4 bytes where it may not write"),
        ("\t*(volatile __u32 *)(long)tp->snd_una;\n", "it reads 4 bytes outside of what it may read"),
    ],
)
def test_what_no_kernel_would_let_it_do_ends_the_run_in_words(line: str, why: str) -> None:
    with pytest.raises(RunFailed) as error:
        dumbbell.run("calm.toml", changed(line), engine="simulate")
    assert error.value.what == "the congestion control other"
    assert error.value.why.startswith(f"{why} (other.bpf.c:51: {line.strip()})")
    (kept,) = Path("runs").glob("*.failed-1")
    assert kept.joinpath("samples.parquet").exists()


@pytest.mark.parametrize(
    "line",
    [
        "\tvolatile __u32 zero = 0;\n\ttp->snd_cwnd = tp->snd_cwnd / zero;\n",
        "\ttp->snd_cwnd = 0;\n",
    ],
    ids=["a division by zero gives 0, as in a kernel", "a window of 0"],
)
def test_a_window_of_0_ends_no_run(line: str) -> None:
    run = dumbbell.run("calm.toml", changed(line), engine="simulate", report=False)
    assert 0 < run.summary["flows"][0]["goodput_bps"] < 1e6


FLOWS = """
struct {
	__uint(type, %s);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct state);
} flows SEC(".maps");
"""
STATE = "struct state *state = inet_csk_ca(sk);"


def stored(kind: str = "BPF_MAP_TYPE_SK_STORAGE", size: int = 400, create: str = "BPF_SK_STORAGE_GET_F_CREATE") -> str:
    """Returns the override for the same program with its state, and as many bytes more, in a map."""
    first = f"struct state *state = bpf_sk_storage_get(&flows, sk, NULL, {create});\n\tif (!state)\n\t\treturn;"
    text = CALM.replace(STATE, first, 1).replace(
        STATE, "struct state *state = bpf_sk_storage_get(&flows, sk, NULL, 0);"
    )
    members, rest = text.split("smallest RTT of this round */\n};\n", 1)
    more = f"smallest RTT of this round */\n\t__u8 more[{size}];\n}};\n"
    Path("other.bpf.c").write_text(members + more + FLOWS % kind + rest)
    return "flows.0.cc=other.bpf.c"


def test_state_in_socket_storage_does_the_same_as_state_in_the_socket() -> None:
    runs = [
        dumbbell.run("calm.toml", overrides, engine="simulate", report=False, directory=name)
        for name, overrides in (("a", "duration=3 s"), ("b", ["duration=3 s", stored()]))
    ]
    assert runs[0].summary["links"] == runs[1].summary["links"]
    assert runs[0].summary["flows"][0]["goodput_bps"] == runs[1].summary["flows"][0]["goodput_bps"]


def test_state_that_nobody_made_is_a_null_pointer() -> None:
    with pytest.raises(RunFailed) as error:
        dumbbell.run("calm.toml", stored(create="0"), engine="simulate")
    assert error.value.why.startswith("it reads 4 bytes outside of what it may read (other.bpf.c:")


@pytest.mark.parametrize(("kind", "size"), [("BPF_MAP_TYPE_ARRAY", 400), ("BPF_MAP_TYPE_SK_STORAGE", 20_480)])
def test_maps_that_are_not_modelled_are_refused_by_name(kind: str, size: int) -> None:
    loaded = load("calm.toml", stored(kind, size))
    simulate = engine("simulate")
    (problem,) = simulate.check(loaded, planned(simulate, loaded))
    lacks = "maps other than socket storage of 20 kB, such as flows"
    assert f"the simulator does not have {lacks} (other.bpf.c:" in problem.why


@pytest.mark.parametrize(
    ("line", "lacks"),
    [
        ("\tif (tp->total_retrans) set_cwnd(tp, 2);\n", "tcp_sock.total_retrans"),
        ("\tstatic __u32 shared;\n\tset_cwnd(tp, ++shared);\n", "variables that all connections share, such as "),
    ],
)
def test_what_is_not_modelled_is_refused_by_name_and_line(line: str, lacks: str) -> None:
    loaded = load("calm.toml", changed(line))
    simulate = engine("simulate")
    (problem,) = simulate.check(loaded, planned(simulate, loaded))
    assert problem.why.startswith(f"the congestion control other: the simulator does not have {lacks}")
    assert "(other.bpf.c:5" in problem.why


def test_an_object_takes_no_more_memory_than_its_file_warrants() -> None:
    """A section over all of the file costs 64 bytes in the file: 60,000 of them would have been 240 GB."""
    loaded = load("calm.toml")
    plan = wire.text(planned(engine("simulate"), loaded))
    ((digest, whole),) = objects(resolve(loaded).labels.values()).items()
    (begin,), (count,) = struct.unpack_from("<Q", whole, 40), struct.unpack_from("<H", whole, 60)
    content = whole + bytes(-len(whole) % 8)
    over = struct.pack("<IIQQQQIIQQ", 0, 1, 2, 0, 0, len(content), 0, 0, 1, 0)

    def told(more: int) -> Any:
        made = bytearray(content + whole[begin : begin + 64 * count] + over * more)
        struct.pack_into("<Q", made, 40, len(content))
        struct.pack_into("<H", made, 60, count + more)
        return json.loads(core.simulate_check(plan, False, {digest: bytes(made)}))

    assert told(0) == []
    assert [one["why"] for one in told(100)] == ["it is no BPF object"]


def test_a_source_that_does_not_compile_is_refused_at_its_flow() -> None:
    with pytest.raises(ScenarioError, match=r"other\.bpf\.c does not compile"):
        dumbbell.run("calm.toml", changed("\tno such thing;\n"), engine="simulate")


def test_somebody_who_only_looks_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load("calm.toml")
    simulate = engine("simulate")
    plan = planned(simulate, loaded)
    monkeypatch.setattr("dumbbell.engines.simulate.refusals.objects", lambda _: pytest.fail("it was compiled"))
    assert list(missing(simulate, loaded, plan, may_start=False)) == []
