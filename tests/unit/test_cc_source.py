"""Users' programs as files: what belongs to them, and which parameters they declare."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dumbbell.cc import source
from dumbbell.cc.declared import declared
from dumbbell.cc.parameters import Parameter, Parameters
from dumbbell.cc.reading import unbounded
from dumbbell.cc.source import SourceError, read


def program(folder: Path, **files: str) -> str:
    """The content of `main.bpf.c` among files."""
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return read(folder / "main.bpf.c").content.decode()


def test_a_source_that_includes_nothing_of_its_own_is_kept_as_it_is(tmp_path: Path) -> None:
    text = '#include <dumbbell/tcp.h>\n#include "dumbbell/ack.h"\n\f\nint x;\n'
    assert program(tmp_path, main__bpf__c=text) == text


def test_what_it_includes_takes_the_directive_s_place(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.h").write_text('  #  include "../c.h" // c\nint b;')
    found = program(tmp_path, main__bpf__c='int first;\n#include "sub/b.h"\nint last;\n', c__h="int c;\n")
    assert found.splitlines() == [
        "int first;",
        '#line 1 "sub/b.h"',
        '#line 1 "../c.h"',
        "int c;",
        '#line 2 "sub/b.h"',
        "int b;",
        '#line 3 "main.bpf.c"',
        "int last;",
    ]
    (tmp_path / "again").mkdir()
    assert program(tmp_path / "again", main__bpf__c=found) == found


def test_files_that_include_each_other(tmp_path: Path) -> None:
    guarded = '#ifndef A\n#define A\n#include "main.bpf.c"\nint a;\n#endif\n'
    found = program(tmp_path, main__bpf__c='#pragma once\n#include "a.h"\n#include "a.h"\n', a__h=guarded)
    assert found.count("int a;") == 2, "the guard leaves one"
    assert "#pragma" not in found
    once = program(tmp_path, a__h="#pragma once\nint a;\n")
    assert once.count("int a;") == 1


FOREIGN = (
    "#include </tmp/x.h>",
    "#include <../x.h>",
    "#include <linux/../../x.h>",
    '#include "../gone.h"',
    '#include "/gone.h"',
    "#define X <stdio.h>\n#include X",
    "#import </tmp/x.h>",
    "#include_next </tmp/x.h>",
    '#embed "/tmp/x"',
    "%:include </tmp/x.h>",
    "#in\\\nclude </tmp/x.h>",
    "#include \\ \n</tmp/x.h>",
    "#include <\\\n/tmp/x.h>",
    "/* a\n*/#include </tmp/x.h>",
    "/* a *\\\n/ # include </tmp/x.h>",
    "#/*\n*/include/**/</tmp/x.h>",
    "#/\\\n**/include</tmp/x.h>",
    "#\0include </tmp/x.h>",
    "\f\v\u00a0#include </tmp/x.h>",
    f"#/*{' ' * 999}*/include </tmp/x.h>",
    f"#{'/**/' * 99}include </tmp/x.h>",
    'char a[] = R"x(" /* )x";\n#include </tmp/x.h>\n/* " */',
)


@pytest.mark.parametrize("text", FOREIGN)
def test_no_spelling_includes_what_is_not_agreed_to(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.h").write_text(f"int a;\n{text}\n")
    with pytest.raises(SourceError, match=r"^line \d+ of a.h includes ") as caught:
        program(tmp_path, main__bpf__c='#include "a.h"\n')
    said = int(str(caught.value).split()[1])
    assert said == 1 + max(n for n, line in enumerate(f"int a;\n{text}".split("\n")) if "#" in line or "%:" in line)


def test_words_about_includes_include_nothing(tmp_path: Path) -> None:
    text = "# define IMPORT 1\n// an #include X\nint b; /* no #include\n * #including */\n#include <linux/types.h>\n"
    assert program(tmp_path, main__bpf__c=text) == text


@pytest.mark.parametrize(
    "part", ["\n#/*" * 20 + "*/x", "*/#/**/x", "/**/", '#include "x"\n', "#\\\n", "\n#" + "/**/" * 9 + "x"]
)
def test_no_text_takes_long_to_look_through(part: str) -> None:
    begun = time.process_time()
    list(unbounded(part * (2_000_000 // len(part))))
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("name", "content", "wrong"),
    [
        ("my.c", b"", "not the name of a BPF program"),
        ("a b.bpf.c", b"", "not a name for records"),
        ("x.bpf.c", b"\xff", "x.bpf.c is not UTF-8 text"),
        ("x.bpf.c", b"y" * 101, "more than 0 MiB with all that it includes"),
    ],
)
def test_what_is_no_program(
    name: str, content: bytes, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "LARGEST", 100)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError) as caught:
        read(tmp_path / name)
    assert caught.value.wrong == wrong


def test_an_object_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "x.bpf.o").write_bytes(b"\x7fELF")
    found = read(tmp_path / "x.bpf.o")
    assert (found.stem, found.content, found.compiled) == ("x", b"\x7fELF", True)
    assert found.parameters == Parameters((), complete=False)


def test_parameters() -> None:
    found = declared("""
        const volatile __u32 beta = 717;  /* share that is kept,
                                             /1024 */
        const volatile bool fast = true;  // quick
        volatile const s64 low = -0x10LL;
        const  volatile unsigned long long big;
        static const char *name; const int not_one = 3;
        const volatile int expression = 3 * HZ;
        /* const volatile int commented = 1; */
    """)
    *sure, expression = found.known
    assert sure == [
        Parameter("beta", 32, False, 717, "share that is kept, /1024"),
        Parameter("fast", 1, False, True, "quick"),
        Parameter("low", 64, True, -16),
        Parameter("big", 64, False, 0),
    ]
    assert expression == Parameter("expression", 32, True, None)
    assert found.complete


@pytest.mark.parametrize(
    "source",
    ["const volatile struct parameters p = { .a = 1 };", "const volatile int a = 1, b = 2;", "const volatile pid_t x;"],
)
def test_parameters_that_only_a_compiler_understands(source: str) -> None:
    assert not declared(source).complete


@pytest.mark.parametrize(
    ("parameter", "value", "fits"),
    [
        (Parameter("x", 8, False), 255, True),
        (Parameter("x", 8, False), 256, False),
        (Parameter("x", 8, True), -128, True),
        (Parameter("x", 8, True), 128, False),
        (Parameter("x", 64, False), (1 << 64) - 1, True),
        (Parameter("x", 32, False), True, False),
        (Parameter("x", 1, False), 1, False),
        (Parameter("x", 1, False), False, True),
    ],
)
def test_values(parameter: Parameter, value: int | bool, fits: bool) -> None:
    assert (parameter.misfit(value) == "") is fits
