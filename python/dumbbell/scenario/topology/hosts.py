"""Settings of hosts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from dumbbell.scenario.source import Key
from dumbbell.scenario.table import Table

SysctlKey = Annotated[str, Field(pattern=r"^net(\.[A-Za-z0-9_-]+)+$")]
SysctlValue = Annotated[
    str, BeforeValidator(lambda v: str(v) if type(v) is int else v, json_schema_input_type=str | int)
]
Sysctls = Annotated[
    dict[SysctlKey, SysctlValue],
    Field(description='Namespaced sysctls, e.g. { "net.ipv4.tcp_sack" = 0 }.'),
]


class HostSettings(Table):
    """Settings of one host."""

    sysctl: Sysctls = Field(default={})


class Hosts(BaseModel):
    """Settings of all hosts (`sysctl`), and tables for single hosts, which take precedence."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, HostSettings] = Field(init=False)

    sysctl: Sysctls = Field(default={})

    @property
    def single(self) -> dict[str, HostSettings]:
        """Settings by host."""
        return self.__pydantic_extra__

    @property
    def sysctls(self) -> list[tuple[Key, Mapping[str, str]]]:
        """The sysctls of all hosts, then those of single ones, which win; each table with its key."""
        single = self.__pydantic_extra__.items()
        return [(("hosts",), self.sysctl), *((("hosts", host), settings.sysctl) for host, settings in single)]
