"""The kit for requirements, as one call and as a class for pytest. Needs hypothesis, of the extra ``test``.

A plugin's own test is then::

    class TestPSensitive(RequirementConformance):
        def case(self):
            return RequirementCase(SPEC, clauses=({"p": 2, "k": 2}, {"p": 3, "k": 4}))
"""

from __future__ import annotations

from ppdm_flow.testing import requirement_checks as checks
from ppdm_flow.testing.requirement_case import RequirementCase


def faults(case: RequirementCase) -> dict[str, list[str]]:
    """Run every check; return the faults by the name of the check, only where there are any."""
    found = {check.__name__: _said(check, case) for check in checks.CHECKS}
    return {name: said for name, said in found.items() if said}


def _said(check: checks.Check, case: RequirementCase) -> list[str]:
    try:
        return list(check(case))
    except Exception as error:  # noqa: BLE001 - whatever a plugin under test raises is a fault of it
        return [f"{type(error).__name__} was raised"]


class RequirementConformance:
    """Derive a test class from it, and say in ``case`` what to look at."""

    def case(self) -> RequirementCase:
        """Return the kind, some clauses and random tables."""
        raise NotImplementedError

    def hold(self, check: checks.Check) -> None:
        """Fail with what the check says."""
        if said := list(check(self.case())):
            raise AssertionError("; ".join(said))

    def test_two_routes_agree(self) -> None:
        """See :func:`requirement_checks.two_routes_agree`."""
        self.hold(checks.two_routes_agree)

    def test_figures_are_told(self) -> None:
        """See :func:`requirement_checks.figures_are_told`."""
        self.hold(checks.figures_are_told)

    def test_stricter_never_passes_what_weaker_fails(self) -> None:
        """See :func:`requirement_checks.stricter_never_passes_what_weaker_fails`."""
        self.hold(checks.stricter_never_passes_what_weaker_fails)

    def test_order_looks_at_every_field(self) -> None:
        """See :func:`requirement_checks.order_looks_at_every_field`."""
        self.hold(checks.order_looks_at_every_field)

    def test_classes_agree_with_measure(self) -> None:
        """See :func:`requirement_checks.classes_agree_with_measure`."""
        self.hold(checks.classes_agree_with_measure)

    def test_fields_are_described(self) -> None:
        """See :func:`requirement_checks.fields_are_described`."""
        self.hold(checks.fields_are_described)

    def test_page_is_there(self) -> None:
        """See :func:`requirement_checks.page_is_there`."""
        self.hold(checks.page_is_there)

    def test_document_has_its_fields(self) -> None:
        """See :func:`requirement_checks.document_has_its_fields`."""
        self.hold(checks.document_has_its_fields)

    def test_failures_name_what_is_wrong(self) -> None:
        """See :func:`requirement_checks.failures_name_what_is_wrong`."""
        self.hold(checks.failures_name_what_is_wrong)
