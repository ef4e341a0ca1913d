"""The compiled core, `dumbbell._core`, as one imports it.

Its functions are typed by `_core.pyi`, which `make generate` writes.
"""

from __future__ import annotations

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
            except (ImportError, AttributeError):
                why = f"dumbbell._core has no {name}"
                raise RunFailed("the compiled core is missing, or older than this package", why, rebuild()) from None

    core = _Core()

__all__ = ["core"]
