"""The process that commands are forked off: reads `[folder, word, ...]` a line, says the pid, then the exit code."""

import json
import os
import sys
from collections.abc import Sequence
from importlib import import_module

import actions

from dumbbell.cli import main

# All that takes long. Of its threads, which a child lacks, none computes: those of jemalloc and polars tidy up.
for name in (
    "cli.lab",
    "cli.report",
    "cli.run",
    "labs.owner",
    "pipeline.compose",
    "pipeline.run",
    "report.captured",
    "report.render.figures",
    "report.render.html",
    "report.study",
    "server.app",
    "studies.rounds",
):
    import_module(f"dumbbell.{name}")


def child(folder: str, words: Sequence[str]) -> None:
    """Become the command."""
    os.setpgid(0, 0)
    os.chdir(folder)
    # It sees no labs and servers of others, and what it keeps of the user's is among the files that it writes.
    os.environ["XDG_RUNTIME_DIR"] = os.environ["XDG_STATE_HOME"] = folder
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, path in enumerate(sys.argv[1:3], 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    if words[0].startswith("@"):
        getattr(actions, words[0][1:])(*words[1:])
        sys.exit(0)
    sys.argv = ["dumbbell", *words]
    main()


def serve() -> None:
    """Fork off a command for each line."""
    for line in sys.stdin:
        folder, *words = json.loads(line)
        pid = os.fork()
        if pid == 0:
            return child(folder, words)
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


serve()
