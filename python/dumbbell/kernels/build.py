"""Builds a kernel from source."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from dumbbell import inputs
from dumbbell.command import command
from dumbbell.errors import InputError, RunFailed
from dumbbell.frozen import dataclass
from dumbbell.kernels import archives, cache, config, kit, ready, store, tools
from dumbbell.kernels.additions import Additions, Patch, additions
from dumbbell.kernels.kernel import Base, Recipe
from dumbbell.kernels.names import checked, version_of
from dumbbell.kernels.source import Source, debian, opened, unpack
from dumbbell.kernels.steps import Progress, Steps

_MAKE: Final = ("make", "ARCH=um")
_OBJECT: Final = re.compile(r"  (CC|AS|AR|LD|HOSTCC) ")
_LARGEST_PATCH: Final = 64 << 20
_QUOTED: Final = 8
"""Settings that a refusal shows."""
_OBJECTS: Final = 1300
"""About as many lines as a build prints, until one has counted them."""


@dataclass(frozen=True)
class Order:
    """A kernel that a user wants to be built."""

    name: str
    source: Source
    patches: tuple[Patch, ...] = ()
    config: tuple[str, ...] = ()


def order(
    name: str | None,
    source: Path | None = None,
    patches: Sequence[Path] = (),
    settings: Sequence[str] = (),
    default: str = "",
    call: str | None = None,
) -> Order:
    """The order of a command line.

    Args:
        name: of a Debian package's source, `6.12`; or of the kernel, where `source` is given.
        source: a tree or a tarball.
        patches: files, applied in this order.
        settings: `NAME=VALUE` of the configuration.
        default: `name` if there is neither name nor source.
        call: what the kernel is called, if not as its source.

    Raises:
        InputError: something of it cannot be.
    """
    lines = config.lines(settings)
    read = tuple(_patch(path) for path in patches)
    if name is not None:
        checked(name)
    found = opened(source) if source is not None else debian(name or default)
    chosen = call or name or (found.version if source is not None else default)
    if (read or lines) and call is None and (source is None or name is None):
        raise InputError(
            "a kernel with patches or settings of your own needs a name of its own",
            f"{chosen} is the name of the kernel without them", f"add --name {chosen}-mine",
        )  # fmt: skip
    if ready.named(chosen) is not None:
        hint = f"add --name {chosen}-mine, or {command('kernel', 'remove', chosen)}"
        raise InputError(f"a kernel cannot be called {chosen}", "a kernel that was added has this name", hint)
    return Order(checked(chosen), found, read, lines)


def build(wanted: Order, progress: Progress) -> Base:
    """Build a kernel, unless the same one is there already.

    Raises:
        RunFailed: a step failed, or tools are missing.
    """
    tools.check()
    ours = additions()
    progress({"event": "step", "step": "look at the source"})
    ingredients = recipe(wanted, ours)
    digest = hashlib.sha256(json.dumps(asdict(ingredients), sort_keys=True).encode()).hexdigest()
    folder = cache.bases() / digest[: cache.SHORT]
    if folder.is_dir() and not kit.is_current(folder / "kit"):
        # A version of dumbbell that kept less has built it.
        cache.discard(folder)
    waits = {"event": "step", "step": "wait for another build of the same kernel"}
    with cache.making(folder, lambda: progress(waits)) as partial:
        if partial is not None:
            _Build(wanted, ingredients, digest, ours, partial, progress).all()
    return _named(folder, wanted.name)


def _named(folder: Path, name: str) -> Base:
    """The base in `folder`, with one name more. A name is that of one kernel: an older one that has no other goes."""
    found = None
    for base in store.bases():
        names = tuple(one for one in base.names if one != name)
        if base.folder == folder:
            found = replace(base, names=(*names, name))
            found.write()
        elif names:
            replace(base, names=names).write()
        else:
            store.discard(base)
    if found is None:
        raise RunFailed(f"the kernel {name} has vanished", f"there is no {folder}", "build it again")
    return found


def recipe(wanted: Order, ours: Additions) -> Recipe:
    """All that decides what will be built. Reads the whole source."""
    patches = [*ours.patches(version_of(wanted.source.version)), *wanted.patches]
    return Recipe(
        version=wanted.source.version,
        source=wanted.source.sha256(),
        patches=tuple((patch.name, patch.sha256) for patch in patches),
        config=(*ours.required, *ours.wanted, *wanted.config),
        compiler=tools.compiler(),
    )


class _Build:
    """One build, in the folder `partial`."""

    def __init__(
        self, wanted: Order, recipe: Recipe, digest: str, ours: Additions, partial: Path, progress: Progress
    ) -> None:
        self._wanted = wanted
        self._recipe = recipe
        self._digest = digest
        self._ours = ours
        self._folder = partial
        self._tree = partial / "tree"
        self._began = time.time()
        self._ours_hash = ours.base_hash(version_of(recipe.version))
        log = cache.logs() / f"{digest[: cache.SHORT]}.log"
        self._steps = Steps(f"the kernel {wanted.name}", log, progress)

    def all(self) -> None:
        """All steps."""
        self._unpack()
        self._patch()
        settings, lacking = self._configure()
        objects = self._compile()
        self._keep(settings, lacking, objects)

    def _unpack(self) -> None:
        self._steps.begin("unpack")
        self._tree.mkdir()
        limit = archives.limit if self._wanted.source.is_tarball else None
        self._steps.run(unpack(self._wanted.source, self._tree), self._folder, limit=limit)
        if not self._wanted.source.is_tarball:
            # Files that were built in the tree are not part of it.
            self._steps.run([*_MAKE, "mrproper"], self._tree)

    def _patch(self) -> None:
        for patch in [*self._ours.patches(version_of(self._recipe.version)), *self._wanted.patches]:
            self._steps.begin(f"patch: {patch.name}")
            self._steps.run(
                ["patch", "--strip=1", "--batch", "--forward", "--no-backup-if-mismatch"], self._tree, patch.content
            )
        kit.tap(self._tree)

    def _configure(self) -> tuple[dict[str, str], list[str]]:
        self._steps.begin("configure")
        self._steps.run([*_MAKE, "defconfig"], self._tree)
        with (self._tree / ".config").open("a", encoding="utf-8") as file:
            file.write(config.merged((*self._ours.required, *self._ours.wanted), self._wanted.config))
        self._steps.run([*_MAKE, "olddefconfig"], self._tree)
        settings = config.read((self._tree / ".config").read_text(encoding="utf-8"))
        for asked, whose in ((self._ours.required, "a run needs it"), (self._wanted.config, "--config asks for it")):
            if unmet := config.unmet(asked, settings):
                told = [f"{line}: Linux {self._recipe.version} does not take it; {whose}" for line in unmet[:_QUOTED]]
                told += [f"and {len(unmet) - _QUOTED} more"] if len(unmet) > _QUOTED else []
                raise self._steps.failed(
                    "\n".join(told), "look the symbols up: they may depend on others, or have other names"
                )
        return settings, config.unmet(self._ours.wanted, settings)

    def _compile(self) -> int:
        self._steps.begin("compile")
        jobs = f"-j{len(os.sched_getaffinity(0))}"
        told = self._steps.run([*_MAKE, jobs, "linux"], self._tree, count=_OBJECT, of=_expected())
        return sum(_OBJECT.match(line) is not None for line in told.splitlines())

    def _keep(self, settings: dict[str, str], lacking: list[str], objects: int) -> None:
        self._steps.begin("keep what can be linked again")
        kit.keep(self._tree, self._folder / "kit")
        (self._tree / ".config").rename(self._folder / "config")
        self._steps.run(["rm", "-rf", str(self._tree)], self._folder)
        Base(
            folder=self._folder,
            hash=self._digest,
            names=(self._wanted.name,),
            recipe=self._recipe,
            origin=str(self._wanted.source.path),
            ours=self._ours_hash,
            user_patches=tuple(patch.name for patch in self._wanted.patches),
            user_config=self._wanted.config,
            lacking=tuple(lacking),
            qdiscs=config.qdiscs(settings),
            built_at=time.time(),
            seconds=time.time() - self._began,
            objects=objects,
        ).write()


def _expected() -> int:
    """The number of lines that the build will print: as many as the last one."""
    counted = [(base.built_at, base.objects) for base in store.bases()]
    return max(counted)[1] if counted else _OBJECTS


def _patch(path: Path) -> Patch:
    try:
        content = inputs.read(path, _LARGEST_PATCH)
    except OSError as error:
        raise InputError(f"--patch {path}: cannot read it", error.strerror or str(error)) from None
    if not re.search(rb"^\+\+\+ ", content, re.MULTILINE):
        raise InputError(f"--patch {path}: not a patch", "expected a unified diff, as `git diff` writes it")
    return Patch(path.name, content)
