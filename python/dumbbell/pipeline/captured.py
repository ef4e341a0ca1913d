"""Analysed captures with their report, as `dumbbell.pcap` returns them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dumbbell import captures
from dumbbell.captures.detail import keep
from dumbbell.captures.points import FILE
from dumbbell.command import quoted
from dumbbell.errors import InputError
from dumbbell.plan.parts import kind
from dumbbell.records.run import Run
from dumbbell.report.captured import figure, write_html

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Capture(captures.Capture):
    """An analysed capture: the tables of `captures.Capture`, with a report and a plot."""

    def report(self) -> Path:
        """Path of the HTML report, which is written now if there is none yet."""
        path = self.directory / "report.html"
        if not path.exists():
            write_html(self, path)
        return path

    def plot(self) -> Figure:
        """The capture's plots on one time axis, as a matplotlib figure, which a notebook shows."""
        return figure(self)


def pcap(
    *files: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    interfaces: Sequence[str] = (),
    interval_ns: int = 100_000_000,
    segments: Literal["none", "top", "all"] = "none",
    decode_as: Sequence[str] = (),
    at: Literal["sender", "receiver", "middle"] | None = None,
    on_progress: Callable[[int, int], object] = lambda frames, connections: None,
) -> Capture:
    """Analyse captures as one, or open the directory of one that was analysed.

    Args:
        files: pcap and pcapng, compressed or not, in any order; `-` is standard input. Or a directory alone.
        output: The directory to make; the name of the first file with `.analysis` in the working directory by default.
        interfaces: The interfaces whose packets count, by the names that pcapng has of them; all by default.
        interval_ns: Length of the intervals, ns.
        segments: Of which connections each packet becomes a row of `segments`: `none`, `top` of the 12 with the most
            payload in a direction, or `all`.
        decode_as: What frames hold that do not say it: `udp:PORT=vxlan`, `=geneve` or `=gtp`, `link=TYPE` or
            `link:TYPE=TYPE`, with numbers of link types.
        at: Where the capture was taken, if that is not to be found out: at the `sender` of most of a connection's
            payload, at its `receiver`, or in the `middle`.
        on_progress: Called with frames and connections so far.

    Raises:
        InputError: no TCP packet can be read, `decode_as` is malformed, `output` is there already and is no analysed
            capture, or a directory was analysed with another `at`.
    """
    if len(files) == 1 and captures.is_capture(Path(files[0])):
        opened = Capture(Path(files[0]))
        if at is not None and at != opened.summary.get("at"):
            raise InputError(
                f"{files[0]} was analysed without at={at!r}",
                "where a capture was taken is part of its analysis",
                "analyse its files again: dumbbell pcap FILE --at " + at,
            )
        if segments != "none":
            keep(opened, opened.numbers(captures.TOP if segments == "top" else None))
        return opened
    found = captures.analyse(
        *files,
        output=output,
        interfaces=interfaces,
        interval_ns=interval_ns,
        segments=segments,
        decode_as=decode_as,
        at=at,
        on_progress=on_progress,
    )
    return Capture(found.directory)


def quic_flows(run: Run) -> list[str]:
    """Ids of the flows of a run that are QUIC."""
    return [flow.id for flow in run.plan.flows if kind(flow).quic_stack(flow.workload) is not None]


def run_of(files: Sequence[str]) -> Run | None:
    """The run, if `files` name its directory alone.

    Raises `InputError`: it is no run, has no capture, or only QUIC flows.
    """
    if len(files) != 1 or not Path(files[0]).is_dir() or captures.is_capture(Path(files[0])):
        return None
    run = Run(files[0])
    if (quic := quic_flows(run)) and len(quic) == len(run.plan.flows):
        raise InputError(
            f"{run.directory} has no TCP flow: {', '.join(quic)} are QUIC",
            "QUIC encrypts acknowledgements, so a capture tells nothing of what limits a flow",
            f"the run's own records do: dumbbell report {quoted(str(run.directory))}",
        )
    if not (run.directory / FILE).is_file():
        raise InputError(
            f"{run.directory} has no capture",
            "its scenario does not set record.capture",
            "repeat the run with --set record.capture=true",
        )
    return run
