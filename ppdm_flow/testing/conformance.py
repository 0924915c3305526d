"""The kit as one call, and as a class for pytest.

A plugin's own test is then::

    class TestRounding(AnonymizerConformance):
        def case(self):
            return Case(SPEC, {"attribute": "income"}, table)
"""

from __future__ import annotations

from ppdm_flow.testing import checks, derivations
from ppdm_flow.testing.case import Case


def faults(case: Case) -> dict[str, list[str]]:
    """Run every check; return the faults by the name of the check, only where there are any."""
    found = {check.__name__: _said(check, case) for check in checks.CHECKS}
    return {name: said for name, said in found.items() if said}


def _said(check: checks.Check, case: Case) -> list[str]:
    try:
        return list(check(case))
    except Exception as error:  # noqa: BLE001 - whatever a plugin under test raises is a fault of it
        return [f"{type(error).__name__} was raised"]


class AnonymizerConformance:
    """Derive a test class from it, and say in ``case`` what to look at."""

    def case(self) -> Case:
        """Return the plugin, its parameters and a table."""
        raise NotImplementedError

    def hold(self, check: checks.Check) -> None:
        """Fail with what the check says."""
        said = list(check(self.case()))
        if said:
            raise AssertionError("; ".join(said))

    def test_the_effect_finds_no_problem(self) -> None:
        """The case itself is a legal use of the plugin."""
        problems = [p for p in self.case().effect.problems if not p.warning]
        if problems:
            raise AssertionError("; ".join(p.message for p in problems))

    def test_same_draws_same_output(self) -> None:
        """See :func:`checks.same_draws_same_output`."""
        self.hold(checks.same_draws_same_output)

    def test_draws_are_declared(self) -> None:
        """See :func:`checks.draws_are_declared`."""
        self.hold(checks.draws_are_declared)

    def test_any_partitioning_same_output(self) -> None:
        """See :func:`checks.any_partitioning_same_output`."""
        self.hold(checks.any_partitioning_same_output)

    def test_any_row_order_same_output(self) -> None:
        """See :func:`checks.any_row_order_same_output`."""
        self.hold(checks.any_row_order_same_output)

    def test_domain_is_kept(self) -> None:
        """See :func:`checks.domain_is_kept`."""
        self.hold(checks.domain_is_kept)

    def test_rows_follow_the_rule(self) -> None:
        """See :func:`checks.rows_follow_the_rule`."""
        self.hold(checks.rows_follow_the_rule)

    def test_columns_follow_the_effect(self) -> None:
        """See :func:`checks.columns_follow_the_effect`."""
        self.hold(checks.columns_follow_the_effect)

    def test_untouched_columns_stay(self) -> None:
        """See :func:`checks.untouched_columns_stay`."""
        self.hold(checks.untouched_columns_stay)

    def test_cells_come_from_what_is_declared(self) -> None:
        """See :func:`derivations.cells_come_from_what_is_declared`."""
        self.hold(derivations.cells_come_from_what_is_declared)

    def test_value_maps_are_maps(self) -> None:
        """See :func:`derivations.value_maps_are_maps`."""
        self.hold(derivations.value_maps_are_maps)

    def test_keys_and_draws_matter(self) -> None:
        """See :func:`derivations.keys_and_draws_matter`."""
        self.hold(derivations.keys_and_draws_matter)

    def test_transform_pickles(self) -> None:
        """See :func:`checks.transform_pickles`."""
        self.hold(checks.transform_pickles)

    def test_empty_partition_passes(self) -> None:
        """See :func:`checks.empty_partition_passes`."""
        self.hold(checks.empty_partition_passes)

    def test_account_is_json(self) -> None:
        """See :func:`checks.account_is_json`."""
        self.hold(checks.account_is_json)

    def test_account_holds_no_data(self) -> None:
        """See :func:`checks.account_holds_no_data`."""
        self.hold(checks.account_holds_no_data)

    def test_input_is_left_alone(self) -> None:
        """See :func:`checks.input_is_left_alone`."""
        self.hold(checks.input_is_left_alone)

    def test_figures_are_told(self) -> None:
        """See :func:`checks.figures_are_told`."""
        self.hold(checks.figures_are_told)

    def test_bad_input_is_refused(self) -> None:
        """See :func:`checks.bad_input_is_refused`."""
        self.hold(checks.bad_input_is_refused)

    def test_claims_hold(self) -> None:
        """See :func:`checks.claims_hold`."""
        self.hold(checks.claims_hold)
