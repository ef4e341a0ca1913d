"""Implements the helper's protocol and writes an engine's files, without a lab: `fake_helper.py MODE DIR`."""

import json
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


def write(directory: Path, interrupted: bool = False, ring_drops: int = 0) -> None:
    sys.path.append(str(Path(__file__).parents[1]))
    import known_run

    files = known_run.engine_output()
    files["traffic.json"]["interrupted"] = interrupted
    files["emulator.json"]["ring_drops"] = ring_drops
    known_run.write(directory, files)


def finish() -> None:
    say("done", process="traffic")
    say("done", process="emulator")
    say("end")


def main(mode: str, directory: Path) -> None:
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
        write(directory)
        say("failed", process="emulator", what="the emulator died", why="signal 9", hint="")
        return
    if mode == "until-stopped":
        if wait_for_stop():
            write(directory, interrupted=True)
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
    write(directory, ring_drops=7 if mode == "ring-drops" else 0)
    finish()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
