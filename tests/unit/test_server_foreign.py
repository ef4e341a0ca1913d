"""A workspace of a stranger: whatever it holds, and whatever a request names, no route leaves it, fails or waits."""

from __future__ import annotations

import copy
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest
from serving import Served, serving
from synthetic_run import Synthetic

from dumbbell.below import VARIABLE
from dumbbell.scenario import bundled
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
"""Names of a file, a run, a study or a lab that must not be opened, or cannot be one."""


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
    """Returns what changes if anything is written outside of the workspace."""
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
            status, _, content = served.ask(method, path, body)
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


@pytest.mark.parametrize("route", ["runs", "labs", "whatif/plan"])
def test_what_is_wrong_can_be_said_of_any_text(tmp_path: Path, route: str) -> None:
    bundled.copy("bbr-vs-cubic", tmp_path / "mine.toml")
    with serving(tmp_path) as served:
        status, _, said = served.ask("POST", f"/api/{route}", {"path": "mine.toml", "overrides": ["seed=\ud800"]})
    assert (status, "\ud800" in json.loads(said)["what"]) == (400, True), said


def test_every_topic_of_nothing_is_answered_at_once(served: Served) -> None:
    """Topics of a missing run, study or lab, and of names that none can have, are answered."""
    kinds = routes(Workspace(served.root), Access(1)).state.topics
    assert {"run", "study", "lab", "document"} <= set(kinds)
    with served.page() as page:
        for kind in set(kinds) - {"files"}:
            for name in (*NAMES, "nothing"):
                begun = time.monotonic()
                page.socket.send(json.dumps({"id": 1, "do": "subscribe", "topic": f"{kind}/{name}"}))
                while (answer := page.hear())["type"] == "ping":
                    pass
                assert answer["type"] == "reject", (kind, name, answer)
                assert answer["problem"]["what"], (kind, name)
                assert time.monotonic() - begun < LONGEST_S
        # None of them holds a place among the topics that a page may have.
        assert page.request(do="subscribe", topic="files")["type"] == "ack"
        assert SECRET not in json.dumps(page.events)


def test_a_scenario_reads_no_file_outside(served: Served) -> None:
    with served.page() as page:
        state = page.open("reads.toml")
        said = json.dumps(state)
    assert "It lies outside" in said or "it lies outside" in said
    assert SECRET not in said
    for engine in ("simulate", "emulate"):
        asked = {"path": "reads.toml", "engine": engine}
        status, _, content = served.ask("POST", "/api/runs", asked)
        assert status in (400, 428), content
    # The command that the server would start is as narrow, whatever came into the file meanwhile.
    command = [sys.executable, "-m", "dumbbell", "plan", "reads.toml"]
    for environment, code in (({VARIABLE: str(served.root)}, 2), ({}, 2)):
        told = subprocess.run(
            command, cwd=served.root, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60
        )
        assert (told.returncode, "it lies outside" in told.stderr) == (code, bool(environment)), told.stderr


def test_what_the_application_keeps_is_in_the_workspace(tmp_path: Path) -> None:
    """A stranger's folder whose own folders are links: nothing is written where they lead, or read from there."""
    away = tmp_path / "away"
    (away / "runs" / "bbr-0123456789ab").mkdir(parents=True)
    (away / "edits").mkdir()
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "a.toml").write_text('name = "a"\n')
    for name in (".dumbbell", "runs", "studies"):
        (root / name).symlink_to(away if name == ".dumbbell" else away / "runs")
    with serving(root) as served:
        with served.page() as page:
            page.open("a.toml")
            page.do("a.toml", do="replace_text", text='name = "b"\n')
        assert served.json("POST", "/api/runs/table", {})["rows"] == []
        status, _, content = served.ask("POST", "/api/files", {"do": "delete", "path": "a.toml"})
        assert (status, "outside" in json.loads(content)["why"]) == (400, True)
        bundled.copy("bbr-vs-cubic", root / "c.toml")
        status, _, content = served.ask("POST", "/api/runs", {"path": "c.toml", "engine": "simulate"})
        assert (status, json.loads(content)["why"]) == (400, "it is a link out of the workspace")
    assert (root / "a.toml").read_text() == 'name = "b"\n'
    assert sorted(path.name for path in away.rglob("*")) == ["bbr-0123456789ab", "edits", "runs"]


def test_links_that_stay_inside_are_followed(tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    run = Synthetic(name="real", duration_s=1, packets=False).write(root / "data" / "real-0123456789ab")
    (root / "runs").mkdir()
    (root / "runs" / "relative").symlink_to("../data/real-0123456789ab")
    (root / "runs" / "absolute").symlink_to(run)
    (root / "data" / "a.toml").write_text('name = "a"\n')
    (root / "here.toml").symlink_to(root / "data" / "a.toml")
    for name in ("€.txt", 'quote".txt', "plain.txt"):
        (run / name).write_text(name)
    (run / "with\nline").write_text("")
    (run / "alias.txt").symlink_to("plain.txt")
    with serving(root) as served:
        for name in ("relative", "absolute"):
            found = served.json("GET", f"/api/runs/{name}")
            assert found["verdict"] == "valid"
            assert {"€.txt", "plain.txt"} < set(found["files"])
            assert "with\nline" not in found["files"]
        for name in ("€.txt", 'quote".txt', "plain.txt", "alias.txt"):
            status, headers, content = served.ask("GET", f"/api/runs/absolute/files/{quote(name)}")
            assert status == 200
            assert content == (b"plain.txt" if name == "alias.txt" else name.encode())
            assert headers["content-disposition"].startswith("attachment")
        with served.page() as page:
            page.open("here.toml")
            page.do("here.toml", do="replace_text", text='name = "b"\n')
            page.do("here.toml", do="save")
        assert (root / "data" / "a.toml").read_text() == 'name = "b"\n'
        assert (root / "here.toml").is_symlink()


def test_a_module_of_the_page_has_a_name_of_a_file(served: Served) -> None:
    for name in ("x" * 300, "%00", "..%2findex.html", "a%0ab", "%ED%A0%80"):
        assert served.ask("GET", f"/assets/{name}.js")[0] == 404, name
