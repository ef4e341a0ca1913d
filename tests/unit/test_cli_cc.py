"""The output of `dumbbell cc`, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake_core import FakeCore, fake

from dumbbell.cli import invoke

__all__ = ["fake"]

PROGRAM = """\
#include <dumbbell/congestion_control.h>
const volatile __u32 beta_keep = 180; /* what a loss leaves */
"""


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my_cc.bpf.c").write_text(PROGRAM)


def rows(text: str) -> list[list[str]]:
    """Cells of the tables' rows."""
    lines = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in text.splitlines()]
    return [line for line in lines if line]


def test_build(fake: FakeCore, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["cc", "build", "my_cc.bpf.c"]) == 0
    assert capsys.readouterr().out == "my_cc.bpf.o\n"
    assert Path("my_cc.bpf.o").read_bytes() == b"object of " + PROGRAM.encode()
    assert invoke(["cc", "build", "my_cc.bpf.c", "-o", "other.bpf.o"]) == 0
    assert Path("other.bpf.o").exists()
    assert invoke(["cc", "build", "my_cc.bpf.o"]) == 2
    assert invoke(["cc", "build", "my_cc.bpf.c", "-o", "no/such/folder.o"]) == 2


def test_headers(fake: FakeCore, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["cc", "headers", "include"]) == 0
    assert capsys.readouterr().out == "include\n"
    assert Path("include/dumbbell").is_dir()


def test_a_program_that_does_not_compile(fake: FakeCore, capsys: pytest.CaptureFixture[str]) -> None:
    fake.errors = [
        {"file": "main", "line": line, "column": 2, "severity": "error", "message": f"what {line}?"}
        for line in range(9)
    ]
    assert invoke(["cc", "check", "my_cc.bpf.c"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "error: my_cc.bpf.c does not compile (clang 14.0.6)",
        *(f"  my_cc.bpf.c:{line}:2: what {line}?" for line in range(6)),
        "  and 3 more errors",
        "hint: dumbbell cc build my_cc.bpf.c shows all that the compiler says",
    ]
    assert invoke(["cc", "build", "my_cc.bpf.c"]) == 1
    assert "what 8?" in capsys.readouterr().err
    assert not Path("my_cc.bpf.o").exists()


def test_check(fake: FakeCore, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["cc", "check", "my_cc.bpf.c", "--set", "beta_keep=0x80"]) == 0
    shown = rows(capsys.readouterr().out)
    assert ["my_cc"] in shown
    assert ["compiled by", "clang 14.0.6"] in shown
    assert ["operations", "ssthresh, cong_control, undo_cwnd"] in shown
    # The object knows types and defaults, the source says what each is.
    assert ["beta_keep", "u32", "180", "128", "what a loss leaves"] in shown
    assert ["undo", "bool", "true"] in shown
    assert ["init", "my_cc_op_init", "12", "3,456", "0.35 %", "1.2", "99"] in shown
    assert "cc_load" not in fake.asked


def test_check_as_json(fake: FakeCore, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["cc", "check", "bbr3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["programs"][0]["processed"] == 3456
    assert told["parameters"][0]["name"] == "beta_keep"


def test_check_of_what_the_verifier_refuses(fake: FakeCore, capsys: pytest.CaptureFixture[str]) -> None:
    fake.refuses = True
    assert invoke(["cc", "check", "my_cc.bpf.c"]) == 1
    error = capsys.readouterr().err
    assert error == "error: the verifier refuses my_cc_op_init\n  R1 invalid\nhint: check it\n"


def test_check_without_privileges(fake: FakeCore, capsys: pytest.CaptureFixture[str]) -> None:
    fake.may_load = False
    assert invoke(["cc", "check", "my_cc.bpf.c"]) == 1
    shown = capsys.readouterr()
    assert "operations" in shown.out, "what can be seen is shown"
    assert "the verifier did not run" in shown.err
    assert "CAP_BPF and CAP_PERFMON" in shown.err


def test_load_list_unload(fake: FakeCore, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["cc", "load", "bbr3", "--set", "beta_keep=200", "--set", "undo=false"]) == 0
    name = fake.stay[0]["name"]
    assert capsys.readouterr().out == f"bbr3 is loaded to stay; the kernel calls it {name}\n"
    assert fake.stay[0]["parameters"] == {"beta_keep": 200, "undo": False}
    assert invoke(["cc", "load", "bbr3", "--set", "undo=false", "--set", "beta_keep=200"]) == 0
    assert "was loaded already" in capsys.readouterr().out
    assert invoke(["cc", "load", "my_cc.bpf.c"]) == 0
    capsys.readouterr()
    assert invoke(["cc", "list"]) == 0
    shown = rows(capsys.readouterr().out)
    assert ["bbr3", "BBRv3, as Google's v3 kernel runs it", "yes"] in shown
    assert [line[:3] for line in shown if name in line] == [["bbr3", name, "beta_keep=200, undo=false"]]
    assert ["bbr3", "db3_0a1b2c"] in shown
    assert ["cubic"] in shown
    assert invoke(["cc", "unload", "my_cc.bpf.c"]) == 0
    assert invoke(["cc", "unload", "bbr3"]) == 0
    assert capsys.readouterr().out.endswith(f"{name} is unloaded\n")
    assert invoke(["cc", "unload", "bbr3"]) == 1
    assert fake.stay == []


def test_a_file_does_not_pass_for_a_bundled_one(fake: FakeCore, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bbr3.bpf.c").write_text(PROGRAM)
    assert invoke(["cc", "load", "bbr3.bpf.c"]) == 0
    assert capsys.readouterr().out.startswith("bbr3 (file) is loaded to stay")
    assert invoke(["cc", "list"]) == 0
    shown = rows(capsys.readouterr().out)
    assert ["bbr3", "BBRv3, as Google's v3 kernel runs it"] in shown, "not loaded"
    assert [line[0] for line in shown if fake.stay[0]["name"] in line] == ["bbr3 (file)"]
    assert invoke(["cc", "unload", "bbr3"]) == 1
    assert invoke(["cc", "unload", "bbr3.bpf.c"]) == 0
    assert fake.stay == []


def test_unload_all(fake: FakeCore, capsys: pytest.CaptureFixture[str]) -> None:
    for value in ("1", "2"):
        assert invoke(["cc", "load", "bbr3", "--set", f"beta_keep={value}"]) == 0
    capsys.readouterr()
    assert invoke(["cc", "unload", "--all", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["unloaded"]) == 2
    assert invoke(["cc", "unload", "--all"]) == 0
    assert capsys.readouterr().out == "nothing was loaded to stay\n"


def test_load_without_privileges(
    fake: FakeCore, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.may_load = False
    monkeypatch.setattr("dumbbell.command._program", lambda: ["dumbbell"])
    Path("my files").mkdir()
    Path("my files/my_cc.bpf.c").write_text(PROGRAM)
    assert invoke(["cc", "load", "my files/my_cc.bpf.c", "--set", "beta_keep=9"]) == 1
    error = capsys.readouterr().err
    assert "CAP_BPF" in error
    assert error.endswith("\nhint: sudo dumbbell cc load 'my files/my_cc.bpf.c' --set beta_keep=9\n")
    assert "cc_load" not in fake.asked


def test_list_of_one(fake: FakeCore, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["cc", "list", "bbr3"]) == 0
    assert ["beta_keep", "u32", "180", "1/256: what a loss leaves"] in rows(capsys.readouterr().out)
    assert invoke(["cc", "list", "my_cc.bpf.c", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["label"] == "my_cc"


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["check", "bbr4"], "error: no congestion control bbr4 comes with dumbbell\n  expected one of bbr2, bbr3"),
        (["check", "my_cc"], "error: no congestion control my_cc comes with dumbbell"),
        (["check", "mine.bpf.c"], "error: mine.bpf.c: no such file\nhint: there is my_cc.bpf.c\n"),
        (["check", "mine.c"], "error: mine.c: not the name of a BPF program\n"),
        (["load", "bbr3", "--set", "beta_keep=0.5"], "error: --set beta_keep=0.5: no such value\n"),
        (["load", "bbr3", "--set", "beta_keep"], "error: --set beta_keep: no such value\n"),
        (["load", "bbr3", "--set", "undo=1"], "error: --set undo=1: does not fit\n  expected true or false\n"),
        (
            ["load", "bbr3", "--set", "beta_kep=1"],
            "error: --set beta_kep=1: bbr3 has no such parameter\n  expected one of\n"
            "    beta_keep (u32, 180 by default): 1/256: what a loss leaves\n    undo (bool, true by default)\n"
            "hint: did you mean beta_keep?\n",
        ),
        (
            ["load", "my_cc.bpf.o", "--set", "beta_kep=1"],
            "error: --set beta_kep=1: my_cc.bpf.o has no such parameter\n  expected one of\n    beta_keep (u32, 180",
        ),
        (["check", "my_cc.bpf.o", "--set", "undo=1"], "error: --set undo=1: does not fit\n  expected true or false\n"),
        (["check", "my_cc.bpf.o", "--set", "db_emit_acks=true"], "error: --set db_emit_acks=true: is dumbbell's own\n"),
        (
            ["check", "my_cc.bpf.o", "--set", "beta_keep=99999999999999999999999"],
            "error: --set beta_keep=99999999999999999999999: too large\n  expected an integer of 64 bits\n",
        ),
        (
            ["check", "my_cc.bpf.c", "--set", "target=1.5"],
            "error: --set target=1.5: no such value\n  expected parameter",
        ),
        (["unload"], "error: unload: no name\n"),
        (["unload", "bbr3", "--all"], "error: unload: no name\n"),
        (["unlaod"], "error: No such command 'unlaod'. Did you mean 'unload'"),
    ],
)
def test_mistakes(args: list[str], expected: str, fake: FakeCore, capsys: pytest.CaptureFixture[str]) -> None:
    Path("my_cc.bpf.o").write_bytes(b"an object")
    assert invoke(["cc", *args]) == 2
    assert capsys.readouterr().err.startswith(expected)


def test_without_a_verb_there_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["cc"]) == 0
    assert "unload" in capsys.readouterr().out


def test_an_old_core_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delattr("dumbbell._core.cc_list", raising=False)
    assert invoke(["cc", "list"]) == 1
    assert "hint: make build" in capsys.readouterr().err
