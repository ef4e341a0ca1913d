"""The queueing disciplines of this machine's kernel."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from dumbbell.errors import Problem
from dumbbell.machine import has_module
from dumbbell.plan import qdiscs
from dumbbell.plan.types import Plan
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.source import Finding

KNOWN: Final = ("netem", "tbf", "htb", "fq", "codel", "fq_codel", "red", "pie", "cake")
"""All that the links of a plan may ask for."""
_WORDS: Final = {
    "tbf": "rate 1mbit burst 1600 limit 3000",
    "red": "limit 100000 min 10000 max 30000 avpkt 1000 burst 20",
}
"""Parameters that a discipline must be given."""
_SECONDS: Final = 10.0


@cache
def has(name: str) -> bool:
    """This kernel has it, or can load it: it is tried on the loopback of a namespace of its own."""
    tc, unshare = _tc(), shutil.which("unshare")
    if tc is None or unshare is None:
        return False
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    add = [tc, "qdisc", "add", "dev", "lo", "root", name, *_WORDS.get(name, "").split()]
    try:
        return subprocess.run([unshare, *user, "--net", *add], capture_output=True, timeout=_SECONDS).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _tc() -> str | None:
    """An ordinary user's PATH need not lead to it."""
    return shutil.which("tc", path=os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin")))


def remedy(missing: Iterable[str]) -> str:
    """How to get disciplines that this kernel lacks."""
    modules = [f"sch_{name}" for name in missing]
    if all(map(has_module, modules)):
        return f"load them: sudo modprobe -a {' '.join(modules)}"
    return "install your distribution's standard kernel, or one with more modules"


def check(scenario: Scenario, plan: Plan) -> Iterator[Problem]:
    """Yields what the links of a plan need and this kernel lacks."""
    wanted = qdiscs.wanted(plan)
    if wanted and _tc() is None:
        finding = Finding(("emulate", "links"), "they are set up by tc, which is missing", "", "install iproute2")
        yield scenario.source.problem(finding)
        return
    missing = [name for name in wanted if not has(name)]
    if missing:
        hint = f"{remedy(missing)}; or run it with --engine virtual"
        finding = Finding(("emulate", "links"), f"this machine's kernel lacks {', '.join(missing)}", "", hint)
        yield scenario.source.problem(finding)
