"""Set-valued columns: one set of items a row, in one of three forms that share a small interface.

Items are texts, coded by their position in ``categories``, the alphabet. Every form has ``__len__``, ``categories``,
``nbytes``, ``take`` (positions, a boolean mask or a slice), ``onto`` (the same sets over another alphabet) and
``compact`` (over an alphabet that tells nothing but what may be released).
"""

from __future__ import annotations

from ppdm_flow.tables.sets.baskets import Baskets, gathered
from ppdm_flow.tables.sets.forms import SetColumn, stacked
from ppdm_flow.tables.sets.packed import PackedSets
from ppdm_flow.tables.sets.seeded import Expansion, SeededSets

__all__ = ["Baskets", "Expansion", "PackedSets", "SeededSets", "SetColumn", "gathered", "stacked"]
