"""Floors hold every field of the requirements on numbers and on special uniques."""

from __future__ import annotations

import pytest

from ppdm_flow.policy.loading import load

BASE = """version: 1
name: base
attributes:
  age: {role: quasi_identifier, type: integer}
  wage: {role: sensitive, type: float}
privacy:
  interval_disclosure: {wage: {width: {sd: 0.1}, max: 0.1}}
  numeric_linkage: {attributes: [wage], max: 0.1, max_excess: 0.05, candidates: 2, control: others.csv}
  special_uniques: {size: 2, max_share: 0.1}
  dominance: {wage: {n: 2, share: 0.8, p: 10, q: 80, contributors: 4}}
floors:
  privacy.interval_disclosure: not weaker
  privacy.numeric_linkage: not weaker
  privacy.special_uniques: not weaker
  privacy.dominance: not weaker
"""
POLICY = """version: 1
name: p
extends: [base.yaml]
source: {path: t.csv}
privacy: {%s}
releases: {a: {path: a.csv}}
"""


def refused(tmp_path, entry: str) -> bool:
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "p.yaml").write_text(POLICY % entry)
    return "PPF308" in {d.code for d in load(tmp_path / "p.yaml").diagnostics}


@pytest.mark.parametrize(
    "entry",
    [
        "interval_disclosure: {wage: {max: 0.2}}",
        "interval_disclosure: {wage: {width: {sd: 0.05}}}",
        "interval_disclosure: {wage: null}",
        "interval_disclosure: null",
        "numeric_linkage: {max: 0.2}",
        "numeric_linkage: {candidates: 1}",
        "numeric_linkage: {max_excess: 0.06}",
        "numeric_linkage: {max_excess: null}",
        "numeric_linkage: {control: null}",
        "numeric_linkage: {against: mine.csv, key: age}",
        "numeric_linkage: {control: mine.csv}",
        "numeric_linkage: {attributes: [age]}",
        "numeric_linkage: {sample: 10}",
        "dominance: {wage: {n: 1}}",
        "dominance: {wage: {share: 0.9}}",
        "dominance: {wage: {share: null}}",
        "dominance: {wage: {p: 9}}",
        "dominance: {wage: {p: null}}",
        "dominance: {wage: {q: 90}}",
        "dominance: {wage: {q: null}}",
        "dominance: {wage: {contributors: 3}}",
        "dominance: {wage: {contributors: null}}",
        "dominance: {wage: {attributes: [age]}}",
        "dominance: {wage: null}",
        "special_uniques: {size: 1}",
        "special_uniques: {max_share: 0.2}",
        "special_uniques: {attributes: [age]}",
    ],
)
def test_weaker_is_refused(tmp_path, entry):
    assert refused(tmp_path, entry)


@pytest.mark.parametrize(
    "entry",
    [
        "interval_disclosure: {wage: {max: 0.05}}",
        "interval_disclosure: {wage: {width: {sd: 0.2}}}",
        "numeric_linkage: {max: 0.05, max_excess: 0.01, candidates: 3}",
        "special_uniques: {size: 3, max_share: 0.05}",
        "dominance: {wage: {n: 3, share: 0.7, p: 11, q: 70, contributors: 5}}",
    ],
)
def test_stricter_is_not(tmp_path, entry):
    assert not refused(tmp_path, entry)
