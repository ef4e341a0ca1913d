"""The same program in several hosts at once: start it everywhere, then take what each one printed."""

import dumbbell

with dumbbell.Lab.from_topology("star", size=3) as lab:
    programs = {name: lab[name].start("echo I am $(hostname); sleep 0.2; echo done; exit 3") for name in lab.hosts}
    for name, program in programs.items():
        with program:
            done = program.wait()
        print(f"{name}: exit code {done.returncode}: {done.stdout!r}")
        assert (done.returncode, done.stdout) == (3, f"I am {name}\ndone\n")
