"""`dumbbell kernel`: kernels for runs in virtual time."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dumbbell.cli.group import check_name_or_all, group
from dumbbell.cli.options import Json
from dumbbell.counts import count

if TYPE_CHECKING:
    from dumbbell.kernels.ready import Image
    from dumbbell.kernels.store import Known

app = group("kernel", "Build, add, list and remove kernels for runs in virtual time: Linux from 6.1 on.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="A kernel that was built or added.", show_default=False)]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]


@app.command()
def build(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="6.12 or 6.1: the version of Debian's package linux-source-6.12. Default: 6.12.",
            show_default=False,
        ),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            "--source",
            metavar="DIR|TARBALL",
            help="Any source of Linux from 6.1 on, instead of Debian's. It is not changed.",
            show_default=False,
        ),
    ] = None,
    patches: Annotated[
        list[Path] | None,
        typer.Option(
            "--patch",
            metavar="FILE",
            help="Apply this patch, as git diff writes it. Repeatable; applied in this order.",
            show_default=False,
        ),
    ] = None,
    config: Annotated[
        list[str] | None,
        typer.Option(
            "--config",
            metavar="NAME=VALUE",
            help="Set a symbol of the configuration: HZ=1000, TCP_CONG_NV=n. Repeatable.",
            show_default=False,
        ),
    ] = None,
    call: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="What runs call it: --kernel NAME. Default: the version.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build a kernel from source, in minutes. Prints where it is.

    A kernel that was built before from the same source, with the same patches and the same configuration, is there at
    once. Ctrl-C leaves nothing behind.

    Exit code: 0 if it is built; 1 if a step failed or a tool is missing; 2 for bad input, 130 if interrupted.
    """
    from json import dumps

    from dumbbell.cli.kernel_progress import progress
    from dumbbell.cli.output import say
    from dumbbell.kernels import DEFAULT
    from dumbbell.kernels.build import build as built
    from dumbbell.kernels.build import order
    from dumbbell.kernels.link import linked

    wanted = order(name, source, patches or (), config or (), DEFAULT, call)
    with progress(json or quiet) as show:
        base = built(wanted, show)
        kernel = linked(base, wanted.name, (), show)
    if json:
        print(dumps({"name": kernel.name, "version": kernel.version, "hash": kernel.hash, "path": str(kernel.path),
                     "seconds": base.seconds}, indent=2))  # fmt: skip
        return
    say(f"kernel {kernel.name}: Linux {kernel.version}, built in {base.seconds:.0f} s: {kernel.path}")


@app.command()
def add(
    image: Annotated[
        str,
        typer.Argument(
            metavar="IMAGE",
            help="A bzImage or vmlinux, a package linux-image-*.deb, or debian-6.12 or debian-6.1, which are fetched.",
            show_default=False,
        ),
    ],
    modules: Annotated[
        Path | None,
        typer.Option(
            "--modules",
            metavar="DIR",
            help="The folder of its modules, /lib/modules/VERSION. A package has them.",
            show_default=False,
        ),
    ] = None,
    call: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="What runs call it: --kernel NAME. Default: debian-6.12, or the version.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Add a kernel that is built already. It runs in a virtual machine, with a clock that counts instructions.

    It boots once, in less than a minute, and each run goes on from there. It needs QEMU, and neither KVM nor root.

    Exit code: 0 if it boots; 1 if it does not, or QEMU is missing; 2 for bad input, 130 if interrupted.
    """
    from json import dumps

    from dumbbell import kernels
    from dumbbell.cli.kernel_progress import progress
    from dumbbell.cli.output import say
    from dumbbell.kernels import ready
    from dumbbell.kernels.names import checked

    with progress(json or quiet) as show:
        # One that does not boot takes no name.
        boots = partial(ready.booted, progress=show)
        added = kernels.add(image, None if call is None else checked(call), modules, boots)
        kernel = kernels.find(added.names[-1], progress=show)
    if json:
        print(dumps({"name": kernel.name, "version": kernel.version, "hash": kernel.hash}, indent=2))
        return
    say(
        f"kernel {kernel.name}: Linux {kernel.version}, {count(len(added.modules), 'module')}; "
        f"--kernel {kernel.name} runs it"
    )


@app.command("list")
def list_(json: Json = False) -> None:
    """List the kernels that were built or added."""
    from json import dumps

    from dumbbell.cli.tables import print_table
    from dumbbell.command import command
    from dumbbell.kernels import known, ready
    from dumbbell.table import Table

    found, images = known(), ready.images()
    if json:
        print(dumps([*(_brief(one) for one in found), *(_brief_ready(one) for one in images)], indent=2))
        return
    if not found and not images:
        print(f"no kernel is built; {command('kernel', 'build')} builds the default one, in minutes")
        return
    rows = [
        [
            ", ".join(one.base.names),
            one.base.recipe.version,
            ", ".join(one.base.user_patches) or "-",
            ", ".join(line.removeprefix("CONFIG_") for line in one.base.user_config) or "-",
            f"{one.bytes / 1e6:.0f} MB",
            "yes" if one.is_current else "no: build it again",
        ]
        for one in found
    ]
    rows += [[", ".join(one.names), one.version, "-", "ready", f"{one.bytes / 1e6:.0f} MB", "yes"] for one in images]
    print_table(Table("Kernels", ["name", "Linux", "patches", "configuration", "on disk", "usable"], rows))


@app.command()
def show(name: Name, json: Json = False) -> None:
    """Show a kernel: version, patches, congestion controls, queueing disciplines, hash."""
    from dataclasses import asdict
    from json import dumps

    from dumbbell.cli.output import say
    from dumbbell.kernels import find, ready
    from dumbbell.kernels.store import base_of

    if (image := ready.named(name)) is not None:
        _show_ready(image, json)
        return
    base, kernel = base_of(name), find(name)
    told = {**asdict(kernel), "path": str(kernel.path), "source": base.origin, "compiler": base.recipe.compiler,
            "lacking": base.lacking, "seconds": base.seconds, "built_at": base.built_at}  # fmt: skip
    if json:
        print(dumps(told, indent=2))
        return
    rows = {
        "version": f"Linux {kernel.version}",
        "source": base.origin,
        "our patches": ", ".join(patch for patch, _ in base.recipe.patches if patch not in kernel.patches),
        "your patches": ", ".join(kernel.patches) or "none",
        "your configuration": ", ".join(kernel.config) or "none",
        "congestion controls": ", ".join(kernel.algorithms),
        "queueing disciplines": ", ".join(kernel.qdiscs),
        "not in this version": ", ".join(base.lacking) or "nothing is missing",
        "does not fit": "; ".join(f"{name} ({why})" for name, why in kernel.left_out.items()) or "all of ours fits",
        "compiler": base.recipe.compiler,
        "built": f"in {base.seconds:.0f} s",
        "hash": kernel.hash,
        "program": f"{kernel.path} ({kernel.bytes / 1e6:.1f} MB)",
    }
    width = max(map(len, rows))
    for key, value in rows.items():
        say(f"{key:{width}}  {value}")


@app.command()
def remove(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A kernel that was built.", show_default=False)
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="Remove all kernels.")] = False,
    json: Json = False,
) -> None:
    """Remove a kernel from the cache. Runs that use it continue."""
    from json import dumps

    from dumbbell.kernels import known, ready
    from dumbbell.kernels import remove as removed

    check_name_or_all("remove", name, all, "dumbbell kernel list shows what is there")
    there = [*(one.base.names for one in known()), *(one.names for one in ready.images())]
    names = [one for each in there for one in each] if all else [name or ""]
    for one in names:
        removed(one)
    if json:
        print(dumps({"removed": names}, indent=2))
        return
    for one in names:
        typer.echo(f"kernel {one} is removed")
    if not names:
        typer.echo("there was no kernel")


def _show_ready(image: Image, json: bool) -> None:
    from json import dumps

    from dumbbell.cli.output import say
    from dumbbell.kernels import find

    kernel = find(image.names[0])
    rows = {
        "version": kernel.version,
        "source": image.origin,
        "congestion controls": ", ".join(kernel.algorithms),
        "queueing disciplines": ", ".join(kernel.qdiscs),
        "BPF programs": "can be loaded" if kernel.loads_bpf else "congestion controls cannot be loaded",
        "modules": str(len(image.modules)),
        "hash": kernel.hash,
        "kernel": f"{kernel.path} ({kernel.bytes / 1e6:.1f} MB)",
    }
    if json:
        print(dumps({**_brief_ready(image), "hash": kernel.hash, "algorithms": kernel.algorithms,
                     "qdiscs": kernel.qdiscs, "loads_bpf": kernel.loads_bpf}, indent=2))  # fmt: skip
        return
    width = max(map(len, rows))
    for key, value in rows.items():
        say(f"{key:{width}}  {value}")


def _brief_ready(image: Image) -> dict[str, object]:
    return {"names": image.names, "version": image.version, "source": image.origin, "bytes": image.bytes,
            "ready": True, "usable": True}  # fmt: skip


def _brief(known: Known) -> dict[str, object]:
    base = known.base
    return {
        "names": base.names,
        "version": base.recipe.version,
        "patches": base.user_patches,
        "config": base.user_config,
        "source": base.origin,
        "bytes": known.bytes,
        "usable": known.is_current,
    }
