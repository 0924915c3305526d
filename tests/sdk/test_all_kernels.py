"""All kernels are carried out compiled and by Python, to the same bits, in tests of theirs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from kernel_forms import Comparison, kernels

from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.mining.itemsets.mine import mine

ROOT = Path(__file__).resolve().parents[2]
LITTLE = (
    "anonymizers/full_domain_recoding/test_recoding.py::test_weights_count",
    "anonymizers/people/test_mondrian.py::test_one_row_a_person_is_as_rows[7]",
    "anonymizers/people/test_mondrian.py::test_released_classes_keep_what_is_claimed[36]",
    "anonymizers/rank_swap/test_rank_swap.py::TestOne::test_empty_partition_passes",
    "anonymizers/swap_records/test_swap_records.py::test_who_has_nobody_is_counted",
    "anonymizers/test_disclosure_twin.py::test_a_beam_is_never_worse_than_greedy_and_stays_valid",
    "anonymizers/test_disclosure_twin.py::test_templates_left_out_are_implied",
    "audits/test_linkage.py::test_truth_by_identity",
    "audits/test_records.py::test_distances",
    "audits/test_records.py::test_released_intervals_stand_beside_original_numbers",
    "audits/test_singling_out.py::test_missing_and_suppressed_cells",
    "mining/combinations/test_apriori.py::test_rare_combinations_are_those_of_enumeration[3]",
    "mining/combinations/test_apriori.py::test_the_cut_is_that_of_the_twin_and_leaves_nothing_rare[3]",
    "mining/combinations/test_apriori.py::test_the_cut_is_that_of_the_twin_and_leaves_nothing_rare[5]",
    "mining/comparison/test_comparison.py::test_bits_of_rows_add_up_to_those_of_the_data",
    "mining/generation/test_model.py::test_a_row_depends_on_its_own_words_alone",
    "mining/generation/test_model.py::test_a_single_row_is_all_there_is",
    "mining/generation/test_model.py::test_without_correction_a_domain_that_nothing_in_use_fits_is_filled_all_the_same",
    "mining/itemsets/test_mine.py::test_closed",
    "mining/itemsets/test_mine.py::test_too_many",
    "mining/itemsets/test_mine.py::test_transactions_as_they_come",
    "mining/itemsets/test_mine.py::test_without_bit_vectors",
    "mining/krimp/test_krimp.py::test_little_data",
    "mining/krimp/test_krimp.py::test_unions_that_do_not_pay_are_given_up",
    "mining/krimp/test_krimp.py::test_without_bit_vectors_and_with_few_levels",
    "mining/local_recoding/test_groups.py::test_every_group_has_k_records",
    "mining/local_recoding/test_groups.py::test_one_axis_is_optimal",
    "mining/people/test_chances.py::test_two_rows_of_one_class_may_tell_more_than_the_best_of_two_classes",
    "mining/people/test_known_rows.py::test_more_combinations_than_are_looked_at_name_what_helps",
    "mining/people/test_known_rows.py::test_only_linked_rows_with_a_class_count",
    "mining/recoding/test_search.py::test_a_population_counts_people_not_records",
    "mining/transactions/test_randomize.py::test_uniform_keeps_the_size",
    "mining/transactions/test_vertical.py::test_columns_hold_each_row_once",
    "mining/transactions/test_vertical.py::test_the_empty_itemset_and_no_rows",
    "mining/uniques/test_special.py::test_all_columns_of_an_attribute_are_known_at_once",
    "mining/uniques/test_special.py::test_score_of_a_table_by_hand",
    "mining/uniques/test_uniques.py::test_keys_that_would_not_fit_into_64_bits",
    "requirements/test_k_anonymity.py::test_crowds_in_any_room[150]",
    "requirements/test_km_anonymity.py::test_not_released_and_nothing_in_the_sets",
    "requirements/test_matching.py::test_three_ways_agree",
    "requirements/test_numeric_linkage_people.py::test_few_people_with_most_rows_are_rows_too",
    "requirements/test_numeric_linkage_people.py::test_person_by_person",
    "requirements/test_numeric_linkage_people.py::test_the_nearest_row_of_another_person",
    "sources/test_sets.py::test_empty_sets_are_kept_or_refused[transactions]",
    "sources/test_sets.py::test_padding_blanks_and_quotes",
)
"""Tests that together carry out every kernel, on so little work that Python can do it, too."""


def test_forms_of_the_kernels_that_mine_itemsets_come_to_the_same():
    comparison = Comparison()
    with pytest.MonkeyPatch.context() as patched:
        comparison.patch(patched)
        found = mine(ItemDatabase.of_lists([[0, 1], [0, 1, 2], [2], []], 3), 1)
    assert len(found) == 7
    assert comparison.carried_out


@pytest.mark.slow
def test_all_forms_of_all_kernels_come_to_the_same(tmp_path):
    """It imports the package from where this process does, whose machine code it finds there."""
    carried_out = tmp_path / "carried-out"
    here = {**os.environ, "PPDM_KERNELS_COMPARED": str(carried_out)}
    for inherited in ("PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST"):
        here.pop(inherited, None)
    command = [sys.executable, "-P", "-m", "pytest", "-n0", "-p", "no:cacheprovider"]
    command += [f"tests/{test}" for test in LITTLE]
    done = subprocess.run(command, cwd=ROOT, env=here, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    missing = sorted(set(kernels()) - set(carried_out.read_text().split()))
    assert not missing, f"no test in LITTLE carries these out by Python: {missing}"
