"""The kinds of sensitive values, level by level, and the classes that hold one kind alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.inference.holdings import Holdings, holdings
from ppdm_flow.audits.labels.released import hierarchy_of
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.hierarchies.ladder import ancestors
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]

_UNPLACED = ("PPF786", "PPF787", "PPF789")


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """``held`` are the values of each class; ``levels[l]`` (values,) the number of each value's kind on level l + 1."""

    held: Holdings
    levels: tuple[Integers, ...]

    def alike(self, level: int) -> Truths:
        """Return which classes hold values of one kind only, on a level from 1 on; 0: one value only."""
        if level == 0:
            return self.held.certain()
        kind = self.levels[level - 1][self.held.codes]
        least = np.full(len(self.held.sizes), np.iinfo(np.int64).max)
        most = np.full(len(self.held.sizes), -1)
        np.minimum.at(least, self.held.group, kind)
        np.maximum.at(most, self.held.group, kind)
        found: Truths = (self.held.blank == 0) & (least == most)
        return found

    def rows(self, level: int) -> int:
        """Return the rows in these classes."""
        return self.held.rows_of(self.alike(level))

    def by_chance(self, level: int) -> float | None:
        """Return the share of the rows that would be there if the values were dealt to the rows at random."""
        kind = self.levels[level - 1][self.held.codes] if level else self.held.codes
        held = self.held
        dealt = Holdings(held.group, kind, held.rows, held.rank, held.sizes, held.blank, held.names)
        return dealt.certain_by_chance()


def kinds(candidate: DataView, columns: Sequence[str], secret: str, ctx: AuditContext) -> Kinds | None:
    """Return the kinds of a secret, None where no hierarchy tells any. Raises PluginError for an unusable file."""
    own = hierarchy_of(secret, ctx)
    if own is None:
        return None
    held = holdings(candidate, columns, secret)
    used = np.unique(held.codes)
    try:
        above = ancestors(secret, own, held.names.take(used).to_pylist(), ctx.home)
    except PluginError as fault:
        if fault.diagnostics[0].code in _UNPLACED:  # released values are labels themselves, or others
            return None
        raise
    levels = []
    for labels in zip(*above, strict=True):
        number = {label: i for i, label in enumerate(dict.fromkeys(labels))}
        level = np.zeros(len(held.names), dtype=np.int64)
        level[used] = [number[label] for label in labels]
        levels.append(level)
    return Kinds(held, tuple(levels)) if levels else None
