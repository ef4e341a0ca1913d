"""A workspace of a stranger: whatever it holds, and whatever a request names, no route leaves it, fails or waits."""

from __future__ import annotations

import copy
import json
import os
import shutil
import socket
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest
from serving import Served, serving
from synthetic_run import Synthetic

from dumbbell.server.app import routes
from dumbbell.server.security import Access
from dumbbell.server.workspace import Workspace

SECRET: Final = "s3cret-0f-an0ther"
LONGEST_S: Final = 20.0
"""Seconds: a request that waits for a pipe would wait for ever, and this machine may be busy."""
NAMES: Final = (
    "x" * 300,
    "€" * 100,
    "a\nb",
    "a\0b",
    "a\x1b[2Jb",
    "\ud800",
    "..",
    ".",
    "",
    "~",
    "/etc/passwd",
    "../outside/secret.toml",
    "link.toml",
    "absolute.toml",
    "folder/secret.toml",
    "pipe.toml",
    "zero.toml",
    "socket.toml",
    "huge.toml",
    "latin.toml",
    "loop.toml",
    "link",
    "piped",
    "away",
    "folder/new.toml",
    "folder/new",
    "x" * 300 + ".toml",
    "a/" * 3000 + "b.toml",
)
"""What names a file, a run, a study or a lab that must not be opened, or cannot be one."""


def build(root: Path, outside: Path) -> None:
    """Fill a workspace with all kinds of what is no file of its own."""
    outside.mkdir()
    (outside / "secret.toml").write_text(f'name = "{SECRET}"\ndescription = "{SECRET}"\n')
    (outside / "secret.layout.json").write_text("{}")
    run = Synthetic(name="inner", duration_s=1, packets=False).write(outside / "run")
    (run / "report.html").write_text(SECRET)
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps({**manifest, "name": SECRET}))
    root.mkdir()
    (root / "link.toml").symlink_to("../outside/secret.toml")
    (root / "absolute.toml").symlink_to(outside / "secret.toml")
    (root / "folder").symlink_to(outside)
    os.mkfifo(root / "pipe.toml")
    (root / "zero.toml").symlink_to("/dev/zero")
    (root / "loop.toml").symlink_to("loop.toml")
    (root / "latin.toml").write_bytes(b'name = "\xff"')
    (root / os.fsdecode(b"byte-\xff.toml")).write_text("x = 1\n")
    with (root / "huge.toml").open("wb") as file:
        file.truncate(1 << 40)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.fspath(root / "socket.toml"))
    (root / "reads.toml").write_text(
        'name = "reads"\nduration = "1 s"\n[topology]\nkind = "dumbbell"\n[topology.bottleneck]\n'
        f'rate = {{ trace = "../outside/secret.toml" }}\n[[flows]]\ncc = {{ bpf = "{outside}/secret.bpf.c" }}\n'
    )
    for place, file in (("runs", "manifest.json"), ("studies", "study.json")):
        (root / place / "piped").mkdir(parents=True)
        os.mkfifo(root / place / "piped" / file)
        (root / place / "away").symlink_to(outside / "run")
        shutil.copytree(run, root / place / "link")
        for name in ("report.html", "scenario.toml", file):
            (root / place / "link" / name).unlink(missing_ok=True)
            (root / place / "link" / name).symlink_to(outside / "run" / name)
        (root / place / "link" / "lock").symlink_to(outside / "secret.toml")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("foreign")
    build(folder / "workspace", folder / "outside")
    with serving(folder / "workspace") as found:
        yield found


@pytest.fixture(scope="module")
def description(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """All routes of HTTP, with what each takes."""
    return routes(Workspace(tmp_path_factory.mktemp("empty")), Access(1)).openapi()


def outside(served: Served) -> dict[str, tuple[int, int]]:
    """What changes if anything is written outside of the workspace."""
    found = served.root.parent.rglob("*")
    return {
        str(path): (path.lstat().st_mtime_ns, path.lstat().st_size)
        for path in found
        if not path.is_relative_to(served.root) and path != served.root.parent
    }


def examples(schema: Any, every: Mapping[str, Any]) -> list[Any]:
    """Values that fit a schema: one for each kind of it, all keys given, texts "@"."""
    if not isinstance(schema, Mapping):
        return ["@"]
    if "$ref" in schema:
        return examples(every[schema["$ref"].rpartition("/")[2]], every)
    for kinds in ("oneOf", "anyOf"):
        if kinds in schema:
            return [one for part in schema[kinds] for one in examples(part, every) if one is not None]
    if "const" in schema or "enum" in schema:
        return list(schema.get("enum", [schema.get("const")]))[:2]
    match schema.get("type"):
        case "object" if "properties" in schema:
            found: list[Any] = [{}]
            for key, part in schema["properties"].items():
                some = examples(part, every) or [None]
                found = [{**one, key: copy.deepcopy(value)} for one in found for value in some[:5]][:8]
            return found
        case "object":
            return [{"@": one} for one in examples(schema.get("additionalProperties") or {}, every)[:1] or ["@"]]
        case "array":
            return [[one] for one in examples(schema.get("items", {}), every)]
        case "integer" | "number":
            return [1]
        case "boolean":
            return [False]
        case "string":
            return ["@"]
        case "null":
            return [None]
    return ["@"]


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of the texts "@" in a value."""
    if value == "@":
        yield at
    elif isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*at, key))


def with_name(body: Any, at: tuple[Any, ...], name: str) -> Any:
    """The body with a name at a place, and names of nothing elsewhere."""
    made = json.loads(json.dumps(body).replace('"@"', '"nothing.toml"'))
    inner = made
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = name
    return made


def requests(description: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Method, path and body of each request: each name at each place of each route."""
    every = description["components"]["schemas"]
    for path, methods in description["paths"].items():
        for method, told in methods.items():
            taken = told.get("parameters", [])
            content = told.get("requestBody", {}).get("content", {}).get("application/json", {})
            bodies = examples(content["schema"], every) if content else [None]
            for body in bodies:
                plain = None if body is None else json.loads(json.dumps(body).replace('"@"', '"nothing.toml"'))
                for one in taken or ():
                    if one["in"] == "path" or one["schema"].get("type") == "string":
                        for name in NAMES:
                            yield method.upper(), filled(path, taken, one["name"], name), plain
                for at in list(places(body)) if body is not None else ():
                    for name in NAMES:
                        if at:
                            yield method.upper(), filled(path, taken, "", ""), with_name(body, at, name)
                if not taken and body is None:
                    yield method.upper(), path, None


def filled(path: str, taken: Any, key: str, name: str) -> str:
    query = []
    for one in taken:
        value = name if one["name"] == key else "link" if one["in"] == "path" else None
        if one["in"] == "path":
            path = path.replace(f"{{{one['name']}}}", quote(value or "", safe="", errors="surrogatepass"))
        elif value is not None or one.get("required"):
            query.append(f"{one['name']}={quote(value or 'link.toml', safe='', errors='surrogatepass')}")
    return path + ("?" + "&".join(query) if query else "")


def test_no_route_leaves_the_workspace_fails_or_waits(served: Served, description: Mapping[str, Any]) -> None:
    before, wrong, asked = outside(served), [], 0
    for method, path, body in requests(description):
        if len(wrong) > 20:
            break
        begun = time.monotonic()
        try:
            status, headers, content = served.ask(method, path, body)
        except (OSError, ValueError) as error:
            wrong.append((method, path[:200], str(body)[:200], repr(error)))
            continue
        asked += 1
        took = time.monotonic() - begun
        if status >= 500 or took > LONGEST_S or SECRET.encode() in content:
            wrong.append((method, path[:200], str(body)[:300], status, round(took, 1), content[:300]))
        elif status >= 400 and content:
            told = json.loads(content)
            assert told["what"], (method, path, body)
    assert not wrong, "\n".join(map(str, wrong))
    assert asked > 1000
    assert outside(served) == before
