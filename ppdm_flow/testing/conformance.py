"""The kit as one call, and as a class for pytest.

A plugin's own test is then::

    class TestRounding(AnonymizerConformance):
        def case(self):
            return Case(SPEC, {"attribute": "income"}, table)
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.lineage import Derivation
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.core.roles import Role
from ppdm_flow.core.texts import texts
from ppdm_flow.sdk.anonymizer import Generator, OrderTransform, RowTransform, TableTransform, Transform, ValueOperator
from ppdm_flow.sdk.matrix_operator import MatrixOperator
from ppdm_flow.sdk.wording import may_quote
from ppdm_flow.tables.column import Codes, Column
from ppdm_flow.tables.frozen import frozen_table
from ppdm_flow.tables.sets import Baskets, PackedSets, SeededSets, SetColumn
from ppdm_flow.tables.table import Table, concat
from ppdm_flow.testing.case import Case, TransformOutcome
from ppdm_flow.testing.held import Conformance, faults_of, make_test
from ppdm_flow.testing.quoting import account, quotes, untold

Check = Callable[[Case], Iterator[str]]
Outputs = Mapping[str, Table]
Alike = Callable[[Table, Table, str], bool]


def faults(case: Case) -> dict[str, list[str]]:
    """Run every check; return the faults by the name of the check, only where there are any."""
    return faults_of(CHECKS, case)


# What every anonymizer must do. Each check returns faults as sentences; none means that it passes.


def same_draws_same_output(case: Case) -> Iterator[str]:
    """Fitting twice and running twice under one key gives the same cells."""
    if not same(run(case.fit().transform, case.table), run(case.fit().transform, case.table)):
        yield "two runs under the same key differ"


def draws_are_declared(case: Case) -> Iterator[str]:
    """A plugin that calls itself deterministic draws nothing; another key changes nothing. A randomized one draws.

    Where its effect says that it does not draw with these parameters, it is a deterministic one.
    """
    transform = case.fit().transform
    if case.spec.info.randomized and case.effect.draws:
        if transform.draws_per_row < 1:
            yield "it calls itself randomized and draws nothing"
        elif len(case.table) >= 50 and same(run(transform, case.table), run(transform, case.table, OTHER_KEY)):
            yield "it calls itself randomized, and another key gives the same output"
    elif transform.draws_per_row:
        yield "it calls itself deterministic and draws"
    elif not same(run(transform, case.table), run(transform, case.table, OTHER_KEY)):
        yield "it calls itself deterministic, and another key gives another output"


def any_partitioning_same_output(case: Case) -> Iterator[str]:
    """Partitions of 1, 7, half and all rows give the same cells; those of 1 row are the first 50 rows.

    A transform of the whole table sees no partitions.
    """
    transform = case.fit().transform
    if isinstance(transform, TableTransform):
        return
    first = case.table.take(np.arange(min(len(case.table), 50)))
    for table, size in ((first, 1), (case.table, 7), (case.table, max(1, len(case.table) // 2))):
        if not same(run(transform, table), run(transform, table, partition_rows=size)):
            yield f"partitions of {size} rows give another output than one partition"


def any_row_order_same_output(case: Case) -> Iterator[str]:
    """The result for a row depends on its source row number, not on its position."""
    fitted = case.fit()
    if not isinstance(fitted.transform, RowTransform | OrderTransform):
        return
    order = np.random.default_rng(7).permutation(len(case.table))
    outputs = run(fitted.transform, case.table)[""], run(fitted.transform, case.table.take(order))[""]
    if not same_table(by_row_number(outputs[0]), by_row_number(outputs[1])):
        yield "rows in another order become other rows"


def domain_is_kept(case: Case) -> Iterator[str]:
    """No released value lies outside of the case's domains."""
    released = run(case.fit().transform, case.table)[""]
    for name, domain in case.domains.items():
        outside = _values(released, name) - domain
        if outside:
            yield f"column `{name}` has {len(outside)} values outside of its domain"


def rows_follow_the_rule(case: Case) -> Iterator[str]:
    """``Effect.rows`` is what happens: the same rows, fewer of them, or the same in another order."""
    rule = case.effect.rows
    for name, output in run(case.fit().transform, case.table).items():
        if len(np.unique(output.rows)) != len(output):
            yield f"output `{name}` has a source row number twice"
        if rule == "same" and not np.array_equal(output.rows, case.table.rows):
            yield "the rule says `same`, and the rows are not the same"
        if rule == "reordered" and not np.array_equal(np.sort(output.rows), np.sort(case.table.rows)):
            yield "the rule says `reordered`, and the rows are no permutation"
        if rule == "fewer" and not np.isin(output.rows, case.table.rows).all():
            yield "the rule says `fewer`, and there are rows of unknown source"


def columns_follow_the_effect(case: Case) -> Iterator[str]:
    """Columns go, come, and change their names as the effect says, and keep their order."""
    if case.spec.info.kind is Kind.GENERATOR:
        return
    effect = case.effect
    kept = [effect.renames.get(n, n) for n in case.table.names if n not in effect.drops]
    expected = [*kept, *(facts.name for facts in effect.adds)]
    released = run(case.fit().transform, case.table)[""]
    if list(released.names) != expected:
        yield f"the effect announces {len(expected)} columns in an order of its own; the output differs"


def untouched_columns_stay(case: Case) -> Iterator[str]:
    """Columns that the effect does not name have the same cells, row by row."""
    effect = case.effect
    if effect.rows == "generated":
        return
    released = by_row_number(run(case.fit().transform, case.table)[""])
    before = by_row_number(case.table.take(np.isin(case.table.rows, released.rows)))
    for name in case.table.names:
        new = effect.renames.get(name, name)
        if name in effect.drops or name in effect.changes or new not in released.names:
            continue
        if not same_cells(before.select([name]), _renamed(released, new, name), name):
            yield f"column `{name}` was changed, and the effect does not say so"


def transform_pickles(case: Case) -> Iterator[str]:
    """A pickled transform does the same."""
    transform = case.fit().transform
    try:
        copy = pickle.loads(pickle.dumps(transform))  # noqa: S301 - pickled by the same line
    except (pickle.PickleError, AttributeError, TypeError) as error:
        yield f"the transform cannot be pickled: {type(error).__name__}"
        return
    if not same(run(transform, case.table), run(copy, case.table)):
        yield "the unpickled transform gives another output"


def empty_partition_passes(case: Case) -> Iterator[str]:
    """A partition without rows comes out without rows, with the same columns as any other."""
    transform = case.fit().transform
    if not isinstance(transform, RowTransform):
        return
    empty = run(transform, case.table.take(np.arange(0)))[""]
    if len(empty) or empty.names != run(transform, case.table)[""].names:
        yield "an empty partition comes out with rows, or with other columns"


def account_is_json(case: Case) -> Iterator[str]:
    """``describe`` and the artifacts can be written as JSON, without NaN."""
    fitted = case.fit()
    for name, document in {"describe": fitted.transform.describe(), **fitted.artifacts}.items():
        try:
            json.dumps(document, allow_nan=False)
        except (TypeError, ValueError):
            yield f"`{name}` is not JSON"


def account_holds_no_data(case: Case) -> Iterator[str]:
    """Nothing that goes into the report, or beside a release, quotes a value of the data that no policy declares.

    A channel that the step hands over, in ``Fitted.operators``, publishes its own domain beside the release.
    """
    fitted, home = case.fit(), case.spec.load().__module__
    published = {value for operator in fitted.operators.values() for value in operator.domain}
    for name in case.table.names:
        values = _values(case.table, name) - _declared(case, name) - {*case.table.names}
        beside = quotes(texts(fitted.artifacts), values - published, home)
        if beside or quotes(account(fitted), values, home):
            yield f"the account quotes a value of the column `{name}`"


def input_is_left_alone(case: Case) -> Iterator[str]:
    """The plugin does the same with memory that cannot be written to."""
    plain = run(case.fit().transform, case.table)
    try:
        lent = run(case.fit(lent=True).transform, case.table, lent=True)
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        yield "it writes into an array that it was given: copy it first"
        return
    if not same(plain, lent):
        yield "what it was given cannot be written to, and the output is another one"


def figures_are_told(case: Case) -> Iterator[str]:
    """The card says what each figure means, so that reports and `explain` can."""
    yield from untold(case.spec.info, case.fit().figures)


def bad_input_is_refused(case: Case) -> Iterator[str]:
    """Every bad input of the case gives a PluginError that names the column and no value of it."""
    for bad in case.bad:
        spoiled = case.spoiled(bad)
        try:
            fitted = spoiled.fit()
            run(fitted.transform, spoiled.table)
        except PluginError as error:
            if f"`{bad.column}`" not in str(error):
                yield f"the error does not name the column `{bad.column}`"
            yield from _unshown(spoiled, error)
        else:
            yield f"bad input in the column `{bad.column}` is accepted"


def claims_hold(case: Case) -> Iterator[str]:
    """The claimed guarantees hold, as others measure them."""
    fitted = case.fit()
    outcome = TransformOutcome(case, fitted, run(fitted.transform, case.table))
    yield from (fault for claim in case.claims if (fault := claim(outcome)) is not None)


# Whether cells come from what `Effect.derivations` says, which is what requirements are judged by.
#
# A column without a derivation counts as computed from all that its step reads or changes, as in a plan. Nothing is
# held of generated rows, which are of no row of the source, and of sets that have lost items, which leave no mark.
# Weights stay as they are: they say how often a row counts, and do not depend on what a step reads.


def cells_come_from_what_is_declared(case: Case) -> Iterator[str]:
    """A cell is a function of its column's lineage; whether it is suppressed depends on the attributes that chose it.

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
    for name, said in _declared_derivations(case, reruns.transform).items():
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
    for name, said in _declared_derivations(case, transform).items():
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
    declared = {
        name: said for name, said in _declared_derivations(case, fitted.transform).items() if said.keyed or said.drawn
    }
    plain = run(fitted.transform, case.table) if declared else {}
    for name, said in declared.items():
        others = list(_under_other_keys(case, fitted.transform))
        same = bool(others) and all(_unchanged(plain, other, _after(case, name)) for other in others)
        if said.keyed and same and len(case.table) >= ENOUGH_ROWS:
            yield f"the column `{name}` is declared as keyed, and another key gives the same cells"
        if said.drawn and name not in {*fitted.operators, *fitted.set_operators}:
            yield f"the column `{name}` is declared as drawn, and the step hands over no operator for it"
        elif said.drawn and same and _chance_of_equal(case.table, fitted.operators.get(name)) < CHANCE:
            yield f"the column `{name}` is declared as drawn, and other draws give the same cells"


def _unshown(case: Case, error: PluginError) -> Iterator[str]:
    """Say where an error is one that a run would not show, because it may quote data."""
    if may_quote(error, (case.step.step, *case.table.names, *texts(case.params)), case.spec.load().__module__):
        yield "the error says words that stand neither in the plugin's code nor in its parameters: they may be data"


def _renamed(table: Table, name: str, to: str) -> Table:
    if name in table.sets:
        return Table({}, table.rows, {to: table.sets[name]})
    return Table({to: table[name]}, table.rows)


def _values(table: Table, name: str) -> set[str]:
    column = table.sets[name] if name in table.sets else table[name]
    return set(column.compact().categories.to_pylist())


def _declared(case: Case, name: str) -> frozenset[str]:
    facts = case.attributes[name]
    named = (value for r in case.requirements for attribute, value, _ in r.named_values() if attribute == name)
    return frozenset((*(facts.domain or ()), *named))


# Running a transform as an engine would: in partitions of any size, in any order.


KEY = RunKey.from_seed("conformance")
OTHER_KEY = RunKey.from_seed("another one")


def run(
    transform: Transform, table: Table, key: RunKey = KEY, partition_rows: int | None = None, *, lent: bool = False
) -> dict[str, Table]:
    """Return the outputs by name. Partitions are coded each in its own way, as engines may do.

    ``lent``: they cannot be written to. Raises TypeError for something that is no transform.
    """
    draws = Draws(key.step("step"), transform.draws_per_row)
    parts = _partitions(table, partition_rows or max(1, len(table)))
    if lent:
        table, parts = frozen_table(table), map(frozen_table, parts)
    if isinstance(transform, RowTransform):
        return {"": concat(transform.apply(part, draws) for part in parts)}
    if isinstance(transform, OrderTransform):
        keys = np.concatenate([transform.keys(part, draws) for part in parts])
        return {"": table.take(np.lexsort((table.rows, keys)))}
    if isinstance(transform, TableTransform):
        return dict(transform.apply_table(table, draws))
    if isinstance(transform, Generator):
        return {"": concat(transform.generate(part.rows, draws) for part in parts)}
    raise TypeError("neither RowTransform, OrderTransform, TableTransform nor Generator")


def _partitions(table: Table, size: int) -> Iterator[Table]:
    for place, start in enumerate(range(0, max(1, len(table)), size)):
        part = table.take(np.arange(start, min(start + size, len(table))))
        yield recoded(part, turned=place % 2 == 1)


def recoded(table: Table, *, turned: bool) -> Table:
    """Return the same cells with only the categories that occur, in descending order if ``turned``."""
    columns = {name: column.compact() for name, column in table.columns.items()}
    sets = {name: column.compact() for name, column in table.sets.items()}
    if turned:
        columns = {name: _turned(column) for name, column in columns.items()}
        sets = {name: _turned_sets(column) for name, column in sets.items()}
    return Table(columns, table.rows, sets)


def _turned_sets(column: SetColumn) -> SetColumn:
    return column.onto(column.categories[::-1]) if isinstance(column, Baskets) else column


def _turned(column: Column) -> Column:
    size = len(column.categories)
    places = np.arange(size)[::-1]
    return column.mapped(places.astype(np.int32), column.categories.take(pa.array(places)))


def same(one: Mapping[str, Table], other: Mapping[str, Table]) -> bool:
    """Whether all outputs have the same columns, source rows and cells."""
    return one.keys() == other.keys() and all(same_table(one[name], other[name]) for name in one)


def same_table(one: Table, other: Table) -> bool:
    """Whether two tables have the same columns in order, the same source rows in order, and the same cells."""
    if one.names != other.names or not np.array_equal(one.rows, other.rows):
        return False
    return all(same_cells(one, other, name) for name in one.names)


def same_cells(one: Table, other: Table, name: str) -> bool:
    """Whether a column has the same cells in both; their categories may differ."""
    both = concat([one.select([name]), other.select([name])])
    if name in both.sets:
        return same_sets(both.sets[name], len(one))
    stacked = both[name].codes
    return np.array_equal(stacked[: len(one)], stacked[len(one) :])


def same_sets(stacked: SetColumn, size: int) -> bool:
    """Whether the first ``size`` sets are the same as those after them."""
    one, other = stacked.take(slice(0, size)), stacked.take(slice(size, len(stacked)))
    match one, other:
        case Baskets(), Baskets():
            return np.array_equal(one.offsets, other.offsets) and np.array_equal(one.items, other.items)
        case PackedSets(), PackedSets():
            return np.array_equal(one.words, other.words) and np.array_equal(one.sizes, other.sizes)
        case SeededSets(), SeededSets():
            return np.array_equal(one.seeds, other.seeds) and np.array_equal(one.sizes, other.sizes)
    return False


def by_row_number(table: Table) -> Table:
    """Return the table in the order of its source row numbers."""
    return table.take(np.argsort(table.rows, kind="stable"))


ENOUGH_ROWS = 50
"""On fewer rows, another key may well give the same cells."""
CHANCE = 1e-9
"""The largest probability of equal cells under two keys at which they are held to differ."""


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


def _declared_derivations(case: Case, transform: Transform) -> dict[str, Derivation]:
    """Return what is said of the columns that the step changes or adds, under their names before it renames any."""
    effect = case.effect
    if effect.rows == "generated" or not isinstance(transform, RowTransform | TableTransform):
        return {}
    names = [*(n for n in effect.changes if n not in effect.drops), *(facts.name for facts in effect.adds)]
    return {name: effect.derivation(name) for name in names}


def _drawn_by(case: Case, operator: ValueOperator | None, said: Derivation) -> frozenset[str]:
    """Return the subjects that address a drawn column's draws."""
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


class AnonymizerConformance(Conformance[Case]):
    """Derive a test class from it, and return in ``case`` the plugin, its parameters and a table."""

    def test_the_effect_finds_no_problem(self) -> None:
        """The case itself is a legal use of the plugin."""
        problems = [p for p in self.case().effect.problems if not p.warning]
        if problems:
            raise AssertionError("; ".join(p.message for p in problems))

    test_same_draws_same_output = make_test(same_draws_same_output)
    test_draws_are_declared = make_test(draws_are_declared)
    test_any_partitioning_same_output = make_test(any_partitioning_same_output)
    test_any_row_order_same_output = make_test(any_row_order_same_output)
    test_domain_is_kept = make_test(domain_is_kept)
    test_rows_follow_the_rule = make_test(rows_follow_the_rule)
    test_columns_follow_the_effect = make_test(columns_follow_the_effect)
    test_untouched_columns_stay = make_test(untouched_columns_stay)
    test_cells_come_from_what_is_declared = make_test(cells_come_from_what_is_declared)
    test_value_maps_are_maps = make_test(value_maps_are_maps)
    test_keys_and_draws_matter = make_test(keys_and_draws_matter)
    test_transform_pickles = make_test(transform_pickles)
    test_empty_partition_passes = make_test(empty_partition_passes)
    test_account_is_json = make_test(account_is_json)
    test_account_holds_no_data = make_test(account_holds_no_data)
    test_input_is_left_alone = make_test(input_is_left_alone)
    test_figures_are_told = make_test(figures_are_told)
    test_bad_input_is_refused = make_test(bad_input_is_refused)
    test_claims_hold = make_test(claims_hold)


CHECKS: tuple[Check, ...] = (
    same_draws_same_output,
    draws_are_declared,
    any_partitioning_same_output,
    any_row_order_same_output,
    domain_is_kept,
    rows_follow_the_rule,
    columns_follow_the_effect,
    untouched_columns_stay,
    cells_come_from_what_is_declared,
    value_maps_are_maps,
    keys_and_draws_matter,
    transform_pickles,
    empty_partition_passes,
    account_is_json,
    account_holds_no_data,
    input_is_left_alone,
    figures_are_told,
    bad_input_is_refused,
    claims_hold,
)
