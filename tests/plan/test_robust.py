"""Compiling any policy gives diagnostics and never raises."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.diagnostics import has_errors
from ppdm_flow.core.spans import Span
from ppdm_flow.plan.binding import partial_faults
from ppdm_flow.plan.compile import CompileResult, compile_policy
from ppdm_flow.policy import load
from ppdm_flow.policy.loaded import ResolvedPlaces

EXAMPLES = Path(__file__).parents[1] / "examples"
FILES = sorted(EXAMPLES.rglob("*.yaml"))
PLACES = ResolvedPlaces({(): Span("p.yaml", 1, 1, 1, 2)}, {(): Span("p.yaml", 1, 1, 1, 2)})


def faults_of(outcome: CompileResult) -> Iterator[str]:
    if (outcome.plan is None) != has_errors(outcome.diagnostics):
        yield f"{'no' if outcome.plan is None else 'a'} plan with {[d.code for d in outcome.diagnostics]}"
    if outcome.sources:  # the text of a file that is no UTF-8 cannot be shown
        shown = [d for d in outcome.diagnostics if d.code != "PPF350"]  # nor that of one that is no list of signers
        yield from (
            f"{d.code} is in {d.span.file}, which has no text"
            for d in shown
            if d.span is not None and d.span.file not in outcome.sources
        )


@pytest.mark.slow
def test_every_example_compiles_or_says_why_not():
    faults = []
    for path in FILES:
        try:
            loaded = load(path)
            found = [
                f"with columns {columns}: {fault}"
                for columns in (None, (), ("age", "disease", "x", "x"))
                for fault in faults_of(compile_policy(loaded, columns))
            ]
        except Exception as error:  # noqa: BLE001  # that nothing is raised is what is tested
            found = [repr(error)]
        faults += [f"{path.relative_to(EXAMPLES)}: {fault}" for fault in found]
    assert not faults, "\n".join(faults)


WORDS = st.sampled_from(
    ["source", "a", "b", "a.left", "generalize", "sample", "drop", "", "attributes", "fraction", "0.5"]
)
TREES = st.recursive(
    WORDS | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
STEP = st.fixed_dictionaries({}, optional={"use": TREES, "input": TREES, "with": TREES})
TREE = st.fixed_dictionaries(
    {},
    optional={
        "steps": st.dictionaries(WORDS, STEP | TREES, max_size=4) | TREES,
        "audits": st.dictionaries(WORDS, STEP | TREES, max_size=2) | TREES,
        "releases": st.dictionaries(WORDS, st.fixed_dictionaries({}, optional={"from": TREES}) | TREES, max_size=2),
    },
)


@given(TREE)
def test_trees_of_any_shape(tree):
    for found in partial_faults(tree, PLACES):
        assert found.code.startswith(("PPF2", "PPF4", "PPF6"))
        assert found.message


NAMES = st.sampled_from(["id", "age", "job", "ill"])
STEPS = st.one_of(
    st.builds(lambda n: f"{{use: drop, with: {{attributes: [{n}]}}}}", NAMES),
    st.builds(lambda a, b: f"{{use: rename, with: {{attributes: {{{a}: {b}}}}}}}", NAMES, NAMES),
    st.builds(lambda n: f"{{use: generalize, with: {{attributes: {{{n}: {{prefix: 1}}}}}}}}", NAMES),
    st.builds(lambda n: f"{{use: pseudonymize, with: {{attributes: [{n}], key_env: K}}}}", NAMES),
    st.sampled_from(["{use: fine_grain_perturbation}", "{use: progressive_disclosure}", "{use: shuffle_rows}"]),
)


@given(st.lists(STEPS, max_size=5), st.data())
def test_no_plan_lets_an_identifier_or_two_draws_out(tmp_path_factory, steps, data):
    """For any DAG of built-ins: what a plan publishes keeps to the rules, read off the plan itself."""
    names = [f"s{i}" for i in range(len(steps))]
    places = ["source", *names]
    lines = [
        "version: 1\nname: any\nsource: {path: t.csv}\nattributes:\n  id: {role: identifier}",
        "  age: {role: quasi_identifier}\n  job: {role: quasi_identifier}\n  ill: {role: sensitive, domain: [a, b]}",
        "privacy:\n  k_anonymity: {k: 2}\n  sensitivities: {ill: {default: {tolerance: 3}}}",
        "  templates: {t: {channel: [age, job], sensitive: {ill: [a]}, confidence: 0.5}}\nsteps:",
    ]
    for number, (name, step) in enumerate(zip(names, steps, strict=True)):
        source = data.draw(st.sampled_from(places[: number + 1]))
        lines.append(f"  {name}: {step[:-1]}, input: {source}}}")
    lines[-1] += "" if steps else " {}"
    lines.append("releases:")
    lines += [f"  r{i}: {{path: r.csv, from: {data.draw(st.sampled_from(places))}}}" for i in range(2)]
    path = Path(tmp_path_factory.mktemp("any")) / "p.yaml"
    path.write_text("\n".join(lines) + "\n")
    outcome = compile_policy(load(path))
    if outcome.plan is None:
        assert has_errors(outcome.diagnostics)
        return
    draws: dict[str, set[tuple[str, ...]]] = {}
    orders = [release.input for release in outcome.plan.releases]
    assert len(set(orders)) == len(orders)
    for release in outcome.plan.releases:
        assert outcome.plan.step(release.input).effect.rows == "reordered"
        for fact in release.attributes:
            kinds = [change.value for _, change in fact.changes]
            draws.setdefault(fact.source, set()).add(tuple(s for s, c in fact.changes if c == "perturbed"))
            assert kinds.count("perturbed") <= 1
            assert "perturbed" not in kinds[:-1]
            if fact.source == "id":
                assert {"pseudonymized", "generalized"} & set(kinds)
    assert all(len(found) == 1 for found in draws.values())


def test_faults_of_a_policy_that_cannot_be_read_quote_no_value_of_the_environment(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PART", "zqcanary")
    file = tmp_path / "p.yaml"
    file.write_text(
        "version: 1\nname: p\nparams: {part: {from_env: PART}}\nsource: {path: a.csv}\nattributes: {a: {role: none}}\n"
        'privacy: none\nreleases: {out: {path: out.csv, from: "${params.part}"}}\n',
        encoding="utf-8",
    )
    told = compile_policy(load(file)).diagnostics
    assert "PPF601" in {each.code for each in told}
    assert "zqcanary" not in str(told)
    monkeypatch.setenv("PART", "7")
    assert "`7`" in str(compile_policy(load(file)).diagnostics)
