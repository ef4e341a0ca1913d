"""The core's side of `dumbbell cc`, for tests: it loads nothing, and remembers what it was asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dumbbell.cc import core
from dumbbell.cc.compile import forget

BETA = {"name": "beta_keep", "bits": 32, "signed": False, "default": 180, "doc": "1/256: what a loss leaves"}
UNDO = {"name": "undo", "bits": 1, "signed": False, "default": True, "doc": ""}
LABELS = ("bbr2", "bbr3", "bpf_reno", "bpf_cubic", "bpf_dctcp")
LACKS = {"what": "loading", "why": "this process lacks CAP_BPF and CAP_PERFMON", "hint": ""}


class FakeCore:
    """A fake of the core with prepared answers. Attributes change it."""

    def __init__(self) -> None:
        self.may_load = True
        self.errors: list[dict[str, Any]] = []
        self.refuses = False
        self.stay: list[dict[str, Any]] = []
        self.asked: list[str] = []

    def call(self, function: str, *arguments: Any) -> str:
        """One of `dumbbell._core`'s functions."""
        self.asked.append(function)
        return json.dumps(getattr(self, function)(*arguments))

    def cc_bundled(self) -> Any:
        return [
            {"label": one, "path": f"{one}.bpf.c", "sha256": "ab" * 32, "parameters": [BETA, UNDO]} for one in LABELS
        ]

    def cc_headers(self, directory: Path) -> Any:
        (directory / "dumbbell").mkdir(parents=True)
        return {"directory": str(directory)}

    def cc_build(self, source: Path, out: Path) -> Any:
        text = "".join(f"{one['file']}:{one['line']}: {one['message']}\n" for one in self.errors)
        if not self.errors:
            out.write_bytes(b"object of " + source.read_bytes())
        diagnostics = [{**one, "file": source.name if one["file"] == "main" else one["file"]} for one in self.errors]
        return {"ok": not self.errors, "compiler": "clang 14.0.6", "diagnostics": diagnostics, "text": text}

    def name(self, entry: dict[str, Any]) -> str:
        """The kernel's name of it if it were loaded to stay."""
        source = entry["source"]
        content = Path(source["path"]).read_bytes() if source["kind"] == "object" else source["name"].encode()
        defaults = {one["name"]: one["default"] for one in (BETA, UNDO)}
        differing = {key: value for key, value in entry["parameters"].items() if value != defaults.get(key)}
        digest = hashlib.sha256(content + json.dumps(differing, sort_keys=True).encode()).hexdigest()
        return f"{entry['label'].split()[0][:8]}_{digest[:6]}"

    def cc_inspect(self, text: str) -> Any:
        entry = json.loads(text)
        return {
            "label": entry["label"],
            "licence": "Dual MIT/GPL",
            "variant": "v610",
            "operations": ["ssthresh", "cong_control", "undo_cwnd"],
            "parameters": [{**BETA, "doc": ""}, UNDO],
            "name": self.name(entry),
        }

    def cc_check(self, text: str) -> Any:
        if self.refuses:
            failure = {"what": "the verifier refuses my_cc_op_init", "why": "R1 invalid", "hint": "check it"}
            return {"failure": failure}
        program = {"name": "my_cc_op_init", "operation": "init", "instructions": 12, "processed": 3456}
        programs = [{**program, "verify_us": 1234, "jited_bytes": 99}]
        return {"label": json.loads(text)["label"], "variant": "v610", "programs": programs}

    def cc_load(self, text: str) -> Any:
        if not self.may_load:
            return {"failure": LACKS}
        entry = json.loads(text)
        told = {"name": self.name(entry), "label": entry["label"], "parameters": entry["parameters"]}
        told |= {"sha256": "cd" * 32, "loaded_at": 1.8e9}
        already = any(one["name"] == told["name"] for one in self.stay)
        if not already:
            self.stay.append(told)
        return {**told, "already": already, "mounted": None}

    def cc_unload(self, name: str) -> Any:
        gone = [one for one in self.stay if name in (one["label"], one["name"])]
        if not gone:
            return {"failure": {"what": f"nothing is called {name}", "why": "", "hint": ""}}
        self.stay = [one for one in self.stay if one not in gone]
        return {"unloaded": [one["name"] for one in gone]}

    def cc_list(self) -> Any:
        runs = [{"name": "db3_0a1b2c", "label": "bbr3"}]
        return {"bundled": LABELS, "stay": self.stay, "runs": runs, "kernel": ["reno", "cubic"]}

    def cc_can_load(self) -> Any:
        missing = [] if self.may_load else ["CAP_BPF", "CAP_PERFMON"]
        return {"ok": self.may_load, "missing": missing, "failure": None if self.may_load else LACKS}


class Compiled:
    """A replacement of `dumbbell._core`: functions by name."""

    def __init__(self, fake: FakeCore) -> None:
        self._fake = fake

    def __getattr__(self, function: str) -> Callable[..., str]:
        return partial(self._fake.call, function)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCore]:
    """Replace the compiled core."""
    found = FakeCore()
    monkeypatch.setattr(core, "core", Compiled(found))
    _forget()
    yield found
    _forget()


def _forget() -> None:
    core.bundled.cache_clear()
    core.parameters_of.cache_clear()
    forget()
