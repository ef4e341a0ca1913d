"""Fuzzes a reader of `readers.py`, guided by coverage: `python -m tests.fuzz.guided NAME [options of libFuzzer]`."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final

import atheris
import yaml

from tests.fuzz import mutate

with atheris.instrument_imports(include=["dumbbell", "networkx", "tests.fuzz.readers"]):
    from tests.fuzz.readers import READERS

PARSERS: Final[dict[str, Callable[[bytes], Any]]] = {
    "miniedit": json.loads,
    "containerlab": yaml.safe_load,
}
"""Formats of which mutations can keep the structure."""


def mutator(name: str) -> Callable[[bytes, int, int], bytes]:
    """Mutates an input three times of four as its format's values, and else byte by byte."""

    def mutated(data: bytes, most: int, seed: int) -> bytes:
        if seed % 4:
            try:
                found = mutate.as_json(mutate.restructured(PARSERS[name](data), Random(seed)))
            except Exception:  # The input is none of the format.
                found = b""
            if 0 < len(found) <= most:
                return found
        changed: bytes = atheris.Mutate(data, most)
        return changed

    return mutated


def keeping(reader: Callable[[bytes], None], prefix: str) -> Callable[[bytes], None]:
    """The reader, which writes an input at which it fails as libFuzzer does. Atheris may end before libFuzzer has."""

    def read(data: bytes) -> None:
        try:
            reader(data)
        except BaseException:
            Path(f"{prefix}crash-{hashlib.sha1(data).hexdigest()}").write_bytes(data)
            raise

    return read


if __name__ == "__main__":
    name = sys.argv.pop(1)
    options = {"custom_mutator": mutator(name)} if name in PARSERS else {}
    prefix = next((word.partition("=")[2] for word in sys.argv if word.startswith("-artifact_prefix=")), "")
    atheris.Setup(sys.argv, keeping(READERS[name], prefix), **options)
    atheris.Fuzz()
