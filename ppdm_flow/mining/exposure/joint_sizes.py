"""How many people somebody is found among by whoever holds all releases of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Figure, Finding, Measured
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.exposure.together import UntoldTogetherError, joint_size, joint_size_sql
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.sdk.audit import AuditContext


def beside_all(requirement: str, figure: str, least: int, grouping: Sequence[str], ctx: AuditContext) -> list[Measured]:
    """Return the smallest group beside all releases, which must have ``least``; nothing where others tell nothing.

    ``figure`` is the name of the figure below the id of the ``requirement``.
    """
    unit = "rows" if ctx.people is None else "people"
    name = f"{requirement}.{figure}"
    try:
        found = joint_size(grouping, ctx)
    except UnmeasuredError as fault:
        return [unaccounted(requirement, name, unit, float(least), fault, at_most=False)]
    if found is None:
        return []
    size, names = found
    who = f"Whoever reads {listed(names)} as well" if names else "Whoever takes all cells of a row together"
    text = (
        f"{who} and knows somebody's {listed(grouping)} finds them among as few as {size:,} {unit}, weighed by how"
        f" likely each is; {least:,} are required."
    )
    return [Measured(requirement, name, Figure(size, unit), float(least), at_most=False, sentence=text)]


def unaccounted(
    requirement: str, name: str, unit: str, bound: float, fault: UnmeasuredError, *, at_most: bool
) -> Measured:
    """Return a figure of all releases that is not measured."""
    figure = Figure(None, unit, note=fault.text)
    return Measured(requirement, name, figure, bound, at_most=at_most, sentence=fault.text, verifiable=False)


def findings_of_unaccounted(measured: Iterable[Measured]) -> list[Finding]:
    """Return a finding for each figure of all releases that is not measured."""
    unknown = dict.fromkeys((m.sentence, m.requirement) for m in measured if not m.verifiable)
    return [Finding(UntoldTogetherError.code, Severity.WARNING, text, name) for text, name in unknown]


def beside_all_sql(name: str, grouping: Sequence[str], ctx: AuditContext) -> dict[str, int]:
    """Return the figure ``name`` by the second route; nothing where others tell nothing."""
    if ctx.sql is None:
        return {}
    try:
        found = joint_size_sql(grouping, ctx, ctx.sql)
    except UnmeasuredError:
        return {}
    return {} if found is None else {name: found}
