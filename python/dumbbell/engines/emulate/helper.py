"""The process that becomes the lab: `python -m dumbbell.engines.emulate.helper [--no-live] DIR`.

It is a process of its own because a user namespace can only be entered by a process of one thread, and it imports
nothing but the compiled core, because numeric libraries start threads when they are imported. Orders come on its
standard input, events go to its standard output; see `process`. With `--no-live` no event says where flows and links
stand.
"""

import sys


def main() -> int:
    """Carry out `DIR/plan.json`."""
    from dumbbell import _core

    return int(_core.emulate(sys.argv[-1], "--no-live" not in sys.argv[1:-1]))


if __name__ == "__main__":
    sys.exit(main())
