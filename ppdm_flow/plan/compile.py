"""From a policy as it was read to a plan, or to everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Protocol

from ppdm_flow.core.clock import Clock, utc_today
from ppdm_flow.core.diagnostics import Diagnostic, has_errors, in_order
from ppdm_flow.core.digests import digest
from ppdm_flow.core.waivers import AcceptedWaiver
from ppdm_flow.plan.approvals import check_approvals
from ppdm_flow.plan.definition import Plan
from ppdm_flow.plan.document import document
from ppdm_flow.plan.names import names_of
from ppdm_flow.plan.rules.protection import releases_without_requirements
from ppdm_flow.plan.table_compiler import TableCompiler
from ppdm_flow.plan.waivers import WaiverCheck, check_waivers
from ppdm_flow.plan.wiring import partial_faults
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.loaded import PolicyReading
from ppdm_flow.policy.redaction import redacted, waivers_of

Columns = Sequence[str] | Mapping[str, Sequence[str]]
"""The columns of the data; those of linked tables by the table's name."""


class Compiler(Protocol):
    """Makes a plan of a policy."""

    def compile(self) -> tuple[Plan, list[Diagnostic]]:
        """Return the plan, without a digest, and everything that is wrong with it."""
        ...


@dataclass(frozen=True, slots=True)
class CompileResult:
    """The outcome: ``plan`` is None where there are errors. ``diagnostics`` include those of the policy itself.

    ``waived`` are those of the diagnostics, all of them warnings, that a waiver covers.
    """

    plan: Plan | None
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str]
    waived: Mapping[Diagnostic, AcceptedWaiver] = field(default_factory=dict)


def compile_policy(
    loaded: PolicyReading,
    columns: Columns | None = None,
    data: str | None = None,
    clock: Clock | None = utc_today,
    *,
    digested: bool = True,
) -> CompileResult:
    """Bind plugins, follow attributes through the steps, attach audits, and hold the flow against its rules.

    ``columns`` are the names in the data's header, where they are known (of linked tables by table): then globs among
    the declared attributes are expanded, and the plan is bound to the data. ``data`` names the file that is read in
    place of the policy's own. ``clock`` tells the day on which waivers are judged; without one they are not.
    Nothing is raised for a bad policy. A plan that nobody will run need not be ``digested``.
    """
    if loaded.policy is None:
        partial = (redacted(each, loaded.secrets) for each in partial_faults(loaded.tree, loaded.places))
        return CompileResult(None, in_order((*loaded.diagnostics, *partial)), loaded.sources)
    plan, faults = _compiler(loaded, loaded.policy, columns, data).compile()
    faults += releases_without_requirements(plan, loaded.policy, loaded.places, strict=loaded.project is not None)
    every = in_order((*loaded.diagnostics, *(redacted(d, loaded.secrets) for d in faults)))
    dated = loaded.policy.approvals is not None or bool(loaded.policy.waivers)
    today = clock() if clock is not None and dated else None
    asked = check_approvals(loaded, loaded.policy, plan.home, today)
    every = in_order((*every, *(redacted(d, loaded.secrets) for d in asked.faults)))
    checked = _check_waivers(loaded, loaded.policy, plan, every, today)
    every = in_order((*every, *checked.faults))
    plan = replace(plan, waivers=checked.waivers, approvals=asked.approvals)
    if digested:
        plan = replace(plan, digest=digest(document(plan)))
    plan = replace(plan, secrets=loaded.secrets - names_of(loaded.policy))
    sources = {**loaded.sources, **asked.sources}
    return CompileResult(None if has_errors(every) else plan, every, sources, checked.waived)


def _compiler(loaded: PolicyReading, policy: Policy, columns: Columns | None, data: str | None) -> Compiler:
    if policy.tables:
        from ppdm_flow.plan.linked.compiler import LinkedCompiler  # noqa: PLC0415  # most policies have one table

        return LinkedCompiler(loaded, policy, columns if isinstance(columns, Mapping) else None)
    return TableCompiler(loaded, policy, None if isinstance(columns, Mapping) else columns, data)


def _check_waivers(
    loaded: PolicyReading, policy: Policy, plan: Plan, diagnostics: Sequence[Diagnostic], today: date | None
) -> WaiverCheck:
    """Check the policy's waivers on a day; without one they are kept and cover nothing."""
    waivers = waivers_of(policy, loaded)
    if today is None or not waivers:
        return WaiverCheck(waivers=waivers)
    return check_waivers(waivers, plan.gates, diagnostics, loaded.places, loaded.privacy_waivers, today, loaded.floors)
