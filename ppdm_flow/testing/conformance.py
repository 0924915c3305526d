"""The kit as one call, and as a class for pytest.

A plugin's own test is then::

    class TestRounding(AnonymizerConformance):
        def case(self):
            return Case(SPEC, {"attribute": "income"}, table)
"""

from __future__ import annotations

from ppdm_flow.testing import checks, derivations
from ppdm_flow.testing.case import Case
from ppdm_flow.testing.held import Conformance, faults_of, held


def faults(case: Case) -> dict[str, list[str]]:
    """Run every check; return the faults by the name of the check, only where there are any."""
    return faults_of(checks.CHECKS, case)


class AnonymizerConformance(Conformance[Case]):
    """Derive a test class from it, and return in ``case`` the plugin, its parameters and a table."""

    def test_the_effect_finds_no_problem(self) -> None:
        """The case itself is a legal use of the plugin."""
        problems = [p for p in self.case().effect.problems if not p.warning]
        if problems:
            raise AssertionError("; ".join(p.message for p in problems))

    test_same_draws_same_output = held(checks.same_draws_same_output)
    test_draws_are_declared = held(checks.draws_are_declared)
    test_any_partitioning_same_output = held(checks.any_partitioning_same_output)
    test_any_row_order_same_output = held(checks.any_row_order_same_output)
    test_domain_is_kept = held(checks.domain_is_kept)
    test_rows_follow_the_rule = held(checks.rows_follow_the_rule)
    test_columns_follow_the_effect = held(checks.columns_follow_the_effect)
    test_untouched_columns_stay = held(checks.untouched_columns_stay)
    test_cells_come_from_what_is_declared = held(derivations.cells_come_from_what_is_declared)
    test_value_maps_are_maps = held(derivations.value_maps_are_maps)
    test_keys_and_draws_matter = held(derivations.keys_and_draws_matter)
    test_transform_pickles = held(checks.transform_pickles)
    test_empty_partition_passes = held(checks.empty_partition_passes)
    test_account_is_json = held(checks.account_is_json)
    test_account_holds_no_data = held(checks.account_holds_no_data)
    test_input_is_left_alone = held(checks.input_is_left_alone)
    test_figures_are_told = held(checks.figures_are_told)
    test_bad_input_is_refused = held(checks.bad_input_is_refused)
    test_claims_hold = held(checks.claims_hold)
