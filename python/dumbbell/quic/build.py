"""`dumbbell quic build`: builds the program of QUIC flows with a stack from a tree of the user's, such as a clone.

The build has this stack alone, and a manifest of its own, made of `quic/Cargo.toml`: the stack's packages come from the
tree, and all others from `quic/Cargo.lock`. So the tree may have any version. Neither the tree nor the sources change.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from dumbbell import outputs
from dumbbell.errors import InputError, RunFailed
from dumbbell.frozen import dataclass
from dumbbell.names import is_name, shortened
from dumbbell.quic import sources
from dumbbell.quic.program import NAME, program, to_get
from dumbbell.quic.sources import Sources

PACKAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "quinn": ("quinn-proto",),
    "noq": ("noq-proto",),
    "quiche": ("quiche",),
    "s2n": ("s2n-quic", "s2n-quic-core"),
}
"""Packages of each stack that `quic/Cargo.toml` asks for; the first has the stack's version."""
_BORING: Final = ("cmake", "c++")
_TOOLS: Final[Mapping[str, tuple[str, ...]]] = {
    "quinn": ("cargo", "cc"), "noq": ("cargo", "cc"), "quiche": ("cargo", "cc", *_BORING), "s2n": ("cargo", "cc"),
}  # fmt: skip
"""Programs that compile each stack."""
_AWAY: Final = "/"
"""Folder in which cargo runs. cargo and rustup obey files of their working folder and of those above it: programs that
`.cargo/config.toml` and `rust-toolchain.toml` name. The user's may be a stranger's workspace."""
_HINTS: Final = {
    "cargo": "install Rust 1.95 or later: https://rustup.rs",
    "cc": "sudo apt-get install gcc libc6-dev",
    "c++": "sudo apt-get install g++",
    "cmake": "sudo apt-get install cmake libclang1",
}


@dataclass(frozen=True)
class Built:
    """A build of the program."""

    path: Path
    stack: str
    """Name in scenarios: `noq@branch`."""
    version: str
    seconds: float


def build(stack: str, tree: Path, name: str) -> Built:
    """Builds the program with a stack from a tree, beside the program that there is. cargo's output goes to stderr.

    Raises:
        InputError: there is no such stack, the name is none, or the tree lacks the stack's packages.
        RunFailed: a tool is missing, or the tree does not compile, or not with the program.
    """
    if stack not in PACKAGES:
        raise InputError(f"no QUIC stack {stack!r}", f"expected one of {', '.join(PACKAGES)}")
    if not is_name(name):
        raise InputError(f"a build cannot be named {shortened(name)}", "expected letters, digits, and - _ .")
    own, main = sources.find(), program()
    if own is None or main is None:
        raise RunFailed(f"the build {name!r} cannot be made", f"{NAME} and its sources are not installed", to_get())
    to = Path(f"{main}-{name}")
    if not os.access(to.parent, os.W_OK):
        hint = "install dumbbell in a virtual environment of your own"
        raise RunFailed(f"the build {name!r} cannot be made", f"this user may not write {to.parent}", hint)
    for tool in _TOOLS[stack]:
        if shutil.which(tool) is None:
            raise RunFailed(f"the build {name!r} cannot be made", f"{tool} is not on the PATH", _HINTS[tool])
    began = time.monotonic()
    tree = tree.expanduser().resolve()
    packages = locate(tree, PACKAGES[stack])
    folder = own.target / "branches" / name
    folder.mkdir(parents=True, exist_ok=True)
    made = manifest(own, name, {key: at for key, (at, _) in packages.items()})
    outputs.write(folder / "Cargo.toml", made)
    shutil.copyfile(own.root / "quic" / "Cargo.lock", folder / "Cargo.lock")
    version = packages[PACKAGES[stack][0]][1]
    version += f" of {commit}" if (commit := described(tree)) else f" of {tree.name}"
    call = ["cargo", "build", "--release", "--no-default-features", "--features", stack]
    call += ["--manifest-path", str(folder / "Cargo.toml"), "--target-dir", str(own.target)]
    environment = {**os.environ, f"DUMBBELL_QUIC_{stack.upper()}": version}
    if subprocess.run(call, check=False, env=environment, cwd=_AWAY).returncode:
        adapter = own.root / "quic" / "src" / "stacks" / f"{stack}.rs"
        hint = f"if the interface of the stack has changed, change {adapter}"
        raise RunFailed(f"{tree} does not build", "cargo says why above", hint)
    outputs.write(to, (own.target / "release" / f"{NAME}-{name}").read_bytes(), 0o777)
    return Built(to, f"{stack}@{name}", version, time.monotonic() - began)


def locate(tree: Path, packages: tuple[str, ...]) -> Mapping[str, tuple[Path, str]]:
    """Folder and version of each of these packages in a tree: a package's folder, or a workspace.

    Raises `InputError`.
    """
    path = tree.absolute() / "Cargo.toml"
    if not path.is_file():
        raise InputError(f"{tree} has no Cargo.toml", "", "name the folder of a clone or of a package")
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1", "--manifest-path", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=_AWAY)
    if done.returncode:
        raise InputError(f"cargo cannot read {path}", done.stderr.strip())
    there = {one["name"]: one for one in json.loads(done.stdout)["packages"]}
    if missing := [name for name in packages if name not in there]:
        why = f"it has {', '.join(sorted(there))}"
        raise InputError(f"{tree} has no package {' and no '.join(missing)}", why, "name the folder of another tree")
    return {name: (Path(there[name]["manifest_path"]).parent, there[name]["version"]) for name in packages}


def manifest(own: Sources, name: str, folders: Mapping[str, Path]) -> str:
    """The manifest of a build: that of `quic` with these folders in place of packages, and its own program's name."""
    text = (own.root / "quic" / "Cargo.toml").read_text(encoding="utf-8")
    for package, folder in folders.items():
        line = re.compile(rf'^({re.escape(package)} = \{{ )version = "[^"]*"', re.MULTILINE)
        # A path's backslashes are none of a replacement's.
        path = json.dumps(str(folder)).replace("\\", r"\\")
        text, count = line.subn(rf"\1path = {path}", text)
        assert count == 1, f"quic/Cargo.toml has one line of {package}"
    text = text.replace('path = "../crates/', f'path = "{own.root}/crates/')
    lines = {"name": f"{NAME}-{name}", "path": str(own.root / "quic" / "src" / "main.rs")}
    table = "".join(f"{key} = {json.dumps(value)}\n" for key, value in lines.items())
    return text.replace("[dependencies]", f"[[bin]]\n{table}\n[dependencies]", 1)


def described(tree: Path) -> str:
    """The commit of a tree, with `-dirty` if files differ from it; empty if it is no clone."""
    command = ["git", "-C", str(tree), "describe", "--always", "--dirty", "--exclude", "*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        return ""
