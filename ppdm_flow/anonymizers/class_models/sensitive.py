"""The values of a sensitive column as codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Nulls
from ppdm_flow.tables.column import MISSING, SPECIALS
from ppdm_flow.tables.counts import Counts

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Sensitive:
    """``codes`` (combinations,) of one attribute below ``size``; ``place`` is the code of each value."""

    name: str
    codes: Codes
    size: int
    place: Mapping[str, int]


def dense(counts: Counts, name: str, nulls: Nulls) -> Sensitive:
    """Return an attribute's values after the two marks: suppressed and missing cells are values too.

    Raises PluginError where the null semantics leave out rows that the search would count.
    """
    codes = counts.of(name)
    if nulls is Nulls.EXCLUDE and (codes[counts.counts > 0] == MISSING).any():
        text = f"the column `{name}` has missing values, which `nulls: exclude` leaves out of every class"
        raise PluginError(Diagnostic("PPF807", text, help="`incomplete_rows: drop` drops them"))
    names = counts.names(name).to_pylist()
    place = {value: i + SPECIALS for i, value in enumerate(names)}
    return Sensitive(name, np.ascontiguousarray(codes + np.int32(SPECIALS)), len(names) + SPECIALS, place)
