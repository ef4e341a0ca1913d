"""The parameters that a C source declares, found without a compiler."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dumbbell.cc.parameters import Parameter, Parameters, Value, Values


def declared(source: str) -> Parameters:
    """The parameters that a C source declares: `const volatile __u32 beta = 717; /* what it is */`.

    The search needs no compiler: it does not find parameters in structures or from macros, and then the list is not
    complete.
    """
    found = tuple(_declared(source))
    bare = _COMMENT.sub(" ", source)
    return Parameters(found, complete=len(_CONSTANT.findall(bare)) == len(found))


def with_values(source: str, values: Values) -> str:
    """A C source in which the constants of `values` have these values; all of them are `declared` there."""

    def declaration(match: re.Match[str]) -> str:
        if match["name"] not in values:
            return match[0]
        number = int(values[match["name"]])
        begin, end = match.start(), match.end()
        at = match.end("value") if match["value"] is not None else match.end("name")
        head = source[begin : match.start("value")] if match["value"] is not None else source[begin:at] + " = "
        return f"{head}{number}{source[at:end]}"

    return _DECLARATION.sub(declaration, source)


_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_CONSTANT: Final = re.compile(r"\b(?:const\s+volatile|volatile\s+const)\b")
# A value or a comment has a bounded length: looking for ends that are missing would take time by the square.
_DECLARATION: Final = re.compile(
    r"^[ \t]*+(?:const\s++volatile|volatile\s++const)\s++(?P<type>\w++(?:\s++\w++){0,3}?)\s++(?P<name>\w++)\s*+"
    r"(?:=\s*+(?=[^;,]{1,1000}+;)(?P<value>[^;,\s]++(?:\s++[^;,\s]++)*+)\s*+)?;[ \t]*+"
    r"(?:/\*(?P<block>.{0,1000}?)\*/|//(?P<line>[^\n]*+))?",
    re.MULTILINE | re.DOTALL,
)
_LITERAL: Final = re.compile(r"(-?(?:0[xX][0-9a-fA-F]+|[0-9]+))[uUlL]*")
_TYPES: Final = {
    **dict.fromkeys(("bool", "_Bool"), (1, False)),
    **{f"{prefix}u{bits}": (bits, False) for prefix in ("", "__") for bits in (8, 16, 32, 64)},
    **{f"{prefix}s{bits}": (bits, True) for prefix in ("", "__") for bits in (8, 16, 32, 64)},
    **{f"uint{bits}_t": (bits, False) for bits in (8, 16, 32, 64)},
    **{f"int{bits}_t": (bits, True) for bits in (8, 16, 32, 64)},
    **dict.fromkeys(("unsigned char",), (8, False)),
    **dict.fromkeys(("unsigned short",), (16, False)),
    **dict.fromkeys(("unsigned", "unsigned int"), (32, False)),
    **dict.fromkeys(("unsigned long", "unsigned long long"), (64, False)),
    **dict.fromkeys(("char", "signed char"), (8, True)),
    **dict.fromkeys(("short",), (16, True)),
    **dict.fromkeys(("int", "signed int"), (32, True)),
    **dict.fromkeys(("long", "long long"), (64, True)),
}
"""C's types -> bits, signed, as BPF has them."""


def _declared(source: str) -> Iterator[Parameter]:
    for match in _DECLARATION.finditer(source):
        kind = _TYPES.get(" ".join(match["type"].split()))
        if kind is None:
            continue
        doc = " ".join((match["block"] or match["line"] or "").split())
        yield Parameter(match["name"], *kind, _default(match["value"], kind[0] == 1), doc)


def _default(text: str | None, flag: bool) -> Value | None:
    if text is None:
        return False if flag else 0
    if text in ("true", "false"):
        return text == "true" if flag else int(text == "true")
    literal = _LITERAL.fullmatch(text)
    if literal is None:
        return None
    digits = literal[1]
    value = int(digits, 16) if "x" in digits.lower() else int(digits, 8 if re.fullmatch(r"-?0[0-7]+", digits) else 10)
    return bool(value) if flag else value
