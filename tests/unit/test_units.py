from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dumbbell.units import (
    MAX,
    BufferSize,
    Duration,
    Percent,
    Quantity,
    QuantityError,
    Rate,
    Size,
    Time,
    decimal,
)

KINDS = [Time, Duration, Rate, Size]


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Time, "30 ms", 30_000_000),
        (Time, "30ms", 30_000_000),
        (Time, "  30   ms ", 30_000_000),
        (Time, "+1.5 us", 1_500),
        (Time, "1 µs", 1_000),
        (Time, "0 s", 0),
        (Time, "2 min", 120 * 10**9),
        (Time, "0.000000001 s", 1),
        (Rate, "100 Mbit/s", 100_000_000),
        (Rate, "100 Mbps", 100_000_000),
        (Rate, "100 Mb/s", 100_000_000),
        (Rate, "2.5 Gbit/s", 2_500_000_000),
        (Rate, "1 bit/s", 1),
        (Size, "300 kB", 300_000),
        (Size, "64 MiB", 67_108_864),
        (Size, "0.5 KiB", 512),
        (Size, "1514 B", 1514),
        (Size, "1514 bytes", 1514),
    ],
)
def test_parses_exactly(kind: type[Quantity], text: str, value: int) -> None:
    assert kind.parse(text) == value


def test_no_floating_point_on_the_way() -> None:
    # 0.1 + 0.2 style errors would show in the last digit of these.
    assert Time.parse("9007199.254740993 s") == 9_007_199_254_740_993
    assert Rate.parse("9007199.254740993 Gbit/s") == 9_007_199_254_740_993


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (Time, 30_000_000, "30 ms"),
        (Time, 1_500_000, "1.5 ms"),
        (Time, 120 * 10**9, "120 s"),
        (Time, 0, "0 s"),
        (Rate, 100_000_000, "100 Mbit/s"),
        (Size, 375_000, "375 kB"),
        (Size, 67_108_864, "64 MiB"),
        (Size, 1514, "1514 B"),
        (Size, 0, "0 B"),
    ],
)
def test_prints_the_shortest_exact_text(kind: type[Quantity], value: int, text: str) -> None:
    assert str(kind(value)) == text


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)  # The machine may be busy.
@given(value=st.integers(1, MAX))
def test_parse_undoes_print(kind: type[Quantity], value: int) -> None:
    assert kind.parse(str(kind(value))) == value


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)  # The machine may be busy.
@given(number=st.decimals(0, 10**6, places=3), data=st.data())
def test_print_undoes_parse(kind: type[Quantity], number: object, data: st.DataObject) -> None:
    unit = data.draw(st.sampled_from(list(kind.grammar.units)))
    try:
        value = kind.parse(f"{number} {unit}")
    except QuantityError:
        exact = Fraction(str(number)) * kind.grammar.units[unit]
        assert exact.denominator != 1 or exact < kind.minimum or exact > MAX
        return
    assert value == Fraction(str(number)) * kind.grammar.units[unit]
    assert kind.parse(str(value)) == value


@pytest.mark.parametrize(
    ("kind", "value", "wrong", "hint"),
    [
        (Time, "20", "no unit", 'write "20 s" or "20 ms"'),
        (Time, 20, "no unit", 'write "20 s" or "20 ms"'),
        (Time, 0.5, "no unit", 'write "0.5 s" or "0.5 ms"'),
        (Time, "5 m", "unknown unit m", 'write "5 ms" or "5 min"'),
        (Time, "5 MS", "unknown unit MS", 'units are case-sensitive: write "5 ms"'),
        (Time, "-5 ms", "negative", 'for example "30 ms"'),
        (Time, "0.1 ns", "finer than 1 ns", 'for example "30 ms"'),
        (Time, "1,5 ms", "not a time", 'for example "30 ms"'),
        (Time, "soon", "not a time", 'for example "30 ms"'),
        (Time, "1e3 ms", "not a time", 'for example "30 ms"'),
        (Time, True, "not a time", 'for example "30 ms"'),
        (Time, None, "not a time", 'for example "30 ms"'),
        (Time, "9223372036854775808 ns", "too large", 'for example "30 ms"'),
        (Duration, "0 s", "zero", 'for example "20 s"'),
        (Rate, "100", "no unit", 'write "100 Mbit/s"'),
        (Rate, "100 Mbit", "unknown unit Mbit", 'a rate is per second: write "100 Mbit/s"'),
        (Rate, "10 MB/s", "unknown unit MB/s", 'rates are in bits: 10 MB/s is "80 Mbit/s"'),
        (Rate, "100 mbit/s", "unknown unit mbit/s", 'units are case-sensitive: write "100 Mbit/s"'),
        (Rate, "100 mbps", "unknown unit mbps", 'units are case-sensitive: write "100 Mbit/s"'),
        (Rate, "0 bit/s", "zero", 'for example "100 Mbit/s"'),
        (Rate, "-1 Mbit/s", "negative", 'for example "100 Mbit/s"'),
        (Size, "5 kb", "unknown unit kb", 'sizes are in bytes: 5 kb is "625 B"'),
        (Size, "0.5 B", "finer than 1 B", 'for example "300 kB"'),
    ],
)
def test_refuses_with_a_hint(kind: type[Quantity], value: object, wrong: str, hint: str) -> None:
    with pytest.raises(QuantityError) as caught:
        kind.parse(value)
    assert caught.value.wrong == wrong
    assert caught.value.hint == hint
    assert caught.value.expected.startswith(kind.grammar.what)


@pytest.mark.parametrize(
    ("text", "kind", "amount", "printed"),
    [
        ("375 kB", "bytes", 375_000, "375 kB"),
        ("100 packets", "packets", 100, "100 packets"),
        ("1 packet", "packets", 1, "1 packets"),
        ("30 ms", "time", 30_000_000, "30 ms"),
        ("0.5 us", "time", 500, "500 ns"),
        ("1 bdp", "bdp", 1, "1 bdp"),
        ("0.25 BDP", "bdp", Fraction(1, 4), "0.25 bdp"),
        ("unlimited", "unlimited", 0, "unlimited"),
    ],
)
def test_buffers(text: str, kind: str, amount: Fraction, printed: str) -> None:
    buffer = BufferSize.parse(text)
    assert (buffer.kind, buffer.amount) == (kind, amount)
    assert str(buffer) == printed
    assert BufferSize.parse(printed) == buffer


@settings(deadline=None)  # The machine may be busy.
@given(number=st.decimals("0.001", 10**6, places=3), unit=st.sampled_from(list(BufferSize.grammar.units)))
def test_buffers_print_what_they_parse(number: object, unit: str) -> None:
    try:
        buffer = BufferSize.parse(f"{number} {unit}")
    except QuantityError:
        assert unit != "bdp"
        return
    assert BufferSize.parse(str(buffer)) == buffer


@pytest.mark.parametrize("value", ["0 bdp", "1.5 packets", "100", "-1 bdp", "infinite", True, "99999999999999999999 B"])
def test_refuses_buffers(value: object) -> None:
    with pytest.raises(QuantityError):
        BufferSize.parse(value)


def test_percent() -> None:
    assert Percent.parse("0.5 %").probability == 0.005
    assert Percent.parse("100%").probability == 1.0
    assert str(Percent.parse("0.50 %")) == "0.5 %"
    for value in ("101 %", "-1 %", "0.5", 0.5):
        with pytest.raises(QuantityError):
            Percent.parse(value)


@settings(deadline=None)  # The machine may be busy.
@given(st.integers(0, 10**19), st.integers(0, 18))
def test_decimal_is_exact(numerator: int, places: int) -> None:
    value = Fraction(numerator, 10**places)
    assert Fraction(decimal(value)) == value
