"""Whether cells come from what ``Effect.derivations`` says, which is what requirements are judged by.

A column without a derivation counts as computed from all that its step reads or changes, as in a plan. Nothing is held
of generated rows, which are of no row of the source, and of sets that have lost items, which leave no mark. Weights
stay where they are: they say how often a row counts, whatever a step reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.lineage import Derivation
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.anonymizer import RowTransform, TableTransform, Transform, ValueOperator
from ppdm_flow.sdk.matrix_operator import MatrixOperator
from ppdm_flow.tables.column import Codes
from ppdm_flow.tables.table import Table, concat
from ppdm_flow.testing.case import Case
from ppdm_flow.testing.running import OTHER_KEY, run, same_cells

Outputs = Mapping[str, Table]
Alike = Callable[[Table, Table, str], bool]

ENOUGH_ROWS = 50
"""On fewer rows, another key may well give the same cells."""
CHANCE = 1e-9
"""The largest probability of equal cells under two keys at which they are held to differ."""


def cells_come_from_what_is_declared(case: Case) -> Iterator[str]:
    """A cell is a function of what its column is computed from, and suppressed or not by what chose it besides.

    Held in two ways, each time with the cells of other columns moved to other rows. The fitted transform of a row-wise
    step is applied where all but ``computed_from`` was moved: each cell is the same as before, unless either is
    suppressed or missing. Quasi-identifiers that chose a generalized column stay as well: which of its labels a value
    has may depend on them, and tells nothing that is not known of somebody beforehand. A step that works on rows or on
    the whole table is fitted anew where all but ``computed_from`` and ``chosen_by`` was moved: each cell is the same.
    What a transform has kept of ``chosen_by`` by row number when it was fitted, and what a step on the whole table does
    with it, is believed. Rows that are not there both times, and tables that the plugin refuses, are passed over.
    The subject stays where an operator draws once for each person and value: it says which draw is whose.
    """
    fitted = case.fit()
    reruns = _Reruns(case, fitted.transform)
    for name, said in _held(case, reruns.transform).items():
        made = frozenset(said.computed_from) | _drawn_by(case, fitted.operators.get(name), said)
        ways = [(made | {*said.chosen_by}, True, same_cells, "neither computed from nor chosen by")]
        if isinstance(reruns.transform, RowTransform) and not (said.chosen_by and name in case.table.sets):
            alike = _same_or_suppressed if said.chosen_by else same_cells
            ways.append((made | _choosing(case, name, said), False, alike, "not computed from"))
        for kept, anew, alike, what in ways:
            if culprits := reruns.culprits(_after(case, name), kept, alike, anew=anew):
                listing = ", ".join(f"`{c}`" for c in culprits)
                yield f"cells of the column `{name}` change with {listing}, which its derivation says it is {what}"
                break


def value_maps_are_maps(case: Case) -> Iterator[str]:
    """Within a run, equal cells of what a value map is computed from become equal cells, or suppressed or missing ones.

    Not held of sets.
    """
    transform = case.fit().transform
    outputs = run(transform, case.table).values()
    for name, said in _held(case, transform).items():
        if not said.value_map or len(said.computed_from) != 1:
            continue
        (source,) = said.computed_from
        for output in outputs:
            if source in case.table.columns and _after(case, name) in output.columns:
                before, after = _paired(case.table, source, output, _after(case, name))
                pairs = np.unique(np.stack([before, after])[:, after >= 0], axis=1)
                if len(np.unique(pairs[0])) < pairs.shape[1]:
                    yield f"equal cells of `{source}` become different ones in `{name}`, declared as a value map"


def keys_and_draws_matter(case: Case) -> Iterator[str]:
    """A keyed column has other cells under another key; a drawn one has an operator, and other cells by other draws.

    The key is the run's where the plugin draws, or its own where the case has ``other_key``. Held on 50 rows or more,
    and for an operator where equal cells are too improbable by its own probabilities.
    """
    fitted = case.fit()
    held = {name: said for name, said in _held(case, fitted.transform).items() if said.keyed or said.drawn}
    plain = run(fitted.transform, case.table) if held else {}
    for name, said in held.items():
        others = list(_under_other_keys(case, fitted.transform))
        same = bool(others) and all(_unchanged(plain, other, _after(case, name)) for other in others)
        if said.keyed and same and len(case.table) >= ENOUGH_ROWS:
            yield f"the column `{name}` is declared as keyed, and another key gives the same cells"
        if said.drawn and name not in {*fitted.operators, *fitted.set_operators}:
            yield f"the column `{name}` is declared as drawn, and the step hands over no operator for it"
        elif said.drawn and same and _chance_of_equal(case.table, fitted.operators.get(name)) < CHANCE:
            yield f"the column `{name}` is declared as drawn, and other draws give the same cells"


@dataclass
class _Reruns:
    """Runs of a case where some columns were moved; each is done once."""

    case: Case
    transform: Transform
    known: dict[tuple[frozenset[str], bool], Outputs | None] = field(default_factory=dict)

    def culprits(self, column: str, kept: frozenset[str], alike: Alike, *, anew: bool) -> list[str]:
        """Return the columns outside of ``kept`` with which the cells of ``column`` change; all, if none alone does."""
        table = self.case.table
        moved = [n for n in table.names if n not in kept and self.case.attributes[n].role is not Role.WEIGHT]
        if not self._differs(column, frozenset(moved), alike, anew=anew):
            return []
        return [n for n in moved if self._differs(column, frozenset((n,)), alike, anew=anew)] or moved

    def _differs(self, column: str, moved: frozenset[str], alike: Alike, *, anew: bool) -> bool:
        if not moved:
            return False
        plain, other = self._outputs(frozenset(), anew=False), self._outputs(moved, anew=anew)
        return plain is not None and other is not None and not _unchanged(plain, other, column, alike)

    def _outputs(self, moved: frozenset[str], *, anew: bool) -> Outputs | None:
        if (moved, anew) not in self.known:
            other = replace(self.case, table=_with_moved(self.case.table, moved))
            try:
                transform = other.fit().transform if anew else self.transform
                self.known[moved, anew] = run(transform, other.table)
            except PluginError:
                self.known[moved, anew] = None
        return self.known[moved, anew]


def _held(case: Case, transform: Transform) -> dict[str, Derivation]:
    """Return what is said of the columns that the step changes or adds, under their names before it renames any."""
    effect = case.effect
    if effect.rows == "generated" or not isinstance(transform, RowTransform | TableTransform):
        return {}
    names = [*(n for n in effect.changes if n not in effect.drops), *(facts.name for facts in effect.adds)]
    return {name: effect.derivation(name) for name in names}


def _drawn_by(case: Case, operator: ValueOperator | None, said: Derivation) -> frozenset[str]:
    """Return the subjects by whom a drawn column's draws are addressed."""
    if not said.drawn or operator is None or operator.per_person is None:
        return frozenset()
    return frozenset(n for n, facts in case.attributes.items() if facts.role is Role.SUBJECT)


def _choosing(case: Case, name: str, said: Derivation) -> frozenset[str]:
    """Return the quasi-identifiers that may choose among the labels of a generalized column."""
    if case.effect.changes.get(name) is not Change.GENERALIZED:
        return frozenset()
    return frozenset(n for n in said.chosen_by if case.attributes[n].role is Role.QUASI_IDENTIFIER)


def _after(case: Case, name: str) -> str:
    return case.effect.renames.get(name, name) if name in case.effect.changes else name


def _with_moved(table: Table, moved: frozenset[str]) -> Table:
    """Return the table with the cells of some columns in other rows, those of one row still together."""
    order = np.random.default_rng(11).permutation(len(table))
    columns = {n: c.take(order) if n in moved else c for n, c in table.columns.items()}
    sets = {n: c.take(order) if n in moved else c for n, c in table.sets.items()}
    return Table(columns, table.rows, sets)


def _unchanged(one: Outputs, other: Outputs, name: str, alike: Alike = same_cells) -> bool:
    """Whether a column is alike in the rows that both have, in every output that has it."""
    both = [(one[o], other[o]) for o in one if o in other and name in one[o].names and name in other[o].names]
    return all(alike(*_in_common(a.select([name]), b.select([name])), name) for a, b in both)


def _in_common(one: Table, other: Table) -> tuple[Table, Table]:
    _, left, right = np.intersect1d(one.rows, other.rows, return_indices=True)
    return one.take(left), other.take(right)


def _same_or_suppressed(one: Table, other: Table, name: str) -> bool:
    """Whether cells are the same where neither is suppressed or missing."""
    codes = concat([one, other])[name].codes
    left, right = codes[: len(one)], codes[len(one) :]
    return bool(((left == right) | (left < 0) | (right < 0)).all())


def _paired(table: Table, source: str, output: Table, name: str) -> tuple[Codes, Codes]:
    before, after = _in_common(table.select([source]), output.select([name]))
    return before[source].codes, after[name].codes


def _under_other_keys(case: Case, transform: Transform) -> Iterator[Outputs]:
    if case.spec.info.randomized:
        yield run(transform, case.table, OTHER_KEY)
    if case.other_key is not None:
        yield run(replace(case, params=case.other_key).fit().transform, case.table)


def _chance_of_equal(table: Table, operator: ValueOperator | None) -> float:
    """Return the probability that two independent draws give all cells alike; 1 where nothing is known of it."""
    if operator is None or operator.attribute not in table.columns:
        return 1.0
    place = {value: i for i, value in enumerate(operator.domain)}
    rows = np.bincount([place[v] for v in table[operator.attribute].texts()], minlength=operator.size)
    if isinstance(operator, MatrixOperator):
        alike = (operator.transition**2).sum(axis=1)
    else:
        other = (1.0 - operator.retention) / operator.size
        alike = operator.staying**2 + (operator.size - 1) * other**2
    return float(np.exp(np.sum(rows * np.log(alike))))
