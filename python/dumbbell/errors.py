"""Errors that say what failed, why, and what to do next.

Every error that a user can cause or fix is a `DumbbellError`: what failed, why, and a hint. The command line prints it
without a traceback and exits with its code; a Python caller catches it and reads the same three fields. An input error
also has `problems`, each with its scenario key and its place in the file.

With `--json` the command line prints the problems to standard output, too: an object `error` with `exit_code` and
`problems`, each with the fields of `Problem`.

| code | class                  | meaning                                                        |
|------|------------------------|----------------------------------------------------------------|
| 0    |                        | done                                                           |
| 1    | `RunFailed`            | a run or another piece of work started and failed              |
| 2    | `InputError`           | bad input, refused before anything starts                      |
| 3    | `RunInvalid`           | the run finished, and its own evidence says not to trust it    |
| 4    | `ExpectationFailed`    | a study has not found what it was expected to find             |
| 5    | `ExpectationUndecided` | the runs of a study do not decide what it was expected to find |
| 130  | `Interrupted`          | stopped by Ctrl-C                                              |
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import ClassVar, Final

from dumbbell.frozen import dataclass


class DumbbellError(Exception):
    """Base of all errors that dumbbell raises on purpose."""

    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, why: str = "", hint: str = "") -> None:
        """Say `what` failed in one line, `why` in another, and what to do about it in `hint`, or else as `remedy`."""
        super().__init__(what, why, hint)
        self.what = what
        self.why = why
        self.hint = hint or remedy(why)

    @property
    def line(self) -> str:
        """Says what failed, why and what to do in one line, for a cell of a table."""
        said = ": ".join(filter(None, [self.what, " ".join(self.why.split())]))
        return f"{said} ({self.hint})" if self.hint else said

    @property
    def problems(self) -> Sequence[Problem]:
        """The problems behind this error; just one unless a subclass collects several."""
        return (Problem(self.what, self.why, self.hint),)

    def __str__(self) -> str:
        """All problems in plain text, as the command line prints them."""
        return "\n".join(problem.text() for problem in self.problems)


class RunFailed(DumbbellError):
    """A run started and failed."""

    exit_code = 1


class Damaged(DumbbellError):
    """A file of a run or a study is missing, or its content is not what dumbbell writes."""

    exit_code = 1


class InputError(DumbbellError):
    """Bad input: a scenario, an option or a path."""

    exit_code = 2


class RunInvalid(DumbbellError):
    """A run finished, but its verdict is `invalid`."""

    exit_code = 3


class ExpectationFailed(DumbbellError):
    """A study's figures are not what its `[[expect]]` says."""

    exit_code = 4


class ExpectationUndecided(DumbbellError):
    """A study's runs do not decide whether its `[[expect]]` holds."""

    exit_code = 5


def unwritable(
    what: object, error: OSError, kept: str = "", hint: str = "choose another place: --output DIR"
) -> DumbbellError:
    """The error for something that could not be written: a failure of this machine, such as a full disk, or else bad
    input.

    Args:
        what: such as a path.
        error: of the operating system.
        kept: what is on disk all the same, and where.
        hint: how this command writes to another place.
    """
    why = "\n".join(filter(None, [error.strerror or str(error), kept]))
    if first := remedy(why):
        return RunFailed(f"cannot write {what}", why, f"{first}, or {hint}")
    return InputError(f"cannot write {what}", why, hint)


def of_system(error: OSError) -> DumbbellError:
    """The error for what the operating system refuses where nobody expects it: bad input, unless something is used
    up."""
    about = "" if error.filename is None else f": {error.filename}"
    what, why = "the operating system refuses", (error.strerror or str(error)) + about
    return RunFailed(what, why) if remedy(why) else InputError(what, why)


def remedy(why: str) -> str:
    """Returns what to do about an error of this machine that is named in `why`, as C (`strerror`) or Rust names it;
    empty if none is."""
    names = {number: (os.strerror(number), f"{errno.errorcode[number]}: ") for number in _REMEDIES}
    return next((what for number, what in _REMEDIES.items() if any(name in why for name in names[number])), "")


_REMEDIES: Final = {
    **dict.fromkeys([errno.ENOSPC, errno.EDQUOT, errno.EFBIG], "make room"),
    errno.EMFILE: "raise the limit of open files: `ulimit -n 65536`",
    errno.ENFILE: "this machine has too many open files: end other programs",
    errno.EAGAIN: "raise the limit of processes, `ulimit -u`, or end other programs",
    errno.ENOMEM: "end other programs",
    errno.EIO: "see what is wrong with the disk: dmesg",
}


class Interrupted(DumbbellError):
    """Stopped by the user."""

    exit_code = 130


class DamagedFile(UserWarning):
    """A file cannot be read, and what is left is used without it. The command line prints the warning to stderr."""


class Foreseen(UserWarning):
    """Something that a plan will meet although nothing is wrong with its scenario. The command line prints the warning
    to stderr."""


@dataclass(frozen=True)
class Place:
    """A place in the input: in a file, or in an option."""

    file: str | None = None
    """Path of the file, or a bundled scenario's name."""
    line: int | None = None
    """The line, counted from 1; `None`: the file as a whole."""
    column: int | None = None
    """Column of the first character, from 1."""
    length: int | None = None
    """Number of characters, all in this line."""
    option: str | None = None
    """The option that set the value outside the file, as it was written: `--set flows.1.cc=bbr`."""

    def __str__(self) -> str:
        """The option, or file and line, with which the first line of an error begins."""
        if self.option is not None:
            return self.option
        return f"{self.file}:{self.line}" if self.line else self.file or ""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: what failed, why, and what to do."""

    what: str
    """The whole first line: the place, the key and its value, and what is wrong with it."""
    why: str = ""
    hint: str = ""
    wrong: str = ""
    """The problem without the place, the key and the value; empty if `what` has none of those."""
    key: str = ""
    """The scenario's key, as `--set` spells it: `flows.1.cc`; empty if the problem is about no key."""
    place: Place | None = None

    @classmethod
    def at(cls, place: Place, wrong: str, why: str = "", hint: str = "", key: str = "") -> Problem:
        """A problem whose first line has the place and what is wrong there."""
        return cls(f"{place}: {wrong}", why, hint, wrong, key, place)

    def json(self) -> dict[str, object]:
        """All fields, for other programs."""
        return {**asdict(self), "wrong": self.wrong or self.what}

    def text(self) -> str:
        """Plain lines: what failed, then `why` indented, then `hint:`."""
        lines = [self.what]
        lines += [f"  {line}" for line in self.why.splitlines()]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


class ScenarioError(InputError):
    """A scenario is refused, for one or several reasons at once."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        """Take at least one problem; the first one fills `what`, `why` and `hint`."""
        first = problems[0]
        super().__init__(first.what, first.why, first.hint)
        self._problems = tuple(problems)

    @property
    def problems(self) -> Sequence[Problem]:
        """All problems in the file's order."""
        return self._problems

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[tuple[Problem, ...]]]:
        """Makes the error picklable, so that a worker process can return it."""
        return type(self), (self._problems,)
