"""What a class of rows must keep: any step that makes classes then enforces it."""

from __future__ import annotations

from ppdm_flow.mining.recoding.models import KAnonymous
from ppdm_flow.requirements.l_diversity.algorithm import DistinctDiverse


def models(asked, columns):
    values = [DistinctDiverse(columns.place(name), float(asked.p)) for name in asked.sensitive]
    return [KAnonymous(asked.k), *values]
