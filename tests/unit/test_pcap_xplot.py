"""Graphs for xplot: the words of tcptrace's."""

from __future__ import annotations

from pathlib import Path

from made_capture import lossy

import dumbbell
from dumbbell.captures.xplot import write


def test_a_graph_has_each_packet(tmp_path: Path) -> None:
    (tmp_path / "trace.pcap").write_bytes(lossy())
    (path,) = write(dumbbell.pcap(tmp_path / "trace.pcap", output=tmp_path / "out"), tmp_path / "graphs")
    lines = path.read_text().splitlines()
    assert path.name == "1-to-server_tsg.xpl"
    assert lines[:3] == ["timeval unsigned", "title", "10.0.0.1:40000_==>_10.0.0.2:80 (time sequence graph)"]
    assert lines[-1] == "go"
    assert lines.count("white") == 10
    again = lines.index("red")
    assert lines[again + 1 : again + 6] == [
        "darrow 0.301000 2000", "uarrow 0.301000 3000", "line 0.301000 2000 0.301000 3000", "atext 0.301000 3000", "R",
    ]  # fmt: skip
    # Four equal ACKs: three ticks.
    assert sum(line.startswith("dtick") for line in lines) == 3
