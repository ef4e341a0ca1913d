"""Reads structures of Apache Thrift's compact protocol, of which the metadata of Parquet files consist.

https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

from typing import Any, Final

Struct = dict[int, Any]
"""Field -> value."""

_DEEPEST: Final = 32
_TRUE, _FALSE, _BYTE, _I64, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 6, 7, 8, 9, 10, 12


def struct(data: bytes, at: int, depth: int = 0) -> tuple[Struct, int]:
    """The structure at a place in `data`, and the place behind it. Raises `ValueError` or `IndexError`."""
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    found: Struct = {}
    field = 0
    while True:
        head = data[at]
        at += 1
        if not head:
            return found, at
        kind = head & 15
        if step := head >> 4:
            field += step
        else:
            field, at = _signed(data, at)
        if kind in (_TRUE, _FALSE):
            found[field] = kind == _TRUE
        else:
            found[field], at = _value(data, at, kind, depth)


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (_TRUE, _FALSE, _BYTE):  # In a list, a truth value is a byte.
        return data[at], at + 1
    if kind <= _I64:
        return _signed(data, at)
    if kind == _DOUBLE:
        return data[at : at + 8], at + 8
    if kind == _BINARY:
        length, at = _number(data, at)
        if at + length > len(data):
            raise ValueError("cut short")
        return data[at : at + length], at + length
    if kind in (_LIST, _SET):
        return _list(data, at, depth)
    if kind == _STRUCT:
        return struct(data, at, depth + 1)
    raise ValueError(f"a value of kind {kind}")


def _list(data: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    kind, length = data[at] & 15, data[at] >> 4
    at += 1
    if length == 15:
        length, at = _number(data, at)
    if depth > _DEEPEST or length > len(data):
        raise ValueError("more than there is")
    found = []
    for _ in range(length):
        value, at = _value(data, at, kind, depth + 1)
        found.append(value)
    return found, at


def _signed(data: bytes, at: int) -> tuple[int, int]:
    value, at = _number(data, at)
    return (value >> 1) ^ -(value & 1), at


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number of too many digits")
