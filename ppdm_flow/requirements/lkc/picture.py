"""Which knowledge finds fewest rows, and which tells most."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.results import Chart, FigureSeries
from ppdm_flow.requirements.lkc.requirement import LKC
from ppdm_flow.requirements.lkc.survey import LkcSurvey, Names

_MOST = 12


def pictures(requirement: LKC, survey: LkcSurvey, unit: str, *, true: bool) -> Iterator[Chart]:
    """Yield the combinations that find fewest rows or people, and those that infer most, where values are ``true``.

    ``unit`` is what is counted.
    """
    if not survey.k:
        return
    fewest = [(known, float(rows)) for known, rows, _ in sorted(survey.each, key=lambda one: one[1])]
    yield _chart(requirement, unit, fewest, f"At least {requirement.k:,} are required.")
    if requirement.c is not None and true:
        surest = [(known, share) for known, _, share in sorted(survey.each, key=lambda one: -one[2])]
        yield _chart(requirement, "confidence", surest, f"At most {requirement.c:g} is allowed.")


def _chart(requirement: LKC, unit: str, each: list[tuple[Names, float]], note: str) -> Chart:
    shown = each[:_MOST]
    left = f" {len(each) - _MOST:,} further combinations are safer." if len(each) > _MOST else ""
    few = unit != "confidence"
    return Chart(
        id=f"{requirement.id}.by_{unit}",
        title=f"Fewest {unit} that fit what is known" if few else "Highest confidence by what is known",
        kind="bars",
        x=tuple(", ".join(known) or "nothing" for known, _ in shown),
        series=(FigureSeries("smallest group" if few else "highest confidence", tuple(value for _, value in shown)),),
        x_label="known quasi-identifiers",
        y_label=unit if few else "probability",
        note=note + left,
        group=requirement.kind,
    )
