"""`make quic-branch`: builds the program of QUIC flows with a stack from a tree of the user's, such as a clone.

The build has a manifest of its own in `target/`, made of `quic/Cargo.toml`: the stack's packages come from the tree,
and all others from `quic/Cargo.lock`. So the tree may have any version, and nothing in the checkout changes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PACKAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "quinn": ("quinn-proto",),
    "noq": ("noq-proto",),
    "quiche": ("quiche",),
    "s2n": ("s2n-quic", "s2n-quic-core"),
}
"""Packages of each stack that `quic/Cargo.toml` asks for; the first has the stack's version."""
_NAME: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]*")


class Refused(Exception):
    """The tree or an argument cannot be used; the text says why."""


def locate(tree: Path, packages: tuple[str, ...]) -> Mapping[str, tuple[Path, str]]:
    """Folder and version of each of these packages in a tree: a package's folder, or a workspace."""
    manifest = tree / "Cargo.toml"
    if not manifest.is_file():
        raise Refused(f"{tree} has no Cargo.toml: name the folder of a clone or of a package")
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1", "--manifest-path", str(manifest)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(f"cargo cannot read {manifest}: {done.stderr.strip()}")
    there = {one["name"]: one for one in json.loads(done.stdout)["packages"]}
    if missing := [name for name in packages if name not in there]:
        raise Refused(f"{tree} has no package {' and no '.join(missing)}: it has {', '.join(sorted(there))}")
    return {name: (Path(there[name]["manifest_path"]).parent, there[name]["version"]) for name in packages}


def manifest(own: str, name: str, folders: Mapping[str, Path]) -> str:
    """The manifest of a build: that of `quic` with these folders in place of packages, and its own program's name."""
    for package, folder in folders.items():
        line = re.compile(rf'^({re.escape(package)} = \{{ )version = "[^"]*"', re.MULTILINE)
        own, count = line.subn(lambda at, to=folder: f"{at[1]}path = {json.dumps(str(to))}", own)
        if count != 1:
            raise Refused(f"quic/Cargo.toml does not have one line of {package}")
    own = own.replace('path = "../crates/', f'path = "{ROOT}/crates/')
    program = {"name": f"dumbbell-quic-{name}", "path": str(ROOT / "quic" / "src" / "main.rs")}
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in program.items())
    return own.replace("[dependencies]", f"[[bin]]\n{lines}\n[dependencies]", 1)


def described(tree: Path) -> str:
    """The commit of a tree, with `-dirty` if files differ from it; empty if it is no clone."""
    command = ["git", "-C", str(tree), "describe", "--always", "--dirty", "--exclude", "*"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def build(stack: str, tree: Path, name: str, to: Path) -> Path:
    """Builds the program with a stack from a tree. Returns its path in the folder `to`.

    Raises:
        Refused: there is no such stack, the name is none, or the tree lacks the stack's packages.
        subprocess.CalledProcessError: the tree does not compile, or not with the program.
    """
    if stack not in PACKAGES:
        raise Refused(f"no stack {stack!r}: there are {', '.join(PACKAGES)}")
    if not _NAME.fullmatch(name):
        raise Refused(f"a build cannot be named {name!r}: letters, digits, and - _ .")
    tree = tree.expanduser().resolve()
    packages = locate(tree, PACKAGES[stack])
    folder = ROOT / "target" / "quic-branches" / name
    folder.mkdir(parents=True, exist_ok=True)
    own = (ROOT / "quic" / "Cargo.toml").read_text()
    (folder / "Cargo.toml").write_text(manifest(own, name, {key: at for key, (at, _) in packages.items()}))
    shutil.copyfile(ROOT / "quic" / "Cargo.lock", folder / "Cargo.lock")
    version = packages[PACKAGES[stack][0]][1]
    version += f" of {commit}" if (commit := described(tree)) else f" of {tree.name}"
    # Artifacts of all other packages are those of `make quic`.
    target = ROOT / "target" / "quic"
    command = [
        "cargo",
        "build",
        "--release",
        "--manifest-path",
        str(folder / "Cargo.toml"),
        "--target-dir",
        str(target),
    ]
    subprocess.run(command, check=True, env={**os.environ, f"DUMBBELL_QUIC_{stack.upper()}": version})
    program = f"dumbbell-quic-{name}"
    return Path(shutil.copy(target / "release" / program, to / program))


def main() -> int:
    """Reads the command line, builds, and says how to use the build."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("stack", choices=PACKAGES)
    parser.add_argument("tree", type=Path, help="folder of a clone or of a package")
    parser.add_argument("name", help="name of the build in scenarios")
    given = parser.parse_args()
    try:
        path = build(given.stack, given.tree, given.name, Path(sys.executable).parent)
    except Refused as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError:
        hint = f"if quic/src/stacks/{given.stack}.rs does not fit the tree's interface, change that file"
        print(f"error: {given.tree} does not build; cargo says why\nhint: {hint}", file=sys.stderr)
        return 1
    print(f'{path}\nscenarios name it: stack = "{given.stack}@{given.name}"')
    return 0


if __name__ == "__main__":
    sys.exit(main())
