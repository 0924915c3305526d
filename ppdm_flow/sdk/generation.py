"""Generated rows beside what they were learned from: they belong to nobody, but may repeat rows that somebody has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.view import PairedView
from ppdm_flow.tables.table import Table


@dataclass(frozen=True, slots=True)
class Generation:
    """The last generator on the way to a release.

    ``made`` has its rows beside the released ones, ``source`` the source's rows beside those that it read; None where
    that were generated rows too. It did not learn from the ``holdout``. ``inputs`` and ``outputs`` are the columns that
    it read and made. ``weight`` is the source's column of weights, where rows still have one.
    """

    made: PairedView
    source: PairedView | None
    inputs: Mapping[str, AttributeFacts]
    outputs: Mapping[str, AttributeFacts]
    holdout: Holdout | None = None
    weight: str | None = None

    def learned(self, source: Sequence[str], inputs: Sequence[str]) -> Iterator[tuple[Table, Table]]:
        """Yield what it learned from: rows of the source with these columns, and what became of them on the way."""
        if self.source is None:
            return
        for left, right in self.source.pairs(source, inputs):
            if self.holdout is None:
                yield left, right
            else:
                kept = ~self.holdout.held_out(right.rows)
                yield left.take(kept), right.take(kept)
