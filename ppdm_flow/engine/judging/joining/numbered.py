"""A release's rows with the numbers of the source's rows, or of the single rows of a weighted source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ppdm_flow.core.roles import Role
from ppdm_flow.engine.steps.graph import Graph
from ppdm_flow.engine.streams.numbering import Numbering
from ppdm_flow.engine.streams.stream import Stream
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.tables.table import Table


@dataclass(frozen=True, slots=True)
class NumberedStream:
    """Rows of ``stream`` with the columns of ``release``; ``renumbered`` ones get the number of their first copy."""

    release: ReleaseNode
    stream: Stream
    renumbered: Numbering | None = None

    @property
    def weight(self) -> str | None:
        """The column with weights, if there is one."""
        return next((a.name for a in self.release.attributes if a.role is Role.WEIGHT), None)

    def is_set(self, name: str) -> bool:
        """Whether a column holds sets."""
        return any(a.name == name and a.role is Role.ITEMS for a in self.release.attributes)

    def tables(self, columns: Sequence[str]) -> Iterator[Table]:
        """Yield partitions with these columns."""
        for part in self.stream.parts(list(columns)):
            table = part.table
            if self.renumbered is None:
                yield table
            else:
                yield Table(table.columns, self.renumbered.first(table.rows), table.sets)


def renumber(releases: Sequence[ReleaseNode], graph: Graph) -> list[NumberedStream]:
    """Return the rows of releases under numbers of one kind: single ones as soon as one release has them."""
    single = any(graph.expanded(r.input) for r in releases)
    return [_numbered(r, graph, single=single) for r in releases]


def _numbered(release: ReleaseNode, graph: Graph, *, single: bool) -> NumberedStream:
    stream, numbering = graph.streams[release.input], graph.numbering
    if not single or graph.expanded(release.input) or numbering is None:
        return NumberedStream(release, stream)
    if not any(a.role is Role.WEIGHT for a in stream.attributes):
        return NumberedStream(release, stream, numbering)
    kept = tuple(a for a in release.attributes if a.role is not Role.WEIGHT)
    return NumberedStream(replace(release, attributes=kept), graph.engine.expanded(stream, numbering))
