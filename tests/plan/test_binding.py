"""Plugins and their parameters, at the policy's own lines."""

from __future__ import annotations

import pytest

from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.pages import MalformedPageError
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Effect, Params

REST = """attributes:
  id: {role: identifier}
  age: {role: quasi_identifier, type: integer}
  job: {role: quasi_identifier}
privacy: {k_anonymity: {k: 3}}
releases:
  r: {path: r.csv}
"""


def one(compiled, steps):
    found = list(compiled(steps + REST).diagnostics)
    assert len(found) == 1, found
    return found[0]


def test_an_unknown_plugin_is_drawn_at_its_name(compiled):
    found = one(compiled, "steps:\n  coarsen: {use: generalise}\n")
    assert (found.code, found.hint) == ("PPF401", "did you mean `generalize`?")
    assert (found.span.line, found.span.column, found.span.end_column) == (5, 18, 28)


@pytest.mark.parametrize(
    ("with_", "code", "hint", "word"),
    [
        ("{fracton: 0.5, fraction: 0.1}", "PPF201", "did you mean `fraction`?", "fracton"),
        ("{fraction: 2}", "PPF204", None, "2"),
        ("{fraction: half}", "PPF203", None, "half"),
        ("{fraction: [1]}", "PPF203", None, "[1]"),
        ("{size: 1.5}", "PPF203", None, "1.5"),
        ("{size: 0}", "PPF204", None, "0"),
    ],
)
def test_parameters_are_drawn_where_they_stand(compiled, with_, code, hint, word):
    line = f"  s: {{use: sample, with: {with_}}}"
    found = one(compiled, f"steps:\n{line}\n")
    assert (found.code, found.hint) == (code, hint)
    start = found.span.column - 1
    assert line[start : found.span.end_column - 1] == word
    assert found.span.line == 5


def test_nested_parameters(compiled):
    text = """steps:
  g:
    use: generalize
    with:
      attributes:
        age: {interval: [1, 2]}
        job: {level: x, open_ends: beloww}
"""
    found = [d for d in compiled(text + REST).diagnostics if d.span.line < 12]
    assert [(d.code, d.span.line, d.hint) for d in found] == [
        ("PPF201", 9, "did you mean `intervals`?"),
        ("PPF203", 10, None),
        ("PPF205", 10, "did you mean `below`?"),
    ]


def test_a_missing_parameter_is_drawn_at_with(compiled):
    found = one(compiled, "steps:\n  d: {use: drop, with: {}}\n")
    assert found.code == "PPF202"
    assert "`attributes`" in found.message
    assert found.span.line == 5


def test_without_with_a_missing_parameter_is_drawn_at_the_step(compiled):
    found = one(compiled, "steps:\n  d: {use: drop}\n")
    assert (found.code, found.span.line, found.span.column) == ("PPF202", 5, 3)


def test_a_validators_own_words_are_kept(compiled):
    found = one(compiled, "steps:\n  p: {use: pseudonymize, with: {attributes: [id], key: k, key_env: K}}\n")
    assert found.code == "PPF203"
    assert "name an environment variable" in found.message


def test_a_plugins_problem_is_drawn_at_its_parameter(compiled):
    found = one(compiled, "steps:\n  d: {use: drop, with: {attributes: [job, agee]}}\n")
    assert (found.code, found.hint) == ("PPF606", "did you mean `age`?")
    assert found.span.column == 43


def test_all_faults_of_plugins_show_beside_faults_of_shape(compiled):
    """A policy whose shape is wrong elsewhere still has its plugins, parameters and wiring looked at."""
    text = """steps:
  a: {use: generalise}
  b: {use: sample, with: {size: 0}, input: aa}
gates: {g: {metric: x.y, max: many}}
"""
    found = [d.code for d in compiled(text + REST).diagnostics]
    assert {"PPF401", "PPF204", "PPF601"} <= set(found)
    assert len(found) >= 4


def test_options_of_source_and_sink_are_checked(compiled):
    text = REST.replace("{path: r.csv}", "{path: r.csv, with: {delimter: x}}")
    found = compiled(text, head="version: 1\nname: e\nsource: {path: t.csv, with: {skip_rows: -1}}\n").diagnostics
    assert [(d.code, d.hint) for d in found] == [("PPF204", None), ("PPF201", "did you mean `delimiter`?")]


def test_a_name_without_a_known_ending_tells_no_format(compiled):
    found = compiled(REST.replace("r.csv", "r.out"), head="version: 1\nname: e\nsource: {path: t.out}\n").diagnostics
    assert [d.code for d in found] == ["PPF407", "PPF407"]


KNOWN = {"parquet": "parquet", "jsonl": "jsonl", "xlsx": "excel"}
KNOWN |= {"sav": "spss", "zsav": "spss", "por": "spss", "dta": "stata", "xpt": "sas", "sas7bdat": "sas"}


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "data", "data.gz", "txt", *KNOWN])
def test_formats_by_ending(compiled, ending):
    plan = compiled(REST, head=f"version: 1\nname: e\nsource: {{path: t.{ending}}}\n").plan
    assert plan.source.format == KNOWN.get(ending, "csv")


def test_the_data_given_instead_tells_the_format_too(compiled):
    assert compiled(REST, data="other.parquet").plan.source.format == "parquet"
    head = "version: 1\nname: e\nsource: {path: t.csv, format: csv}\n"
    assert compiled(REST, data="other.txt", head=head).plan.source.format == "csv"
    assert compiled(REST, data="other.parquet", head=head).plan.source.format == "parquet"  # it says so itself


def test_a_plugin_that_fails_is_no_defect_of_ours(compiled, fakes):
    def broken(_params, _scope):
        raise RuntimeError("a secret value")

    fakes.add("broken", broken)
    found = one(compiled, "steps:\n  b: {use: broken}\n")
    assert found.code == "PPF405"
    assert "secret" not in found.message


def test_a_model_that_fails_is_no_defect_of_ours(compiled, fakes):
    class Bad(Params):
        x: int = 0

        @classmethod
        def model_validate(cls, *_args, **_kwargs):
            raise RuntimeError("a secret value")

    fakes.add("bad", Effect(), params=Bad)
    found = one(compiled, "steps:\n  b: {use: bad}\n")
    assert found.code == "PPF405"
    assert "secret" not in found.message


def test_an_audit_is_no_anonymizer(compiled, fakes):
    fakes.add("odd", Effect(), kind=Kind.AUDIT)
    assert one(compiled, "steps:\n  b: {use: odd}\n").code == "PPF404"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ImportError("a secret value", name="numbers_of_theirs"), "ImportError: numbers_of_theirs"),
        (FileNotFoundError(2, "a secret value", "card.md"), "FileNotFoundError: card.md"),
        (MalformedPageError("theirs:card.md", "it has no `summary`"), "theirs:card.md: it has no `summary`"),
        (RuntimeError("a secret value"), "RuntimeError"),
    ],
)
def test_a_plugin_that_cannot_be_imported_is_drawn_at_its_name(compiled, monkeypatch, error, told):
    class Entry:
        def load(self):
            raise error

    def find(group, name):
        return registry.ListedPlugin(group, name, "theirs", "1.0", Entry())

    monkeypatch.setattr(registry, "find", find)
    with pytest.raises(PluginError) as caught:
        registry.load("anonymizers", "theirs")
    (found,) = caught.value.diagnostics
    assert found.code == "PPF403"
    assert found.message.endswith(f" cannot be imported: {told}")
    codes = {d.code for d in compiled("steps:\n  b: {use: theirs}\n" + REST).diagnostics}
    assert codes == {"PPF403"}
