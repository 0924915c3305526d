"""What a release holds against what a test expects of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ppdm_flow.core.requirement import TOLERANCE, within
from ppdm_flow.engine.run.scratch_run import CandidateContents as Held
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.test import ExpectedContents, ExpectedFigure, ExpectedNames, ExpectedSuppression


def meets(figure: ExpectedFigure, value: float | None) -> bool:
    """Whether a measured figure is as expected; one that does not exist never is."""
    if value is None:
        return False
    if figure.equals is not None:
        slack = TOLERANCE * max(1.0, abs(figure.equals)) if figure.tolerance is None else figure.tolerance
        return abs(value - figure.equals) <= slack + TOLERANCE * max(1.0, abs(figure.equals))
    low = figure.min is None or within(value, figure.min, at_most=False)
    return low and (figure.max is None or within(value, figure.max, at_most=True))


def bounds(figure: ExpectedFigure) -> str:
    """Say what is expected: ``4``, ``at least 1 and at most 4``."""
    if figure.equals is not None:
        return number(figure.equals) + (f" ± {number(figure.tolerance)}" if figure.tolerance else "")
    low = f"at least {number(figure.min)}" if figure.min is not None else ""
    high = f"at most {number(figure.max)}" if figure.max is not None else ""
    return f"{low} and {high}" if low and high else low or high


def number(value: float) -> str:
    """Write a figure as a reader wants it: whole ones whole, others with six digits."""
    integral = float(value).is_integer() and abs(value) < 1e15
    return f"{int(value)}" if integral else f"{value:.6g}"


def listing(names: Iterable[str], limit: int = 8) -> str:
    """Return names in a row, each once."""
    every = list(dict.fromkeys(names))
    more = f" and {len(every) - limit} more" if len(every) > limit else ""
    return ", ".join(every[:limit]) + more


Difference = tuple[str, PolicyPath, str | None]
"""What is different, the place below the expected contents, and a word beside the caret."""


@dataclass(frozen=True, slots=True)
class ContentsCheck:
    """``shown`` says that the data stands in the test file: then values that it does not name may be told."""

    shown: bool

    def differences(self, wanted: ExpectedContents, held: Held) -> Iterator[Difference]:
        """Yield every difference."""
        if wanted.rows is not None and not meets(wanted.rows, held.rows):
            yield f"{held.rows} rows, and expected are {bounds(wanted.rows)}", ("rows",), f"{held.rows}"
        if wanted.columns is not None:
            yield from self._names("column", wanted.columns, held.columns, ("columns",), show_values=True)
        for column, some in wanted.released_values.items():
            path = ("released_values", column)
            if column not in held.values:
                yield f"the release has no column `{column}`", path, None
            else:
                yield from self._names("value", some, held.values[column], path, show_values=self.shown)
        for column, hidden in wanted.suppressed.items():
            yield from _hidden(column, hidden, held)

    def _names(
        self, noun: str, some: ExpectedNames, present: Iterable[str], path: PolicyPath, *, show_values: bool
    ) -> Iterator[Difference]:
        there = set(present)
        for key in ("exactly", "include"):
            for number, each in enumerate(getattr(some, key) or ()):
                if each not in there:
                    yield f"{noun} `{each}` is not in the release", (*path, key, str(number)), None
        if some.exactly is not None and (more := sorted(there - set(some.exactly))):
            names = listing(f"`{each}`" for each in more) if show_values else f"{len(more)} more"
            yield f"the release has {noun}s that are not expected: {names}", (*path, "exactly"), None
        for number, each in enumerate(some.exclude):
            if each in there:
                yield f"{noun} `{each}` is in the release", (*path, "exclude", str(number)), None


def _hidden(column: str, wanted: ExpectedSuppression, held: Held) -> Iterator[Difference]:
    path = ("suppressed", column)
    if column not in held.hidden:
        yield f"the release has no column `{column}`", path, None
        return
    counted = held.hidden[column]
    for key in ("somewhere", "everywhere", "nowhere"):
        for number, value in enumerate(getattr(wanted, key)):
            text = _misplaced(key, value, counted)
            if text:
                yield text, (*path, key, str(number)), None


def _misplaced(key: str, value: str, counted: Mapping[str, tuple[int, int]]) -> str | None:
    rows, gone = counted.get(value, (0, 0))
    if not rows:
        return f"the data has no row with `{value}`"
    if key == "somewhere":
        return None if gone else f"`{value}` is suppressed in none of its {rows} rows"
    if key == "everywhere":
        return None if gone == rows else f"`{value}` is suppressed in {gone} of its {rows} rows"
    return f"`{value}` is suppressed in {gone} of its {rows} rows" if gone else None
