"""Texts of plugins are searched for values of the source: each channel with a leak, and its harmless mirror."""

from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding, Measured
from ppdm_flow.core.texts import LONGEST, is_telling, spans
from ppdm_flow.sdk.anonymizer import Fitted, Operator

ONE = Figure(1, "rows")


class Step:
    """Does nothing, and says the text that ``told`` makes of a value of the data, and of a name in its place."""

    draws_per_row = 0

    def __init__(self, params):
        self.params = params
        self.described = {}

    def fit(self, data, ctx):
        self.value = data.domain("town")[0].as_py()
        return self.told(Fitted(self), self.value)

    def told(self, fitted, value):
        return fitted

    def describe(self):
        return self.described

    def apply(self, part, draws):
        return part


def passes(bench, plan):
    """Whether a run comes to its verdict, and writes everything down."""
    return (bench.run(plan).run_dir / "manifest.json").is_file()


def noted(fitted, text):
    return replace(fitted, figures={"worst": Figure(1, "rows", note=f"the worst is {text}")})


def named(fitted, text):
    return replace(fitted, figures={f"share.{text}": ONE})


def in_unit(fitted, text):
    return replace(fitted, figures={"worst": Figure(1, text)})


def found(fitted, text):
    return replace(fitted, findings=(Finding("ACME1", Severity.WARNING, f"`{text}` is rare.", "bands"),))


def subject(fitted, text):
    return replace(fitted, findings=(Finding("ACME1", Severity.WARNING, "A value is rare.", f"bands.{text}"),))


def label(fitted, text):
    return replace(fitted, charts=(Chart("c", "Values", "bars", ("first", text), (FigureSeries("rows", (1, 2)),)),))


def series(fitted, text):
    return replace(fitted, charts=(Chart("c", "Values", "bars", ("first",), (FigureSeries(text, (1,)),)),))


def chart_note(fitted, text):
    return replace(fitted, charts=(Chart("c", "T", "bars", ("a",), (FigureSeries("s", (1,)),), note=f"not {text}_"),))


def document(fitted, text):
    return replace(fitted, artifacts={"codes.json": {"code": [{"of": text}]}})


def document_key(fitted, text):
    return replace(fitted, artifacts={"codes.json": {"codes": {text: 7}}})


def document_name(fitted, text):
    return replace(fitted, artifacts={f"{text}.json": {"codes": 7}})


def foreign_domain(fitted, text):
    """The channel of one attribute that publishes values of another one as its domain."""
    operator = Operator("illness", (text, "other"), np.array([0.5, 0.5]))
    artifact = {"operators": [operator.document()]}
    return replace(fitted, artifacts={"operator.json": artifact}, operators={"illness": operator})


def described(fitted, text):
    fitted.transform.described = {"mapping": [{"from": text, "to": 3}]}
    return fitted


def described_key(fitted, text):
    fitted.transform.described = {text: 3}
    return fitted


CHANNELS = (noted, named, in_unit, found, subject, label, series, chart_note, document, document_key, document_name)
CHANNELS += (foreign_domain, described, described_key)


@pytest.mark.slow
@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("distribution", ["acme", "ppdm_flow"])
def test_a_step_that_quotes_a_value(bench, tools, channel, distribution):
    class Leaks(Step):
        told = staticmethod(channel)

    bench.data(tools.rows(200))
    error = bench.fails(come_from(distribution, tools.swapped(bench.plan(), "bands", Leaks), "bands"))
    assert (error.exit_status, [d.code for d in error.diagnostics]) == (3, ["PPF930"])
    assert "`bands`" in str(error)
    assert "column `town`" in str(error)


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("channel", [c for c in CHANNELS if c is not foreign_domain])
def test_its_harmless_mirror(bench, tools, channel):
    """The name of a column, a number and the plugin's own words are no values."""

    class Says(Step):
        def told(self, fitted, value):
            return channel(fitted, "age of 37 in 12,345 rows")

    bench.data(tools.rows(200))
    assert passes(bench, come_from("acme", tools.swapped(bench.plan(), "bands", Says), "bands"))


def come_from(distribution, plan, name):
    def other(node):
        return replace(node, bound=replace(node.bound, distribution=distribution)) if node.name == name else node

    return replace(plan, steps=tuple(map(other, plan.steps)), audits=tuple(map(other, plan.audits)))


class Audit:
    """Measures k as the policy wants it; ``told`` may spoil what it says."""

    def __init__(self, params):
        self.params = params

    def measure(self, original, candidate, ctx):
        k = tuple(
            Measured(r.id, f"{r.id}.k", Figure(50, "rows"), r.k, at_most=False, sentence="Fine.")
            for r in ctx.requirements
        )
        return self.told(AuditOutcome({m.metric: m.figure for m in k}, k), original.domain("town")[0].as_py())

    def recheck(self, original, candidate, ctx):
        return {f"{r.id}.k": 50 for r in ctx.requirements}


AUDITED = {
    "sentence": lambda o, v: replace(o, measured=tuple(replace(m, sentence=f"The {v} is lost.") for m in o.measured)),
    "note": lambda o, v: replace(o, figures={**o.figures, "x.note": Figure(None, "rows", note=v)}),
    "figure": lambda o, v: replace(o, figures={**o.figures, f"x.{v}_share": ONE}),
    "finding": lambda o, v: replace(o, findings=(Finding("ACME1", Severity.INFO, f"See ({v}).", "k"),)),
    "chart": lambda o, v: replace(o, charts=(Chart("c", "T", "matrix", ("a",), (FigureSeries(v, (1,)),)),)),
}


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("channel", AUDITED)
def test_an_audit_that_quotes_a_value(bench, tools, channel):
    class Leaks(Audit):
        told = staticmethod(AUDITED[channel])

    bench.data(tools.rows(200))
    error = bench.fails(tools.swapped(bench.plan(), "k_anonymity", Leaks))
    assert (error.exit_status, [d.code for d in error.diagnostics]) == (3, ["PPF930"])
    assert "`k_anonymity`" in str(error)


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("channel", AUDITED)
def test_an_audit_that_names_columns_is_fine(bench, tools, channel):
    class Says(Audit):
        def told(self, outcome, value):
            return AUDITED[channel](outcome, "town")

    bench.data(tools.rows(200))
    assert passes(bench, tools.swapped(bench.plan(), "k_anonymity", Says))


@pytest.mark.slow
def test_values_that_the_policy_declares_may_be_named(bench, tools):
    class Names(Step):
        told = staticmethod(document)

    towns = ", ".join(f"{tools.CANARY}town{i}" for i in range(4))
    declared = tools.POLICY.replace(
        "town: {role: quasi_identifier}", f"town: {{role: quasi_identifier, domain: [{towns}]}}"
    )
    bench.data(tools.rows(200))
    assert passes(bench, tools.swapped(bench.plan(declared), "bands", Names))


@pytest.mark.slow
def test_values_that_the_policy_shows_stand_in_the_report_alone(bench, tools):
    class Notes(Step):
        told = staticmethod(noted)

    class Publishes(Step):
        told = staticmethod(document)

    shown = tools.POLICY + "report: {values: show}\n"
    bench.data(tools.rows(200))
    error = bench.fails(tools.swapped(bench.plan(shown), "bands", Publishes))
    assert [d.code for d in error.diagnostics] == ["PPF930"]
    assert passes(bench, tools.swapped(bench.plan(shown), "bands", Notes))


def test_a_channel_publishes_its_own_domain(bench, tools):
    """`operator.json` has the values of what is randomized, as the bundled perturbation's; see the canaries there."""
    bench.data(tools.rows(200))
    done = bench.run(bench.plan())
    assert tools.CANARY.encode() in tools.released(done.run_dir)["study/operator.json"]


WORDS = """version: 1
name: words
source: {path: table.csv}
attributes:
  age: {role: quasi_identifier}
  town: {role: quasi_identifier}
  illness: {role: sensitive}
privacy: {k_anonymity: {k: 2}}
steps: {bands: {use: suppress, with: {rare: {town: {count: 2}}}}}
releases: {study: {path: study.csv}}
"""


@pytest.mark.slow
def test_words_of_sentences_are_no_values_even_where_the_data_has_them(bench, tools):
    """Every word that the tool itself says, as a value of the data: the run is released all the same."""
    policy = WORDS
    rows = [["1", "rows", "flu"], ["2", "smallest", "class"]]
    bench.data([r for r in rows for _ in range(20)], "age,town,illness")
    said = [f.note for f in bench.run(bench.plan(policy)).report.metrics.values()]
    said += [r.sentence for r in bench.run(bench.plan(policy)).report.requirements]
    words = sorted({w for text in said for w in text.replace(".", " ").split() if w.isalpha() and len(w) > 1})
    assert len(words) > 5
    bench.data([["1", w, w] for w in words for _ in range(20)], "age,town,illness")
    assert bench.run(bench.plan(policy)).report.verdict == "released"


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("partition_rows", [20, 262_144])
@pytest.mark.parametrize("memory_limit", [1 << 30, 0])
def test_a_leak_is_found_whatever_is_held_in_memory(bench, tools, partition_rows, memory_limit):
    class Leaks(Step):
        told = staticmethod(noted)

    bench.data(tools.rows(60))
    plan = tools.swapped(bench.plan(), "bands", Leaks)
    error = bench.fails(plan, partition_rows=partition_rows, memory_limit=memory_limit)
    assert [d.code for d in error.diagnostics] == ["PPF930"]


WRITTEN = ("13-10-4202", "0010-555-716", "sitnaltA ", "K73=<", "京北", "erehwoN tniaS ta eciwt nees")
"""Backwards: what stands in a plugin's own code, this file, is none of the data."""


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("text", [*(t[::-1] for t in WRITTEN), 3 * WRITTEN[-1][::-1]])
def test_free_texts_dates_and_signs_are_values_too(bench, tools, text):
    class Leaks(Step):
        def told(self, fitted, value):
            return noted(fitted, self.text) if self.there else noted(fitted, "another one")

        def fit(self, data, ctx):
            self.text = next(v for v in data.domain("score").to_pylist() if not v.startswith(tools.CANARY))
            return self.told(Fitted(self), None)

        there = True

    class Mirror(Leaks):
        there = False

    bench.data([[*row[:4], f'"{text}"' if i == 7 else row[4]] for i, row in enumerate(tools.rows(200))])
    error = bench.fails(tools.swapped(bench.plan(), "bands", Leaks))
    assert [d.code for d in error.diagnostics] == ["PPF930"]
    assert passes(bench, tools.swapped(bench.plan(), "bands", Mirror))


@pytest.mark.slow
def test_what_is_searched_is_what_is_written(bench, tools):
    """Documents that change after they were handed over are written as they were."""
    kept = {"codes": [1]}

    class Changes(Step):
        def told(self, fitted, value):
            return replace(fitted, artifacts={"codes.json": kept})

        def describe(self):
            kept["codes"].append(self.value)
            return MappingProxyType({"size": np.int64(3), "names": {"b", "a"}})

    bench.data(tools.rows(200))
    plan = come_from("acme", tools.swapped(bench.plan(), "bands", Changes), "bands")
    done = bench.run(plan, keep_withheld=True)
    assert done.report.verdict == "withheld"
    assert json.loads(tools.released(done.run_dir, "withheld")["study/codes.json"]) == {"codes": [1]}
    assert done.report.steps[0].description == {"size": 3, "names": ["a", "b"]}


class Text(str):
    def __str__(self):
        return "harmless"

    def __contains__(self, _other):
        return False


@pytest.mark.slow
def test_a_text_that_lies_about_itself_is_made_plain(bench, tools):
    class Lies(Step):
        def told(self, fitted, value):
            return replace(fitted, figures={"worst": Figure(1, "rows", note=Text(value))})

    bench.data(tools.rows(200))
    error = bench.fails(come_from("acme", tools.swapped(bench.plan(), "bands", Lies), "bands"))
    assert [d.code for d in error.diagnostics] == ["PPF930"]


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda f, v: replace(f, figures={"worst": Figure(v, "rows")}),
        lambda f, v: replace(f, figures={"worst": 3}),
        lambda f, v: replace(f, figures={"worst": Figure(1, "rows", interval=(v, 2))}),
        lambda f, v: replace(f, findings=(v,)),
        lambda f, v: replace(f, charts=(Chart("c", "T", "bars", ("a",), (FigureSeries("s", (v,)),)),)),
        lambda f, v: replace(f, artifacts={"codes.json": [v]}),
        lambda f, v: {"figures": v},
    ],
    ids=["a figure", "no figure", "an interval", "no finding", "a line", "no map", "not fitted"],
)
def test_values_in_the_place_of_numbers_are_refused(bench, tools, spoilt):
    class Spoils(Step):
        told = staticmethod(spoilt)

    bench.data(tools.rows(200))
    error = bench.fails(tools.swapped(bench.plan(), "bands", Spoils))
    assert (error.exit_status, [d.code for d in error.diagnostics]) == (3, ["PPF905"])


class Refuses(Step):
    """Ends with an error of its own, on purpose."""

    def fit(self, data, ctx):
        raise PluginError(Diagnostic("ACME9", *self.words(data.domain("town")[0].as_py())))


def refusal(words):
    class Refusing(Refuses):
        pass

    Refusing.words = staticmethod(words)
    return Refusing


def test_an_error_that_quotes_a_value_is_not_shown(bench, tools):
    bench.data(tools.rows(200))
    plan = tools.swapped(bench.plan(), "bands", refusal(lambda v: (f"the column `town` has the value {v}",)))
    error = bench.fails(come_from("acme", plan, "bands"))
    assert (error.exit_status, [d.code for d in error.diagnostics]) == (3, ["PPF931"])


@pytest.mark.parametrize("distribution", ["acme", "ppdm_flow"])
def test_an_error_that_names_columns_and_counts_is_passed_on(bench, tools, distribution):
    bench.data(tools.rows(200))
    told = refusal(lambda v: (f"the column `town` has {len(v)} values that are no numbers in step `bands`",))
    error = bench.fails(come_from(distribution, tools.swapped(bench.plan(), "bands", told), "bands"))
    assert (error.exit_status, [d.code for d in error.diagnostics]) == (2, ["ACME9"])


def test_what_is_no_error_is_not_shown_either(bench, tools):
    class Odd(BaseException):
        pass

    class Raises(Step):
        def fit(self, data, ctx):
            raise Odd(data.domain("town")[0].as_py())

    bench.data(tools.rows(200))
    error = bench.fails(tools.swapped(bench.plan(), "bands", Raises))
    assert (error.exit_status, [d.code for d in error.diagnostics]) == (3, ["PPF901"])


def test_an_error_of_ours_that_a_plugin_asked_for_is_passed_on(bench, tools):
    class Asks(Step):
        def fit(self, data, ctx):
            return data.counts(["twon"])

    bench.data(tools.rows(200))
    error = bench.fails(come_from("acme", tools.swapped(bench.plan(), "bands", Asks), "bands"))
    assert [(d.code, d.hint) for d in error.diagnostics] == [("PPF708", "did you mean `town`?")]


def test_runs_of_words():
    assert "New York" in set(spans("Most are in New York."))
    assert "York" in set(spans("new_York-based"))
    assert "art" not in set(spans("start"))
    assert all(len(s) <= LONGEST for s in spans("word " * 99))
    assert list(spans("")) == list(spans("12.5 % (3)")) == []
    assert not is_telling("K")
    assert is_telling("OK")
