"""A step that meets the labels of an earlier one says so: a hierarchy of the source has no place for them."""

from __future__ import annotations

import pytest

from ppdm_flow import api
from ppdm_flow.core.errors import PluginError

POLICY = """version: 1
name: twice
source: {path: people.csv}
attributes:
  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 30, 50, 120]}}
  town: {role: quasi_identifier, hierarchy: {levels: {Ulm: [south], Bonn: [west], Kiel: [north]}}}
privacy: {k_anonymity: {k: 2}}
steps:
  first: {use: generalize, with: {attributes: {COLUMN: {level: 1}}}}
  recode: {use: RECODING}
releases: {study: {path: study.csv}}
"""


@pytest.mark.parametrize("recoding", ["mondrian", "full_domain_recoding"])
@pytest.mark.parametrize(("column", "code"), [("age", "PPF786"), ("town", "PPF789")])
def test_the_step_that_wrote_the_labels_is_named(tmp_path, column, code, recoding):
    rows = "".join(f"{20 + i},{['Ulm', 'Bonn', 'Kiel'][i % 3]}\n" for i in range(60))
    (tmp_path / "people.csv").write_text(f"age,town\n{rows}")
    (tmp_path / "p.yaml").write_text(POLICY.replace("COLUMN", column).replace("RECODING", recoding))
    with pytest.raises(PluginError) as caught:
        api.run(tmp_path / "p.yaml", out=tmp_path / "runs")
    (fault,) = caught.value.diagnostics
    assert fault.code == code
    assert f"the values of `{column}` are those that step `first` wrote" in fault.help
    assert "let `recode` alone recode it" in fault.help


def test_of_values_of_the_source_the_advice_stays(tmp_path):
    (tmp_path / "people.csv").write_text("age,town\n" + "20,Ulm\n30,Trier\n" * 9)
    (tmp_path / "p.yaml").write_text(POLICY.replace("COLUMN", "age").replace("RECODING", "mondrian"))
    text = (tmp_path / "p.yaml").read_text().replace("  first:", "  # first:")
    (tmp_path / "p.yaml").write_text(text)
    with pytest.raises(PluginError) as caught:
        api.run(tmp_path / "p.yaml", out=tmp_path / "runs")
    assert "add them to it" in caught.value.diagnostics[0].help
