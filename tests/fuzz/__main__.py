"""Fuzzes what reads the bytes of others, a target after another: `make fuzz`, or `python -m tests.fuzz [TARGET ...]`.

Targets in Rust (`targets/`) are built here with the compiler's instrumentation, which stable compilers have. Targets in
Python are the functions of `readers.py`; they need atheris. libFuzzer drives both. An input at which a target fails is
kept in test-results/fuzz/TARGET. Inputs that reached new code stay in target/fuzz/corpus, and the next time begins with
them, except with `--inputs`: the same code then gets the same inputs again.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
HERE: Final = ROOT / "target" / "fuzz"
FOUND: Final = ROOT / "test-results" / "fuzz"
RUST: Final = ("capture", "edits", "plan", "tables")
PYTHON: Final = ("scenario", "graphml", "trace", "miniedit", "containerlab", "kathara", "log")
SECONDS: Final = 600
"""CPU time for each target in Rust, and for all targets in Python together: these read networks of other programs."""
INPUTS: Final = {"edits": 200_000, "plan": 90_000, "tables": 17_000}
"""Inputs for each target with `--inputs`: about half a minute of CPU each. `capture` has threads, and hash tables whose
seeds are the time's, so no two of its runs are the same."""
INPUTS_PYTHON: Final = 3_000
"""The same for each target in Python."""
LARGEST: Final = 65_536
"""Bytes of an input."""
LONGEST_S: Final = 5
"""Time that an input may take by the clock, times the processes that may be busy beside it."""
MOST_MIB: Final = 2048
MEMORY: Final = Path("/dev/shm")
"""Where targets write their files: the core waits until what it writes is on the disk."""
FLAGS: Final = (
    "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 "
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table "
    "-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1"
)
"""Edges are counted, and comparisons traced."""


def build() -> Path:
    """Build the targets in Rust. Returns the folder of their programs."""
    crate = ROOT / "tests" / "fuzz"
    locked, lock = crate / "Cargo.lock", ROOT / "Cargo.lock"
    if not locked.exists() or locked.stat().st_mtime < lock.stat().st_mtime:
        locked.write_bytes(lock.read_bytes())  # Cargo adds what is missing.
    host = subprocess.run(["rustc", "-vV"], stdout=subprocess.PIPE, text=True, check=True).stdout
    triple = host.partition("host: ")[2].split()[0]
    target = HERE / "build"
    # With a target named, build scripts and procedural macros are built without the flags.
    command = ["cargo", "build", "--quiet", "--release", "--target", triple, "--target-dir", str(target)]
    env = {**os.environ, "RUSTFLAGS": FLAGS}
    subprocess.run([*command, "--manifest-path", str(crate / "Cargo.toml")], env=env, check=True)
    return target / triple / "release"


def command_of(target: str, programs: Path, inputs: Sequence[Path], seed: int) -> list[str]:
    """The command that fuzzes a target, or runs it with single inputs."""
    program = [str(programs / target)] if target in RUST else [sys.executable, "-m", "tests.fuzz.guided", target]
    limits = [f"-max_len={LARGEST}", f"-timeout={LONGEST_S * (os.cpu_count() or 1)}", f"-rss_limit_mb={MOST_MIB}"]
    words = HERE / "words" / target
    known = [f"-dict={words}"] if words.exists() else []
    return [*program, f"-seed={seed}", *limits, *known, f"-artifact_prefix={FOUND / target}/", *map(str, inputs)]


def cpu_s(process: int) -> float:
    """The CPU time of a process, s."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def fuzz(target: str, programs: Path, seconds: float, seed: int, inputs: int | None = None) -> bool:
    """Fuzz a target for seconds of CPU beside its start, or a number of inputs. Returns true if it never failed."""
    corpus = HERE / ("corpus" if inputs is None else "fixed") / target
    if inputs is not None:
        shutil.rmtree(corpus, ignore_errors=True)
    for folder in (corpus, FOUND / target):
        folder.mkdir(parents=True, exist_ok=True)
    before = set((FOUND / target).iterdir())
    command = command_of(target, programs, [corpus, HERE / "seeds" / target], seed)
    if inputs is not None:
        # Where memory lies, and what is read again each second, would choose other inputs.
        command = ["setarch", "--addr-no-randomize", *command, f"-runs={inputs}", "-reload=0"]
    log = HERE / f"{target}.log"
    env = {**os.environ, "PYTHONHASHSEED": "0"} | ({"TMPDIR": str(MEMORY)} if MEMORY.is_dir() else {})
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=out, stderr=subprocess.STDOUT)
        began = None
        while process.poll() is None:
            if began is None and b"INITED" in log.read_bytes():  # The seeds are read, and signals understood.
                began = cpu_s(process.pid)
            elif inputs is None and began is not None and cpu_s(process.pid) - began >= seconds:
                process.send_signal(signal.SIGUSR1)  # libFuzzer ends.
                process.wait()
            time.sleep(0.2)
    lines = [line for line in log.read_text(errors="replace").splitlines() if re.match(r"#\d", line)]
    print(f"{target}: {lines[-1].partition('lim:')[0].strip() if lines else 'nothing ran'}", flush=True)
    found = sorted(set((FOUND / target).iterdir()) - before)
    for path in found:
        again = shlex.join([sys.executable, "-m", "tests.fuzz", "--again", str(path.relative_to(ROOT)), target])
        print(f"{target} fails: {path.relative_to(ROOT)}\n  to repeat it: {again}", flush=True)
    if process.returncode and not found:
        print(f"{target} ended with exit code {process.returncode}: {log.relative_to(ROOT)}", flush=True)
    return not process.returncode and not found


def main() -> int:
    """Fuzz all targets, or those that are named."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join((*RUST, *PYTHON))}")
    parser.add_argument(
        "--seconds",
        type=float,
        default=SECONDS,
        help="CPU time for each target in Rust, and for those in Python together",
    )
    parser.add_argument("--seed", type=int, default=int(time.time()) % 2**31)
    parser.add_argument("--inputs", action="store_true", help="a fixed number of inputs that follow from --seed")
    parser.add_argument("--again", type=Path, help="run the target with this input alone")
    asked = parser.parse_args()
    targets = asked.targets or [*(INPUTS if asked.inputs else RUST), *PYTHON]
    if find_spec("atheris") is None and set(targets) & set(PYTHON):
        print(f"without atheris, which is not installed here, these are left out: {', '.join(PYTHON)}")
        targets = [target for target in targets if target not in PYTHON]
    if unknown := set(targets) - {*RUST, *PYTHON}:
        parser.error(f"no target {', '.join(sorted(unknown))}")
    programs = build() if set(targets) & set(RUST) else HERE
    subprocess.run([sys.executable, "-m", "tests.fuzz.seeds", str(HERE)], cwd=ROOT, check=True)
    if asked.again is not None:
        return max(subprocess.run(command_of(one, programs, [asked.again], 1), cwd=ROOT).returncode for one in targets)
    seconds = {target: asked.seconds / (1 if target in RUST else len(PYTHON)) for target in targets}
    inputs = {target: INPUTS.get(target, INPUTS_PYTHON) if asked.inputs else None for target in targets}
    amounts = (f"{one} {f'{seconds[one]:.0f} s of CPU' if most is None else most}" for one, most in inputs.items())
    print(f"seed {asked.seed}, inputs: {', '.join(amounts)}", flush=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        call = partial(fuzz, programs=programs, seed=asked.seed)
        sound = list(pool.map(lambda target: call(target, seconds=seconds[target], inputs=inputs[target]), targets))
    return 0 if all(sound) else 1


if __name__ == "__main__":
    sys.exit(main())
