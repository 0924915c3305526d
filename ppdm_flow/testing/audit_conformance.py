"""The kit for audits, as a class for pytest.

A plugin's own test is then::

    class TestDistinct(AuditConformance):
        def case(self):
            return AuditCase(SPEC, {}, original, released)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.results import AuditOutcome
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.spec import PluginSpec
from ppdm_flow.tables.frozen import frozen_table
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.quoting import outcome_texts, quotes, untold
from ppdm_flow.testing.view import InMemoryView


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
        once, parts = self.case().measure(), self.case().measure(7)
        other = [n for n, f in once.figures.items() if n not in parts.figures or parts.figures[n].value != f.value]
        if other or len(once.figures) != len(parts.figures):
            raise AssertionError(f"other figures by other partitions: {', '.join(other) or 'more of them'}")

    def test_input_is_left_alone(self) -> None:
        """Measuring on memory that cannot be written to gives the same figures."""
        plain, lent = self.case().measure(), self.case().measure(lent=True)
        if plain.figures != lent.figures:
            raise AssertionError("what it was given cannot be written to, and the figures are other ones")

    def test_outcome_holds_no_data(self) -> None:
        """No figure, sentence, finding or chart quotes a value of the original that may not be shown."""
        case = self.case()
        said, home = list(outcome_texts(case.measure())), case.spec.load().__module__
        for name in case.original.names:
            values = {*case.original.texts(name).to_pylist()} - {*case.original.names}
            if quotes(said, values, home):
                raise AssertionError(f"the outcome quotes a value of the column `{name}`: ask `ctx.label` first")


@dataclass(frozen=True)
class AuditCase:
    """``params`` are as a policy writes them; ``context`` takes the place of what is made of roles and requirements."""

    spec: PluginSpec
    params: Mapping[str, Any]
    original: Table
    released: Table
    roles: Mapping[str, Role] = field(default_factory=dict)
    requirements: tuple[Requirement, ...] = ()
    context: AuditContext | None = None

    def measure(self, partition_rows: int = 1 << 18, *, lent: bool = False) -> AuditOutcome:
        """Run the audit on both tables, in partitions of so many rows; ``lent``: that cannot be written to."""
        audit = self.spec.load()(self.spec.params.model_validate(dict(self.params)))
        tables = [frozen_table(t) if lent else t for t in (self.original, self.released)]
        views = (InMemoryView.of(t, dict(self.roles), partition_rows) for t in tables)
        outcome: AuditOutcome = audit.measure(*views, self.context or self._context())
        return outcome

    def _context(self) -> AuditContext:
        return AuditContext("release", self._facts(self.released), self._facts(self.original), self.requirements)

    def _facts(self, table: Table) -> dict[str, AttributeFacts]:
        return {name: AttributeFacts(name, self.roles.get(name, Role.INSENSITIVE)) for name in table.names}
