"""Truncate ZIP codes: one map a column, over its distinct values (45 CFR 164.514(b)(2)(i)(B))."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.naming import require
from ppdm_flow.anonymizers.relabelled import relabelled, used_values
from ppdm_flow.anonymizers.truncate_zip_codes.spec import TruncateZipCodesParams
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.results import Figure
from ppdm_flow.requirements.safe_harbor.requirement import NO_AREA, areas
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.table import Table

OTHER = "***"
"""Replaces a value that is no ZIP code."""
_ZIP = re.compile(r"([0-9]{3})(?:[0-9]{2}(?:-?[0-9]{4})?|[*xX#]+)?")


class TruncateZipCodes:
    """Keeps three digits; missing and suppressed cells stay."""

    def __init__(self, params: TruncateZipCodesParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Count the values before and after. Raises PluginError where an attribute is not there."""
        require(self.params.attributes, data.schema.names, ctx.step)
        small = areas(self.params.small_areas)
        columns = {name: data.schema[name].numeric for name in self.params.columns(data.schema.names)}
        figures: dict[str, Figure] = {}
        for name, numeric in columns.items():
            values = data.domain(name).to_pylist()
            labels = [truncated(value, small, numeric=numeric) for value in values]
            figures[f"{name}.values_before"] = Figure(len(values), "values")
            figures[f"{name}.values_after"] = Figure(len(set(labels)), "values")
            figures[f"{name}.others"] = Figure(labels.count(OTHER), "values")
        return Fitted(ZipTransform(tuple(columns.items()), tuple(sorted(small))), figures)


@dataclass(frozen=True, slots=True)
class ZipTransform(DeterministicTransform):
    """``columns`` are (attribute, whether it holds numbers, which have lost their zeros); ``small`` the small areas."""

    columns: tuple[tuple[str, bool], ...]
    small: tuple[str, ...]

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Replace the values."""
        small = frozenset(self.small)
        changed = {}
        for name, numeric in self.columns:
            labels = [truncated(value, small, numeric=numeric) for value in used_values(part[name])]
            changed[name] = relabelled(part[name], labels)
        return part.replaced(changed)

    def describe(self) -> Mapping[str, Any]:
        """The attributes, and how many areas are small."""
        return {"attributes": [name for name, _ in self.columns], "small_areas": len(self.small)}


def truncated(value: str, small: frozenset[str], *, numeric: bool = False) -> str:
    """Return the first three digits of a ZIP code, 000 for a small area, and ``***`` for what is none.

    Examples
    --------
    >>> [truncated(z, frozenset({"036"})) for z in ("02139", "02139-4307", "03601", "021", "K1A 0B1")]
    ['021', '021', '000', '021', '***']
    >>> truncated("2139", frozenset(), numeric=True)
    '021'
    """
    text = value.strip()
    code = _ZIP.fullmatch(text.zfill(5) if numeric and text.isdigit() and len(text) < 6 else text)
    if code is None:
        return OTHER
    return NO_AREA if code[1] in small else code[1]
