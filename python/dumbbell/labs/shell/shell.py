"""The shell: reads lines, and carries each out.

`readline` gives history and completion: it is part of Python, starts at once, and is what Mininet's users know.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, TextIO

from dumbbell.errors import DumbbellError, InputError
from dumbbell.labs import packages, programs
from dumbbell.labs.ending import LabEnded
from dumbbell.labs.live import Live
from dumbbell.labs.shell import control, look, measure, network, session, why
from dumbbell.labs.shell.words import WORDS, Session
from dumbbell.units import QuantityError

MODULES: Final = (look, measure, control, network, why, session)
"""The modules whose words the shell knows."""

HISTORY: Final = Path("~/.dumbbell_history")
LONGEST: Final = 1_000_000
"""Characters of a line."""
INTERRUPTED: Final = 130
NOT_FOUND: Final = 127
"""The exit code of a shell whose command is missing."""


class Shell:
    """A shell of a lab."""

    def __init__(self, lab: Live) -> None:
        """A shell of `lab`, which is up."""
        self._session = Session(lab, self.execute)

    def interact(self, lines: Sequence[str] | None = None) -> int:
        """Carry out lines until `exit`, their end, or the end of a lab that this process owns. Returns the exit code of
        the last command.

        Args:
            lines: by default, those of standard input, with a prompt on a terminal.
        """
        code = 0
        try:
            with self._session.lab.interrupted_at_end():
                rest = iter(lines if lines is not None else self._read())
                is_over = False
                while not is_over:
                    try:
                        is_over, code = self._next(rest, code)
                    except KeyboardInterrupt:  # Between two lines, where it means none of them.
                        if lines is not None:
                            raise
                        print()
        except LabEnded:
            print("\nthe lab has ended", file=sys.stderr)
        return code

    def _next(self, lines: Iterator[str], code: int) -> tuple[bool, int]:
        """Carry out the next line. Returns whether it was the last one, and the exit code of the last command."""
        line = next(lines, None)
        if line is None:
            return True, code
        code = self.execute(line)
        return self._session.over, code

    def execute(self, line: str) -> int:
        """Carry out a line: a word, or a node and a command. Prints errors. Returns the exit code."""
        line = re.sub(r"(^|\s)#.*", "", line).strip()
        if not line:
            return 0
        try:
            return self._execute(line)
        except DumbbellError as error:
            for problem in error.problems:
                print(f"error: {problem.text()}", file=sys.stderr)
        except (QuantityError, ValueError) as error:
            print(f"error: {error}", file=sys.stderr)
        except KeyboardInterrupt:
            print()
            return INTERRUPTED
        except OSError as error:
            print(f"error: {error.strerror or error}", file=sys.stderr)
        except Exception as error:  # The lab must outlive a mistake of ours.
            print(f"error: {type(error).__name__}: {error}\n  this is a mistake of dumbbell", file=sys.stderr)
        finally:
            sys.stdout.flush()
        return 1

    def _execute(self, line: str) -> int:
        first, _, rest = line.partition(" ")
        known = self._session.network
        if first in known.places:
            # The command itself may be called as a node is.
            name, gap, arguments = rest.strip().partition(" ")
            if not name:
                print(f"error: no command for {first}\nhint: {first} ping -c1 {known.hosts[-1]}", file=sys.stderr)
                return 1
            parts = re.split(r"(\s+)", arguments)
            # As ping, curl and iperf3 ask for IPv6; ping6 and traceroute6 do by their names.
            ip = 6 if "-6" in parts or name.endswith("6") else 4
            command = name + gap + "".join(known.addressed(parts, ip))
            sys.stdout.flush()
            background = command.rstrip().endswith("&")
            code = programs.run(self._session.lab.path, first, ["/bin/sh", "-c", command], background)
            if code == NOT_FOUND and (advice := packages.hint(name)):
                print(f"hint: {advice}", file=sys.stderr)
            return code
        if first in WORDS:
            return WORDS[first].work(self._session, rest.split()) or 0
        if first in known.nodes:
            print(f"error: no program runs in {first}\n  it is a switch", file=sys.stderr)
        else:
            print(f"error: no node and no word {first}\nhint: help shows all words", file=sys.stderr)
        return 1

    def _read(self) -> Iterator[str]:
        if sys.stdin is None or not sys.stdin.isatty():
            yield from given_lines(sys.stdin)
            return
        import readline

        history = HISTORY.expanduser()
        with suppress(OSError):
            readline.read_history_file(history)
        readline.set_history_length(1000)
        readline.set_completer_delims(" \t\n")
        readline.set_completer(self.complete)
        readline.parse_and_bind("tab: complete")
        try:
            while True:
                try:
                    yield input(f"{self._session.lab.path.name}> ")
                except KeyboardInterrupt:
                    print()
                except EOFError:
                    print()
                    return
        finally:
            with suppress(OSError):
                readline.write_history_file(history)

    def complete(self, text: str, state: int) -> str | None:
        """The completion number `state` of a word that begins with `text`."""
        import readline

        lab, begin = self._session.network, readline.get_begidx()
        first = readline.get_line_buffer()[:begin].split(" ")[0]
        if not first:
            known = [*WORDS, *lab.places]
        elif first == "link":
            known = [*lab.nodes, *lab.links, "up", "down"]
        elif first in ("add", "remove"):
            known = ["host", "switch", "router", "link", *lab.nodes, *lab.links]
        elif first == "help":
            known = list(WORDS)
        else:
            known = lab.nodes
        found = [name for name in known if name.startswith(text)]
        return f"{found[state]} " if state < len(found) else None


def given_lines(file: TextIO | None) -> Iterator[str]:
    """The lines of standard input, none if it is closed. Raises `InputError`."""
    try:
        # A device such as /dev/zero has no line that ends.
        while file is not None and (line := file.readline(LONGEST + 1)):
            if len(line) > LONGEST:
                raise InputError("cannot read standard input", f"a line has more than {LONGEST:,} characters")
            yield line
    except UnicodeDecodeError:
        raise InputError("cannot read standard input", "it is not UTF-8 text") from None
