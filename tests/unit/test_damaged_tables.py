"""Parquet files of strangers: damage ends in an error of ours, and a small file cannot ask for much memory."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import polars as pl
import pytest
from stages import thorough_but

import dumbbell
from dumbbell import DumbbellError, parquet
from dumbbell.cli import invoke
from dumbbell.errors import Damaged
from tests import damaged_runs
from tests.fuzz import mutate

TABLES = ("samples", "links", "packets", "pings", "flows")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return damaged_runs.made_run(tmp_path_factory.mktemp("runs"))


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / whole.name))


ZSTD = re.escape(b"\x28\xb5\x2f\xfd")


def in_the_footer(content: bytes, random: Random) -> bytes:
    at = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    return content[:at] + mutate.spliced(content[at:], random)


def in_a_page(content: bytes, random: Random) -> bytes:
    """Bits around the head of one page: compressed content follows it."""
    end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    at = random.choice([found.start() for found in re.finditer(ZSTD, content[:end])])
    changed = bytearray(content)
    for _ in range(random.randint(1, 4)):
        changed[max(at - 20, 4) + random.randrange(40)] ^= 1 << random.randrange(8)
    return bytes(changed)


DAMAGES: tuple[Callable[[bytes, Random], bytes], ...] = (mutate.spliced, in_the_footer, in_a_page, in_a_page)


@pytest.mark.parametrize("table", thorough_but(["packets"], TABLES))
def test_eighty_damages_of_a_table_are_read_or_refused(run: Path, table: str) -> None:
    path = run / f"{table}.parquet"
    content = path.read_bytes()
    refused: list[DumbbellError] = []
    for seed in range(80):
        random = Random(f"{table} {seed}")
        path.unlink()
        path.write_bytes(random.choice(DAMAGES)(content, random))
        try:
            assert getattr(dumbbell.open(run), table) is not None
        except DumbbellError as error:
            refused.append(error)
    assert len(refused) > 20
    assert all(error.what and error.why for error in refused)


def test_a_panic_of_polars_is_an_error_of_ours(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def panic(*_: object, **__: object) -> pl.DataFrame:
        raise pl.exceptions.PanicException("index out of bounds")

    monkeypatch.setattr(pl.LazyFrame, "collect", panic)
    with pytest.raises(Damaged, match="cannot be read\n  index out of bounds"):
        _ = dumbbell.open(run).samples
    assert invoke(["query", str(run), "select 1"]) == 1


ROWS = pl.DataFrame({"time_ns": pl.zeros(5_000_000, dtype=pl.Int64, eager=True)})
WORDS = pl.DataFrame({"time_ns": [0], "flow": ["x" * 100_000_000]})


@pytest.mark.parametrize(("frame", "said"), [(ROWS, "5,000,000 rows"), (WORDS, "bytes in")])
def test_a_small_file_of_a_large_table_is_refused_before_it_is_read(
    run: Path, frame: pl.DataFrame, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    frame.write_parquet(run / "samples.parquet")
    assert (run / "samples.parquet").stat().st_size < 500_000
    with pytest.raises(Damaged, match=f"samples.parquet cannot be read\n  it claims .*{said}"):
        dumbbell.open(run).scan("samples")
    capsys.readouterr()
    assert invoke(["query", str(run), "select * from samples"]) == 1
    assert "it claims" in capsys.readouterr().err


def test_pages_count_and_not_what_the_footer_says_of_them(tmp_path: Path) -> None:
    """The total of a column's chunk is a lie: 1 byte."""
    path = tmp_path / "lie.parquet"
    pl.DataFrame({"a": ["x" * 100_000_000]}).write_parquet(path)
    content = path.read_bytes()
    at = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    totals = map(_varint, range(200_000_000, 200_001_000, 2))  # The text, and some heads.
    spelled = next(total for total in totals if total in content[at:])
    path.write_bytes(content[:at] + content[at:].replace(spelled, b"\x82" + b"\x80" * (len(spelled) - 2) + b"\x00"))
    with pytest.raises(OSError, match="it claims"):
        parquet.opened(path).close()


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def test_a_column_of_another_type_is_refused(run: Path) -> None:
    path = run / "samples.parquet"
    frame = pl.read_parquet(path).with_columns(time_ns=pl.lit("now"))
    path.unlink()
    frame.write_parquet(path)
    with pytest.raises(Damaged, match="its column time_ns is String, and not Int64"):
        dumbbell.open(run).scan("samples")


NAMES = [("samples", "flow"), ("links", "link"), ("packets", "link"), ("packets", "flow"), ("pings", "flow")]
NAMES += [("flows", "id"), ("flows", "from"), ("flows", "to"), ("flows", "bottleneck")]


@pytest.mark.parametrize(("table", "column", "name"), [*((*one, "nobody") for one in NAMES), ("samples", "flow", None)])
def test_a_name_that_the_plan_lacks_is_damage(
    run: Path, table: str, column: str, name: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = run / f"{table}.parquet"
    frame = pl.read_parquet(path)
    strange = pl.when(pl.int_range(pl.len()) == 1).then(pl.lit(name, pl.String)).otherwise(pl.col(column))
    path.unlink()
    frame.with_columns(strange.cast(frame.schema[column]).alias(column)).write_parquet(path)
    said = rf"{table}\.parquet cannot be read\n +{column}: (the plan has|a row names) no \w+"
    with pytest.raises(Damaged, match=said):
        getattr(dumbbell.open(run), table)
    assert invoke(["query", str(run), f"select * from {table}"]) == 1
    assert re.search(said, capsys.readouterr().err)
    assert invoke(["compare", str(run), str(run)]) in (0, 1)
    assert invoke(["report", str(run)]) in (0, 1)
    capsys.readouterr()


def test_a_column_of_names_may_lack_bottlenecks_alone(run: Path) -> None:
    path = run / "flows.parquet"
    frame = pl.read_parquet(path).with_columns(bottleneck=pl.lit(None, pl.String))
    path.unlink()
    frame.write_parquet(path)
    assert dumbbell.open(run).flows["bottleneck"].null_count() == frame.height


def test_a_fate_that_no_packet_has_is_passed_over(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = run / "packets.parquet"
    frame = pl.read_parquet(path).with_columns(fate=pl.lit("dropped-\x1b[2J"))
    path.unlink()
    frame.write_parquet(path)
    for words in (["report", str(run)], ["report", str(run), "--format", "csv"]):
        assert invoke(words) == 0, capsys.readouterr().err


def test_what_was_checked_is_read_whatever_has_its_name_by_then(run: Path) -> None:
    path = run / "samples.parquet"
    rows = dumbbell.open(run).scan("samples")
    before = pl.read_parquet(path).height
    os.link(path, run / "kept")
    path.unlink()
    os.mkfifo(path)
    assert rows.collect().height == before
    path.unlink()
    path.symlink_to("/dev/zero")
    assert rows.collect().height == before


def test_polars_gets_no_name_of_a_table() -> None:
    """All that read tables do so by `dumbbell.parquet`, which hands on the file that was checked."""
    package = Path(dumbbell.__file__).parent
    readers = re.compile(r"\b(?:pl|polars)\.(?:read|scan)_(?!database)\w+")
    files = [path for path in package.rglob("*.py") if readers.search(path.read_text())]
    assert {path.relative_to(package).as_posix() for path in files} == {"parquet.py"}


def test_our_own_tables_are_far_below_the_bounds(whole: Path) -> None:
    for path in whole.glob("*.parquet"):
        parquet.opened(path).close()
