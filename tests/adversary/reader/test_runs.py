"""The reader on what the product releases: its lineage, and its figures of single files."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from adversary.reader.kept import MILDER, SAME, compare_figures
from adversary.reader.ledger import compare_sequence
from adversary.reader.lineage import recorded
from adversary.reader.policies import (
    SENSITIVE,
    STEPS,
    random_case,
    random_linked_case,
    random_step,
    random_uniques_case,
)
from adversary.reader.runs import compare
from adversary.reader.sequences import random_sequence
from adversary.reader.twins import KNOWN, merged, observe, shape

COLUMNS = [*KNOWN, SENSITIVE, "note", "person"]


@pytest.mark.random(quick=1)
@pytest.mark.parametrize("use", [u for u in STEPS if u != "drop"])
def test_twins_show_no_more_than_is_recorded(use: str) -> None:
    draw = Random(f"record {use}")
    seen = 0
    while seen < 2:
        made, options, _ = random_step(draw, COLUMNS, KNOWN)
        if made != use:
            continue
        observed = observe(use, options, {"k_anonymity": {"k": "4"}}, draw)
        if observed is None:
            continue
        seen += 1
        record = recorded()[shape(use, options, COLUMNS)]
        assert merged(record, observed) == record


@pytest.mark.random
@pytest.mark.parametrize("part", range(10))
def test_no_policy_is_released_whose_requirements_do_not_hold(part: int) -> None:
    found = [compare(random_case(number)) for number in range(20 * part, 20 * part + 20)]
    judged = [c for c in found if c.verdict != "refused"]
    assert not [c.case.number for c in judged if c.verdict == "released" and not c.is_harmless]
    harmless = [c for c in judged if c.is_harmless]
    assert 4 * sum(c.verdict == "released" for c in harmless) >= len(harmless)
    # The true rows are always a guess, and single files of maps have the figures of the product.
    assert not [c.case.number for c in judged for j in c.judgements if j.reason.startswith("TruthExcluded")]
    assert not [(c.case.number, *c.differing_alone) for c in judged if c.differing_alone]


@pytest.mark.random
@pytest.mark.parametrize("part", range(2))
def test_nobody_is_singled_out_unseen(part: int) -> None:
    found = [compare(random_uniques_case(number)) for number in range(10 * part, 10 * part + 10)]
    asked = [(c, next(j for j in c.judgements if j.id.endswith("uniques.u"))) for c in found if c.judgements]
    assert not [c.case.number for c, uniques in asked if uniques in c.differing and not uniques.holds]
    assert 4 * sum(uniques.holds and uniques not in c.differing for c, uniques in asked) >= sum(
        uniques.holds for _, uniques in asked
    )


@pytest.mark.parametrize("part", range(2))
def test_linked_tables_leave_only_where_nothing_is_learned(part: int) -> None:
    # Tables that only the person links are judged as their join, where people count once, however many rows they have.
    every = [compare(random_linked_case(number)) for number in range(20 * part, 20 * part + 20)]
    compared = [each for each in every if not each.by_people_alone]
    assert not [(each.case.number, j.id, j.figure) for each in compared for j in each.differing if not j.holds]
    harmless = [each.verdict for each in compared if each.verdict != "refused" and each.is_harmless]
    assert 4 * harmless.count("released") >= len(harmless)


@pytest.mark.random
@pytest.mark.parametrize("part", range(2))
def test_no_run_of_a_sequence_is_released_whose_requirements_do_not_hold(part: int) -> None:
    # A reader of a run's files has those of all earlier runs in the same ledger.
    found = [c for number in range(3 * part, 3 * part + 3) for c in compare_sequence(random_sequence(number))]
    assert not [(c.number, c.run) for c in found if c.before and c.breaches]
    judged = [c for c in found if c.verdict != "refused"]
    assert not [(c.number, c.run) for c in judged for j in c.judgements if j.reason.startswith("TruthExcluded")]
    harmless = [c.verdict for c in judged if c.before and c.is_harmless]
    assert 4 * harmless.count("released") >= len(harmless)


@pytest.mark.slow
def test_groups_of_which_only_some_readings_tell_are_measured() -> None:
    """An earlier file shows no illness: only rows of one pseudonym in a later file tell any of its groups."""
    verdicts = [c.verdict for c in compare_sequence(random_sequence(3030))]
    assert verdicts == ["withheld", "released", "withheld", "withheld"]


@pytest.mark.slow
def test_numbers_of_classes_of_means_are_not_verified_beside_the_sensitive_values() -> None:
    """Classes over means of age and over illness are numbered: the numbers took the means' kind, and were judged."""
    found = compare(random_case(4330))
    assert not found.differing
    assert not any(j.holds for j in found.judgements)


@pytest.mark.random
def test_what_a_ledger_keeps_of_files_tells_all_that_they_do() -> None:
    found = [compare_figures(number) for number in range(10)]
    assert not [c for c in found if MILDER in (c.size, c.share)]
    assert 2 * sum(c.size == SAME for c in found) >= len(found)
