"""Answers of the compiled core about BPF congestion controls, as `_core.pyi` describes them."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from dumbbell.cc.parameters import Value, Values


class Failure(TypedDict):
    """Why something failed, and what to do."""

    what: str
    why: str
    hint: str


class Entry(TypedDict):
    """An entry of the plan's `algorithms`; the path of an object is absolute, or relative to the working directory."""

    label: str
    source: dict[str, str]
    parameters: Values
    sha256: str | None


class ParameterFacts(TypedDict):
    """A parameter of an object."""

    name: str
    bits: int
    signed: bool
    default: Value | None
    doc: str
    limits: NotRequired[list[int] | None]


class Bundled(TypedDict):
    """An algorithm that comes with dumbbell."""

    label: str
    path: str
    sha256: str
    parameters: list[ParameterFacts]


class Diagnostic(TypedDict):
    """A complaint of the compiler."""

    file: str
    line: int
    column: int
    severity: str
    """`error`, `warning` or `note`."""
    message: str


class Built(TypedDict):
    """Messages of the compiler."""

    ok: bool
    compiler: str
    diagnostics: list[Diagnostic]
    text: str


class Contents(TypedDict):
    """The contents of an object."""

    label: str
    licence: str
    variant: str | None
    operations: list[str]
    """Members of `tcp_congestion_ops` that it sets."""
    parameters: list[ParameterFacts]
    name: str
    """Its name in the kernel if it is loaded to stay with these parameters."""


class CheckedProgram(TypedDict):
    """A BPF program that the kernel's verifier has read."""

    name: str
    operation: str
    instructions: int
    processed: int
    """Instructions that the verifier has processed, out of a million that it may."""
    verify_us: float
    jited_bytes: int


class Checked(TypedDict):
    """An algorithm that passed the kernel's verifier."""

    label: str
    variant: str | None
    programs: list[CheckedProgram]


class LoadedByRun(TypedDict):
    """An algorithm that a run has loaded; another run's label is known only by its beginning."""

    name: str
    label: str


class Stays(LoadedByRun):
    """An algorithm that is loaded to stay."""

    parameters: dict[str, Value]
    sha256: str
    loaded_at: float
    """Seconds since 1970."""


class Loaded(Stays):
    """The answer to loading an algorithm to stay."""

    already: bool
    """True if it was loaded before."""
    mounted: str | None
    """Path of a BPF file system that had to be mounted for it."""


class Registered(TypedDict):
    """All congestion controls."""

    bundled: list[str]
    stay: list[Stays]
    runs: list[LoadedByRun]
    kernel: list[str]


class Privileges(TypedDict):
    """Whether this process may load congestion controls."""

    ok: bool
    missing: list[str]
    """Capabilities that it lacks."""
    failure: Failure | None
