"""Keeps matplotlib from the settings in the working directory, which may be a stranger's.

Matplotlib reads `matplotlibrc` there as it is imported, before the user's own one. Such a file may start LaTeX on a
text of its author's, and one that is a pipe would stop us for ever.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Final

_NAME: Final = "matplotlibrc"


class _Finder:
    """Finds matplotlib, and hides the file while matplotlib is executed."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != "matplotlib":
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute, exists = spec.loader.exec_module, os.path.exists

            def hidden(module: ModuleType) -> None:
                os.path.exists = lambda path: path != _NAME and exists(path)
                try:
                    execute(module)
                finally:
                    os.path.exists = exists

            spec.loader.exec_module = hidden  # type: ignore[method-assign]
        return spec


def ignore() -> None:
    """Let matplotlib, which is not imported yet, pass over the file."""
    sys.meta_path.insert(0, _Finder())
