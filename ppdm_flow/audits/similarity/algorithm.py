"""For whom it is certain of which kind a sensitive value is: classes whose values differ, and are all of one kind.

A class with gastric ulcer, gastritis and stomach cancer is 3-diverse, and everybody in it has an illness of the stomach
(Li et al. 2007). Kinds are the labels of the hierarchy below its top.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.audits.inference.secrets import Secrets, secrets_of
from ppdm_flow.audits.inference.truthful import NOT_TRUE, truthful
from ppdm_flow.audits.similarity.kinds import Kinds, kinds
from ppdm_flow.audits.similarity.spec import SimilarityParams
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, Finding, Series
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

NAMES = {
    "similar": "share",
    "similar_rows": "rows",
    "similar_classes": "classes",
    "same": "share",
    "by_chance": "share",
}
NO_KINDS = "no hierarchy of the policy says of which kind its released values are"


class SimilarityAudit:
    """Looks at every sensitive released column with a hierarchy; a bare figure is the worst over them."""

    def __init__(self, params: SimilarityParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the rows whose kind is certain, beside those whose value is, and what chance would do."""
        del original
        of = secrets_of(self.params.attributes, self.params.sensitive, candidate, ctx)
        every = {s: kinds(candidate, of.beside(s), s, ctx) for s in of.secrets}
        found = {s: k for s, k in every.items() if k is not None}
        true = {s: truthful((*of.beside(s), s), ctx) for s in of.secrets}
        each = {s: _figures(k, true[s]) for s, k in every.items()}
        figures = {n: _worst([mine[n] for mine in each.values()], unit) for n, unit in NAMES.items()}
        figures |= {f"{s}.{n}": figure for s, mine in each.items() for n, figure in mine.items()}
        sound = {s: k for s, k in found.items() if true[s]}
        return AuditOutcome(figures, findings=tuple(_findings(sound, of, ctx)), charts=tuple(_charts(found)))


def _figures(found: Kinds | None, true: bool) -> dict[str, Figure]:
    if found is None:
        return {n: Figure(None, u, note=NO_KINDS) for n, u in NAMES.items()}
    top, total = len(found.levels), found.held.total
    note = "" if true else NOT_TRUE
    if total == 0:
        return {n: Figure(None, u, note="there are no rows") for n, u in NAMES.items()}
    chance = found.by_chance(top)
    return {
        "similar": Figure(found.rows(top) / total, "share", note=note),
        "similar_rows": Figure(found.rows(top), "rows", note=note),
        "similar_classes": Figure(int(found.alike(top).sum()), "classes", note=note),
        "same": Figure(found.rows(0) / total, "share", note=note),
        "by_chance": Figure(chance, "share", note="if the values were dealt to the rows at random"),
    }


def _worst(figures: list[Figure], unit: str) -> Figure:
    none = Figure(None, unit, note="no sensitive attribute is released")
    return max(figures, key=lambda f: -1.0 if f.value is None else f.value, default=none)


def _findings(found: Mapping[str, Kinds], of: Secrets, ctx: AuditContext) -> Iterator[Finding]:
    for secret, mine in found.items():
        similar, same = mine.rows(len(mine.levels)), mine.rows(0)
        if similar > same:
            text = (
                f"whoever knows a person's {listed(of.beside(secret))} knows for {similar - same:,} of"
                f" {mine.held.total:,} rows of which kind `{secret}` is: the values that fit differ, and all have one"
                " label above them in the hierarchy"
            )
            yield Finding("PPF896", Severity.WARNING, text, f"{ctx.release}.similarity.{secret}")


def _charts(found: Mapping[str, Kinds]) -> Iterator[Chart]:
    for secret, mine in found.items():
        every = range(len(mine.levels) + 1)
        total = max(1, mine.held.total)
        yield Chart(
            id=f"levels.{secret}",
            title=f"Rows whose kind of `{secret}` is certain",
            kind="bars",
            x=("the value itself", *(f"level {n}" for n in every[1:])),
            series=(
                Series("release", tuple(mine.rows(n) / total for n in every)),
                Series("values dealt at random", tuple(mine.by_chance(n) or 0.0 for n in every)),
            ),
            x_label="level of the hierarchy",
            y_label="share of rows",
        )
