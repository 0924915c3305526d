"""One column of a file: its values and how often each occurs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.api.loading.policies import ready_plan
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.suggest import closest
from ppdm_flow.engine.faults import wrap_plugin_errors
from ppdm_flow.engine.reading.binding import named
from ppdm_flow.engine.reading.opening import open_source
from ppdm_flow.engine.streams.tallying import tally
from ppdm_flow.plan.definition import SourceNode
from ppdm_flow.tables.counts import Counts


@dataclass(frozen=True, slots=True)
class Column:
    """``counts`` of each value but missing ones, in order of their text; ``facts`` where a policy declares it."""

    name: str
    counts: Mapping[str, int]
    facts: AttributeFacts | None = None

    @property
    def values(self) -> tuple[str, ...]:
        """The values."""
        return tuple(self.counts)


def column(data: Path, attribute: str, policy: Path | None, sets: Mapping[str, str]) -> Column:
    """Count the values of a column. Raises UsageError where it has none or is not there, DataError, PolicyError."""
    node = _bare() if policy is None else ready_plan(policy, sets, data).plan.source
    with wrap_plugin_errors("the source"):
        source = open_source(node, data)
        names = named(node, source.names())
    if attribute not in names:
        near = closest(attribute, names)
        hint = f"did you mean `{near}`?" if near else None
        raise UsageError(Diagnostic("PPF130", f"the data has no column `{attribute}`", hint=hint))
    counted = tally(source, (names[attribute],), {}, "the source")
    counts = {} if counted is None else _counts(counted, node)
    if not counts:
        raise UsageError(Diagnostic("PPF130", f"the column `{attribute}` has no values"))
    return Column(attribute, counts, next((a for a in node.attributes if a.name == attribute), None))


def _counts(counted: Counts, node: SourceNode) -> dict[str, int]:
    """Return the rows of each value, without those that the source takes for missing."""
    values = counted.categories[0].to_pylist()
    rows = zip(counted.codes[:, 0].tolist(), counted.counts.tolist(), strict=True)
    return {values[code]: n for code, n in rows if code >= 0 and values[code] not in node.missing}


def _bare() -> SourceNode:
    return SourceNode(None, None, {}, None, ("",), False, "drop", (), ())
