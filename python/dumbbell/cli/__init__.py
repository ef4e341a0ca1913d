"""The command line. Each verb is one module here with a function `command`, or with an `app` of its own verbs. A module
is imported when its verb is called.

Keep a verb's module light: import everything beyond typer inside the function, since `dumbbell --help` imports
them all, and every run should say something within 0.3 s.
"""

from __future__ import annotations

import re
import resource
import signal
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

from dumbbell.counts import listed
from dumbbell.errors import DamagedFile, DumbbellError, Foreseen, InputError, Interrupted, Problem, RunFailed, of_system
from dumbbell.table import printable

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

VERBS = (
    "run",
    "reproduce",
    "status",
    "plan",
    "report",
    "runs",
    "compare",
    "query",
    "pcap",
    "fit",
    "agree",
    "hunt",
    "scenarios",
    "schema",
    "cc",
    "kernel",
    "quic",
    "lab",
    "import",
    "export",
    "ui",
    "doctor",
)
"""The verbs in the order of the help page."""


class Verbs(TyperGroup):
    """The verbs, each loaded when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All verbs."""
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Load a verb's module and make its command."""
        if cmd_name not in self.commands:
            return None
        module = import_module(f"dumbbell.cli.{cmd_name}")
        if hasattr(module, "app"):
            return _unwrapped(typer.main.get_command(module.app))
        app = typer.Typer(add_completion=False)
        app.command(cmd_name)(module.command)
        return _unwrapped(typer.main.get_command(app))

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # Typer looks among these keys for verbs similar to a misspelt one.
        names: dict[str, Any] = dict.fromkeys(VERBS)
        self.commands = names


def _unwrapped(command: Any) -> Any:
    """Joins the lines of each paragraph of the help: typer keeps our line breaks, whatever the terminal's width."""
    command.help = "\n\n".join(" ".join(part.split("\n")) for part in (command.help or "").split("\n\n"))
    for inner in getattr(command, "commands", {}).values():
        _unwrapped(inner)
    return command


app = typer.Typer(
    cls=Verbs,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_types_by_meaning() -> None:
    """Flags and arguments have no type in the help: typer shows `<bool>` and `<str>`, and has no setting for it."""
    option: Any = typer.core.TyperOption
    argument: Any = typer.core.TyperArgument
    shown = option.display_type_rich
    option.display_type_rich = lambda self, ctx: None if self.is_flag else shown(self, ctx)
    argument.display_type_rich = lambda self, ctx: None


_show_types_by_meaning()


def _version(wanted: bool) -> None:
    if wanted:
        import dumbbell

        typer.echo(f"dumbbell {dumbbell.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Run TCP congestion controls over an emulated or simulated network, and know whether to trust the result."""
    _lift_descriptors()


def _lift_descriptors() -> None:
    """Raise a low limit of open files. Without descriptors, threads of libraries such as polars wait for ever."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= _FEWEST:
        return
    most = _USUAL if hard == resource.RLIM_INFINITY else min(hard, _USUAL)
    if most < _FEWEST:
        why = f"this process may open {most} files, and dumbbell needs {_FEWEST}"
        raise RunFailed("too few open files are allowed", why, f"ulimit -n {_USUAL}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


_FEWEST: Final = 64
_USUAL: Final = 1024
"""The soft limit of most systems."""


def main(interruptible: bool = False) -> None:
    """Run the command line of this process, and exit. `interruptible`: let Ctrl-C end what goes on."""
    from dumbbell.cli import matplotlibrc
    from dumbbell.cli.output import Output

    matplotlibrc.ignore()
    output = Output()
    warnings.showwarning = _warn
    sys.excepthook = _trace
    interrupted = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        raise KeyboardInterrupt

    try:
        if interruptible:
            signal.signal(signal.SIGINT, interrupt)
            sys.unraisablehook = _interrupt_again
        code = invoke(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = Interrupted.exit_code
    except Exception:
        if not interrupted:
            raise
        # Compiled code makes another error of Ctrl-C, as that of pydantic does while it builds classes.
        code = Interrupted.exit_code
    if code == Interrupted.exit_code:
        # Another one, or one that is repeated, must not change the exit code while the interpreter ends.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if output.failure is not None:
        complain([Problem("cannot write to standard output", output.failure.strerror or str(output.failure))])
        code = code or RunFailed.exit_code
    sys.exit(code)


def _interrupt_again(lost: sys.UnraisableHookArgs) -> None:
    """Repeat Ctrl-C that compiled code has swallowed, as code of imported modules does; print anything else."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    from os import getpid, kill
    from threading import Timer

    # Here, it would be lost once more.
    Timer(0.01, kill, (getpid(), signal.SIGINT)).start()


def _warn(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    """Print a warning as errors are printed, without its place in our sources if it is about the user's files."""
    known = issubclass(category, DamagedFile | Foreseen)
    text = f"warning: {message}" if known else warnings.formatwarning(message, category, *where[:2])
    if text not in _warned:
        _warned.add(text)
        print(printable(text), file=sys.stderr, flush=True)


def _trace(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print a mistake of ours as Python does. Its message may have texts of strangers: a terminal obeys none of it."""
    from traceback import format_exception

    print(printable("".join(format_exception(kind, error, trace))), end="", file=sys.stderr, flush=True)


_warned: set[str] = set()
"""Warnings that this process has printed: each is printed once."""


def invoke(args: Sequence[str]) -> int:
    """Run a command line. Prints errors to stderr, with --json also to stdout. Returns the exit code."""
    command = typer.main.get_command(app)
    try:
        code = command.main(args=list(args) or ["--help"], prog_name="dumbbell", standalone_mode=False)
    except (DumbbellError, OSError) as error:
        failure = error if isinstance(error, DumbbellError) else of_system(error)
        complain(failure.problems)
        if "--json" in args:
            from json import dumps

            problems = [problem.json() for problem in failure.problems]
            print(dumps({"error": {"exit_code": failure.exit_code, "problems": problems}}, indent=2))
        return failure.exit_code
    except typer.TyperException as error:
        complain([_refusal(error)])
        return InputError.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return Interrupted.exit_code
    except BaseException as error:
        if not _is_of_polars(error):
            raise
        complain([Problem("a table cannot be read", str(error), "its file is damaged: run again what wrote it")])
        return RunFailed.exit_code
    return code if isinstance(code, int) else 0


def _is_of_polars(error: BaseException) -> bool:
    """True for what polars raises at damage in the middle of a file; a panic of its code is no `Exception`."""
    if "polars" not in sys.modules:
        return False
    from polars.exceptions import PanicException, PolarsError

    return isinstance(error, PanicException | PolarsError)


def _refusal(error: typer.TyperException) -> Problem:
    """The problem with the command line: for a value that pydantic refuses, what the value must be."""
    from pydantic import ValidationError

    hint, cause, option = _usage_hint(error), error.__cause__, getattr(error, "param", None)
    if not isinstance(cause, ValidationError) or option is None:
        return Problem(error.format_message().rstrip("."), hint=hint)
    details = cause.errors(include_url=False)[0]
    name = option.opts[0] if option.param_type_name == "option" else option.metavar or option.name
    return Problem(f"{name} must be {_must_be(details, error)}", f"given: {details['input']}", hint)


def _must_be(details: ErrorDetails, error: typer.TyperException) -> str:
    """`a whole number`, `at least 1`, `sender, receiver or middle`."""
    context = details.get("ctx", {})
    match details["type"]:
        case "int_parsing" | "int_type" | "int_from_float":
            return "a whole number"
        case "float_parsing" | "float_type" | "finite_number":
            return "a number"
        case "greater_than_equal":
            return f"at least {context['ge']}"
        case "less_than_equal":
            return f"at most {context['le']}"
    choices = re.findall(r"'([^']*)'", details["msg"].partition("is not one of")[2])
    return listed(choices, "or") if choices else f"another one: {error.format_message().rstrip('.')}"


def _usage_hint(error: typer.TyperException) -> str:
    """A hint at the help that lists the commands, or the arguments and options, that there are."""
    context = getattr(error, "ctx", None)
    if context is None:
        return "dumbbell --help lists the commands"
    has = "commands" if hasattr(context.command, "commands") else "arguments and options"
    return f"{context.command_path} --help lists the {has}"


def complain(problems: Sequence[Problem]) -> None:
    """Print problems to stderr, in colour on a terminal, without colour elsewhere."""
    if not sys.stderr.isatty():
        for problem in problems:
            print(f"error: {printable(problem.text())}", file=sys.stderr)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, soft_wrap=True)
    for problem in problems:
        console.print(Text.assemble(("error: ", "bold red"), (printable(problem.what), "bold")))
        for line in problem.why.splitlines():
            console.print(Text(f"  {printable(line)}"))
        if problem.hint:
            console.print(Text.assemble(("hint: ", "bold cyan"), printable(problem.hint)))
