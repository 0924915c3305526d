"""The kit holds a step to what it says its columns are computed from: each lie is found, and honest steps pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.lineage import Derivation
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.anonymizer import Fitted, Operator
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec
from ppdm_flow.tables.column import SUPPRESSED, Column
from ppdm_flow.tables.sets import Baskets
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import Case
from ppdm_flow.testing.conformance import cells_come_from_what_is_declared, keys_and_draws_matter, value_maps_are_maps

AGES = [str(20 + i % 7) for i in range(120)]
ILLS = [f"ill-{i * 5 % 3}" for i in range(120)]
TABLE = Table.of({"age": AGES, "ill": ILLS, "town": [f"town-{i * i % 4}" for i in range(120)]})
OLD = frozenset(("24", "25", "26"))


@dataclass(frozen=True)
class OnRows:
    """``do`` is what it does to a partition."""

    do: Callable[[Table, Any], Table]
    draws_per_row: int = 0

    def apply(self, part, draws):
        return self.do(part, draws)

    def describe(self):
        return {}


@dataclass(frozen=True)
class OnTable:
    do: Callable[[Table, Any], Table]
    draws_per_row: int = 0

    def apply_table(self, table, draws):
        return {"": self.do(table, draws)}

    def describe(self):
        return {}


def faults(of: Case) -> dict[str, list[str]]:
    """The faults by check, for the checks that are about derivations."""
    checks = cells_come_from_what_is_declared, value_maps_are_maps, keys_and_draws_matter
    return {check.__name__: said for check in checks if (said := list(check(of)))}


def case(make, effect, *, table=TABLE, randomized=False, roles=None) -> Case:
    """``make`` fits: it gets the data and the parameters."""

    class Spec(PluginSpec):
        def load(self):
            return lambda params: type("A", (), {"fit": lambda _self, data, _ctx: make(data, params)})()

    info = PluginInfo("liar", Kind.ROW_WISE, "Says what it does.", randomized=randomized)
    return Case(Spec(info, Keyed, "nowhere:Nothing", lambda _p, _s: effect), {}, table, roles or {})


class Keyed(Params):
    key: str = "one"


def rows(do, **rest):
    return case(lambda _data, _params: Fitted(OnRows(do)), **rest)


def ages(said: Derivation | None, **rest) -> Effect:
    reads = rest.pop("reads", ("age",))
    return Effect(reads, {"age": Change.GENERALIZED}, derivations={} if said is None else {"age": said}, **rest)


def written(part: Table, cell: Callable[..., str | None], name: str = "age") -> Table:
    """A column of what ``cell`` makes of each row's age, illness, town, and number."""
    cells = (part[n].texts() for n in ("age", "ill", "town"))
    return part.replaced({name: Column.of([cell(*row) for row in zip(*cells, part.rows.tolist(), strict=True)])})


def labelled(part, _draws):
    return written(part, lambda age, *_: "old" if age in OLD else "young")


def by_illness(part, _draws):
    """Two spellings of a label, by the illness."""
    return written(part, lambda age, ill, *_: f"{'old' if age in OLD else 'young'}{'.' * (ill == 'ill-0')}")


def hidden_by_illness(part, _draws):
    return written(part, lambda age, ill, *_: "⊥" if ill == "ill-0" else age)


def by_number(part, _draws):
    return written(part, lambda age, _ill, _town, row: f"{age}{'.' * (row % 2)}")


def hidden_by_number(part, _draws):
    return written(part, lambda age, _ill, _town, row: "⊥" if row % 2 else None if row % 5 == 0 else age)


MAP = Derivation(("age",), value_map=True)
CHOSEN = Derivation(("age",), ("ill",), value_map=True)


@pytest.mark.parametrize("said", [MAP, CHOSEN, Derivation(("age",)), Derivation(("age",), ("ill", "town")), None])
@pytest.mark.parametrize("do", [labelled, hidden_by_number])
def test_a_map_of_the_value_passes(do, said):
    assert faults(rows(do, effect=ages(said))) == {}


@pytest.mark.parametrize("said", [MAP, CHOSEN, Derivation(("age",)), Derivation(("age", "town"), ("ill",))])
def test_a_label_that_tells_of_another_column_is_found(said):
    found = faults(rows(by_illness, effect=ages(said)))
    (told,) = found["cells_come_from_what_is_declared"]
    assert told.startswith("cells of the column `age` change with `ill`, which")
    assert ("value_maps_are_maps" in found) == said.value_map


@pytest.mark.parametrize("said", [Derivation(("age", "ill")), Derivation(("ill", "age"), ("town",))])
def test_a_label_of_two_columns_that_says_so_passes(said):
    assert faults(rows(by_illness, effect=ages(said))) == {}


def test_what_chose_a_column_may_suppress_its_cells_and_nothing_else_may():
    assert faults(rows(hidden_by_illness, effect=ages(CHOSEN))) == {}
    for said in (MAP, Derivation(("age",), ("town",), value_map=True)):
        found = faults(rows(hidden_by_illness, effect=ages(said)))
        assert [*found] == ["cells_come_from_what_is_declared"]


@pytest.mark.parametrize("do", [by_illness, hidden_by_illness])
def test_a_column_without_a_derivation_is_computed_from_all_that_the_step_reads(do):
    assert faults(rows(do, effect=ages(None, reads=("age", "ill")))) == {}
    assert [*faults(rows(do, effect=ages(None)))] == ["cells_come_from_what_is_declared"]


def test_an_added_column_is_held_as_well():
    def marks(part, _draws):
        return written(part, lambda _age, ill, *_: ill[-1], "mark")

    def effect(**said):
        return Effect(("age", "ill"), adds=(AttributeFacts("mark", Role.INSENSITIVE),), derivations=said)

    assert faults(rows(marks, effect=effect())) == {}
    assert faults(rows(marks, effect=effect(mark=Derivation(("ill",), value_map=True)))) == {}
    assert "cells_come_from_what_is_declared" in faults(rows(marks, effect=effect(mark=MAP)))


def test_a_column_that_gets_another_name_is_held_under_it():
    def moved(do):
        def both(part, draws):
            done = do(part, draws)
            return Table({"years" if n == "age" else n: c for n, c in done.columns.items()}, done.rows)

        return rows(both, effect=ages(MAP, renames={"age": "years"}))

    assert faults(moved(labelled)) == {}
    assert {*faults(moved(by_illness))} == {"cells_come_from_what_is_declared", "value_maps_are_maps"}


def test_equal_values_with_two_names_are_no_map():
    assert [*faults(rows(by_number, effect=ages(MAP)))] == ["value_maps_are_maps"]
    assert faults(rows(by_number, effect=ages(Derivation(("age",))))) == {}


def test_what_was_learned_by_row_number_is_found_by_fitting_anew():
    def memory(data, _params):
        ills = np.array(data.whole["ill"].texts())
        return Fitted(OnRows(lambda part, _: written(part, lambda age, _i, _t, row: f"{age}{ills[row]}")))

    assert "cells_come_from_what_is_declared" in faults(case(memory, ages(Derivation(("age",), ("town",)))))
    assert faults(case(memory, ages(Derivation(("age",), ("ill",))))) == {}  # believed: the kit's page says so


def test_rows_that_go_are_passed_over():
    def fewer(part, draws):
        part = part.take(np.array([i != "ill-0" for i in part["ill"].texts()], dtype=np.bool_))
        return labelled(part, draws)

    assert faults(rows(fewer, effect=ages(MAP, rows="fewer"))) == {}


def test_a_table_that_the_step_refuses_is_passed_over():
    def make(data, _params):
        seen = {*zip(data.whole["age"].texts(), data.whole["ill"].texts(), strict=True)}

        def apply(part, draws):
            if not seen.issuperset(zip(part["age"].texts(), part["ill"].texts(), strict=True)):
                raise PluginError(Diagnostic("PPF999", "the column `age` has values that were not seen"))
            return labelled(part, draws)

        return Fitted(OnRows(apply))

    some = TABLE.take(np.array([a in OLD or i == "ill-0" for a, i in zip(AGES, ILLS, strict=True)]))
    assert faults(case(make, ages(MAP), table=some)) == {}


def test_a_step_on_the_whole_table_is_held_to_what_it_looked_at():
    def turned(by):
        def do(table, _draws):
            groups = np.array(table[by].texts())
            source = np.arange(len(table))
            for group in np.unique(groups):
                own = np.flatnonzero(groups == group)
                source[own] = np.roll(own, 1)
            return table.replaced({"age": table["age"].take(source)})

        return lambda _data, _params: Fitted(OnTable(do))

    said = Derivation(("age",), ("age", "ill"))
    assert faults(case(turned("ill"), ages(said))) == {}
    (told,) = faults(case(turned("town"), ages(said)))["cells_come_from_what_is_declared"]
    assert "`town`, which its derivation says it is neither computed from nor chosen by" in told


def test_weights_stay_where_they_are():
    table = TABLE.replaced({"n": Column.of([str(i % 3 + 1) for i in range(120)])})

    def heavy(data, _params):
        counts = data.counts(["age"])
        most = counts.names("age")[int(counts.of("age")[np.argmax(counts.counts)])].as_py()
        return Fitted(OnRows(lambda part, _: written(part, lambda age, *_: "most" if age == most else age)))

    assert faults(case(heavy, ages(MAP), table=table, roles={"n": Role.WEIGHT})) == {}


def test_sets_are_held_as_a_whole_where_nothing_chose_them():
    sets = Baskets.of([["a", "b", "c"][: i % 4] for i in range(120)])
    table = TABLE.resettled({"basket": sets})

    def effect(*chosen_by):
        said = Derivation(("basket",), chosen_by, value_map=True)
        return Effect(("basket",), {"basket": Change.SUPPRESSED}, derivations={"basket": said})

    def without(part, ill):
        column = part.sets["basket"]
        names = column.categories.to_pylist()
        kept = [[names[i] for i in column.items[a:b] if ill is None or part["ill"].texts()[r] != ill or names[i] != "a"]
                for r, (a, b) in enumerate(zip(column.offsets[:-1], column.offsets[1:], strict=True))]  # fmt: skip
        return part.resettled({"basket": Baskets.of(kept)})

    assert faults(rows(lambda part, _: without(part, None), effect=effect(), table=table)) == {}
    assert faults(rows(lambda part, _: without(part, "ill-0"), effect=effect("ill"), table=table)) == {}
    found = faults(rows(lambda part, _: without(part, "ill-0"), effect=effect("town"), table=table))
    assert [*found] == ["cells_come_from_what_is_declared"]


KEYED = Effect(("age",), {"age": Change.PSEUDONYMIZED}, derivations={"age": Derivation(("age",), keyed=True)})


@pytest.mark.parametrize("honest", [True, False])
def test_a_keyed_column_depends_on_its_key(honest):
    def make(_data, params):
        key = params.key if honest else "none"
        return Fitted(OnRows(lambda part, _: written(part, lambda age, *_: f"{key}-{int(age) % 23}")))

    with_key = Case(case(make, KEYED).spec, {}, TABLE, other_key={"key": "another"})
    assert ("keys_and_draws_matter" in faults(with_key)) != honest
    assert faults(case(make, KEYED)) == {}  # the case names no other key, so nothing is held


@pytest.mark.parametrize("honest", [True, False])
def test_a_column_of_draws_alone_depends_on_them(honest):
    def made(part, draws):
        drawn = draws.words(part.rows)[:, 0] % np.uint64(5)
        column = Column(drawn.astype(np.int32), Column.of([*"abcde"]).categories)
        gone = Column(np.where(drawn == 0, np.int32(SUPPRESSED), part["town"].codes), part["town"].categories)
        return labelled(part.replaced({"town": gone}), draws) if not honest else part.replaced({"age": column})

    changes = {"age": Change.PSEUDONYMIZED, **({} if honest else {"town": Change.SUPPRESSED})}
    effect = Effect(("age",), changes, derivations={"age": Derivation(("age",), keyed=True)})
    found = faults(case(lambda _d, _p: Fitted(OnRows(made, 1)), effect, randomized=True))
    assert ("keys_and_draws_matter" in found) != honest


@pytest.mark.parametrize(
    ("retention", "keeps", "given", "told"),
    [
        (0.5, False, True, []),
        (0.5, True, True, ["other draws give the same cells"]),
        (0.5, False, False, ["hands over no operator for it"]),
        (1.0, True, True, []),
    ],
)
def test_a_drawn_column_has_an_operator_and_depends_on_draws(retention, keeps, given, told):
    names = tuple(sorted({*AGES}))
    operator = Operator("age", names, np.full(7, retention))

    def drawn(part, draws):
        uniform = draws.uniform(part.rows)
        own = Column.of(part["age"].texts(), list(names))
        other = (uniform[:, 1] * 7).astype(np.int32)
        codes = own.codes if keeps else np.where(uniform[:, 0] < retention, own.codes, other)
        return part.replaced({"age": Column(codes.astype(np.int32), own.categories)})

    effect = Effect(("age",), {"age": Change.PERTURBED}, derivations={"age": Derivation(("age",), drawn=True)})
    fitted = Fitted(OnRows(drawn, 2), operators={"age": operator} if given else {})
    found = faults(case(lambda _d, _p: fitted, effect, randomized=True)).get("keys_and_draws_matter", [])
    assert [t.partition("drawn, and ")[2].removeprefix("the step ") for t in found] == told
