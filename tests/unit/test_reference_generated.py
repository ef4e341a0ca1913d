"""The tables of the reference are those that `make generate` writes from the declarations in Python."""

import pytest

from tools.generate.reference import DOCS, SECTIONS, named, page

KEYS = [*SECTIONS["scenario.md"]]


@pytest.mark.parametrize("name", SECTIONS)
def test_a_page_is_current(name: str) -> None:
    text = (DOCS / name).read_text(encoding="utf-8")
    assert text == page(name), f"{name} is not what the declarations say: run `make generate` and commit the change"


def test_every_table_of_keys_is_in_the_reference_once() -> None:
    assert sorted(named("scenario.md")) == sorted(KEYS)


def test_verbs_with_options_of_their_own_have_a_table() -> None:
    alone = (
        "run",
        "reproduce",
        "report",
        "compare",
        "query",
        "pcap",
        "fit",
        "agree",
        "hunt",
        "import",
        "export",
        "kernel build",
        "quic build",
        "ui",
    )
    of_labs = (f"lab {verb}" for verb in ("up", "list", "shell", "exec", "show", "link", "record", "capture", "down"))
    assert {f"options of {verb}" for verb in (*alone, *of_labs)} == {
        name for name in named("command-line.md") if name.startswith("options of ")
    }


def test_the_page_on_the_command_line_has_the_lines_of_events() -> None:
    assert {"events of a run", "events of a study", "parts of events"} <= {*named("command-line.md")}
