"""Values that documents of runs are made of. Sums and quotients of any of them are finite."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import ConfigDict, Field

STRICT: Final = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)
"""The configuration of each part of a document: no value changes its type, and keys of other versions stay."""

_LARGEST: Final = 2**64 - 1

Number = Annotated[float, Field(ge=-_LARGEST, le=_LARGEST)]
Count = Annotated[int, Field(ge=0, le=_LARGEST)]
