"""Programs of the user's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field

from dumbbell.hints import closest
from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.table import STARTED
from dumbbell.scenario.traffic.algorithms import Algorithm, Cc
from dumbbell.scenario.traffic.kinds.flow import AnyFlow, Ends, Kind
from dumbbell.units import decimal
from dumbbell.workloads import CommandWorkload

PLACEHOLDERS: Final = ("server", "client", "port", "duration", "cc")


class CommandFlow(AnyFlow, Kind[CommandWorkload]):
    """Any program, run in the sending host's namespace."""

    place: ClassVar = 50
    kind: ClassVar = "command"
    instead: ClassVar = "command"
    has_segments: ClassVar = True
    runs_programs: ClassVar = True

    command: Annotated[str, STARTED] = Field(
        min_length=1,
        description="Shell command line of the sender. {server} and {client} become the addresses of `to` and `from`, "
        "{port} the flow's port, {duration} its length in seconds, {cc} the kernel's name of `cc`.",
        examples=["iperf3 -c {server} -p {port} -t {duration}"],
    )
    server_command: Annotated[str | None, STARTED] = Field(
        default=None,
        min_length=1,
        description="Shell command line of its peer, started before it in the receiving host.",
        examples=["iperf3 -s -1 -p {port}"],
    )
    cc: Cc | None = Field(
        default=None,
        description="Congestion control that the command lines ask for by {cc}.",
        examples=["bbr3"],
    )

    @property
    def port_protocols(self) -> tuple[str, ...]:
        """Both, as a program's own is not known."""
        return ("tcp", "udp")

    def algorithms(self, seed: int, entry: int, group: str) -> list[tuple[Key | None, Algorithm | None]]:
        """The one that {cc} stands for."""
        return [(None if self.cc is None else ("flows", entry, "cc"), self.cc)] * self.number

    def check(self, at: Key, mtu: Callable[[bool], int], has_one_mtu: bool) -> Iterator[Finding]:
        """A misspelt placeholder would reach the shell as it is; other braces are the shell's."""
        for key, text in (("command", self.command), ("server_command", self.server_command or "")):
            for name in dict.fromkeys(re.findall(r"(?<!\$)\{([a-z_]+)\}", text)):
                if name not in PLACEHOLDERS and (close := closest(name, PLACEHOLDERS, 0.8)) is not None:
                    expected = ", ".join(f"{{{p}}}" for p in PLACEHOLDERS)
                    hint = f"did you mean {{{close}}}?"
                    yield Finding((*at, key), f"unknown placeholder {{{name}}}", expected, hint)
        asks = any(re.search(r"(?<!\$)\{cc\}", text) for text in (self.command, self.server_command or ""))
        if asks and self.cc is None:
            hint = 'add cc = "bbr3", or write the name in place of {cc}'
            yield Finding((*at, "command"), "{cc} without cc", "the congestion control that {cc} stands for", hint)
        if self.cc is not None and not asks:
            hint = "write {cc} where the program takes it, as in iperf3 -C {cc}"
            yield Finding((*at, "cc"), "no command line asks for it", "{cc} in command or server_command", hint)

    def workload(self, ends: Ends) -> CommandWorkload:
        """The command lines of one connection; {cc} stays, as only the run knows the kernel's name."""
        values = {
            "server": ends.address(ends.to),
            "client": ends.address(ends.from_),
            "port": str(ends.port),
            "duration": decimal(Fraction(ends.duration_ns, 10**9)),
        }
        server = None if self.server_command is None else _fill(self.server_command, values)
        return CommandWorkload(command=_fill(self.command, values), server_command=server, cc=ends.cc)

    @classmethod
    def sends(cls, workload: CommandWorkload) -> str:
        """`iperf3 -c 10.0.0.2 (server: iperf3 -s)`."""
        server = f" (server: {workload.server_command})" if workload.server_command else ""
        return workload.command + server + (f" ({{cc}}: {workload.cc})" if workload.cc else "")

    @classmethod
    def label(cls, workload: CommandWorkload) -> str | None:
        """The one that {cc} stands for."""
        return workload.cc

    @classmethod
    def command_lines(cls, workload: CommandWorkload) -> Mapping[str, str]:
        """The sender's, and its peer's."""
        lines = {"command": workload.command, "server_command": workload.server_command}
        return {key: line for key, line in lines.items() if line}

    @classmethod
    def failed_programs(cls, account: Mapping[str, Any]) -> Iterator[str] | None:
        """One that ran until the flow's stop was ended then, and may answer with any code."""
        ended = account["command"]
        return ended and (
            f"{name} {ended[f'{key}exit_code']}"
            for key, name in (("", "exit code"), ("server_", "server's exit code"))
            if ended[f"{key}exit_code"] not in (0, None) and not ended[f"{key}ended_by_us"]
        )


def _fill(command: str, values: Mapping[str, str]) -> str:
    """The command with its placeholders filled in. Other braces are the shell's."""
    for name, value in values.items():
        command = re.sub(rf"(?<!\$)\{{{name}\}}", value, command)
    return command
