"""How few attributes single out a row, and which ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ppdm_flow.core.results import Chart, FigureSeries
from ppdm_flow.mining.uniques.special import SpecialUniques

_NAMED = 20


def pictures(prefix: str, found: SpecialUniques, names: Sequence[str], unit: str) -> Iterator[Chart]:
    """Yield how many sets of each size single out, and the share of these sets that have each attribute.

    ``unit`` is what they single out: rows, or people.
    """
    if not found.size or not found.rows:
        return
    sizes = range(1, found.size + 1)
    yield Chart(
        id=f"{prefix}.by_size",
        title=f"{unit.capitalize()} that few attributes single out",
        kind="bars",
        x=tuple(str(s) for s in sizes),
        series=(FigureSeries(unit, tuple(found.single(s) for s in sizes)),),
        x_label="attributes known, at most",
        y_label=unit,
        note=f"Of {found.rows:,} released rows." if unit == "rows" else f"Of {found.rows:,} people.",
        group="special_uniques",
    )
    shares = sorted(zip(found.contributions().tolist(), names, strict=True), key=lambda each: (-each[0], each[1]))
    if not shares[0][0]:
        return
    shown = shares[:_NAMED]
    yield Chart(
        id=f"{prefix}.by_attribute",
        title=f"Attributes that single {unit} out",
        kind="bars",
        x=tuple(name for _, name in shown),
        series=(FigureSeries("share", tuple(share for share, _ in shown)),),
        y_label="share of the minimal sets that contain it",
        note="" if len(shown) == len(shares) else f"The first {_NAMED} of {len(shares)} attributes.",
        group="special_uniques",
    )
