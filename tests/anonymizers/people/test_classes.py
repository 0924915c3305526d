"""Recoding and averaging where people count: what is claimed holds, and one row a person changes nothing."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from adversary.people_trials import STEPS, broken, case_of, released, told_to

from ppdm_flow.anonymizers.class_models import required
from ppdm_flow.anonymizers.progressive_disclosure.algorithm import DisclosedPeople
from ppdm_flow.core.errors import PluginError

GROUPING = ["full_domain_recoding", "microaggregation", "progressive_disclosure"]


def told_and_params(step, seed, **more):
    rng = random.Random(seed)
    told = told_to(step, rng, **more)
    return told, STEPS[step](rng)


@pytest.mark.slow(quick=30)
@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("step", GROUPING)
def test_released_classes_keep_what_is_claimed(step, seed):
    told, params = told_and_params(step, seed)
    case = case_of(step, params, told)
    assert case.effect.problems == ()
    assert case.effect.serves
    rows = released(case, told)
    assert rows is None or broken(case, told, rows) == []


@pytest.mark.slow(quick=27)
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("step", GROUPING)
def test_one_row_a_person_is_as_rows(step, seed):
    told, params = told_and_params(step, 1000 + seed, once=True)
    both = [released(case_of(step, params, told, counted=counted), told) for counted in (True, False)]
    assert both[0] == both[1]


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("step", ["mondrian", *GROUPING])
def test_by_rows_the_same_tables_break_what_is_claimed(step):
    """The tests above find what they look for."""
    found = 0
    for seed in range(40):
        told, params = told_and_params(step, seed)
        case = case_of(step, params, told, counted=False)
        rows = released(case, told)
        found += bool(rows and broken(case, told, rows))
    assert found > 10


@pytest.mark.parametrize("step", ["mondrian", *GROUPING])
def test_the_subject_is_read_and_chooses(step):
    told, params = told_and_params(step, 3)
    effect = case_of(step, params, told).effect
    assert "who" in effect.reads
    for derivation in effect.derivations.values():
        assert "who" in derivation.chosen_by
        assert "who" not in derivation.computed_from
    assert set(effect.derivations) == set(effect.changes)


@pytest.mark.parametrize("seed", range(12))
def test_what_is_left_of_the_information_is_counted_as_the_search_counts(seed):
    """The information of all disclosures, counted anew, is what the search has kept."""
    told, params = told_and_params("progressive_disclosure", seed, once=True)
    case = case_of("progressive_disclosure", params, told)
    known = []

    def permitted(self, disclosures):
        known.append(self.information(disclosures))
        return list(disclosures)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(required, "_everybody_has_one", lambda _: False)
        patch.setattr(DisclosedPeople, "permitted", permitted)
        try:
            fitted = case.fit()
        except PluginError:
            return
    assert known == [pytest.approx(fitted.figures["information_kept"].value)]
