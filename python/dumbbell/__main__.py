"""`python -m dumbbell` is the command `dumbbell`."""

from dumbbell.cli import main

main()
