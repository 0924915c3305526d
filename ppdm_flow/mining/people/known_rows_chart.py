"""The chart of what one, two and all known rows of a person reveal."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.phrases import listed
from ppdm_flow.core.results import Chart, FigureSeries
from ppdm_flow.mining.people.known_rows import (
    ClassProfiles,
    CombinationLimitError,
    KnownRowsCrowds,
    crowds_of,
    number_of_combinations,
)

KNOWN_ROWS: tuple[int | None, ...] = (1, 2, 3, None)
"""How many rows of a person somebody may know, from few to all (None)."""
MOST_DRAWN = 10_000_000
"""The most combinations that are looked at for a picture alone."""


def crowds_by_known_rows(
    class_profiles: ClassProfiles, judged: Mapping[int | None, KnownRowsCrowds] = {}
) -> dict[int | None, KnownRowsCrowds]:
    """Return the crowds for each number of known rows; those with too many combinations are left out.

    ``judged`` are those that have been counted.
    """
    crowds: dict[int | None, KnownRowsCrowds] = {}
    for known in KNOWN_ROWS:
        if known in judged:
            crowds[known] = judged[known]
            continue
        if known is not None and number_of_combinations(class_profiles, known) > MOST_DRAWN:
            continue
        try:
            crowds[known] = crowds_of(class_profiles, known)
        except CombinationLimitError:
            continue
    return crowds


def known_rows_chart(
    crowds: Mapping[int | None, KnownRowsCrowds], k: int | None = None, *, name: str = "known_rows", group: str = ""
) -> Chart | None:
    """Return bars: the smallest crowd of linked people by how many rows of a person are known; None without any.

    ``k`` is the crowd that is required, where one is; ``name`` and ``group`` are those of the picture. The picture has
    counts alone, no value and nobody's rows.
    """
    shown = [known for known in KNOWN_ROWS if known in crowds and crowds[known].smallest is not None]
    if not shown:
        return None
    series = [FigureSeries("people", tuple(float(crowds[known].smallest or 0) for known in shown))]
    fewest = listed([f"{crowds[known].smallest:,} for {_name(known)}" for known in shown])
    notes = [f"The fewest people with the same classes as the known rows of a person whose rows are linked: {fewest}"]
    if k is not None:
        series.append(FigureSeries("required", (float(k),) * len(shown)))
    missing = [_name(known) for known in KNOWN_ROWS if known not in crowds]
    if missing:
        notes.append(f"not counted, for too many combinations: {listed(missing)}")
    return Chart(
        id=name,
        title="What one, two and all known rows tell",
        kind="bars",
        x=tuple(map(_name, shown)),
        series=tuple(series),
        x_label="known rows of a person",
        y_label="smallest crowd, people",
        note="; ".join(notes),
        group=group,
    )


def _name(known: int | None) -> str:
    return "all" if known is None else str(known)
