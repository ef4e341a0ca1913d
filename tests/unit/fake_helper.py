"""Implements the helper's protocol, without a lab: `fake_helper.py MODE RECORDS DIR`.

RECORDS has an engine's files, which are copied: to make them takes longer than all else here.
"""

import json
import shutil
import signal
import sys
import time
from pathlib import Path


def say(event: str, **fields: object) -> None:
    print(json.dumps({"event": event, **fields}), flush=True)


def wait_for_stop() -> bool:
    """True after the order to stop, False at the end of the pipe."""
    line = sys.stdin.readline()
    return bool(line) and bool(json.loads(line) == {"order": "stop"})


def start() -> None:
    say("lab", build_ms=1.0)
    say("ready", process="emulator")
    say("ready", process="traffic")
    say("started", origin_ns=1)
    say("progress", time_ns=100_000_000, flows=[{"id": "f1", "received_bytes": 1000}])


def write(records: Path, directory: Path, interrupted: bool = False, ring_drops: int = 0) -> None:
    shutil.copytree(records, directory, dirs_exist_ok=True)
    for name, changes in (
        ("traffic.json", {"interrupted": interrupted}),
        ("emulator.json", {"ring_drops": ring_drops}),
    ):
        (directory / name).write_text(json.dumps(json.loads((records / name).read_text()) | changes))


def finish() -> None:
    say("done", process="traffic")
    say("done", process="emulator")
    say("end")


def main(mode: str, records: Path, directory: Path) -> None:
    if mode == "crash":
        print("thread 'main' panicked at the lab", file=sys.stderr)
        sys.exit(101)
    if mode == "nonsense":
        print("Hello")
        return
    if mode == "refuse":
        say("failed", process="lab", what="cannot make a namespace", why="EPERM", hint="sudo sysctl ...")
        return
    if mode == "silent":
        wait_for_stop()
        return
    if mode == "stuck":  # hears of no stop
        say("lab", build_ms=1.0)
        while wait_for_stop():
            pass
        return
    start()
    if mode == "killed":
        signal.raise_signal(signal.SIGKILL)
    if mode == "measured-then-failed":
        write(records, directory)
        say("failed", process="emulator", what="the emulator died", why="signal 9", hint="")
        return
    if mode == "until-stopped":
        if wait_for_stop():
            write(records, directory, interrupted=True)
            finish()
        return
    if mode == "deaf":  # notes the end of the pipe, ignores `stop`
        while wait_for_stop():
            pass
        (directory / "pipe-closed").write_text("")
        return
    if mode == "slow-writer":
        say("done", process="traffic")
        time.sleep(1.3)
        finish()
        return
    write(records, directory, ring_drops=7 if mode == "ring-drops" else 0)
    finish()


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:]))
