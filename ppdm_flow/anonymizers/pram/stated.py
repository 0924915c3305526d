"""A transition matrix as a policy or a file states it: what can be wrong with it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import read_definition
from ppdm_flow.core.errors import PluginError

UNUSABLE = "PPF885"

SUPPRESSED = "⊥"
_SUMS = 1e-6
"""How far the probabilities of a row may be from 1 together: thirds are written with six digits."""

Rows = Mapping[str, Mapping[str, float]]
"""By original value: the released values, each with its probability; what is not there has none."""


def faults(rows: Rows, domain: Sequence[str] | None, most: int) -> Iterator[tuple[str, str | None]]:
    """Yield what is wrong, without naming a value, and the row that it is about.

    ``domain`` are the declared values, of which each needs a row; ``most`` is how many rows there may be.
    """
    if len(rows) > most:
        yield f"the matrix has {len(rows):,} values, and at most {most:,} can be used", None
    for value, row in rows.items():
        if SUPPRESSED in (value, *row):
            yield f"`{SUPPRESSED}` stands for a suppressed cell and cannot be a value of the matrix", value
        if any(not 0.0 <= p <= 1.0 for p in row.values()):
            yield "a probability of this row lies outside of [0, 1]", value
        elif abs(sum(row.values()) - 1.0) > _SUMS:
            yield f"the probabilities of this row sum to {sum(row.values()):.7g}, not to 1", value
        if any(released not in rows for released in row):
            yield "this row releases a value that has no row of its own", value
        if domain is not None and value not in domain:
            yield "this row is about a value that the attribute's `domain` does not have", value
    lacking = [v for v in domain or () if v not in rows]
    if lacking:
        yield f"values of the attribute's `domain` without a row: {len(lacking)} of {len(domain or ())}", None


def read_matrix(path: Path, delimiter: str) -> Rows:
    """Read lines ``original,released,probability`` from a CSV file in UTF-8 without a header.

    Raises PluginError with the number of the first line that is none.
    """
    rows: dict[str, dict[str, float]] = {}
    try:
        stream = io.StringIO(read_definition(path).decode("utf-8-sig"), newline="")
        for number, fields in enumerate(csv.reader(stream, delimiter=delimiter, strict=True), start=1):
            if fields:
                _add(rows, fields, f"{path.name}, line {number}")
    except OSError as error:
        raise unusable(f"{path.name} cannot be read: {error.strerror or 'no reason given'}") from None
    except UnicodeDecodeError:
        raise unusable(f"{path.name} is not UTF-8 text") from None
    except csv.Error:
        raise unusable(f"{path.name} is not a CSV file") from None
    if not rows:
        raise unusable(f"{path.name} has no line")
    return rows


def _add(rows: dict[str, dict[str, float]], fields: list[str], place: str) -> None:
    if len(fields) != 3:  # original, released, probability
        raise unusable(f"{place}: {len(fields)} fields instead of the three `original,released,probability`")
    original, released, text = fields
    try:
        probability = float(text)
    except ValueError:
        raise unusable(f"{place}: the third field is not a number") from None
    row = rows.setdefault(original, {})
    if released in row:
        raise unusable(f"{place}: this pair of values stands in an earlier line already")
    row[released] = probability


def unusable(message: str) -> PluginError:
    """Return the error for a matrix that cannot be used."""
    return PluginError(Diagnostic(UNUSABLE, message))
