"""Estimates of original counts, and their JSON and CSV forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.texts import json_text
from ppdm_flow.mining.reconstruction.estimate import Method, ReconstructedGroups, Reconstruction, too_small
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.matrix_operator import MatrixOperator

BASIS = "the fixed original values of the released rows; the randomization alone is random"
BASIS_OF_PEOPLE = (
    "the fixed original values of the released rows, which are counted, not people; the errors are those of rows that"
    " are drawn one by one: rows of one person with an equal value were drawn together, so true errors are larger"
)
FIGURES = ("released", "estimate", "unbiased", "standard_error", "low", "high")


@dataclass(frozen=True, slots=True, eq=False)
class ReconstructedCounts:
    """Estimates for each group (one, with the key ``()``, where nothing was grouped by) and each value."""

    file: str
    operator: ValueOperator
    where: Mapping[str, tuple[str, ...]]
    method: Method
    level: float
    groups: ReconstructedGroups
    reconstruction: Reconstruction
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def small(self) -> tuple[bool, ...]:
        """Which groups say little."""
        return tuple(too_small(self.reconstruction).tolist())

    @property
    def solved_directly(self) -> bool:
        """Whether the iteration was begun at its end: that has a closed form for the fine-grain operator alone."""
        return not isinstance(self.operator, MatrixOperator)

    def document(self, form: str) -> str:
        """Return the estimates as ``json`` (numbers in full, null for what is not known) or ``csv``."""
        return as_json(self) if form == "json" else as_csv(self)


def as_json(answer: ReconstructedCounts) -> str:
    """Return the JSON form: numbers in full, null for what is not known."""
    groups = answer.reconstruction
    document = {
        "version": 1,
        "file": answer.file,
        "attribute": answer.operator.attribute,
        "where": {name: list(values) for name, values in answer.where.items()},
        "by": list(answer.groups.columns),
        "method": answer.method,
        "level": answer.level,
        "basis": BASIS if answer.operator.per_person is None else BASIS_OF_PEOPLE,
        "alike": [answer.operator.domain[i] for i in groups.alike.tolist()],
        "groups": list(_groups(answer)),
    }
    return json_text(document)


def as_csv(answer: ReconstructedCounts) -> str:
    """Return one line for each group and value; an empty cell without quotes is a missing value."""
    by = answer.groups.columns
    head = [*by, "value", *FIGURES, "alike", "rows", "small"]
    lines = [",".join(cell(name) for name in head)]
    alike = np.isin(np.arange(answer.operator.size), answer.reconstruction.alike).tolist()
    values = [cell(value) for value in answer.operator.domain]
    for key, rows, small, figures in _rows(answer):
        before = "".join(f"{cell(text)}," for text in key)
        for value, same, numbers in zip(values, alike, figures, strict=True):
            written = ",".join("" if n is None else f"{n:.10g}" for n in numbers)
            lines.append(f"{before}{value},{written},{_yes(same)},{rows},{_yes(small)}")
    return "\n".join(lines)


def cell(text: str | None) -> str:
    """Return a CSV cell: nothing for a missing value, quotes where they are needed."""
    if text is None:
        return ""
    quoted = not text or any(mark in text for mark in ',"\r\n') or text != text.strip()
    return '"' + text.replace('"', '""') + '"' if quoted else text


def _groups(answer: ReconstructedCounts) -> Iterator[dict[str, Any]]:
    groups, domain = answer.reconstruction, answer.operator.domain
    for number, (key, rows, small, figures) in enumerate(_rows(answer)):
        entry: dict[str, Any] = {"key": dict(zip(answer.groups.columns, key, strict=True)), "rows": rows}
        entry["small"] = small
        if groups.rounds is not None and groups.gap is not None and groups.converged is not None:
            entry["rounds"] = int(groups.rounds[number])
            entry["log_likelihood_gap"] = float(groups.gap[number])
            entry["converged"] = bool(groups.converged[number])
        if groups.together is not None:
            sums = groups.together
            arrays = (sums.released, sums.estimate, sums.unbiased, sums.error, sums.low, sums.high)
            entry["together"] = dict(zip(FIGURES, (float(a[number]) for a in arrays), strict=True))
        entry["values"] = [
            {"value": value, **dict(zip(FIGURES, numbers, strict=True))}
            for value, numbers in zip(domain, figures, strict=True)
        ]
        yield entry


def _rows(
    answer: ReconstructedCounts,
) -> Iterator[tuple[tuple[str | None, ...], int, bool, list[Sequence[float | None]]]]:
    groups = answer.reconstruction
    small = answer.small
    for number, key in enumerate(answer.groups.keys):
        arrays = (groups.released, groups.estimate, groups.unbiased, groups.error, groups.low, groups.high)
        table = np.stack([array[number] for array in arrays], axis=1).tolist()
        figures = [[None if n != n else n for n in numbers] for numbers in table]  # NaN is not equal to itself
        yield key, int(groups.total[number]), small[number], [[int(n[0] or 0), *n[1:]] for n in figures]


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"
