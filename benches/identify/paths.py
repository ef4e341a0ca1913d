"""Paths drawn by chance, and runs of every algorithm over each."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path as File
from random import Random
from typing import Final

import dumbbell
from dumbbell.captures.identify import ALGORITHMS, Path
from dumbbell.captures.identify.decide import looks
from dumbbell.captures.points import FILE, interfaces

SECONDS: Final = 25
_LEAST_BDP_PACKETS: Final = 15
_FRAME: Final = 1514


@dataclass(frozen=True)
class Drawn:
    """A path."""

    number: int
    rate_kbps: int
    rtt_us: int
    buffer_bdp: float
    marks_packets: int | None
    """ECN marks above this queue: a step, as DCTCP wants it; `None`: drops only, and no ECN."""
    loss_permille: float

    @property
    def algorithms(self) -> Sequence[str]:
        """DCTCP is Reno where nothing marks."""
        return ALGORITHMS if self.marks_packets is not None else [one for one in ALGORITHMS if one != "dctcp"]

    @property
    def words(self) -> str:
        """The path in a line."""
        more = "" if self.marks_packets is None else f", marks above {self.marks_packets} packets"
        more += f", {self.loss_permille / 10:.2g} % loss" if self.loss_permille else ""
        return f"{self.rate_kbps / 1000:.3g} Mbit/s, {self.rtt_us / 1000:.3g} ms, {self.buffer_bdp:.2g} bdp{more}"

    def scenario(self, acks: bool = False) -> str:
        """A pair of hosts for each algorithm, with a link of its own: they do not meet. `acks`: record these."""
        packets = max(4, round(self.buffer_bdp * self.rate_kbps * self.rtt_us / 8e3 / _FRAME))
        marking = "" if self.marks_packets is None else f', ce_threshold = "{self.marks_packets} packets"'
        loss = f', loss = "{self.loss_permille / 10:.4g} %"' if self.loss_permille else ""
        hosts = ", ".join(f"s{at} = {{}}, r{at} = {{}}" for at in range(len(self.algorithms)))
        forward = (
            f'rate = "{self.rate_kbps} kbit/s", delay = "{self.rtt_us // 2} us", buffer = "{packets} packets", '
            f'queue = {{ kind = "drop-tail"{marking} }}{loss}'
        )
        back = f'rate = "1 Gbit/s", delay = "{self.rtt_us // 2} us", queue = "drop-tail"'
        links = "".join(
            f'  {{ name = "l{at}", between = ["s{at}", "r{at}"], {forward}, reverse = {{ {back} }} }},\n'
            for at in range(len(self.algorithms))
        )
        ecn = "ecn = true\n" if self.marks_packets is not None else ""
        flows = "".join(
            f'[[flows]]\nid = "{cc}"\nfrom = "s{at}"\nto = "r{at}"\ncc = "{cc}"\n{"" if cc == "dctcp" else ecn}'
            for at, cc in enumerate(self.algorithms)
        )
        return (
            f'name = "identify-{self.number}"\nduration = "{SECONDS} s"\nseed = {self.number}\n'
            f"record = {{ capture = true, packets = false, acks = {str(acks).lower()} }}\n"
            f'[topology]\nkind = "graph"\nnodes = {{ {hosts} }}\nlinks = [\n{links}]\n{flows}'
        )


def draw(first: int, count: int) -> list[Drawn]:
    """Paths `first`, `first` + 1, ...: each number has its own."""
    found = []
    for number in range(first, first + count):
        random = Random(number)
        while True:
            rate, rtt = 4_000 * 10 ** random.uniform(0, 1), 10_000 * 12 ** random.uniform(0, 1)
            bdp_packets = rate * rtt / 8e3 / _FRAME
            if bdp_packets >= _LEAST_BDP_PACKETS:
                break
        buffer = 0.4 * 10 ** random.uniform(0, 1)
        marks = round(bdp_packets * random.uniform(0.15, 0.6)) if random.random() < 0.3 else None
        if marks is not None:
            # A threshold beyond the buffer marks nothing.
            marks = max(2, min(marks, int(0.7 * buffer * bdp_packets)))
        loss = 10 ** random.uniform(-0.7, 0.3) if random.random() < 0.25 else 0.0
        found.append(Drawn(number, round(rate), 2 * round(rtt / 2), round(buffer, 2), marks, round(loss, 2)))
    return found


@contextmanager
def simulated(path: Drawn, engine: str, folder: File, acks: bool = False) -> Iterator[dumbbell.Run]:
    """A run over a path, which is removed afterwards."""
    file = folder / f"{path.number}.toml"
    file.write_text(path.scenario(acks))
    place = folder / f"runs-{path.number}"
    try:
        yield dumbbell.run(file, (), place, engine=engine, report=False)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def connections(run: dumbbell.Run, place: File) -> tuple[dumbbell.Capture, dict[int, str]]:
    """The capture at the senders, and the flow of each of its connections: servers tell them apart."""
    capture = dumbbell.pcap(run.directory / FILE, output=place, interfaces=interfaces(run.plan, "sender"))
    addresses = {str(node.address): node.name for node in run.plan.nodes if getattr(node, "address", None)}
    flow_to = {flow.to: flow.id for flow in run.plan.flows}
    servers = capture.connections.select("connection", "server").rows()
    return capture, {number: flow_to[addresses[server]] for number, server in servers}


def observed(path: Drawn, engine: str, folder: File) -> list[tuple[str, dict[str, float] | str]]:
    """Each algorithm, and its features at its sender or why there are none."""
    known = Path(path.rtt_us / 1e6, path.rate_kbps * 1e3)
    with simulated(path, engine, folder) as run:
        capture, names = connections(run, folder / f"first-{path.number}")
        files, only = [str(file) for file in capture.summary["files"]], list(capture.summary["only"])
        seen = looks(files, only, dict.fromkeys(names, known))
        shutil.rmtree(capture.directory)
    return [(names[number], found) for number, (_, found) in seen.items()]
