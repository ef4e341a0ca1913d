"""An algorithm of dumbbell inside a kernel decides as its twin outside does from the same calls."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from scenarios import flow, path
from stages import thorough_after

import dumbbell
from dumbbell.engines.names import VIRTUAL

ROOT = Path(__file__).parents[2]
BBR_STATE = "&bbr_flow_of(sk)->bbr, sizeof(struct bbr)"
PUBLISHED = "inet_csk_ca(sk), DB_STATE_SLOTS * sizeof(__u32)"
SOURCES = {
    "bbr2": ("bbr2.c", "bbr2", BBR_STATE),
    "bbr3": ("bbr3.c", "bbr3", BBR_STATE),
    "bbr3-draft": ("bbr3_draft.c", "bbr3_draft", BBR_STATE),
    "bpf_reno": ("reno.c", "bpf_reno", "NULL, 0"),
    "bpf_cubic": ("cubic.c", "bpf_cubic", PUBLISHED),
    "bpf_dctcp": ("dctcp.c", "bpf_dctcp", PUBLISHED),
}
"""The source in `kernel/src`, what it calls itself in C, and its state."""
LOSSES = {"bottleneck": 'buffer = "1 bdp", loss = "0.5 %"'}
SHALLOW = {"rate": "100 Mbit/s", "rtt": "200 ms", "bottleneck": 'buffer = "200 kB"'}
"""8 % of the BDP: in a probe, many packets of a round are lost."""
MARKS = {"bottleneck": 'buffer = "1 bdp", queue = { kind = "drop-tail", ce_threshold = "20 packets" }'}


@pytest.fixture(scope="session")
def replay() -> Path:
    """The program that replays."""
    # The selection is that of `make test-rust`, whose crates are compiled already.
    build = ["cargo", "build", "--release", "--locked", "--quiet", "--workspace", "--example", "replay"]
    subprocess.run(build, cwd=ROOT, check=True)
    return ROOT / "target" / "release" / "examples" / "replay"


def traced(label: str, folder: Path) -> Path:
    """A source that writes down all calls."""
    source, name, state = SOURCES[label]
    tracer = (ROOT / "tests/system/traced.h").read_text(encoding="utf-8")
    own = (ROOT / "kernel/src" / source).read_text(encoding="utf-8")
    file = folder / "traced.c"
    file.write_text(f"{tracer}\n{own}\nTRACED({name}, {state});\n", encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("label", "ecn", "link"),
    thorough_after(
        1,
        [
            ("bbr3", False, LOSSES),
            ("bpf_cubic", False, LOSSES),
            ("bpf_dctcp", True, MARKS),
            ("bbr2", False, {}),
            ("bbr3", False, {}),
            ("bbr2", False, SHALLOW),
            ("bbr3", False, SHALLOW),
            ("bbr3-draft", False, LOSSES),
            ("bpf_reno", False, LOSSES),
            ("bpf_cubic", False, {}),
        ],
    ),
)
def test_the_twin_makes_the_same_of_the_same_calls(
    tmp_path: Path, replay: Path, label: str, ecn: bool, link: dict[str, str]
) -> None:
    sender = flow(cc={"kernel": str(traced(label, tmp_path))}, **({"ecn": True} if ecn else {}))
    reader = flow(command="sleep 7; cat /proc/traced")
    (tmp_path / "scenario.toml").write_text(path(sender, reader, duration="8 s", **link), encoding="utf-8")
    run = dumbbell.run(tmp_path / "scenario.toml", directory=tmp_path / "runs", engine=VIRTUAL, report=False)
    trace = run.directory / "logs" / "f2.stdout"
    assert trace.stat().st_size > 2000 * 900
    done = subprocess.run([replay, label, trace], capture_output=True, text=True, check=False)
    print(label, done.stdout[-3000:], done.stderr)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
