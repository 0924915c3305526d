"""One audit with parameters, an original and a release: what the kit looks at."""

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
from ppdm_flow.testing.view import InMemoryView


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
        outcome: AuditOutcome = audit.measure(*views, self.context or self._told())
        return outcome

    def _told(self) -> AuditContext:
        return AuditContext("release", self._facts(self.released), self._facts(self.original), self.requirements)

    def _facts(self, table: Table) -> dict[str, AttributeFacts]:
        return {name: AttributeFacts(name, self.roles.get(name, Role.INSENSITIVE)) for name in table.names}
