"""Each line of `ppdm-flow explain trust`: a plugin that breaks it, and the run that stops, or does not."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

import numpy as np
import pytest

from ppdm_flow import api as ledgers
from ppdm_flow.api.explain.explain import explain
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import AuditOutcome, Figure, Measured
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.anonymizer import Fitted, Operator
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import Case
from ppdm_flow.testing.conformance import cells_come_from_what_is_declared

POLICY = """version: 1
name: clinic
source: {path: table.csv}
attributes:
  name: {role: identifier}
  age: {role: quasi_identifier}
  town: {role: quasi_identifier, domain: [east, west]}
  illness: {role: sensitive}
  income: {role: insensitive, type: integer}
privacy: {k_anonymity: {k: 2}}
steps:
  work: {use: recode, with: {attributes: {age: {values: {"1": one}, keep_others: true}}}}
releases: {study: {path: study.csv}}
"""
ILLS = tuple(word[::-1] for word in ("sitinolp", "amevurg", "sisotlez"))
"""Backwards: what stands in a plugin's own code, this file, is none of the data."""


def rows():
    return [[f"Pe{i}rson", str(i % 2), ("east", "west")[i % 2], ILLS[i % 3], str(1000 + i)] for i in range(60)]


@pytest.fixture
def run(bench, tools):
    """Carry out the policy with the class of a test in the place of its step, as another distribution's plugin."""
    bench.data(rows(), "name,age,town,illness,income")

    def carry_out(algorithm, name="work", policy=POLICY):
        def other(node):
            if node.name != name:
                return node
            return replace(node, bound=replace(node.bound, distribution="acme"))

        plan = tools.swapped(bench.plan(policy), name, algorithm)
        return replace(plan, steps=tuple(map(other, plan.steps)), audits=tuple(map(other, plan.audits)))

    carry_out.fails = lambda *args, keep_withheld=False, **more: refused(
        bench.fails(carry_out(*args, **more), keep_withheld=keep_withheld)
    )
    carry_out.done = lambda *args, **more: bench.run(carry_out(*args, **more))
    carry_out.released = lambda *args, **more: tools.released(carry_out.done(*args, **more).run_dir)
    return carry_out


def refused(error):
    """The exit status and the first code of an error; it quotes no cell."""
    assert not any(word in str(error) for row in rows() for word in (row[0], row[3], row[4]))
    return error.exit_status, error.diagnostics[0].code


class Step:
    draws_per_row = 0

    def __init__(self, params):
        self.params = params

    def fit(self, data, ctx):
        return Fitted(self)

    def describe(self):
        return {}

    def apply(self, part, draws):
        return part


class Audit:
    """Measures k by two routes that agree."""

    k = 50

    def __init__(self, params):
        self.params = params

    def measure(self, original, candidate, ctx):
        found = tuple(
            Measured(r.id, f"{r.id}.k", Figure(self.k, "rows"), r.k, at_most=False, sentence="Fine.")
            for r in ctx.requirements
        )
        return AuditOutcome({m.metric: m.figure for m in found}, found)

    def recheck(self, original, candidate, ctx):
        return {f"{r.id}.k": 50 for r in ctx.requirements}


FAULTY = {
    "input": "nobody else sees what a plugin does to its input",
    "columns": "a column that a step does not declare to change stays as it is",
    "rows": "no row is invented, doubled or lost against what the step declares",
    "schema": "nothing but the plan's columns is released",
    "identifiers": "identifiers and subjects do not leave under their own values",
    "requirements": "a requirement holds for the released bytes, regardless of what a step claims",
    "operators": "values that a step calls randomized follow the operator that it hands over",
    "file": "the file has the rows that the steps made, in any order",
    "bytes": "the bytes that are published are those that were judged, and no file lies beside them",
    "words": (
        "no value of the source stands in figures' names and notes, sentences, findings, charts, descriptions or"
        " documents beside a release"
    ),
    "figures": "a figure is a number",
    "messages": "no value stands in the message of an error of a step or an audit",
    "exit": "a run that was not released does not end with 0",
    "draws": "a step cannot foresee the draws of another one",
    "names": "a plugin cannot take the place of a built-in",
    "ledger": "a release is known to the ledger that the policy names",
}
HONEST = {
    "lineage": "a column is computed from what the step says",
    "domain": "a step writes no values outside of the declared domain",
    "secrecy": "draws are secret, and are the ones that were given",
    "spelling": "values are not disguised",
    "numbers": "a figure reveals no single person's number",
    "measures": "what an audit of another distribution measures is right",
    "holdout": "a generator did not learn from the rows that it holds out",
    "files": (
        "a source returns what its file holds, a sink writes nothing between the cells, and neither"
        " quotes data when it fails"
    ),
    "process": "code of a plugin does nothing else",
}
"""What is promised on the page, in the order of its two tables, by the name of its test."""


def promised(table: str) -> list[str]:
    """Return the first cells of a table's lines, each of which has a second one."""
    return [what for what, _ in re.findall(r"^\| (.+?) \| (.+) \|$", table, re.MULTILINE)][1:]


def test_the_page_has_each_line_and_each_line_its_test():
    faulty, honest = explain("trust").split("only where the plugin is **honest**")
    assert promised(faulty) == list(FAULTY.values())
    assert promised(honest) == list(HONEST.values())
    tests = {n for n in globals() if re.match(r"test_(faulty|honest)_", n)}
    assert tests == {*(f"test_faulty_{n}" for n in FAULTY), *(f"test_honest_{n}" for n in HONEST)}


def test_an_honest_plugin_is_released(run):
    done = run.done(Step)
    assert done.report.verdict == "released"


def test_faulty_input(run):
    class Writes(Step):
        def apply(self, part, draws):
            part["illness"].codes.setflags(write=True)
            part["illness"].codes[:] = 0
            return part

    assert run.fails(Writes) == (3, "PPF901")


def test_faulty_columns(run):
    class Changes(Step):
        def apply(self, part, draws):
            return part.replaced({"illness": Column.of([ILLS[0]] * len(part))})

    assert run.fails(Changes) == (3, "PPF905")


def test_a_plugin_that_declares_more_once_the_plan_is_made(run, bench):
    spec, changes = registry.load("anonymizers", "recode"), {}
    plain = spec.effect

    def effect(params, scope):
        said = plain(params, scope)
        changes.update(said.changes)
        return replace(said, changes=changes)

    object.__setattr__(spec, "effect", effect)
    try:
        plan = bench.plan(POLICY)
    finally:
        object.__setattr__(spec, "effect", plain)
    changes["illness"] = Change.OTHER
    assert set(plan.step("work").effect.changes) == {"age"}


def test_faulty_rows(run):
    class Doubles(Step):
        def apply(self, part, draws):
            return part.take(np.repeat(np.arange(len(part)), 2))

    assert run.fails(Doubles) == (3, "PPF905")


def test_faulty_schema(run):
    class Adds(Step):
        def apply(self, part, draws):
            return part.replaced({"secret": part["illness"]})

    class Drops(Step):
        def apply(self, part, draws):
            return part.select(["age", "town"])

    assert run.fails(Drops) == (3, "PPF905")
    assert run.released(Adds)["study/study.csv"].splitlines()[0] == b"age,town,illness,income"


def test_faulty_identifiers(run, monkeypatch):
    monkeypatch.setenv("KEY", "00112233445566778899")
    coded = re.sub(r"work: .*", "work: {use: pseudonymize, with: {attributes: [name], key_env: KEY}}", POLICY)
    assert run.fails(Step, policy=coded) == (2, "PPF728")
    assert b"Pe1rson" not in run.released(Masks, policy=coded)["study/study.csv"]


class Masks(Step):
    def apply(self, part, draws):
        return part.replaced({"name": Column.of(["*"] * len(part))})


def test_faulty_requirements(run):
    """A step that says that it makes groups, and makes people unique."""

    class Splits(Step):
        def apply(self, part, draws):
            return part.replaced({"age": Column.of([f"n{i}" for i in part.rows])})

    found = run.done(Splits).report.requirements
    assert [(r.measured, r.holds) for r in found] == [(1, False)]


PERTURBED = POLICY.replace("k_anonymity: {k: 2}", "sensitivities: {illness: {default: {tolerance: 4}}}")
PERTURBED = re.sub(r"work: .*", "work: {use: fine_grain_perturbation}", PERTURBED)


def test_faulty_operators(run):
    """A step that hands over a channel of noise, and leaves every cell as it is."""

    class Claims(Step):
        def fit(self, data, ctx):
            operator = Operator("illness", ILLS, np.full(3, 0.05))
            return Fitted(self, operators={"illness": operator})

    class Silent(Step):
        """Says in the plan that it randomizes, and hands over no channel."""

    class Publishes(Step):
        """Hands over the channel that it follows, and publishes another one."""

        def fit(self, data, ctx):
            true, false = (Operator("illness", ILLS, np.full(3, share)) for share in (1.0, 0.5))
            return Fitted(
                self, artifacts={"operator.json": {"operators": [false.document()]}}, operators={"illness": true}
            )

    assert run.fails(Publishes, policy=PERTURBED, keep_withheld=True) == (3, "PPF905")
    assert [r.holds for r in run.done(Silent, policy=PERTURBED).report.requirements] == [False]
    assert [r.holds for r in run.done(Claims, policy=PERTURBED).report.requirements] == [False]


def test_faulty_file(run, monkeypatch):
    """A writer that leaves out a row."""
    load = registry.load

    def forgetful(group, name):
        spec = load(group, name)
        if group != "sinks":
            return spec
        plain = spec.load()

        class Forgets(plain):
            def write(self, batch):
                super().write(batch.slice(1))

        other = type("Spec", (type(spec),), {"__slots__": (), "load": lambda self: Forgets})
        return other(spec.info, spec.params, spec.algorithm, spec.effect, spec.stores)

    monkeypatch.setattr("ppdm_flow.engine.opening.opening.registry.load", forgetful)
    assert run.fails(Step) == (3, "PPF903")


def test_faulty_bytes(run, bench):
    """An audit that writes into the file that it judges, or beside it."""

    class Writes(Audit):
        def measure(self, original, candidate, ctx):
            with next(bench.out.glob("*/.tmp-*/candidate/study/study.csv")).open("a") as file:
                file.write("0,east,x,1\n")
            return super().measure(original, candidate, ctx)

    class Adds(Audit):
        def measure(self, original, candidate, ctx):
            next(bench.out.glob("*/.tmp-*/candidate/study")).joinpath("more.csv").write_text("x")
            return super().measure(original, candidate, ctx)

    assert run.fails(Writes, "k_anonymity") == (3, "PPF903")
    assert run.fails(Adds, "k_anonymity") == (3, "PPF904")


def test_faulty_words(run):
    class Quotes(Step):
        def fit(self, data, ctx):
            worst = data.domain("illness")[0].as_py()
            return Fitted(self, figures={"worst": Figure(1, "rows", note=f"of {worst}")})

    assert run.fails(Quotes) == (3, "PPF930")


def test_faulty_figures(run):
    class Quotes(Step):
        def fit(self, data, ctx):
            return Fitted(self, figures={"worst": Figure(data.domain("illness")[0].as_py(), "rows")})

    assert run.fails(Quotes) == (3, "PPF905")


def test_faulty_messages(run):
    class Stumbles(Step):
        def fit(self, data, ctx):
            raise KeyError(data.domain("illness")[0].as_py())

    class Refuses(Step):
        def fit(self, data, ctx):
            raise PluginError(Diagnostic("ACME1", f"`illness` has {data.domain('illness')[0].as_py()}"))

    assert run.fails(Stumbles) == (3, "PPF901")
    assert run.fails(Refuses) == (3, "PPF931")


def test_faulty_exit(run):
    class Leaves(Step):
        def apply(self, part, draws):
            sys.exit(0)

    assert run.fails(Leaves) == (3, "PPF901")


def test_faulty_draws():
    """What a step is given is made of a key of its own; that of another step, or the run's, does not follow from it."""
    key = RunKey(bytes(range(32)))
    one, other = (Draws(key.step(name), 1) for name in ("one", "other"))
    assert key.secret not in (one.key, other.key)
    assert one.words(np.arange(9)).tolist() != other.words(np.arange(9)).tolist()


def test_faulty_names(monkeypatch):
    drop = registry.find("anonymizers", "drop")
    monkeypatch.setattr(registry, "listed", lambda group: (drop, replace(drop, distribution="acme")))
    with pytest.raises(PluginError) as caught:
        registry.load("anonymizers", "drop")
    assert caught.value.diagnostics[0].code == "PPF402"


def test_faulty_ledger(run, bench):
    """A step cannot keep a release out of it: it is given neither the ledger nor its key."""
    policy = POLICY + "ledger: {path: l.ledger, subject: name}\n"
    seen = []

    class Looks(Audit):
        def measure(self, original, candidate, ctx):
            seen.append(ctx.history)
            return super().measure(original, candidate, ctx)

    place = bench.folder / "l.ledger"
    ledgers.create_ledger(place)
    done = run.done(Looks, "k_anonymity", policy=policy)
    assert done.report.verdict == "released"
    assert len(ledgers.ledger(place).entries) == 1
    people = seen[0].own.subjects.tobytes()
    assert people
    assert not any(row[0].encode() in people for row in rows())


def test_honest_lineage(run):
    """The illness leaves as the age of which the step declares to change the values."""

    class Mixes(Step):
        def apply(self, part, draws):
            ill = part["illness"]
            return part.replaced({"age": ill, "illness": ill}) if len(part) else part

    loose = POLICY.replace("k: 2", "k: 2, attributes: [town]")
    assert ILLS[0].encode() + b",east" in run.released(Mixes, policy=loose)["study/study.csv"]
    spec = next(step for step in run(Mixes, policy=loose).steps if step.name == "work").bound.spec
    recoded = {"attributes": {"age": {"values": {"1": "one"}, "keep_others": "true"}}}
    _, ages, _, ills, _ = map(list, zip(*rows(), strict=True))
    found = list(cells_come_from_what_is_declared(Case(spec, recoded, Table.of({"age": ages, "illness": ills}))))
    assert "`age` change with `illness`" in found[0]


def test_honest_domain(run):
    coarse = POLICY.replace('age: {values: {"1": one}', "town: {values: {east: e}")

    class Strays(Step):
        def apply(self, part, draws):
            return part.replaced({"town": Column.of(["nowhere"] * len(part))})

    assert b"nowhere" in run.released(Strays, policy=coarse)["study/study.csv"]


def test_honest_secrecy(run):
    kept = []

    class Keeps(Step):
        draws_per_row = 1

        def apply(self, part, draws):
            kept.append(draws.key)
            return part

    assert run.done(Keeps).report.verdict == "released"
    assert kept


def test_honest_spelling(run):
    class Shouts(Step):
        def fit(self, data, ctx):
            worst = data.domain("illness")[0].as_py()
            return Fitted(self, artifacts={"codes.json": {"worst": [worst.upper(), worst[:4], list(worst)]}})

    assert min(ILLS).upper().encode() in run.released(Shouts)["study/codes.json"]


def test_honest_numbers(run):
    class Tells(Step):
        def fit(self, data, ctx):
            return Fitted(self, figures={"largest": Figure(int(data.domain("income")[-1].as_py()), "units")})

    assert run.done(Tells).report.metrics["work.largest"].value == 1059


def test_honest_measures(run):
    """Two routes that agree on what is not so."""
    assert [(r.measured, r.holds) for r in run.done(Audit, "k_anonymity").report.requirements] == [(50, True)]


def test_honest_holdout():
    """Which rows are held out is a number that the generator hands over: nothing shows what it has looked at."""
    given = Fitted(Step(None), holdout=Holdout(0.3))
    assert given.holdout.held_out(np.arange(1000)).any()


def test_honest_files(run, monkeypatch):
    """A writer that hides something after the cells."""
    load = registry.load

    def chatty(group, name):
        spec = load(group, name)
        if group != "sinks":
            return spec
        plain = spec.load()

        class Hides(plain):
            def __init__(self, params, path, names):
                super().__init__(params, path, names)
                self.place = path

            def close(self):
                super().close()
                with self.place.open("ab") as file:
                    file.write(b"\n" * 7)  # seven: a blank line is no row

        other = type("Spec", (type(spec),), {"__slots__": (), "load": lambda self: Hides})
        return other(spec.info, spec.params, spec.algorithm, spec.effect, spec.stores)

    monkeypatch.setattr("ppdm_flow.engine.opening.opening.registry.load", chatty)
    assert run.released(Step)["study/study.csv"].endswith(b"\n" * 7)


def test_honest_process(run):
    """Code that knows an address writes to it, even if the memory there is read-only."""

    class Address:
        def __init__(self, array):
            told = dict(array.__array_interface__)
            self.__array_interface__ = {**told, "data": (told["data"][0], False)}
            self.held = array

    class Pokes(Step):
        def apply(self, part, draws):
            np.asarray(Address(part["income"].values))[:] = 0
            return part

    lines = run.released(Pokes)["study/study.csv"].splitlines()
    assert len({line.rpartition(b",")[2] for line in lines[1:]}) == 1
