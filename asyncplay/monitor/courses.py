"""What became of some figures since the run began, in few values whatever its age."""

from collections.abc import Iterable, Mapping

from asyncplay.monitor.part import Part
from asyncplay.monitor.snapshot import HISTORY, Curve, Result


class Course:
    """The values of one figure: where there are many, means of equally many neighbours."""

    def __init__(self, most: int = HISTORY) -> None:
        """``most`` is even."""
        self._most, self._means = most, list[float]()
        self._stretch, self._sum, self._n_summed = 1, 0.0, 0  # values a mean is of, and those of the next one

    @property
    def values(self) -> tuple[float, ...]:
        """The last mean may be of fewer values."""
        rest = (self._sum / self._n_summed,) if self._n_summed else ()
        return (*self._means, *rest)[-self._most :]

    def add(self, value: float) -> None:
        self._sum, self._n_summed = self._sum + value, self._n_summed + 1
        if self._n_summed < self._stretch:
            return
        self._means.append(self._sum / self._stretch)
        self._sum, self._n_summed = 0.0, 0
        if len(self._means) == self._most:
            self._means = [(early + late) / 2 for early, late in zip(self._means[::2], self._means[1::2], strict=True)]
            self._stretch *= 2


class Courses:
    """The courses of the figures that have a curve, and of every strength that is measured."""

    def __init__(self) -> None:
        self._courses: dict[tuple[str, str], Course] = {}
        self._measured: dict[str, Result] = {}  # the last of each series

    def add(self, parts: Mapping[str, Part], results: Iterable[Result]) -> None:
        """Take note of what is shown now; a figure begins where it is not 0, a strength counts once."""
        for name, part in parts.items():
            for key, figure in part.FIGURES.items():
                course, value = (name, figure.label), float(getattr(part, key)) if figure.has_curve else 0.0
                if figure.has_curve and (value or course in self._courses):
                    self._courses.setdefault(course, Course()).add(value)
        for result in results:
            if self._measured.get(result.series) != result:
                self._measured[result.series] = result
                self._courses.setdefault(("strength", result.series), Course()).add(result.value)

    def curves(self) -> tuple[Curve, ...]:
        return tuple(Curve(part, name, course.values) for (part, name), course in self._courses.items())
