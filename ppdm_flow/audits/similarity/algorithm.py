"""People whose kind of sensitive value is certain: the values of their class differ, and are all of one kind.

A class with gastric ulcer, gastritis and stomach cancer is 3-diverse, and everybody in it has an illness of the stomach
(Li et al. 2007). Kinds are the labels of the hierarchy below its top. Where the policy counts people, a kind is certain
if everybody of a class has it, in any row there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.inference.people import ClassValues, PeopleHoldings, holdings, people_holdings
from ppdm_flow.audits.inference.secrets import Secrets, secrets_of
from ppdm_flow.audits.labels.released import hierarchy_of
from ppdm_flow.audits.records.columns import NOT_TRUE, truthful
from ppdm_flow.audits.records.members import counts_people, refuse_rows, untold
from ppdm_flow.audits.similarity.spec import SimilarityParams
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.mining.hierarchies.ladder import ancestors
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

Integers = npt.NDArray[np.int64]

_UNPLACED = ("PPF786", "PPF789")


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """The kinds of sensitive values, level by level, and the classes that hold one kind alone.

    ``values`` are the values of each class; ``levels[l]`` (values,) the number of each value's kind on level l + 1.
    """

    values: ClassValues | PeopleHoldings
    levels: tuple[Integers, ...]

    def _certain(self, level: int) -> tuple[int, int]:
        """Return the rows or people, and the classes, of one kind only on a level from 1 on; 0: of one value only."""
        values = self.values
        if level == 0:
            return values.count_certain(), len(values.certain_classes)
        kind = self.levels[level - 1]
        if isinstance(values, PeopleHoldings):
            alike = values.of_kinds(kind)
            return alike.count_certain(), len(alike.certain_classes)
        least = np.full(len(values.sizes), np.iinfo(np.int64).max)
        most = np.full(len(values.sizes), -1)
        np.minimum.at(least, values.group, kind[values.codes])
        np.maximum.at(most, values.group, kind[values.codes])
        single = (values.blank == 0) & (least == most)
        return values.rows_of(single), int(single.sum())

    def count_certain(self, level: int) -> int:
        """Return the rows or people whose kind on a level is certain; on level 0 whose value is."""
        return self._certain(level)[0]

    def classes(self, level: int) -> int:
        """Return the classes in which that is so."""
        return self._certain(level)[1]

    def by_chance(self, level: int) -> float | None:
        """Return the share of the rows that would be there if the values were dealt to the rows at random."""
        values = self.values
        if isinstance(values, PeopleHoldings):
            return (values.of_kinds(self.levels[level - 1]) if level else values).certain_by_chance()
        kind = self.levels[level - 1][values.codes] if level else values.codes
        dealt = ClassValues(values.group, kind, values.rows, values.rank, values.sizes, values.blank, values.names)
        return dealt.certain_by_chance()


def kinds(candidate: DataView, columns: Sequence[str], secret: str, ctx: AuditContext) -> Kinds | None:
    """Return the kinds of a secret, None where no hierarchy tells any. Raises PluginError for an unusable file."""
    own = hierarchy_of(secret, ctx)
    if own is None:
        return None
    counted = people_holdings(candidate, columns, secret, ctx) if counts_people(ctx) else None
    values = holdings(candidate, columns, secret) if counted is None else counted.by_rows
    used = np.unique(values.codes)
    try:
        above = ancestors(secret, own, values.names.take(used).to_pylist(), ctx.home)
    except PluginError as fault:
        if fault.diagnostics[0].code in _UNPLACED:  # released values are labels themselves, or others
            return None
        raise
    levels = []
    for labels in zip(*above, strict=True):
        number = {label: i for i, label in enumerate(dict.fromkeys(labels))}
        level = np.zeros(len(values.names), dtype=np.int64)
        level[used] = [number[label] for label in labels]
        levels.append(level)
    return Kinds(counted or values, tuple(levels)) if levels else None


class SimilarityAudit:
    """Looks at every sensitive released column with a hierarchy; a bare figure is the worst over them."""

    def __init__(self, params: SimilarityParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the rows whose kind is certain, beside those whose value is, and what chance would do."""
        del original
        of = secrets_of(self.params.attributes, self.params.sensitive, candidate, ctx)
        every = {s: kinds(candidate, of.beside(s), s, ctx) for s in of.secrets}
        known = {s: k for s, k in every.items() if k is not None}
        true = {s: truthful((*of.beside(s), s), ctx) for s in of.secrets}
        each = {s: _figures(k, true[s], untold(ctx)) for s, k in every.items()}
        figures = {n: _worst([mine[n] for mine in each.values()], unit) for n, unit in NAMES.items()}
        figures |= {f"{s}.{n}": figure for s, mine in each.items() for n, figure in mine.items()}
        sound = {s: k for s, k in known.items() if true[s]}
        outcome = AuditOutcome(figures, findings=tuple(_findings(sound, of, ctx)), charts=tuple(_charts(known)))
        return refuse_rows(outcome, ctx)


def _figures(known: Kinds | None, true: bool, counted: str) -> dict[str, Figure]:
    if known is None:
        return {n: Figure(None, u, note=NO_KINDS) for n, u in NAMES.items()}
    top, total = len(known.levels), known.values.total
    note = counted if true else NOT_TRUE
    if total == 0:
        return {n: Figure(None, u, note="there are no rows") for n, u in NAMES.items()}
    chance, at_most = known.by_chance(top), "at most, " if known.values.unit == "people" else ""
    return {
        "similar": Figure(known.count_certain(top) / total, "share", note=note),
        "similar_rows": Figure(known.count_certain(top), known.values.unit, note=note),
        "similar_classes": Figure(known.classes(top), "classes", note=note),
        "same": Figure(known.count_certain(0) / total, "share", note=note),
        "by_chance": Figure(chance, "share", note=f"{at_most}if the values were dealt to the rows at random"),
    }


def _worst(figures: list[Figure], unit: str) -> Figure:
    none = Figure(None, unit, note="no sensitive attribute is released")
    return max(figures, key=lambda f: -1.0 if f.value is None else f.value, default=none)


def _findings(known: Mapping[str, Kinds], of: Secrets, ctx: AuditContext) -> Iterator[Finding]:
    for secret, mine in known.items():
        similar, same = mine.count_certain(len(mine.levels)), mine.count_certain(0)
        if similar > same:
            text = (
                f"a reader who knows a person's {listed(of.beside(secret))} knows for {similar - same:,} of"
                f" {mine.values.total:,} {mine.values.unit} of which kind `{secret}` is: the values that fit differ,"
                " and all have one label above them in the hierarchy"
            )
            yield Finding("PPF896", Severity.WARNING, text, f"{ctx.release}.similarity.{secret}")


def _charts(known: Mapping[str, Kinds]) -> Iterator[Chart]:
    for secret, mine in known.items():
        every = range(len(mine.levels) + 1)
        total = max(1, mine.values.total)
        yield Chart(
            id=f"levels.{secret}",
            title=f"{mine.values.unit.capitalize()} whose kind of `{secret}` is certain",
            kind="bars",
            x=("the value itself", *(f"level {n}" for n in every[1:])),
            series=(
                FigureSeries("release", tuple(mine.count_certain(n) / total for n in every)),
                FigureSeries("values dealt at random", tuple(mine.by_chance(n) or 0.0 for n in every)),
            ),
            x_label="level of the hierarchy",
            y_label=f"share of {mine.values.unit}",
        )
