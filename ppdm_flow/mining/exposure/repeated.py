"""Original rows as those of a release that was generated: generated rows belong to nobody, but may repeat somebody's.

What is measured on the people of a release is measured on the original rows that its classes repeat. A class that
repeats none is nobody's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import ReadingMethod, RevealingColumns, ValueColumns, carriers, columns, facts_of
from ppdm_flow.mining.exposure.faults import UncountedError
from ppdm_flow.mining.exposure.paired import require_the_file
from ppdm_flow.mining.exposure.repeats import Repeats
from ppdm_flow.mining.exposure.rows import CombinationQuery
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.generation import Generation
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.counts import Counts


@dataclass(frozen=True, slots=True)
class Repetitions:
    """Original rows by the cells of the classes that repeat them. ``known`` are the grouping attributes.

    Counts have no other released columns than those that form classes: sensitive values are those of the source.
    """

    repeats: Repeats
    known: tuple[str, ...]
    ctx: AuditContext
    leading: int = 0

    def knowing(self, known: Iterable[str]) -> Repetitions:
        """Return the same rows where fewer attributes form the classes."""
        return Repetitions(self.repeats, tuple(known), self.ctx)

    def counts(self, released: Sequence[str], original: Sequence[str] = ()) -> Counts:
        """Count the combinations of classes and attributes of the source."""
        return self.repeats.counts(released, self._made(released), original)

    def again(self, released: Sequence[str]) -> int:
        """Return how many original rows are in some class, by SQL; 0 without a database."""
        query = self.relation(released)
        if query is None or self.ctx.sql is None:
            return 0
        return int(self.ctx.sql.rows(f"SELECT COALESCE(SUM(n), 0) FROM ({query.text})", (), query.tables)[0][0])  # noqa: S608  # our own query

    def rows_repeating_no_original(self, released: Sequence[str]) -> int:
        """Return how many generated rows are in classes that repeat no original row."""
        return self.repeats.rows_repeating_no_original(released, self._made(released))

    def relation(
        self, released: Sequence[str], original: Sequence[str] = (), known: Sequence[str] = ()
    ) -> CombinationQuery | None:
        """Return the same for SQL."""
        if self.ctx.sql is None:
            return None
        return CombinationQuery(*self.repeats.relation(released, self._made(released), original, known))

    def _made(self, released: Sequence[str]) -> tuple[str, ...]:
        return made_columns(self.repeats.generation, self.known, released, self.ctx)


def repeated(
    known: Iterable[str], secret: Iterable[str], named: Iterable[str], candidate: DataView, ctx: AuditContext
) -> Repetitions | None:
    """Return the original rows that a generated release repeats; None where it was not generated, or is no run's.

    ``known`` are the grouping attributes, ``secret`` the sensitive ones, of which ``named`` are asked for. Raises
    UncountedError where nobody can say which rows are repeated, RunError where the rows are not those of the file.
    """
    generation = ctx.generation
    if generation is None:
        return None
    if generation.source is None:
        raise UncountedError(
            "The rows were generated from generated rows, so nobody can say whose rows they repeat: let one generator"
            " learn from the source."
        )
    revealing = columns(known, secret, candidate, ctx)
    made = made_columns(generation, revealing.known, revealing.every, ctx)
    source = tuple(a for a in dict.fromkeys(named) if carriers(a, candidate, ctx))
    repeats = Repeats(generation, revealing.every, made, source)
    require_the_file(repeats.shown(), candidate, revealing.every)
    if ctx.nulls is Nulls.WILDCARD:
        _require_whole_rows(repeats, revealing, ctx)
    return Repetitions(repeats, revealing.known, ctx)


def _require_whole_rows(repeats: Repeats, revealing: RevealingColumns, ctx: AuditContext) -> None:
    """Let no original row count twice in one crowd, which may hold several classes that repeat it.

    Raises UncountedError.
    """
    for name in revealing.known:
        released = tuple(c for c in revealing.every if name in facts_of(c, ctx).computed_from)
        made = made_columns(repeats.generation, (name,), released, ctx)
        if released and repeats.divides(released, made):
            raise UncountedError(
                f"Equal generated values of `{name}` are released as different ones, and `nulls: wildcard` takes some"
                " of these together, so nobody can say how many original rows they repeat: change all of them alike, or"
                " say `nulls: own_category`."
            )


def made_columns(
    generation: Generation, known: Iterable[str], released: Iterable[str], ctx: AuditContext
) -> tuple[str, ...]:
    """Return the columns, as they were generated, that tell of those grouping attributes that are released."""
    sources = frozenset(known) & frozenset[str]().union(*(facts_of(c, ctx).computed_from for c in released))
    made = tuple(
        name for name, facts in generation.outputs.items() if not sources.isdisjoint(facts.lineage.computed_from)
    )
    new = [name for name in made if name not in generation.inputs]
    if new:
        raise UncountedError(
            f"The generator made {listed(new)}, which what it learned from does not have, so nobody can say whose rows"
            " it repeats."
        )
    return made


def as_they_were(attribute: str) -> tuple[ValueColumns, ...]:
    """Return how the sensitive values of original rows are read."""
    return (ValueColumns(attribute, ReadingMethod.ORIGINAL, ()),)


def of_originals(revealing: RevealingColumns) -> RevealingColumns:
    """Return the columns that put original rows into classes: all that tell of grouping attributes."""
    return RevealingColumns(revealing.every, (), revealing.known)
