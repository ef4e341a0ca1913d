"""Tries to build a lab: `python -m dumbbell.doctor.probe` prints a JSON list of {name, ok, detail, fix}.

The probe is a separate process, as a run's helper is: only a process of one thread can enter a user namespace.
"""


def main() -> None:
    """Print what the compiled core finds."""
    from dumbbell import _core

    print(_core.check_namespaces())


if __name__ == "__main__":
    main()
