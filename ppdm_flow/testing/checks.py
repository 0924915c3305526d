"""What every anonymizer must do. Each check returns faults as sentences; none means that it passes."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator

import numpy as np

from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.core.texts import texts
from ppdm_flow.sdk.anonymizer import OrderTransform, RowTransform, TableTransform
from ppdm_flow.sdk.wording import own_constants, unexplained
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import Case, TransformOutcome
from ppdm_flow.testing.derivations import cells_come_from_what_is_declared, keys_and_draws_matter, value_maps_are_maps
from ppdm_flow.testing.quoting import account, quotes, untold
from ppdm_flow.testing.running import OTHER_KEY, by_row_number, run, same, same_cells, same_table

Check = Callable[[Case], Iterator[str]]


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
    """What becomes of a row depends on its source row number, not on where it stands."""
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


def _unshown(case: Case, error: PluginError) -> Iterator[str]:
    """Say where an error is one that a run would not show, because it may quote data."""
    pieces = {*own_constants(case.spec.load().__module__), *(n.casefold() for n in (case.step.step, *case.table.names))}
    pieces.update(text.casefold() for text in texts(case.params) if text)
    shown = [t for d in error.diagnostics for t in (d.message, d.hint, d.help, *d.notes) if t]
    if any(unexplained(text, pieces) for text in shown):
        yield "the error says words that stand neither in the plugin's code nor in its parameters: they may be data"


def claims_hold(case: Case) -> Iterator[str]:
    """The claimed guarantees hold, as others measure them."""
    fitted = case.fit()
    outcome = TransformOutcome(case, fitted, run(fitted.transform, case.table))
    yield from (fault for claim in case.claims if (fault := claim(outcome)) is not None)


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
