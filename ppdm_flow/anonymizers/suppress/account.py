"""What the step tells: cells and rows that are suppressed, and the classes that are left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.suppress.transform import RareCells
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Chart, Figure, FigureSeries, Finding
from ppdm_flow.mining.local_recoding.suppression import Suppression, people_in
from ppdm_flow.mining.recoding.kernels import keyed

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SuppressionAccount:
    """``dense`` (combinations, attributes) before classes were looked at, of ``weights`` rows each, and what came.

    ``persons`` (combinations,): where people count, whose row each is; ``further`` rows were left out since their
    people would stand out.
    """

    names: tuple[str, ...]
    dense: Ints
    weights: Ints
    suppression: Suppression
    persons: Ints | None = None
    further: int = 0

    @property
    def rows(self) -> int:
        """All rows."""
        return int(self.weights.sum())

    @property
    def holes(self) -> Ints:
        """The cells of each attribute that classes cost, in rows that stay."""
        new = (self.suppression.codes == 0) & (self.dense != 0) & ~self.suppression.lost[:, None]
        return np.asarray((new * self.weights[:, None]).sum(axis=0))

    def sizes(self) -> Ints:
        """Return the rows of each released class."""
        stay = ~self.suppression.lost
        _, ids = np.unique(keyed(self.suppression.codes[stay]), return_inverse=True)
        return np.bincount(ids, self.weights[stay]).astype(np.int64)

    def fewest_people(self) -> int | None:
        """Return the people of the smallest released class; None for none."""
        stay = ~self.suppression.lost
        if self.persons is None or not stay.any():
            return None
        _, ids = np.unique(keyed(self.suppression.codes[stay]), return_inverse=True)
        return int(people_in(ids.astype(np.int64), int(ids.max()) + 1, self.persons[stay]).min())


def figures(account: SuppressionAccount, rare: Mapping[str, int]) -> dict[str, Figure]:
    """Return how much is suppressed, for which reason, and how large the classes are."""
    out = {f"{name}.rare_cells": Figure(rows, "cells") for name, rows in rare.items()}
    if not account.names:
        return out
    rows, lost = account.rows, int(account.weights[account.suppression.lost].sum())
    holes, sizes = account.holes, account.sizes()
    cells = max(1, rows * len(account.names))
    empty = "" if len(sizes) else "no row is left"
    out |= {
        "rows_at_risk": Figure(int(account.weights[account.suppression.risky].sum()), "rows"),
        "suppressed_cells": Figure(int(holes.sum()), "cells"),
        "suppressed_rows": Figure(lost, "rows"),
        "suppressed_share": Figure(lost / max(1, rows), "share"),
        "ncp": Figure((int(holes.sum()) + lost * len(account.names)) / cells, "share", note=_ALSO),
        "classes": Figure(len(sizes), "classes"),
        "smallest_class": Figure(int(sizes.min()) if len(sizes) else None, "rows", note=empty),
        "average_class_size": Figure(float(sizes.mean()) if len(sizes) else None, "rows", note=empty),
        "discernibility": Figure(float((sizes.astype(np.float64) ** 2).sum() + lost * float(rows)), "squared rows"),
    }
    if account.persons is not None:
        out["fewest_people"] = Figure(account.fewest_people(), "people", note=empty)
        out["standing_out_rows"] = Figure(account.further, "rows")
    each = zip(account.names, holes.tolist(), strict=True)
    return out | {f"{name}.suppressed_cells": Figure(int(n), "cells") for name, n in each}


_ALSO = "cells that classes cost; rare values are counted apart"


def findings(
    step: str, cells: Sequence[RareCells], account: SuppressionAccount, *, wanted: bool
) -> tuple[Finding, ...]:
    """Say what was lost beyond what was asked for; ``wanted``: rows were to be dropped."""
    texts = []
    joined = [f"`{c.name}`" for c in cells if c.joined]
    if joined:
        text = f"`{step}` suppressed the missing cells of {', '.join(joined)}"
        texts.append(Finding("PPF739", Severity.WARNING, text, step))
    lost = int(account.weights[account.suppression.lost].sum()) - account.further
    if lost and not wanted:
        text = f"`{step}` dropped {lost:,} rows: with all their cells suppressed they would still be a class below k"
        texts.append(Finding("PPF884", Severity.WARNING, text, step))
    return tuple(texts)


def charts(step: str, account: SuppressionAccount) -> tuple[Chart, ...]:
    """Show the cells of each attribute that classes cost."""
    holes = account.holes
    if not holes.sum():
        return ()
    return (
        Chart(
            id="suppressed_cells",
            title=f"Step {step}: cells that small classes cost",
            kind="bars",
            x=account.names,
            series=(FigureSeries("suppressed cells", tuple(float(h) for h in holes)),),
            y_label="cells",
        ),
    )
