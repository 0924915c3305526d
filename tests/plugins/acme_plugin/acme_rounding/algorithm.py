"""Random rounding: x becomes a neighbouring multiple of the base, the nearer one more likely."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ppdm_flow.plugins import Column, Diagnostic, Fitted, PluginError


class Rounding:
    def __init__(self, params):
        self.params = params

    def fit(self, data, ctx):
        whole_numbers(data.domain(self.params.attribute), self.params.attribute)
        return Fitted(RoundingTransform(self.params.attribute, self.params.base))


@dataclass(frozen=True)
class RoundingTransform:
    attribute: str
    base: int
    draws_per_row: int = 1

    def apply(self, part, draws):
        column = part[self.attribute].compact()
        numbers = whole_numbers(column.categories, self.attribute)
        low = numbers // self.base
        multiples = np.unique(np.concatenate([low, low + 1]))
        below = np.searchsorted(multiples, low)
        share = (numbers - low * self.base) / self.base
        present = column.codes >= 0
        cells = column.codes[present]
        up = draws.uniform(part.rows)[present, 0] < share[cells]
        codes = column.codes.copy()
        codes[present] = below[cells] + up
        names = pa.array([str(m * self.base) for m in multiples.tolist()], pa.string())
        return part.replaced({self.attribute: Column(codes, names)})

    def describe(self):
        return {"attribute": self.attribute, "base": self.base}


def whole_numbers(names, column):
    try:
        return names.cast(pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        raise PluginError(Diagnostic("ACME2", f"the column `{column}` has a value that is not a whole number")) from None
