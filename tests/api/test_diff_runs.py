"""Two runs: a finding whose code was renamed between them is neither new nor gone."""

from __future__ import annotations

import pytest

from ppdm_flow.api.diff.runs import compared


def report(code: str) -> dict[str, object]:
    finding = {"code": code, "subject": "disease=flu", "text": "told"}
    return {"shown": code, "verdict": "released", "requirements": [], "gates": [], "metrics": {}, "findings": [finding]}


@pytest.mark.parametrize(("later", "new"), [("PPF741", []), ("PPF813", []), ("PPF746", ["PPF746 disease=flu: told"])])
def test_a_renamed_code_is_no_change(later, new):
    found = compared(report("PPF793"), report(later))["findings"]
    assert found["new"] == new
    assert bool(found["gone"]) is bool(new)
