"""`dumbbell doctor`."""

from __future__ import annotations

from dumbbell.cli.options import Json


def command(json: Json = False) -> int:
    """Say what works on this machine, what is missing, and how to get it.

    Builds a small lab as a test, and removes it. Exit code: 0 if scenarios can be run, else 1.
    """
    from dataclasses import asdict

    from dumbbell.doctor import Level, examine

    findings = examine()
    if json:
        from json import dumps

        print(dumps([asdict(finding) for finding in findings], indent=2))
    else:
        from rich.console import Console
        from rich.text import Text

        console = Console(soft_wrap=True, highlight=False)
        style = {Level.OK: "green", Level.WARN: "yellow", Level.MISSING: "bold red"}
        width = max(len(finding.name) for finding in findings)
        for finding in findings:
            mark = (f"{finding.level:8}", style[finding.level])
            console.print(Text.assemble(mark, f"{finding.name:{width}}  {finding.detail}"))
            if finding.fix and finding.level is not Level.OK:
                console.print(Text.assemble(" " * (10 + width), ("fix: ", "cyan"), finding.fix))
    return 1 if any(finding.level is Level.MISSING for finding in findings) else 0
