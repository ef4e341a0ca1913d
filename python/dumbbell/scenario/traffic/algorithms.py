"""The key `cc`: the congestion control of a flow."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapSerializer,
    WrapValidator,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from dumbbell.cc.bundled import BUNDLED, SIMULATED
from dumbbell.cc.source import LINKED_SUFFIX, SUFFIXES, Program, SourceError, read, read_linked
from dumbbell.frozen import dataclass
from dumbbell.hints import nearest
from dumbbell.scenario.table import Table, shorthand
from dumbbell.scenario.traces import FOLDER
from dumbbell.units import QuantityError

_NAME: Final = r"^[A-Za-z0-9_.-]{1,15}$"
_EXAMPLE: Final = 'write cc = "bbr3", or cc = "my_cc.bpf.c"'
_EXPECTED: Final = "a congestion control's name, a BPF program's path, or a table with one of name, bpf, kernel"


@dataclass(frozen=True)
class ProgramFile:
    """A user's program, by the path that the scenario gives it."""

    name: str
    program: Program

    kind: ClassVar[str] = "a BPF program"
    example: ClassVar[str] = '{ bpf = "my_cc.bpf.c" }'
    suffixes: ClassVar[tuple[str, ...]] = SUFFIXES

    @staticmethod
    def opened(path: Path) -> Program:
        """The program at `path`."""
        return read(path)

    @classmethod
    def read(cls, value: object, info: ValidationInfo) -> ProgramFile:
        """Read the file that `value` names; one that was read passes unchanged. Raises `QuantityError`."""
        if isinstance(value, cls):
            return value
        expected = f"the path of {cls.kind}, relative to the scenario file"
        if not isinstance(value, str) or not value.strip():
            raise QuantityError("not a path", expected, f"write cc = {cls.example}")
        path = Path((info.context or {}).get(FOLDER, ".")).joinpath(value)
        try:
            return cls(value, cls.opened(path))
        except SourceError as error:
            raise QuantityError(error.wrong, error.expected or expected, error.hint) from None
        except (OSError, ValueError) as error:  # ValueError: a null byte in the name
            why = (getattr(error, "strerror", None) or str(error)).lower()
            raise QuantityError(f"cannot read it: {why}", expected, _nearby(path, cls.suffixes)) from None

    def __str__(self) -> str:
        """The name in the scenario."""
        return self.name

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Read on validation, the name alone on serialisation to JSON."""
        name = core_schema.plain_serializer_function_ser_schema(str, when_used="json")
        return core_schema.with_info_plain_validator_function(cls.read, serialization=name)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """A path."""
        return {"type": "string", "pattern": r"\.bpf\.[co]$", "examples": ["my_cc.bpf.c"]}


class LinkedFile(ProgramFile):
    """A user's program that is linked to a kernel in virtual time, by the path that the scenario gives it."""

    kind = "a source in C"
    example = '{ kernel = "my_cc.c" }'
    suffixes = (LINKED_SUFFIX,)

    @staticmethod
    def opened(path: Path) -> Program:
        """The program at `path`."""
        return read_linked(path)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """A path."""
        return {"type": "string", "pattern": r"\.c$", "examples": ["my_cc.c"]}


def _own_or_linked(value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """A name of the kernel's, unless it is that of a file."""
    if isinstance(value, LinkedFile) or (isinstance(value, str) and value.endswith(LINKED_SUFFIX)):
        return LinkedFile.read(value, info)
    return handler(value)


def _nearby(path: Path, suffixes: tuple[str, ...]) -> str:
    """The files beside a missing program."""
    try:
        there = sorted(file.name for file in path.parent.iterdir() if file.name.endswith(suffixes))
    except (OSError, ValueError):
        there = []
    return f"there is {', '.join(there[:5])}" if there else ""


def _name(value: Any) -> Any:
    if not isinstance(value, str):
        raise QuantityError("not a name", _EXPECTED, _EXAMPLE)
    if value.endswith((".c", ".o")):
        key = "kernel" if value.endswith(LINKED_SUFFIX) else "bpf"
        raise QuantityError("not a name", _EXPECTED, f'for a file, write cc = {{ {key} = "{value}" }}')
    if not re.fullmatch(_NAME, value):
        raise QuantityError("not a name", "at most 15 letters, digits, _, - and .", _EXAMPLE)
    return value


def _parameter(value: Any) -> Any:
    """Integers and flags only: BPF programs know nothing else."""
    if not isinstance(value, int):
        raise QuantityError(
            "not a parameter's value", "an integer, true or false, without quotes", "write 200, or true"
        )
    if not -(1 << 63) <= value < 1 << 63:
        raise QuantityError("too large", "an integer of 64 bits", "write 200, or true")
    return value


Name = Annotated[str, BeforeValidator(_name), Field(json_schema_extra={"pattern": _NAME})]
KernelsOrFile = Annotated[Name | LinkedFile, WrapValidator(_own_or_linked)]
ParameterValue = Annotated[Any, BeforeValidator(_parameter, json_schema_input_type=int | bool)]


def _one_of(schema: dict[str, Any]) -> None:
    schema["oneOf"] = [{"required": [key]} for key in ("name", "bpf", "kernel")]


class Algorithm(Table):
    """A congestion control."""

    model_config = ConfigDict(json_schema_extra=_one_of)

    name: Name | None = Field(
        default=None,
        description=f"One that comes with dumbbell ({', '.join(BUNDLED)}), or else the kernel's.",
        examples=["bbr3"],
    )
    bpf: ProgramFile | None = Field(
        default=None,
        description="Your own BPF program, `my_cc.bpf.c` or `my_cc.bpf.o`; the path begins in the scenario's folder.",
    )
    kernel: KernelsOrFile | None = Field(
        default=None,
        description="The kernel's algorithm, even if dumbbell has one of this name; or your own source (`my_cc.c`) "
        "for a kernel in virtual time.",
        examples=["bbr3", "my_cc.c"],
    )
    parameters: dict[str, ParameterValue] = Field(
        default={},
        description="Values by name: integers, true or false. The kernel's own take none.",
    )

    @property
    def bundled(self) -> str | None:
        """The bundled algorithm, if it is one."""
        return self.name if self.name in BUNDLED else None

    @property
    def own(self) -> str | None:
        """The kernel's algorithm, if it is one."""
        if self.kernel is not None:
            return None if isinstance(self.kernel, LinkedFile) else self.kernel
        return None if self.name in BUNDLED else self.name

    @property
    def linked(self) -> LinkedFile | None:
        """The user's source that is linked to a kernel, if it is one."""
        return self.kernel if isinstance(self.kernel, LinkedFile) else None

    @property
    def file(self) -> ProgramFile | None:
        """The user's program, if it is one."""
        return self.bpf or self.linked

    @property
    def needs_ecn(self) -> bool:
        """True if the algorithm negotiates ECN whatever the host's setting."""
        if self.file is not None:
            return self.file.program.needs_ecn
        known = SIMULATED.get(self.own or "") or BUNDLED.get(self.bundled or "")
        return known is not None and known.needs_ecn

    def __str__(self) -> str:
        """The name in the scenario."""
        return str(self.bpf or self.kernel or self.name)

    @model_validator(mode="after")
    def _check(self) -> Algorithm:
        given = [key for key in ("name", "bpf", "kernel") if getattr(self, key) is not None]
        if len(given) != 1:
            raise QuantityError(" and ".join(given) or "names no congestion control", _EXPECTED, _EXAMPLE)
        if self.parameters and self.own is not None:
            hint = nearest(self.own, BUNDLED)
            expected = f"one of {', '.join(BUNDLED)}, or a BPF program of your own"
            raise QuantityError(f"{self.own} is the kernel's and takes no parameters", expected, hint)
        return self


def is_program(value: object) -> bool:
    """True for a text that names a program wherever a congestion control may be named: `cc = "my_cc.bpf.c"`."""
    return isinstance(value, str) and value.endswith(SUFFIXES)


def _short(value: Any) -> Any:
    if not isinstance(value, str | dict | Algorithm):
        raise QuantityError("not a congestion control", _EXPECTED, _EXAMPLE)
    return shorthand("bpf" if is_program(value) else "name", value)


def _dump(value: Algorithm | None, handler: SerializerFunctionWrapHandler) -> Any:
    return value.name if value is not None and value.model_fields_set == {"name"} else handler(value)


Cc = Annotated[
    Algorithm,
    BeforeValidator(_short, json_schema_input_type=Name | ProgramFile | Algorithm),
    WrapSerializer(_dump, when_used="json"),
]
