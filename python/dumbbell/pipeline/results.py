"""A finished run: its records, its report and its figures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell import records
from dumbbell.report import figure, write_html

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Run(records.Run):
    """One run on disk, as `dumbbell.run` returns it: the records that `records.Run` reads, with a report and a plot."""

    def report(self) -> Path:
        """Path of the HTML report, which is written now if there is none yet."""
        path = self.directory / "report.html"
        if not path.exists():
            write_html(self, path)
        return path

    def plot(self) -> Figure:
        """The run's plots on one time axis, as a matplotlib figure, which a notebook shows."""
        return figure(self)

    def _repr_html_(self) -> str:
        """The verdict with its reasons, and the flows, for a notebook."""
        from dumbbell.report.render.notebook import of_run

        return of_run(self)


def open(directory: str | os.PathLike[str], incomplete: bool = False) -> Run:
    """Open the run in `directory`; see `records.Run`."""
    return Run(directory, incomplete)
