"""Lines of several programs as they come: all are polled until each has ended."""

import time
from contextlib import ExitStack

import dumbbell

COUNT = "for i in 1 2 3; do echo line $i; sleep 0.1; done"

with dumbbell.Lab.from_topology("star", size=3) as lab, ExitStack() as stack:
    programs = {name: stack.enter_context(lab[name].start(COUNT)) for name in lab.hosts}
    shown = dict.fromkeys(programs, 0)
    ended: set[str] = set()
    while ended != set(programs):
        for name, program in programs.items():
            if program.returncode is not None:
                ended.add(name)
            lines = program.output.splitlines()
            for line in lines[shown[name] :]:
                print(f"<{name}>: {line}")
            shown[name] = len(lines)
        time.sleep(0.02)
    assert set(shown.values()) == {3}
