"""The process that becomes the lab: `python -m dumbbell.engines.realm.helper [--no-live | --stay=SOCKET] DIR`.

It is a separate process because only a process of one thread can enter a user namespace. It imports nothing but the
compiled core, because numeric libraries start threads when they are imported. Orders come on its standard input, events
go to its standard output; see `process`. With `--no-live` no event reports the progress of flows and links. With
`--stay`, the descriptor of a listening socket, the lab has no end of its own: users connect to that socket.
"""

import sys


def main() -> int:
    """Carry out `DIR/plan.json`."""
    from dumbbell import _core

    *options, directory = sys.argv[1:]
    for option in options:
        if option.startswith("--stay="):
            return int(_core.stay(directory, int(option.removeprefix("--stay="))))
    return int(_core.emulate(directory, "--no-live" not in options))


if __name__ == "__main__":
    sys.exit(main())
