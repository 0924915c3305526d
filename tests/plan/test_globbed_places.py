"""Where a fault of a column is drawn that only a pattern declares."""

from __future__ import annotations

from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.policy import load

POLICY = """version: 1
name: p
attributes:
  "zip*": {role: quasi_identifier}
  "z*": {role: insensitive}
  age: {role: quasi_identifier}
privacy:
  k_anonymity: {k: 5, attributes: [%s]}
releases:
  study: {path: study.csv}
"""


def drawn(tmp_path, counted, columns):
    (tmp_path / "p.yaml").write_text(POLICY % counted)
    found = compile_policy(load(tmp_path / "p.yaml"), columns).diagnostics
    return [(d.code, d.span.line if d.span else None, d.help) for d in found if d.code == "PPF552"]


def test_the_pattern_that_declares_the_column(tmp_path):
    for columns in (("zip4", "zone", "age"), None):
        ((code, line, help_),) = drawn(tmp_path, "age", columns)
        assert (code, line) == ("PPF552", 4)
        assert "a step added it" not in help_


def test_its_own_line_and_what_is_counted(tmp_path):
    ((code, line, _),) = drawn(tmp_path, '"zip*"', ("zip4", "zone", "age"))
    assert (code, line) == ("PPF552", 6)
    assert drawn(tmp_path, 'age, "zip*"', ("zip4", "zone", "age")) == []
