"""The process that becomes the lab: `python -m dumbbell.engines.emulate.helper [--no-live] DIR`.

It is a separate process because only a process of one thread can enter a user namespace. It imports nothing but the
compiled core, because numeric libraries start threads when they are imported. Orders come on its standard input, events
go to its standard output; see `process`. With `--no-live` no event reports the progress of flows and links.
"""

import sys


def main() -> int:
    """Carry out `DIR/plan.json`."""
    from dumbbell import _core

    return int(_core.emulate(sys.argv[-1], "--no-live" not in sys.argv[1:-1]))


if __name__ == "__main__":
    sys.exit(main())
