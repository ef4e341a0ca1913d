"""A scenario of theirs was read in several ways: each reading is a part, and its runs judge the scenario's findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dumbbell.published.figures import Figures
from dumbbell.published.judging import NOT_RUN
from dumbbell.published.model import Judged, Studies
from dumbbell.published.recorded import every
from dumbbell.records.run import Run
from dumbbell.statistics.intervals import Interval

if TYPE_CHECKING:
    from dumbbell.studies import Study

CC: Final = "flows.0.cc"
KERNEL: Final = "emulate.kernel"
FLOW: Final = "f1"


@dataclass(frozen=True)
class Reading:
    """A part, and which of its kernels if it has several."""

    part: str
    name: str
    """`script`."""
    kernel: int | None = None
    """Index among the part's kernels: they have the names that the user gave them."""
    before_s: float = 0.0
    """Delay between the sender and the queue."""
    buffer_ms: float = 30.0
    """Time that the queue of scenario 2 holds, at the link's rate."""


class Cells:
    """The cells of a reading, one for each algorithm."""

    def __init__(self, study: Study, reading: Reading) -> None:
        self._study, self._figures = study, Figures(study)
        self.before_s, self.buffer_ms = reading.before_s, reading.buffer_ms
        kernels = self._figures.along(KERNEL)
        self._where = {} if reading.kernel is None else {KERNEL: kernels[reading.kernel]}

    @property
    def algorithms(self) -> list[str]:
        """In the study's order."""
        return self._figures.along(CC, self._where)

    def interval(self, metric: str, cc: str) -> Interval | None:
        """The mean over the usable runs of an algorithm; `None` if there is none."""
        return self._figures.interval(metric, None, self._of(cc))

    def intervals(self, metric: str) -> dict[str, Interval | None]:
        """Intervals of all algorithms."""
        return {cc: self.interval(metric, cc) for cc in self.algorithms}

    def runs(self, cc: str) -> Iterator[Run]:
        """The usable runs of an algorithm, with all their records."""
        return every(self._study, self._of(cc))

    def _of(self, cc: str) -> Mapping[str, Any]:
        return {CC: cc, **self._where}


def judged_by(reading: Reading, judge: Callable[[Cells], Judged]) -> Callable[[Studies], Judged]:
    """A finding's judge that looks at this reading."""
    return lambda studies: judge(Cells(studies[reading.part], reading)) if reading.part in studies else NOT_RUN
