"""Files that other projects made to try readers: tshark and we find the same segments and connections in them."""

from __future__ import annotations

import subprocess
from itertools import accumulate
from pathlib import Path
from typing import Final

import pytest

import dumbbell
from dumbbell.errors import InputError

FOLDER: Final = Path(__file__).parents[2] / "crates/capture/tests/others"
FILES: Final = sorted(path for path in FOLDER.rglob("*") if path.suffix in {".pcap", ".pcapng", ".cap"})

UNKNOWN_THERE: Final = {"bigtcp-ipv6-vxlan-ipv6.pcap"}
"""tshark 4.0 takes a payload length of 0 for an empty packet: BIG TCP (RFC 2675 without its option) is newer."""
FRAGMENTS: Final = {"bgp_pmsi_tunnel-oobr.pcap"}
"""A first fragment, whose others are missing: tshark dissects it as if it were all."""


def theirs(file: Path) -> tuple[int, int]:
    """Segments and connections, by tshark."""
    command = ["tshark", "-r", file, "-Y", "tcp", "-T", "fields", "-e", "tcp.stream", "-E", "occurrence=l"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    streams = done.stdout.splitlines()
    return len(streams), len(set(streams))


def ours(file: Path, output: Path) -> tuple[int, int]:
    """Segments and connections; none of a file that is refused."""
    try:
        found = dumbbell.pcap(file, output=output)
    except InputError:
        return 0, 0
    return found.summary["segments"], found.summary["connections"]


@pytest.mark.parametrize(
    "file",
    [pytest.param(file, marks=[pytest.mark.thorough] if at % 12 else []) for at, file in enumerate(FILES)],
    ids=lambda path: path.name,
)
def test_segments_and_connections(file: Path, tmp_path: Path) -> None:
    found, told = ours(file, tmp_path / "found"), theirs(file)
    if file.name in UNKNOWN_THERE:
        assert (found, told) == ((1, 1), (0, 0))
    elif file.name in FRAGMENTS:
        assert (found, told) == ((0, 0), (1, 1))
    else:
        assert found == told


def test_the_files_have_segments(tmp_path: Path) -> None:
    assert len(FILES) == 48 + 14 + 18
    counts = accumulate(ours(file, tmp_path / str(number))[0] for number, file in enumerate(FILES))
    assert any(count > 300 for count in counts)
