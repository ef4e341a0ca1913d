"""Links our congestion controls, and those of the user, to a kernel that was built from source."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final

from dumbbell.errors import RunFailed
from dumbbell.kernels import cache, kit, tools
from dumbbell.kernels.additions import Additions, additions
from dumbbell.kernels.boot import asked
from dumbbell.kernels.kernel import LINKED_FORMAT, Base, Kernel, read_linked, write_linked
from dumbbell.kernels.programs import Program
from dumbbell.kernels.steps import Progress, Steps

_NEEDED: Final = frozenset({"acks", "links", "links_host", "memory", "poll", "probe", "sampler", "sink"})
"""Our sources that no kernel can be without."""
_READS_OWN: Final = "linux_"
"""Begins the names of those that read the state of one of Linux's own algorithms, as some trees have it."""
_MOST: Final = 100
_UNUSED_S: Final = 86400.0
"""Linked kernels, 9 MB each: a study may have one for each set of parameters, and need it for a day."""
_OBJECTS: Final = "objects"
"""The folder of our compiled sources, in that of the kernel without programs."""
_HOST_ENDING: Final = "_host.c"
"""Ending of a source that calls the host's C library."""
_REGISTRATION: Final = """
#line 1 "registration"
#include <net/tcp.h>
#undef tcp_register_congestion_control
extern int tcp_register_congestion_control(struct tcp_congestion_ops *type);
int db_register_{unit}(struct tcp_congestion_ops *type)
{{
	strscpy(type->name, "{name}", sizeof(type->name));
	return tcp_register_congestion_control(type);
}}
"""
"""Stands below a user's program: whatever it calls itself, the kernel knows it by the name that the run uses."""


def silent(event: object) -> None:
    """Progress that nobody sees."""


def linked(base: Base, name: str, programs: Sequence[Program] = (), progress: Progress = silent) -> Kernel:
    """The kernel `base` with our additions and `programs`: linked now, unless it was before.

    Raises:
        RunFailed: something does not compile, or the kernel does not boot.
    """
    ours = additions()
    parts = [
        f"format {LINKED_FORMAT}",
        base.hash,
        ours.hash_of(algorithm_sources(ours)),
        *sorted(program.sha256 for program in programs),
    ]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    folder = cache.linked() / digest[: cache.SHORT]
    if not (folder / "linux").is_file():
        tools.check()
        waits = {"event": "step", "step": "wait for another process that links the same kernel"}
        # Our sources are compiled once, for the kernel without programs.
        plain = linked(base, name, (), progress) if programs else None
        with cache.making(folder, lambda: progress(waits)) as partial:
            if partial is not None:
                _Link(base, name, digest, ours, programs, partial, progress).all(plain)
        with suppress(OSError):
            cache.trim(cache.linked(), _MOST, _UNUSED_S)
    told = read_linked(folder)
    if told is None:
        raise RunFailed(f"{folder} is damaged", "it has no kernel.json", f"rm -r {folder}")
    # Another user's kernel is used as well.
    with suppress(PermissionError):
        os.utime(folder)
    return Kernel(
        name=name,
        version=base.recipe.version,
        path=folder / "linux",
        hash=digest,
        patches=base.user_patches,
        algorithms=tuple(told["algorithms"]),
        sysctls=tuple(told["sysctls"]),
        qdiscs=base.qdiscs,
        config=base.user_config,
        programs=tuple(told["programs"]),
        left_out=dict(told["left_out"]),
        bytes=(folder / "linux").stat().st_size,
        settings=base.folder / "config",
    )


def algorithm_sources(ours: Additions) -> list[Path]:
    """All that our congestion controls are compiled from."""
    found = [*ours.kernel.glob("src/**/*.[ch]"), *ours.kernel.glob("include/**/*.h")]
    found += [*(ours.root / "bpf").glob("bbr/*.h"), *(ours.root / "bpf/include").glob("**/*.h")]
    return [*found, *(ours.root / "bpf").glob("algorithms/**/*.[ch]")]


class _Link:
    def __init__(
        self, base: Base, name: str, digest: str, ours: Additions, programs: Sequence[Program], partial: Path,
        progress: Progress,
    ) -> None:  # fmt: skip
        self._base = base
        self._digest = digest
        self._ours = ours
        self._programs = programs
        self._folder = partial
        self._kit = base.folder / "kit"
        self._progress = progress
        self._name = name
        self._left_out: dict[str, str] = {}

    def all(self, plain: Kernel | None) -> None:
        """All steps. Our objects come from the kernel `plain`, and are compiled if there is none."""
        began = time.time()
        self._progress({"event": "step", "step": "compile the additions"})
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            if plain is None:
                (self._folder / _OBJECTS).mkdir()
                sources = sorted((self._ours.kernel / "src").glob("*.c"))
                objects = [path for path in pool.map(self._ours_compiled, sources) if path is not None]
            else:
                self._left_out = dict(plain.left_out)
                objects = sorted((plain.path.parent / _OBJECTS).glob("*.o"))
            programs = list(pool.map(self._program_compiled, self._programs))
        steps = self._steps("link")
        steps.begin("link")
        program = self._folder / "linux"
        kernel, whole = (self._folder / "kernel.o").resolve(), [path.resolve() for path in (*objects, *programs)]
        steps.run(kit.weaken_command(self._kit.resolve(), kernel), self._kit)
        steps.run(kit.link_command(self._kit, kernel, whole, program.resolve()), self._kit)
        kernel.unlink()
        steps.run(["strip", "--strip-debug", str(program)], self._kit)
        for path in programs:
            path.unlink()
        steps.begin("boot it for the first time")
        told = asked(program, steps)
        missing = [one.registered for one in self._programs if one.registered not in told.algorithms]
        if missing:
            lines = (f"{one}: the kernel booted, and has no congestion control of this name" for one in missing)
            raise steps.failed(
                "\n".join(lines), "register it once when the kernel starts: CONGESTION_CONTROL, or module_init"
            )
        write_linked(
            self._folder,
            {
                "base": self._base.hash,
                "algorithms": sorted(told.algorithms),
                "sysctls": sorted(told.sysctls),
                "programs": sorted(program.label for program in self._programs),
                "left_out": self._left_out,
                "linked_at": time.time(),
                "seconds": time.time() - began,
            },
        )

    def _steps(self, part: str, what: str = "") -> Steps:
        log = cache.logs() / f"{self._digest[: cache.SHORT]}-{part}.log"
        return Steps(f"{what}the kernel {self._name}", log, silent if part != "link" else self._progress)

    def _ours_compiled(self, source: Path) -> Path | None:
        """One of our sources; `None` if this tree is not made for it: a patch may have changed what it stands on."""
        half = kit.HOST_HALF if source.name.endswith(_HOST_ENDING) else kit.KERNEL_HALF
        steps = self._steps(source.stem)
        steps.begin(f"compile {source.name}")
        try:
            return self._compiled(steps, self._folder / _OBJECTS / f"{source.stem}.o", source, half, [])
        except RunFailed as failure:
            is_optional = self._base.user_patches or source.stem.startswith(_READS_OWN)
            if source.stem in _NEEDED or not is_optional:
                raise
            self._left_out[source.stem] = failure.why.splitlines()[0]
            return None

    def _program_compiled(self, program: Program) -> Path:
        steps = self._steps(program.registered, f"{program.file} for ")
        steps.begin("compile")
        unit = f"user_{program.sha256[:12]}"
        source = self._folder / f"{unit}.c"
        # The name in errors is the user's.
        head = f'#line 1 "{program.file}"\n'.encode()
        source.write_bytes(head + program.content + _REGISTRATION.format(unit=unit, name=program.registered).encode())
        renamed = [f"-Dtcp_register_congestion_control=db_register_{unit}"]
        out = self._compiled(steps, self._folder / f"{unit}.o", source, kit.KERNEL_HALF, renamed)
        source.unlink()
        return out

    def _compiled(self, steps: Steps, to: Path, source: Path, half: Path, flags: list[str]) -> Path:
        command = kit.compile_command(self._kit, half)
        unit, out = to.stem, to.resolve()
        include = [self._ours.kernel / "include", self._ours.root / "bpf" / "include", self._ours.root / "bpf"]
        if half == kit.KERNEL_HALF:
            names = [f'-DKBUILD_MODFILE="{unit}"', f'-DKBUILD_BASENAME="{unit}"', f'-DKBUILD_MODNAME="{unit}"']
            # Beside Linux's own, for what lies there.
            flags = [
                *flags,
                *names,
                "-I",
                kit.ALGORITHMS,
                f"-D__KBUILD_MODNAME=kmod_{unit}",
                f"-DDB_UNIT={unit}",
                "-fvisibility=hidden",
            ]
        prefix = f"-ffile-prefix-map={self._ours.root}="
        paths = [word for path in include for word in ("-I", str(path.resolve()))]
        run = steps.run_on_theirs if source.parent == self._folder else steps.run
        run([*command, *paths, prefix, *flags, "-c", "-o", str(out), str(source.resolve())], self._kit)
        # Two sources may use the same names: what is not said to be for all is each one's own.
        steps.run(["objcopy", "--localize-hidden", str(out)], self._kit)
        return out
