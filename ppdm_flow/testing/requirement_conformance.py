"""The kit for requirements, as one call and as a class for pytest. Needs hypothesis, of the extra ``test``.

A plugin's own test is then::

    class TestPSensitive(RequirementConformance):
        def case(self):
            return RequirementCase(SPEC, clauses=({"p": 2, "k": 2}, {"p": 3, "k": 4}))
"""

from __future__ import annotations

from typing import ClassVar

from ppdm_flow.testing import requirement_checks as checks
from ppdm_flow.testing.held import Conformance, faults_of, held
from ppdm_flow.testing.requirement_case import RequirementCase


def faults(case: RequirementCase) -> dict[str, list[str]]:
    """Run every check; return the faults by the name of the check, only where there are any."""
    return faults_of(checks.CHECKS, case)


class RequirementConformance(Conformance[RequirementCase]):
    """Derive a test class from it, and return in ``case`` the kind, some clauses and random tables.

    All tests of a class look at one case, which measures each clause on each table once.
    """

    one_case: ClassVar[RequirementCase]

    def shared_case(self) -> RequirementCase:
        """Return the case of this class."""
        if "one_case" not in vars(type(self)):
            type(self).one_case = self.case()
        return self.one_case

    test_two_routes_agree = held(checks.two_routes_agree)
    test_weights_count_as_rows = held(checks.weights_count_as_rows)
    test_people_count_once = held(checks.people_count_once)
    test_missing_values_form_groups = held(checks.missing_values_form_groups)
    test_copies_count = held(checks.copies_count)
    test_files_tell_together = held(checks.files_tell_together)
    test_figures_are_told = held(checks.figures_are_told)
    test_stricter_never_passes_what_weaker_fails = held(checks.stricter_never_passes_what_weaker_fails)
    test_order_looks_at_every_field = held(checks.order_looks_at_every_field)
    test_classes_agree_with_measure = held(checks.classes_agree_with_measure)
    test_fields_are_described = held(checks.fields_are_described)
    test_page_is_there = held(checks.page_is_there)
    test_document_has_its_fields = held(checks.document_has_its_fields)
    test_failures_name_what_is_wrong = held(checks.failures_name_what_is_wrong)
