"""The first process of a user-mode kernel: `python -P -m dumbbell.engines.virtual.inside`.

It mounts what a lab needs, becomes the helper of an emulated run, and switches the kernel off. Root is the host's file
system, read-only; the run's directory alone is writable.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import traceback
import tty
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from dumbbell.engines.virtual import calls, confine

INIT: Final = f"{confine.PLACE}/init"
"""What the kernel starts: the same path each time."""
SETTINGS: Final = Path(confine.PLACE, "settings.json")
"""What the guard has written for us: `directory`, `environment`, `folder` and `live`."""
EVENTS: Final = Path("logs", "events.jsonl")
"""Events go to a file: a write to it takes no time inside, however slowly they are read."""
STDERR: Final = Path("logs", "guest.stderr")
ORDERS: Final = "/dev/tty1"

_ENVIRONMENT: Final = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8"}


def write_init(settings: Mapping[str, Any]) -> None:
    """Write `INIT` and `SETTINGS`: outside, for a kernel that is about to start."""
    SETTINGS.write_text(json.dumps(settings), encoding="utf-8")
    assigned = " ".join(f"{name}={shlex.quote(value)}" for name, value in {**_ENVIRONMENT, **_where()}.items())
    line = f"{assigned} exec {shlex.quote(sys.executable)} -P -m dumbbell.engines.virtual.inside"
    Path(INIT).write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    os.chmod(INIT, 0o700)


def _where() -> dict[str, str]:
    """Where Python finds this package, if that is a matter of the environment."""
    path = os.environ.get("PYTHONPATH")
    return {} if path is None else {"PYTHONPATH": path}


def main() -> None:
    """Carry out `plan.json` of the run's directory, and switch off."""
    try:
        settings = json.loads(SETTINGS.read_text(encoding="utf-8"))
        _mount(settings["directory"])
        _settle(settings)
        from dumbbell import _core

        _core.emulate(settings["directory"], settings["live"])
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        calls.power_off()


def _mount(directory: str) -> None:
    calls.mount("proc", "/proc", "proc")
    calls.mount("sys", "/sys", "sysfs")
    if not os.path.exists(ORDERS):
        calls.mount("dev", "/dev", "devtmpfs")
    os.makedirs("/dev/shm", exist_ok=True)
    calls.mount("shm", "/dev/shm", "tmpfs", calls.MS_NOSUID | calls.MS_NODEV)
    # Programs may write below /tmp, into this kernel's memory. What is there already can be read.
    calls.mount("run", "/run", "tmpfs", calls.MS_NOSUID | calls.MS_NODEV)
    for folder in ("/run/upper", "/run/work"):
        os.mkdir(folder)
    calls.mount("tmp", "/tmp", "overlay", 0, "lowerdir=/tmp,upperdir=/run/upper,workdir=/run/work")
    os.makedirs(directory, exist_ok=True)
    calls.mount("none", directory, "hostfs", 0, confine.RUN)


def _settle(settings: Mapping[str, Any]) -> None:
    """Connect the standard streams, and take over the environment and the folder of the command."""
    orders = os.open(ORDERS, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(orders)
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    files = (os.open(f"{settings['directory']}/{name}", append, 0o644) for name in (EVENTS, STDERR))
    for number, descriptor in enumerate((orders, *files)):
        os.dup2(descriptor, number)
    os.environ.clear()
    os.environ.update(settings["environment"])
    os.chdir(settings["folder"])


if __name__ == "__main__":
    main()
