"""States and histories of connections beside Zeek's: the traces and baselines of Zeek's own tests.

    git clone https://github.com/zeek/zeek
    python -m benches.zeek zeek/testing/btest

A baseline counts if its test reads one trace, and its `conn.log` has endpoints, state and history of TCP connections.
The origin of Zeek's traces is unclear, so none is in this repository.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import dumbbell
from benches.table import show
from dumbbell.errors import InputError

_READS: Final = re.compile(r"@TEST-EXEC:\s*zeek\s[^\n]*?-C?r\s+\$TRACES/(\S+)")
_COLUMNS: Final = ("id.orig_h", "id.orig_p", "id.resp_h", "id.resp_p", "conn_state", "history")
_FIGURES: Final = {"state": "conn_state", "history": "history"}

Endpoints = frozenset[tuple[str, int]]


def baselines(root: Path) -> Iterator[tuple[Path, list[Mapping[str, str]]]]:
    """Each trace with the TCP connections that Zeek found in it; the same answer counts once."""
    seen = set[tuple[Path, str]]()
    for log in sorted((root / "Baseline").glob("*/conn.log")):
        test = root.joinpath(*log.parent.name.split("."))
        sources = [path for path in test.parent.glob(f"{test.name}.*") if path.is_file()]
        traces = {name for path in sources for name in _READS.findall(path.read_text(errors="replace"))}
        rows = [row for row in _rows(log) if row.get("proto") == "tcp" and all(name in row for name in _COLUMNS)]
        if len(traces) != 1 or not rows:
            continue
        trace = root / "Traces" / traces.pop()
        answer = (trace, str([[row[name] for name in _COLUMNS] for row in rows]))
        if trace.exists() and answer not in seen:
            seen.add(answer)
            yield trace, rows


def compare(trace: Path, theirs: list[Mapping[str, str]]) -> tuple[Counter[str], list[list[str]]]:
    """How many connections there are and agree, and the rows of a table for those that differ."""
    counted, differing = Counter[str](), list[list[str]]()
    ours = defaultdict[Endpoints, list[Mapping[str, object]]](list)
    with tempfile.TemporaryDirectory() as scratch:
        try:
            found = dumbbell.pcap(trace, output=Path(scratch) / "found").connections.to_dicts()
        except InputError as error:
            return Counter(refused=len(theirs)), [[trace.name, "refused", "", (error.why or error.what).split("\n")[0]]]
    for row in found:
        ends = ((row["client"], row["client_port"]), (row["server"], row["server_port"]))
        ours[frozenset(ends)].append(row)
    for row in theirs:
        ends = frozenset({(row["id.orig_h"], int(row["id.orig_p"])), (row["id.resp_h"], int(row["id.resp_p"]))})
        if not ours[ends]:
            counted["missing"] += 1
            differing.append([trace.name, "missing", row["history"], ""])
            continue
        mine = ours[ends].pop(0)
        counted["connections"] += 1
        for figure, theirs_name in _FIGURES.items():
            agrees = mine[figure] == row[theirs_name]
            counted[figure] += agrees
            if not agrees:
                differing.append([trace.name, figure, row[theirs_name], str(mine[figure])])
    return counted, differing


def _rows(log: Path) -> Iterator[Mapping[str, str]]:
    names: list[str] = []
    for line in log.read_text(errors="replace").splitlines():
        if line.startswith("#fields"):
            names = line.split("\t")[1:]
        elif not line.startswith("#"):
            yield dict(zip(names, line.split("\t"), strict=False))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("btest", type=Path, help="the folder testing/btest of Zeek's source")
    root = parser.parse_args().btest
    total, differing = Counter[str](), list[list[str]]()
    for trace, theirs in baselines(root):
        counted, rows = compare(trace, theirs)
        total += counted
        differing += rows
    show("What differs", ["trace", "", "Zeek", "ours"], differing)
    show("Connections", [*total], [[f"{count:,}" for count in total.values()]])


if __name__ == "__main__":
    main()
