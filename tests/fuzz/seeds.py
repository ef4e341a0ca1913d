"""Small sound inputs of each target, made of what the repository has, and the words of its format.

`python -m tests.fuzz.seeds FOLDER` writes FOLDER/seeds/TARGET/NAME and FOLDER/words/TARGET. It also writes
a sound run, FOLDER/run, of which the target `tables` replaces files.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

import dumbbell
from dumbbell.core import core
from dumbbell.labs.exports.miniedit import miniedit
from dumbbell.plan.expand import expand
from dumbbell.plan.wire import document
from dumbbell.scenario import bundled
from dumbbell.scenario.file.loading import load

ROOT: Final = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "unit")]

from made_capture import handshake, long, lossy  # noqa: E402
from test_drawn_graphml import ZOO  # noqa: E402
from test_fit_log_files import samples as logs  # noqa: E402
from test_foreign import CLAB, CONF, STARTUPS  # noqa: E402

LARGEST: Final = 16_384
"""Bytes of a seed."""
FILES: Final = (
    "samples.parquet", "links.parquet", "packets.parquet", "pings.parquet", "traffic.json", "simulator.json",
    "routes.parquet",
)  # fmt: skip
"""Files of a run that its figures are worked out from, as in `targets/tables.rs`."""
ROWS: Final = 40
"""Rows of a seed's table."""
RUN: Final[Mapping[str, Any]] = {
    "name": "seed",
    "duration": "200 ms",
    "topology": {"kind": "dumbbell", "pairs": 1, "rtt": "10 ms", "bottleneck": {"rate": "5 Mbit/s", "buffer": "1 bdp"}},
    "flows": [
        {"from": "s1", "to": "r1", "cc": "cubic"},
        {"from": "s1", "to": "r1", "protocol": "udp", "rate": "100 kbit/s"},
        {"from": "s1", "to": "r1", "protocol": "ping", "interval": "20 ms"},
    ],
    "record": {"packets": True},
}
TRACES: Final = ("2\n4\n4\n", "time_s,rate_Mbps\n0,10\n2.5,20\n", "delay_ms\n1.5\n0.2\n3\n", "3\n17\n18\n")
"""A file of each kind, in the order of `readers.TRACES`."""
MAGICS: Final = """
d4c3b2a1 a1b2c3d4 4d3cb2a1 34cdb2a1 0a0d0d0a 4d3c2b1a 01000000 06000000 03000000 05000000 02000000 1f8b0800 28b52ffd
04224d18 0800 86dd 8100 88a8 8847 8864 6558 12b5 17c1 0868 050a 080a 0204 0303 7fffffff ffffffff 80000000
"""
"""Heads of captures, their blocks, contents of frames, options of TCP, and numbers at the edges, in hex."""
GRAPHML: Final = ["<key ", "<data key=", "<edge ", "LinkSpeedRaw", "Latitude", "yed:", "nan", "inf", "-1e999"]
YAML: Final = ["&a ", "*a", "<<: ", "!!int ", "!!timestamp ", "!!python/name:", "0b", "0x", "2001-13-45", "? "]
TOML: Final = ["[[", "]]", "'''", '"""', "\\u0000", "1979-05-27T07:32:00Z"]


def seeds(run: Path) -> Iterator[tuple[str, str, bytes]]:
    """The target, a name and the content of each seed. `run`: the directory of a sound run."""
    yield from (("capture", name, content) for name, content in _captures())
    yield from (("tables", name, content) for name, content in _tables(run))
    for name in bundled.names():
        yield "edits", name, bundled.text(name).encode() + b"\0\0\x01\x00\x00\x01\x02\x00\x02"
        yield "plan", name, json.dumps(document(expand(load(name)))).encode()
    yield from texts()


def texts() -> Iterator[tuple[str, str, bytes]]:
    """The target, a name and the content of each seed that Python reads."""
    for name in bundled.names():
        yield "scenario", name, bundled.text(name).encode()
        plan = document(expand(load(name)))
        if any("interfaces" in node for node in plan["nodes"]):
            yield "miniedit", name, miniedit(plan)[0].encode()
    yield "graphml", "zoo", ZOO.encode()
    yield from (("trace", str(number), bytes([number]) + text.encode()) for number, text in enumerate(TRACES))
    yield "containerlab", "two", CLAB.encode()
    yield from (("log", name, content[:LARGEST]) for name, content in logs().items())
    yield "kathara", "lab", b"\0".join([CONF.encode(), "\n".join(STARTUPS.values()).encode()])


def words() -> Mapping[str, list[bytes]]:
    """The words that the format of a target knows."""
    keys: set[str] = set()
    for name in bundled.names():
        _words(tomllib.loads(bundled.text(name)), keys)
    declared: set[str] = set()
    _words(json.loads(core.declarations())["plan"], declared)
    texts = {
        "edits": [*TOML, *sorted(keys)],
        "scenario": [*TOML, *sorted(keys)],
        "plan": sorted(declared),
        "graphml": GRAPHML,
        "containerlab": YAML,
    }
    encoded = {target: [word.encode() for word in known] for target, known in texts.items()}
    return {"capture": [bytes.fromhex(word) for word in MAGICS.split()], **encoded}


def _words(value: Any, found: set[str]) -> None:
    """The keys and short texts in a value."""
    if isinstance(value, dict):
        found.update(value)
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            _words(part, found)
    elif isinstance(value, str) and 0 < len(value) <= 24:
        found.add(value)


def _captures() -> Iterator[tuple[str, bytes]]:
    yield "lossy", lossy()
    yield "lossy.gz", gzip.compress(lossy(), mtime=0)
    yield "long", long(60)
    yield "handshake", lossy()[:24] + b"".join(handshake())
    for path in sorted((ROOT / "crates" / "capture" / "tests" / "others").glob("*/*.*cap*")):
        yield path.name, path.read_bytes()


def _tables(run: Path) -> Iterator[tuple[str, bytes]]:
    for number, name in enumerate(FILES):
        path = run / name
        if path.suffix != ".parquet":
            yield name, bytes([number]) + path.read_bytes()
        elif path.exists():
            rows = pl.read_parquet(path).head(ROWS)
            for compression in ("zstd", "snappy", "uncompressed"):
                short = run.parent / "short.parquet"
                rows.write_parquet(short, compression=compression, statistics=False)
                yield f"{name}-{compression}", bytes([number]) + short.read_bytes()
                short.unlink()


def write(folder: Path) -> None:
    """Write all seeds, words and the run anew."""
    for part in ("seeds", "words", "run"):
        shutil.rmtree(folder / part, ignore_errors=True)
    found = dumbbell.run(RUN, directory=folder / "runs", engine="simulate", report=False)
    assert isinstance(found, dumbbell.Run)
    shutil.copytree(found.directory, folder / "run")
    shutil.rmtree(folder / "runs")
    engine = folder / "run" / "simulator.json"
    engine.write_text(re.sub(r'("(?:cpu|wall)_s": )[^,\s]+', r"\g<1>0.001", engine.read_text()))  # Times differ.
    for target, name, content in seeds(folder / "run"):
        if len(content) <= LARGEST:
            (folder / "seeds" / target).mkdir(parents=True, exist_ok=True)
            (folder / "seeds" / target / name).write_bytes(content)
    (folder / "words").mkdir()
    for target, known in words().items():
        escaped = ("".join(f"\\x{byte:02x}" for byte in word) for word in known if len(word) <= 64)
        (folder / "words" / target).write_text("".join(f'"{word}"\n' for word in escaped))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
