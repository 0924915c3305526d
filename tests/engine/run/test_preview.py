"""What the data lets one expect."""

from __future__ import annotations

import json

import pytest

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.errors import DataError
from ppdm_flow.engine.run.preview import preview

POLICY = """version: 1
name: small
source: {path: table.csv, missing: ["?", ""]}
attributes:
  town: {role: quasi_identifier}
  illness: {role: sensitive}
  n: {role: weight}
privacy:
  k_anonymity: {k: KKK}
  templates:
    flu: {channel: [town], sensitive: {illness: [flu]}, confidence: HHH}
steps:
  suppress: {use: progressive_disclosure}
releases:
  out: {path: out.csv}
"""


@pytest.fixture
def plan(bench):
    def make(k: int = 2, h: float = 0.5, extra: str = "", swap: tuple[str, str] = ("", "")):
        bench.data([["a", "flu", "3"], ["a", "cold", "5"], ["b", "cold", "2"], ["b", "?", "0"]], "town,illness,n")
        policy = POLICY.replace("KKK", str(k)).replace("HHH", str(h)) + extra
        return bench.plan(policy.replace(*swap) if swap[0] else policy)

    return make


def test_rows_people_and_costs(plan):
    found = preview(plan(), None)
    assert (found.rows, found.used, found.people) == (4, 3, 10)  # one row counts nobody
    assert found.diagnostics == ()
    assert json.loads(json.dumps(found.document))["rows"] == 4
    assert {c.step for c in found.costs} == {"suppress", "shuffle-out"}
    assert all(c.seconds >= 0 and c.passes >= 1 for c in found.costs)


@pytest.mark.parametrize(("h", "feasible"), [(0.31, True), (0.29, False)])
def test_a_template_that_even_the_most_suppressed_table_breaks(plan, h, feasible):
    """Lemma 3.3: flu is 3 of 10."""
    found = preview(plan(h=h), None).diagnostics
    assert [d.code for d in found] == ([] if feasible else ["PPF784"])
    if not feasible:
        assert found[0].severity is Severity.ERROR
        assert found[0].span is not None
        assert "30.0%" in found[0].message
        assert found[0].notes[0].endswith("the lowest confidence that it could have is 0.3")


@pytest.mark.parametrize(("h", "feasible"), [(0.7, True), (0.69, False)])
def test_a_negated_template_that_no_suppression_can_satisfy(plan, h, feasible):
    """7 of 10 have not flu, the missing one of weight 0 included."""
    found = preview(plan(h=h, swap=("confidence:", "negated: true, confidence:")), None).diagnostics
    assert [d.code for d in found] == ([] if feasible else ["PPF784"])


@pytest.mark.parametrize(("least", "feasible"), [(10, True), (11, False)])
def test_a_support_above_all_rows(plan, least, feasible):
    found = preview(plan(swap=("confidence:", f"min_support: {least}, confidence:")), None).diagnostics
    assert [d.code for d in found] == ([] if feasible else ["PPF784"])


def test_fewer_people_than_k(plan):
    assert [d.code for d in preview(plan(k=11), None).diagnostics] == ["PPF784"]
    assert preview(plan(k=10), None).diagnostics == ()


def test_a_value_that_is_known_too_well_is_a_warning(bench, tools):
    bench.data(tools.rows(300))
    policy = tools.POLICY.replace(
        "{default: {tolerance: 4}}", "{values: {zqcanaryill1: {r1: 0.01, r2: 0.02}, zqcanaryill2: {r1: 0.3, r2: 0.9}}}"
    )
    found = preview(bench.plan(policy), None).diagnostics
    assert [(d.code, d.severity) for d in found] == [("PPF741", Severity.WARNING)]


@pytest.mark.parametrize(
    ("sensitivity", "lines"),
    [
        ("{values: {flu: [{r1: 0.1, r2: 0.2, given: nurses}]}}", []),  # about some people only
        ("{values: {flu: [{r1: 0.1, r2: 0.2}, {r1: 0.2, r2: 0.9}]}}", ["`flu` is 30.0%"]),
        ("{groups: {all: {values: [flu, cold], r1: 0.1, r2: 0.5}}}", ["`cold` is 70.0%"]),
        ("{default: {r1: 0.1, r2: 0.2}}", ["2 values of `illness` without a bound of their own"]),
        ("{default: {r1: 0.1, r2: 0.2}, values: {cold: {r1: 0.7, r2: 0.9}}}", ["1 value of `illness` without a bound"]),
        ("{default: {tolerance: 2}}", []),
    ],
)
def test_every_kind_of_bound_is_held_against_the_shares(plan, sensitivity, lines):
    """flu is 3 of 10, cold 7."""
    required = f"  sensitivities:\n    illness: {sensitivity}\nsteps:"
    found = preview(plan(swap=("steps:", required)), None).diagnostics
    assert [d.code for d in found] == ["PPF741"] * len(lines)
    assert all(d.message.startswith(line) for d, line in zip(found, lines, strict=True))


def test_data_that_does_not_fit_is_an_error(plan, bench):
    made = plan()
    bench.data([["a", "flu", "x"]], "town,illness,n")
    with pytest.raises(DataError):
        preview(made, None)


SETS = """version: 1
name: sets
source: {path: table.dat, format: transactions}
attributes:
  basket: {role: items}
privacy:
  itemset_breach: {level: 0.5, max_supports: [0.4]}
steps:
  randomize: {use: randomize_transactions, with: {form: FORM}}
releases:
  out: {path: out.parquet}
"""


@pytest.mark.parametrize(("form", "stated", "size"), [("packed", "bits", 2 * 12), ("seeded", "seeds", 2 * (2 * 7 + 4))])
def test_released_sets_are_stated_in_the_form_that_the_step_gives_them(bench, form, stated, size):
    data = bench.folder / "table.dat"
    data.write_text("1 2 3\n2 4\n")
    (found,) = preview(bench.plan(SETS.replace("FORM", form)), data).sizes
    assert (found.form, found.octets) == (stated, size)


@pytest.mark.parametrize(("level", "codes"), [(0.5, ["PPF773"]), (0.99, [])])
def test_a_level_that_the_items_rule_out_is_said_before_a_run(bench, level, codes):
    """Nine in ten transactions have item 0: nothing that is released keeps it below one half."""
    data = bench.folder / "table.dat"
    data.write_text("".join(f"{'0 ' * (i % 10 > 0)}{1 + i % 7}\n" for i in range(3_000)))
    asked = f"{{level: {level}, sizes: [1]}}"
    policy = SETS.replace("FORM", "packed").replace("{level: 0.5, max_supports: [0.4]}", asked)
    assert [d.code for d in preview(bench.plan(policy), data).diagnostics] == codes
