"""Words about the shell itself."""

from __future__ import annotations

import subprocess
import time
from typing import Any

from dumbbell import inputs
from dumbbell.errors import InputError
from dumbbell.labs import programs
from dumbbell.labs.shell.words import WORDS, Session, word

LARGEST = 16 << 20
"""Bytes of a file of lines."""


@word("py", "EXPRESSION", "Evaluate Python: `lab` is the lab, and nodes are called by their names.")
def py(session: Session, words: list[str]) -> int:
    """Prints what it is, as Python's prompt does."""
    return _python(session, " ".join(words), "eval")


@word("px", "STATEMENT", "Execute Python.")
def px(session: Session, words: list[str]) -> int:
    """Prints nothing."""
    return _python(session, " ".join(words), "exec")


@word("sh", "COMMAND", "Run a command outside the lab.")
def sh(session: Session, words: list[str]) -> int:
    """By the shell of the machine."""
    return subprocess.call(" ".join(words), shell=True)


@word("source", "FILE", "Carry out the lines of a file.")
def source(session: Session, words: list[str]) -> int:
    """Until its end, or `exit`."""
    if len(words) != 1:
        raise InputError("source needs a file", f"given: {' '.join(words) or 'nothing'}", "source FILE")
    try:
        lines = inputs.read_text(words[0], LARGEST).splitlines()
    except OSError as error:
        raise InputError(f"cannot read {words[0]}", error.strerror or str(error)) from None
    except UnicodeDecodeError:
        raise InputError(f"cannot read {words[0]}", "it is not UTF-8 text") from None
    code = 0
    for line in lines:
        if not session.over:
            code = session.execute(line)
    return code


@word("time", "COMMAND", "Carry out a command, and show how long it took.")
def timed(session: Session, words: list[str]) -> int:
    """Mininet's line."""
    begun = time.monotonic()
    code = session.execute(" ".join(words))
    print(f"*** Elapsed time: {time.monotonic() - begun:0.6f} secs")
    return code


@word("noecho", "NODE COMMAND", "Run a command in a node; every command has a terminal of its own here.")
def noecho(session: Session, words: list[str]) -> int:
    """Mininet needs it for programs that echo themselves."""
    return session.execute(" ".join(words))


@word("wait", "", "Return when the network is ready, which it is as long as this shell runs.")
def wait(session: Session, words: list[str]) -> None:
    """Nothing is left to wait for."""


@word("x", "NODE COMMAND", "Run a program with windows in a node; it goes on in the background.")
def x(session: Session, words: list[str]) -> int:
    """Its display is this shell's: the X server's socket is a file, which labs see."""
    if len(words) < 2:
        raise InputError("x needs a node and a program", f"given: {' '.join(words) or 'nothing'}", "x h1 wireshark")
    session.network.check_place(words[0])
    return programs.run(session.lab.path, words[0], ["/bin/sh", "-c", f"{' '.join(words[1:])} &"], background=True)


@word("xterm", "NODE...", "Open a terminal window for each of these nodes.")
def xterm(session: Session, words: list[str]) -> None:
    """Opens a window of this machine, in which a shell of the node runs."""
    import os
    import sys

    for name in words:
        session.network.check_place(name)
        inside = [sys.executable, "-P", "-m", "dumbbell", "lab", "exec", "--lab", session.lab.path.name, name]
        terminal = ["xterm", "-title", name, "-e", *inside, os.environ.get("SHELL", "/bin/sh")]
        try:
            subprocess.Popen(terminal, start_new_session=True)
        except OSError as error:
            hint = f"install xterm; or in any terminal: dumbbell lab exec --lab {session.lab.path.name} {name} bash"
            raise InputError("cannot open a terminal", f"xterm: {error.strerror}", hint) from None


@word("help", "[WORD]", "Show all words, or what one does.")
def help_(session: Session, words: list[str]) -> None:
    """A line for each word."""
    for one in words:
        if one not in WORDS:
            raise InputError(f"unknown word {one}", f"words: {', '.join(sorted(WORDS))}", "help")
    wanted = words or sorted(WORDS)
    for one in wanted:
        known = WORDS[one]
        print(f"{f'{known.name} {known.arguments}'.strip():<44} {known.meaning}")
    if not words:
        print(
            "\nNODE COMMAND runs a command in a host or router: h1 ping -c1 h2. Names of nodes among its arguments\n"
            "become addresses. Ctrl-C reaches the program; & at its end lets it go on. # begins a comment."
        )


@word("exit", "", "Leave the shell.")
def exit_(session: Session, words: list[str]) -> None:
    """The lab goes on if another process owns it."""
    session.over = True


word("quit", "", "Leave the shell.")(exit_)


def _python(session: Session, text: str, mode: str) -> int:
    lab = session.lab
    # Nodes may have been added since the line before.
    nodes = {name: lab[name] for name in session.network.places}
    session.names = {"lab": lab, "net": lab, **nodes, **session.names}
    try:
        found: Any = eval(compile(text, "<shell>", mode), session.names)
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
        return 1
    if found is not None:
        print(found if isinstance(found, str) else repr(found))
    return 0
