"""No edit is lost, whoever makes it: documents against a model, with two tabs, another program, and killed servers."""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from dumbbell.errors import DumbbellError, InputError
from dumbbell.server import disk, documents
from dumbbell.server import messages as m
from dumbbell.server.document import OUTSIDE, Document, Stale
from dumbbell.server.journal import DEPTH, Journal
from dumbbell.server.workspace import Workspace, layout_of

START = 'name = "a"\nduration = "1 s"\n'
TEXTS = st.integers(0, 30).map(lambda n: f"{START}# {n}\n")


def opened(file: Path) -> Document:
    return Document(file.name, file, journal_of(file))


def journal_of(file: Path) -> Journal:
    return Journal(file.parent / ".dumbbell" / "edits", file.name)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.toml"
    path.write_text(START)
    return path


def typed(document: Document, text: str, now: float = 0.0, author: object = 1) -> None:
    document.apply(m.ReplaceText(text=text), document.revision, author, now)


class Authors(RuleBasedStateMachine):
    """Two tabs, an editor beside them, and a server that is killed and started again."""

    seen = Bundle("seen")

    @initialize()
    def start(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.file = Path(self.folder.name) / "a.toml"
        self.file.write_text(START)
        self.document = opened(self.file)
        self.now = 0.0
        # The model: all texts, which of them is the present one, and what the file holds.
        self.texts, self.places, self.at = [START], [{}], 0
        self.on_disk = START
        self.was_outside = False
        self.tabs = [self.document.revision] * 2

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.folder.cleanup()

    def push(self, text: str, places: dict[str, Any]) -> None:
        self.was_outside = False
        del self.texts[self.at + 1 :], self.places[self.at + 1 :]
        self.texts.append(text)
        self.places.append(places)
        self.at += 1

    def command(self, tab: int, command: Any) -> bool:
        """True if it was carried out; a stale one changes nothing."""
        before, self.now = self.document.revision, self.now + 10
        if self.tabs[tab] != before:
            with pytest.raises(Stale):
                self.document.apply(command, self.tabs[tab], tab, self.now)
            assert self.document.revision == before
            return False
        self.document.apply(command, self.tabs[tab], tab, self.now)
        self.tabs[tab] = self.document.revision
        return True

    @rule(tab=st.integers(0, 1), text=TEXTS)
    def type(self, tab: int, text: str) -> None:
        if self.command(tab, m.ReplaceText(text=text)) and text != self.texts[self.at]:
            self.push(text, self.places[self.at])

    @rule(tab=st.integers(0, 1), x=st.integers(0, 5))
    def move(self, tab: int, x: int) -> None:
        places = {**self.places[self.at], "h1": x}
        if self.command(tab, m.Move(nodes={"h1": m.Point(x=x, y=0)})) and places != self.places[self.at]:
            self.push(self.texts[self.at], places)

    @rule(tab=st.integers(0, 1))
    def look_at_the_page(self, tab: int) -> None:
        self.tabs[tab] = self.document.revision

    @rule(step=st.sampled_from([-1, 1]))
    def undo_or_redo(self, step: int) -> None:
        command = m.Undo() if step < 0 else m.Redo()
        self.was_outside = self.was_outside and not 0 <= self.at + step < len(self.texts)
        if 0 <= self.at + step < len(self.texts):
            self.document.apply(command, None, 0, self.now)
            self.at += step
        else:
            with pytest.raises(InputError):
                self.document.apply(command, None, 0, self.now)

    @rule(text=TEXTS, in_place=st.booleans())
    def another_program_writes(self, text: str, in_place: bool) -> None:
        if in_place:
            self.file.write_text(text)
        else:
            beside = self.file.with_name("other")
            beside.write_text(text)
            os.replace(beside, self.file)
        self.on_disk = text

    def take_in(self) -> None:
        """Models a file that another program may have changed."""
        if self.document.on_disk is None and self.texts[self.at] != self.document.text:
            assert self.document.undo_label == OUTSIDE
            assert self.document.text == self.on_disk
            if self.was_outside:
                self.at -= 1
            self.push(self.on_disk, self.places[self.at])
            self.was_outside = True

    @rule()
    def look_at_the_disk(self) -> None:
        self.document.look()
        self.take_in()

    @rule()
    def save(self) -> None:
        self.document.save()
        self.take_in()
        if self.document.is_saved:
            self.on_disk = self.document.text
        else:
            assert self.document.on_disk == self.on_disk

    @rule()
    def kill_the_server(self) -> None:
        text, revision = self.document.text, self.document.revision
        is_new = not journal_of(self.file).file.exists()
        self.was_outside = False
        self.document = opened(self.file)
        if is_new:
            # Nothing was done with it: it begins anew.
            self.texts, self.places, self.at = [self.on_disk], [{}], 0
            return
        self.take_in()
        if self.document.revision == revision:
            assert self.document.text == text, "what was acknowledged is there"
        else:
            assert self.document.text == self.on_disk

    @precondition(lambda self: self.document.on_disk is not None)
    @rule(take=st.sampled_from(["mine", "disk"]))
    def decide(self, take: Any) -> None:
        other, mine = self.document.on_disk, self.texts[self.at]
        assert other is not None
        self.document.apply(m.Resolve(take=take), None, 0, self.now)
        self.push(other, self.places[self.at])
        if take == "mine":
            self.push(mine, self.places[self.at - 1])

    @invariant()
    def the_document_is_what_was_last_acknowledged(self) -> None:
        if not hasattr(self, "document"):
            return
        assert self.document.text == self.texts[self.at]
        assert {name: at.x for name, at in self.document.layout.nodes.items()} == self.places[self.at]
        assert self.file.read_text() == self.on_disk, "nobody writes but when it is said"
        assert sorted(path.name for path in self.file.parent.iterdir() if "part" in path.name) == []

    @invariant()
    def everything_can_be_undone(self) -> None:
        if not hasattr(self, "document"):
            return
        states = self.document.states
        assert [state.text for state in states] == self.texts[-len(states) :]


def test_two_tabs_another_program_and_killed_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # No machine stops here.
    monkeypatch.setattr(disk, "CLOCK_NS", 10**18)  # However long a step takes, a file may have been half written.
    run_state_machine_as_test(Authors, settings=settings(max_examples=100, stateful_step_count=30, deadline=None))


def test_a_file_that_is_read_half_written_is_one_step(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "CLOCK_NS", 10**18)
    document = opened(file)
    typed(document, START + "# mine\n")
    document.save()
    for part in ("", "name", START + "# theirs\n"):
        file.write_text(part)
        assert document.look()
    document.apply(m.Undo(), None, 1, 0.0)
    assert document.text == START + "# mine\n"
    # What was undone and saved is a step of its own again.
    document.apply(m.Redo(), None, 1, 0.0)
    document.save()
    file.write_text(START)
    assert document.look()
    document.apply(m.Undo(), None, 1, 0.0)
    assert document.text == START + "# theirs\n"


def test_each_server_begins_with_another_revision(file: Path) -> None:
    assert len({opened(file).revision for _ in range(100)}) == 100


def test_opening_writes_nothing(file: Path) -> None:
    before = file.stat()
    document = opened(file)
    document.look()
    document.save()
    assert file.stat() == before
    assert [path.name for path in file.parent.iterdir()] == ["a.toml"]


def test_typing_is_one_step_until_it_pauses(file: Path) -> None:
    document = opened(file)
    for count in range(5):
        typed(document, START + "#" * (count + 1), now=count * 0.4)
    typed(document, START + "# later", now=9.0)
    typed(document, START + "# the other tab", now=9.1, author=2)
    for text in ("# later", "#####", ""):
        document.apply(m.Undo(), None, 1, 10.0)
        assert document.text == START + text
    with pytest.raises(InputError, match="nothing to undo"):
        document.apply(m.Undo(), None, 1, 10.0)


def test_undo_and_redo_outlive_a_killed_server(file: Path) -> None:
    document = opened(file)
    for count in range(3):
        typed(document, f"{START}# {count}\n", now=count * 10.0)
    document.apply(m.Undo(), None, 1, 99.0)
    again = opened(file)
    assert (again.text, again.revision, again.redo_label) == (f"{START}# 1\n", document.revision, "typing")
    again.save()
    assert file.read_text() == f"{START}# 1\n"
    third = opened(file)
    assert third.is_saved
    third.apply(m.Redo(), None, 1, 0.0)
    assert third.text == f"{START}# 2\n"


def test_a_journal_that_was_cut_off_is_read_to_there(file: Path) -> None:
    document = opened(file)
    typed(document, START + "# 1\n")
    typed(document, START + "# 2\n", now=10.0)
    journal = journal_of(file).file
    journal.write_bytes(journal.read_bytes()[:-20])
    assert opened(file).text == START + "# 1\n"
    journal.write_bytes(b"\xff\xfe no journal")
    assert opened(file).text == START


def test_a_line_that_was_cut_off_takes_no_later_one_with_it(file: Path) -> None:
    typed(opened(file), f"{START}# 1\n")
    with journal_of(file).file.open("ab") as out:
        out.write(b'{"do": "push", "text": "')
    typed(opened(file), f"{START}# 2\n")
    assert opened(file).text == f"{START}# 2\n"


def test_history_and_journal_are_bounded(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dumbbell.server.journal.LARGEST", 20_000)
    document = opened(file)
    for count in range(3 * DEPTH):
        typed(document, f"{START}# {count}\n", now=count * 10.0)
    assert len(document.states) == DEPTH + 1
    assert journal_of(file).file.stat().st_size < 60_000
    again = opened(file)
    assert again.text == document.text
    for _ in range(DEPTH):
        again.apply(m.Undo(), None, 1, 0.0)
    with pytest.raises(InputError):
        again.apply(m.Undo(), None, 1, 0.0)


def test_another_program_may_change_the_file_while_no_server_runs(file: Path) -> None:
    document = opened(file)
    typed(document, START + "# mine\n")
    document.save()
    file.write_text(START + "# theirs\n")
    again = opened(file)
    assert again.text == START + "# theirs\n"
    assert again.undo_label == OUTSIDE
    again.apply(m.Undo(), None, 1, 0.0)
    assert again.text == START + "# mine\n"


def test_if_both_have_changed_the_user_decides(file: Path) -> None:
    document = opened(file)
    typed(document, START + "# mine\n")
    file.write_text(START + "# theirs\n")
    document.save()
    assert document.on_disk == START + "# theirs\n"
    assert file.read_text() == START + "# theirs\n"
    typed(document, START + "# mine, too\n", now=10.0)
    document.save()
    assert file.read_text() == START + "# theirs\n"
    document.apply(m.Resolve(take="mine"), None, 1, 0.0)
    document.save()
    assert file.read_text() == START + "# mine, too\n"
    document.apply(m.Undo(), None, 1, 0.0)
    assert document.text == START + "# theirs\n"


def test_a_file_that_is_gone_is_not_written_again_by_itself(file: Path) -> None:
    document = opened(file)
    typed(document, START + "# mine\n")
    document.save()
    file.unlink()
    document.look()
    assert not document.is_saved
    assert document.save_problem is not None
    assert "is gone" in document.save_problem.what
    document.save()
    assert not file.exists()
    typed(document, START + "# again\n", now=10.0)
    document.save()
    assert file.read_text() == START + "# again\n"
    assert document.save_problem is None


def test_line_ends_mark_and_permissions_are_the_files_own(file: Path) -> None:
    file.write_bytes(b'\xef\xbb\xbfname = "a"\r\nduration = "1 s"\r\n')
    file.chmod(0o640)
    document = opened(file)
    assert document.text == START
    typed(document, START + "# ä\n")
    document.save()
    assert file.read_bytes() == '\ufeffname = "a"\r\nduration = "1 s"\r\n# ä\r\n'.encode()
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_link_to_a_file_stays_one(file: Path) -> None:
    (file.parent / "real").mkdir()
    real = file.parent / "real" / "b.toml"
    file.rename(real)
    file.symlink_to(real)
    document = Document("a.toml", file.resolve(), Journal(file.parent / ".dumbbell", "a.toml"))
    typed(document, START + "# 1\n")
    document.save()
    assert file.is_symlink()
    assert real.read_text() == START + "# 1\n"


def test_a_layout_is_written_when_something_is_moved(file: Path) -> None:
    document = opened(file)
    document.apply(m.Move(nodes={"h1": m.Point(x=10, y=-20)}), document.revision, 1, 0.0)
    document.save()
    assert layout_of(file).read_text() == '{\n "nodes": {\n  "h1": {\n   "x": 10,\n   "y": -20\n  }\n }\n}\n'
    assert file.read_text() == START
    document.apply(m.Undo(), None, 1, 0.0)
    document.save()
    assert not layout_of(file).exists()
    layout_of(file).write_text('{"nodes": {"h1": {"x": 7, "y": 7}}}')
    assert document.look()
    assert document.layout.nodes == {"h1": m.Point(x=7, y=7)}
    layout_of(file).write_text("no layout")
    document.look()
    assert document.layout.nodes == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting takes root")
def test_a_full_disk_keeps_the_old_file_and_the_edits(tmp_path: Path) -> None:
    import subprocess

    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small], capture_output=True).returncode:
        pytest.skip("this machine lets nobody mount")
    try:
        file = small / "a.toml"
        file.write_text(START)
        document = opened(file)
        long = START + "# " + "x" * 200_000 + "\n"
        typed(document, long)
        document.save()
        assert file.read_text() == START
        assert sorted(path.name for path in small.iterdir() if path.is_file()) == ["a.toml"]
        assert document.text == long
        assert not document.is_saved
        assert document.save_problem is not None
        assert document.save_problem.what == "a.toml could not be saved"
        assert "No space left" in document.save_problem.why
        typed(document, START + "# short\n", now=10.0)
        document.save()
        assert document.is_saved
        assert document.save_problem is None
        assert file.read_text() == START + "# short\n"
    finally:
        subprocess.run(["umount", small], check=False)


def test_what_is_no_text_is_refused(file: Path) -> None:
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is not UTF-8 text"):
        opened(file)
    file.write_text("x" * 2_000_001)
    with pytest.raises(InputError, match="too large"):
        opened(file)
    file.unlink()
    with pytest.raises(InputError, match="there is no"):
        opened(file)


def test_a_command_that_fails_changes_nothing(file: Path) -> None:
    document = opened(file)
    batch = m.Batch(commands=[m.ReplaceText(text="x = 1\n"), m.RemoveNode(name="h9")])
    revision = document.revision
    with pytest.raises(DumbbellError):
        document.apply(batch, revision, 1, 0.0)
    assert (document.text, document.revision) == (START, revision)


def test_a_document_that_takes_long_to_open_is_opened_once_beside_others(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go_on, read = threading.Event(), []

    class Slow(Document):
        def __init__(self, path: str, *rest: Any) -> None:
            read.append(path)
            assert path != "a.toml" or may_go_on.wait(60)
            super().__init__(path, *rest)

    monkeypatch.setattr(documents, "Document", Slow)
    file.with_name("b.toml").write_text(START)

    async def scene() -> None:
        known = documents.Documents(Workspace(file.parent))
        slow = [asyncio.ensure_future(anext(known.events("a.toml", None))) for _ in range(3)]
        assert (await anext(known.events("b.toml", None))).text == START
        assert not any(one.done() for one in slow)
        slow.pop().cancel()
        may_go_on.set()
        assert [one.text for one in await asyncio.gather(*slow)] == [START, START]
        await known.close()

    asyncio.run(scene())
    assert sorted(read) == ["a.toml", "b.toml"]
