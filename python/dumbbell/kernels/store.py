"""The kernels that there are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from dumbbell.command import command
from dumbbell.errors import InputError
from dumbbell.frozen import dataclass
from dumbbell.kernels import cache, kit, ready
from dumbbell.kernels.additions import Additions, additions
from dumbbell.kernels.kernel import Base, Kernel, read_linked
from dumbbell.kernels.link import linked, silent
from dumbbell.kernels.names import BPF_SINCE, version_of
from dumbbell.kernels.programs import Program
from dumbbell.kernels.steps import Progress


@dataclass(frozen=True)
class Known:
    """A kernel that was built."""

    base: Base
    is_current: bool
    """Our patches and configuration have not changed since, and all is kept of it that is needed."""
    bytes: int
    """Bytes on disk, with all that was linked from it."""


def known() -> list[Known]:
    """All kernels that have a name, by name."""
    ours = additions()
    found = [Known(base, _is_current(base, ours), _size(base)) for base in bases() if base.names]
    return sorted(found, key=lambda one: version_of(one.base.recipe.version) + one.base.names)


def base_of(name: str) -> Base:
    """The kernel that is called `name`, as it was built from source.

    Raises:
        InputError: there is none, or it is of another version of dumbbell.
    """
    found = next((base for base in bases() if name in base.names), None)
    if found is None:
        raise InputError(f"there is no kernel {name}", _there_are(), _first(name))
    if not _is_current(found, additions()):
        raise InputError(
            f"the kernel {name} was built by another version of dumbbell",
            "its patches, its configuration, or what is kept of it have changed since",
            _again(found, name),
        )
    return found


def add(
    wanted: str,
    call: str | None = None,
    beside: Path | None = None,
    boots: Callable[[ready.Image], object] | None = None,
) -> ready.Image:
    """Add a ready kernel, as `ready.add`. None takes the name of one that was built: runs would no longer find that."""
    return ready.add(wanted, call, beside, {name for base in bases() for name in base.names}, boots)


def find(name: str, programs: Sequence[Program] = (), progress: Progress = silent) -> Kernel:
    """The kernel that is called `name`, ready to run.

    What was built from source is not built again. Our own congestion controls, and `programs`, are linked to it if they
    are not yet: that takes seconds. A ready kernel is booted, if it was not yet: that takes seconds, too.

    Args:
        name: `6.12`, or what `dumbbell kernel build --name` said.
        programs: congestion controls of the user's; the kernel calls each by its `registered`. None for a ready kernel.
        progress: takes the steps, if something has to be linked.

    Raises:
        InputError: there is no such kernel, or it is of another version of dumbbell; says how to build it.
        RunFailed: a program does not compile, or the kernel does not boot.
    """
    image = ready.named(name)
    return linked(base_of(name), name, programs, progress) if image is None else _ready(image, name, progress)


def _ready(image: ready.Image, name: str, progress: Progress) -> Kernel:
    found = ready.booted(image, progress)
    return Kernel(
        name=name,
        version=found.release,
        path=image.kernel,
        hash=found.hash,
        patches=(),
        algorithms=tuple(sorted(found.algorithms)),
        qdiscs=image.qdiscs,
        sysctls=found.sysctls,
        bytes=image.kernel.stat().st_size,
        machine=found.machine,
        loads_bpf=found.has_btf and version_of(found.release) >= BPF_SINCE,
    )


def _is_current(base: Base, ours: Additions) -> bool:
    return base.ours == ours.base_hash(version_of(base.recipe.version)) and kit.is_current(base.folder / "kit")


def remove(name: str) -> list[Path]:
    """Remove the kernel that is called `name`, and all that was linked to it: the folders that went.

    Runs that use it go on. If the same kernel has another name, too, only the name goes.

    Raises:
        InputError: there is none.
    """
    if (image := ready.named(name)) is not None:
        return ready.forget(image, name)
    found = next((base for base in bases() if name in base.names), None)
    if found is None:
        raise InputError(f"there is no kernel {name}", _there_are())
    with cache.holding(found.folder):
        if len(found.names) > 1:
            replace(found, names=tuple(one for one in found.names if one != name)).write()
            return []
    return discard(found)


def discard(base: Base) -> list[Path]:
    """Remove a kernel, and all that was linked to it: the folders that went."""
    gone = [*_linked_to(base), base.folder]
    for folder in gone:
        cache.discard(folder)
    return gone


def _there_are() -> str:
    names = sorted([name for base in bases() for name in base.names] + [n for one in ready.images() for n in one.names])
    return f"there are {', '.join(names)}" if names else "there is none yet"


def _first(name: str) -> str:
    """How to get a kernel of this name. A version is Debian's source; any other name is the user's."""
    if re.fullmatch(r"\d+\.\d+", name):
        return f"{command('kernel', 'build', name)} builds it, in minutes"
    if ready.is_debian(name):
        return f"{command('kernel', 'add', name)} fetches it"
    build, add = command("kernel", "build", "--name", name), command("kernel", "add", "FILE", "--name", name)
    return f"{build} with --patch FILE or --source DIR builds it, in minutes; {add} takes one that is built"


def _again(base: Base, name: str) -> str:
    options = [part for line in base.user_config for part in ("--config", line.removeprefix("CONFIG_"))]
    options += [part for patch in base.user_patches for part in ("--patch", patch)]
    if not Path(base.origin).name.startswith(f"linux-source-{name}."):
        options += ["--source", base.origin, "--name", name]
        return f"{command('kernel', 'build', *options)} builds it again"
    return f"{command('kernel', 'build', name, *options)} builds it again"


def bases() -> Iterator[Base]:
    """All that were built from source."""
    if cache.bases().is_dir():
        for folder in sorted(cache.bases().iterdir()):
            if not folder.name.startswith(".") and (base := Base.read(folder)) is not None:
                yield base


def _linked_to(base: Base) -> Iterator[Path]:
    if cache.linked().is_dir():
        for folder in sorted(cache.linked().iterdir()):
            told = None if folder.name.startswith(".") else read_linked(folder)
            if told is not None and told["base"] == base.hash:
                yield folder


def _size(base: Base) -> int:
    folders = [base.folder, *_linked_to(base)]
    return sum(path.stat().st_blocks * 512 for folder in folders for path in folder.rglob("*") if path.is_file())
