"""All kernels are carried out compiled, by their plain forms and by Python, to the same bits, in tests of theirs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from kernel_forms import kernels

ROOT = Path(__file__).resolve().parents[2]
_APRIORI = "tests/mining/combinations/test_apriori.py"
_KRIMP = "tests/mining/krimp/test_krimp.py"
_RECODING = "tests/anonymizers/full_domain_recoding/test_recoding.py"
_SEARCH = "tests/mining/recoding/test_search.py"
_SEEDED = "tests/mining/transactions/test_seeded.py"
LITTLE = (
    f"{_APRIORI}::test_rare_combinations_are_those_of_enumeration[3]",
    f"{_APRIORI}::test_the_cut_is_that_of_the_twin_and_leaves_nothing_rare[3]",
    f"{_APRIORI}::test_the_cut_is_that_of_the_twin_and_leaves_nothing_rare[5]",
    f"{_APRIORI}::test_an_owner_of_very_many_codes_is_found_alone_at_once",
    _KRIMP,
    f"{_RECODING}::test_weights_count",
    f"{_RECODING}::test_k_map_counts_the_people_of_the_population",
    f"{_SEARCH}::test_keys_beyond_62_bits_are_told_apart",
    f"{_SEARCH}::test_a_population_counts_people_not_records",
    f"{_SEARCH}::test_no_model_and_no_cost_is_forgotten",
    f"{_SEEDED}::test_expansion_is_the_polynomial",
    f"{_SEEDED}::test_long_and_empty_transactions",
    f"{_SEEDED}::test_the_field_is_one",
    "tests/anonymizers/people/test_mondrian.py",
    "tests/anonymizers/rank_swap",
    "tests/anonymizers/swap_records",
    "tests/anonymizers/test_disclosure_twin.py",
    "tests/audits/test_linkage.py",
    "tests/audits/test_records.py",
    "tests/audits/test_singling_out.py",
    "tests/mining/comparison/test_comparison.py::test_bits_of_rows_add_up_to_those_of_the_data",
    "tests/mining/generation/test_model.py",
    "tests/mining/itemsets/test_database.py",
    "tests/mining/itemsets/test_mine.py",
    "tests/mining/local_recoding/test_crowds.py",
    "tests/mining/local_recoding/test_groups.py",
    "tests/mining/local_recoding/test_partition.py",
    "tests/mining/people/test_chances.py",
    "tests/mining/people/test_known_rows.py",
    "tests/mining/transactions/test_randomize.py",
    "tests/mining/transactions/test_vertical.py",
    "tests/mining/uniques",
    "tests/requirements/test_dominance_of_people.py",
    "tests/requirements/test_km_anonymity.py",
    "tests/requirements/test_matching.py",
    "tests/requirements/test_numeric_linkage_categories.py",
    "tests/requirements/test_numeric_linkage_people.py",
    "tests/sources/test_sets.py",
)
"""Tests that give kernels so little work that Python can do it, too."""
SLOW = (
    f"{_KRIMP}::test_an_attribute_with_50_000_values",
    "tests/audits/test_singling_out.py::test_copied_rows_are_found",
    "tests/audits/test_singling_out.py::test_fresh_rows_raise_no_alarm",
    "tests/audits/test_singling_out.py::test_an_unchanged_copy_of_a_real_table",
    "tests/audits/test_singling_out.py::test_many_conditions_are_drawn_and_all_of_a_copy_single_somebody_out",
    "tests/mining/itemsets/test_mine.py::test_a_wide_row_and_a_large_alphabet",
    "tests/mining/itemsets/test_mine.py::test_too_long",
    "tests/mining/people/test_known_rows.py::test_a_person_with_a_hundred_thousand_classes_is_a_crowd_of_one_at_once",
    "tests/mining/transactions/test_randomize.py::test_patterns_follow_the_transition_matrix[operator1]",
    "tests/mining/uniques/test_uniques.py::test_very_many_columns",
    "tests/requirements/test_dominance_of_people.py::test_a_person_is_one_contributor[exclude]",
    "tests/requirements/test_dominance_of_people.py::test_a_person_is_one_contributor[own_category]",
    "tests/requirements/test_dominance_of_people.py::test_linked_people[1]",
    "tests/requirements/test_dominance_of_people.py::test_linked_people[2]",
    "tests/requirements/test_dominance_of_people.py::test_linked_people[None]",
    "tests/requirements/test_km_anonymity.py::test_enumeration_and_recheck",
    "tests/requirements/test_numeric_linkage_categories.py::test_by_a_run",
    "tests/requirements/test_numeric_linkage_people.py::test_by_a_run",
)
"""Tests among them that take long and that others make up for."""


def test_all_forms_of_all_kernels_come_to_the_same(tmp_path):
    """It imports the package from where this process does, whose machine code it finds there."""
    carried_out = tmp_path / "carried-out"
    here = {**os.environ, "PPDM_KERNELS": "both", "PPDM_KERNELS_CARRIED_OUT": str(carried_out)}
    for inherited in ("PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST"):
        here.pop(inherited, None)
    command = [sys.executable, "-P", "-m", "pytest", "-n0", "-p", "no:cacheprovider", *LITTLE]
    command += [word for test in SLOW for word in ("--deselect", test)]
    done = subprocess.run(command, cwd=ROOT, env=here, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    missing = sorted(set(kernels()) - set(carried_out.read_text().split()))
    assert not missing, f"no test in LITTLE carries these out by Python: {missing}"


def test_what_python_does_in_the_place_of_kernels_has_a_test_that_compares_both():
    """Plain forms that are more than a function are no kernel's: a search for their callers finds them."""
    compared = {"ppdm_flow/mining/krimp/compress.py": "tests/mining/krimp/test_plain_search.py"}
    callers = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "ppdm_flow").rglob("*.py")
        if "python_takes(" in path.read_text() and path.name != "compiled.py"
    }
    assert callers == set(compared)
    for test in compared.values():
        assert "by_compiled == by_python" in (text := (ROOT / test).read_text()) or "by_python == by_compiled" in text
