"""What two releases tell together, in sentences and a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ppdm_flow.audits.complementary_release.intersecting import Intersections
from ppdm_flow.audits.complementary_release.secrets import Learned
from ppdm_flow.audits.complementary_release.spec import ComplementaryReleaseParams
from ppdm_flow.audits.inference.truthful import truthful
from ppdm_flow.audits.labels.released import Classes
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Chart, Finding, Series
from ppdm_flow.sdk.audit import AuditContext

_EDGES = (1, 2, 5, 10, 50, 100)
_NAMES = ("1", "2 to 4", "5 to 9", "10 to 49", "50 to 99", "100 or more")


def findings(
    people: Intersections,
    here: Classes,
    found: Mapping[str, Learned],
    params: ComplementaryReleaseParams,
    ctx: AuditContext,
) -> tuple[Finding, ...]:
    """Return what a reader should know: groups that only both releases make small, and values that only both tell."""
    if not truthful(here.columns, ctx):
        return ()
    subject = f"{ctx.release}.complementary_release.{params.other}"
    texts = [*_small(people, here, params.k, subject), *_told(found, people, subject, ctx)]
    return tuple(Finding("PPF899", Severity.WARNING, text, name) for text, name in texts)


def _small(people: Intersections, here: Classes, k: int, subject: str) -> Iterator[tuple[str, str]]:
    size, alone = people.sizes[people.group], here.rows[people.here]
    narrowed = (size < k) & (size < alone)
    rows = int(people.persons[narrowed].sum())
    if rows:
        text = (
            f"this and the other release together leave {rows:,} of {counted(people.total, 'row')} in groups of fewer"
            f" than {k:,} people, the smallest with {int(size[narrowed].min()):,}; the smallest class of this release"
            f" alone has {int(here.rows.min()):,}"
        )
        yield text, subject


def _told(
    found: Mapping[str, Learned], people: Intersections, subject: str, ctx: AuditContext
) -> Iterator[tuple[str, str]]:
    for secret, one in found.items():
        if one.alarming and truthful((secret,), ctx):
            text = (
                f"`{secret}` becomes certain for {one.new:,} of {counted(people.total, 'row')}: the classes of both"
                f" releases have but one value in common, and for {one.right:,} it is the true one"
            )
            yield text, f"{subject}.{secret}"


def chart(here: Classes, people: Intersections) -> Chart:
    """Return bars: rows by how many people are left, in this release alone and in both."""
    sides = ((here.rows[people.here], "this release alone"), (people.sizes[people.group], "both releases"))
    series = []
    for size, name in sides:
        place = np.searchsorted(_EDGES, size, side="right") - 1
        rows = np.bincount(place, people.persons, len(_EDGES))
        series.append(Series(name, tuple(rows.tolist())))
    return Chart(
        id="groups",
        title="Rows by the people whom their values leave",
        kind="bars",
        x=_NAMES,
        series=tuple(series),
        x_label="people",
        y_label="rows",
        note="whoever is left with few others is found",
    )
