"""What the labels of a file say for a policy: what columns mean, and which values they can have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ppdm_flow.mining.profiling.table import Coded
from ppdm_flow.report.profile import ToldByFile
from ppdm_flow.sdk.storage import ColumnMeaning

_LONGEST = 200
_MOST = 100
_ENOUGH = 5


def told_by_file(
    meanings: Mapping[str, ColumnMeaning], coded: Mapping[str, Coded], missing: Sequence[str]
) -> Mapping[str, ToldByFile]:
    """Return description and domain by column.

    A domain holds the values that the file itself lists, and is there only where each value in the rows is one of them.
    Such lists can be made from the rows (in SPSS by AUTORECODE): so there is none where a value has fewer than 5 rows.
    Marks of ``missing`` values are no values.
    """
    told = {}
    for name, column in coded.items():
        meaning = meanings.get(name, ColumnMeaning())
        listed = [value for value in meaning.labels if value not in missing]
        whole = 1 < len(listed) <= _MOST and _all_listed(column, listed)
        told[name] = ToldByFile(" ".join(meaning.description.split())[:_LONGEST], listed if whole else ())
    return told


def _all_listed(column: Coded, listed: Sequence[str]) -> bool:
    codes, values = column
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    return bool((counts >= _ENOUGH).all()) and set(values.to_pylist()) <= set(listed)
