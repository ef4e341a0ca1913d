"""Tries to build a lab: `python -m dumbbell.doctor.probe` prints a JSON list of {name, ok, detail, fix}.

A process of its own, as a run's helper is: a user namespace can only be entered by a process of one thread.
"""


def main() -> None:
    """Print what the compiled core finds."""
    from dumbbell import _core

    print(_core.check_namespaces())


if __name__ == "__main__":
    main()
