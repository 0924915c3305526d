"""The kit for audits, as a class for pytest.

A plugin's own test is then::

    class TestDistinct(AuditConformance):
        def case(self):
            return AuditCase(SPEC, {}, original, released)
"""

from __future__ import annotations

from ppdm_flow.testing.audit_case import AuditCase
from ppdm_flow.testing.figures import untold


class AuditConformance:
    """Derive a test class from it, and say in ``case`` what to look at."""

    def case(self) -> AuditCase:
        """Return the plugin, its parameters and two tables."""
        raise NotImplementedError

    def test_figures_are_told(self) -> None:
        """The card says what each figure means, so that reports and `explain` can."""
        case = self.case()
        outcome = case.measure()
        metrics = [*outcome.figures, *(m.metric for m in outcome.measured if m.metric not in outcome.figures)]
        if said := list(untold(case.spec.info, metrics)):
            raise AssertionError("; ".join(said))

    def test_any_partitioning_same_figures(self) -> None:
        """Measuring again, in partitions of 7 rows, gives the same figures."""
        whole, parts = self.case().measure(), self.case().measure(7)
        other = [n for n, f in whole.figures.items() if n not in parts.figures or parts.figures[n].value != f.value]
        if other or len(whole.figures) != len(parts.figures):
            raise AssertionError(f"other figures by other partitions: {', '.join(other) or 'more of them'}")
