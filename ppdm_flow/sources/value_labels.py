"""Value labels of statistical files: whether each code keeps a text of its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from ppdm_flow.core.errors import DataError
from ppdm_flow.sources.faults import fault

Labels = Literal["values", "codes"]
_HELP = "`source: {with: {labels: codes}}` reads the codes as they are"


def labels_of(
    column: str, declared: Mapping[Any, str], ranges: Sequence[Mapping[str, Any]], *, numeric: bool
) -> dict[float | str, str]:
    """Return the label of each code that a cell can have. Raises DataError where two codes have one label."""
    labels = valid_labels(declared, ranges, numeric=numeric)
    if len(set(labels.values())) < len(labels):
        text = f"column `{column}`: two codes have one label, so labels would not tell them apart"
        raise fault("PPF676", text, help=_HELP)
    return labels


def valid_labels(
    declared: Mapping[Any, str], ranges: Sequence[Mapping[str, Any]], *, numeric: bool
) -> dict[float | str, str]:
    """Return the label of each code that a cell can have; blank labels are none.

    Codes in ``ranges`` mean missing values.
    """
    labels: dict[float | str, str] = {}
    for code, label in declared.items():
        if numeric == isinstance(code, str) or not label.strip() or _is_missing(code, ranges):
            continue
        labels[float(code) if numeric else code] = label
    return labels


def ambiguous(column: str) -> DataError:
    """Say that a code without a label is written like the label of another."""
    text = f"column `{column}`: a code without a label is written like the label of another code"
    return fault("PPF676", text, help=_HELP)


def _is_missing(code: object, ranges: Collection[Mapping[str, Any]]) -> bool:
    return any(_between(code, each) for each in ranges)


def _between(code: Any, bounds: Mapping[str, Any]) -> bool:
    if isinstance(code, str) != isinstance(bounds["lo"], str):
        return False
    return bool(bounds["lo"] <= code <= bounds["hi"])
