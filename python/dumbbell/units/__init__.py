"""Exact numbers with units.

A quantity is written `"<decimal number> <unit>"` and held as an integer of its smallest unit: nanoseconds, bits per
second, bytes. Parsing goes through exact fractions, never through floating point, and what is finer than the smallest
unit is refused. `str()` prints the shortest exact form, which parses back to the same value.

Case distinguishes bits and bytes, as everywhere in networking: `bit` or `b` are bits, `B` are bytes; `k`, `M` and
`G` are powers of 1000, `Ki`, `Mi` and `Gi` of 1024. Rates are in bits.
"""

from dumbbell.units.buffer import BufferSize
from dumbbell.units.grammar import MAX, Grammar, QuantityError, decimal, json_schema, schema_of
from dumbbell.units.percent import Correlation, Percent
from dumbbell.units.quantities import Amount, Duration, Packets, Quantity, Rate, Size, Time

__all__ = [
    "MAX",
    "Amount",
    "BufferSize",
    "Correlation",
    "Duration",
    "Grammar",
    "Packets",
    "Percent",
    "Quantity",
    "QuantityError",
    "Rate",
    "Size",
    "Time",
    "decimal",
    "json_schema",
    "schema_of",
]
