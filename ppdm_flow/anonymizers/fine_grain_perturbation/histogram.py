"""How often each value of an attribute occurs, over its declared domain or over those that occur."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SUPPRESSED


@dataclass(frozen=True, slots=True, eq=False)
class DomainCounts:
    """The domain of an attribute, and how often each of its values occurs.

    ``domain`` has m texts, and None last where values are missing; ``counts`` int64 of shape (m,).
    """

    domain: tuple[str | None, ...]
    counts: npt.NDArray[np.int64]

    @property
    def frequency(self) -> npt.NDArray[np.float64]:
        """Shares of all rows; even ones where there are no rows."""
        total = int(self.counts.sum())
        return self.counts / total if total else np.full(len(self.counts), 1.0 / len(self.counts))


def histogram_of(
    data: DataView, name: str, declared: tuple[str, ...] | None, of_what: str = "of its declared domain"
) -> DomainCounts:
    """Count an attribute's values over its ``declared`` domain, else over those that occur.

    Raises PluginError for suppressed cells, for values outside the declared domain, and for an empty domain.
    """
    counted = data.counts([name])
    codes = counted.of(name)
    if (codes == SUPPRESSED).any():
        cells = int(counted.counts[codes == SUPPRESSED].sum())
        raise PluginError(
            Diagnostic(
                "PPF783",
                f"the column `{name}` has {cells} suppressed cells: there is nothing to perturb in them",
                help="perturb before the step that suppresses values of this attribute",
            )
        )
    names = counted.names(name).to_pylist()
    occurring = {names[c]: int(n) for c, n in zip(codes.tolist(), counted.counts.tolist(), strict=True) if c >= 0}
    domain: list[str | None] = list(_domain(name, declared, occurring, of_what))
    totals = [occurring.get(value, 0) for value in domain if value is not None]
    if (codes == MISSING).any():
        domain.append(None)
        totals.append(int(counted.counts[codes == MISSING].sum()))
    if not domain:
        raise PluginError(Diagnostic("PPF785", f"the column `{name}` has no values, and declares no `domain`"))
    return DomainCounts(tuple(domain), np.array(totals, dtype=np.int64))


def _domain(name: str, declared: tuple[str, ...] | None, occurring: dict[str, int], of_what: str) -> list[str]:
    """The domain in the order of UTF-8 text: an order of the policy or of the data would say more than the values."""
    if declared is None:
        return _in_order(set(occurring))
    outside = set(occurring) - set(declared)
    if outside:
        rows = sum(occurring[v] for v in outside)
        text = f"the column `{name}` has {len(outside)} values outside {of_what}, in {rows} rows"
        raise PluginError(Diagnostic("PPF785", text))
    return _in_order(set(declared))


def _in_order(values: set[str]) -> list[str]:
    return sorted(values, key=str.encode)
