"""The compiled core, `dumbbell._core`, as one imports it.

Its functions are typed by `_core.pyi`, which `make generate` writes.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell.command import rebuild
from dumbbell.errors import RunFailed

if TYPE_CHECKING:
    from dumbbell import _core as core
else:

    class _Core:
        """Looks names up when they are used: the package can be imported, and says what is wrong, without its core."""

        def __getattr__(self, name: str) -> Any:
            """The core's attribute `name`. Raises `RunFailed` if the core is not built, or older than this."""
            try:
                from dumbbell import _core

                return getattr(_core, name)
            except (ImportError, AttributeError) as error:
                closed = [file for file in Path(__file__).parent.glob("_core*.so") if not os.access(file, os.R_OK)]
                if closed:
                    what = "this user may not read the compiled core"
                    raise RunFailed(what, f"{closed[0]}: {error}", f"as its owner: chmod a+r {closed[0]}") from None
                why = f"dumbbell._core has no {name}"
                raise RunFailed("the compiled core is missing, or older than this package", why, rebuild()) from None

    core = _Core()

__all__ = ["core"]
