"""What is known of an attribute before any data is read, and how steps have changed it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from ppdm_flow.core.lineage import DerivationKind, Lineage, own
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.spans import Span


class Change(StrEnum):
    """What a step does to the values of an attribute."""

    GENERALIZED = "generalized"
    SUPPRESSED = "suppressed"
    PERTURBED = "perturbed"
    PSEUDONYMIZED = "pseudonymized"
    GENERATED = "generated"
    OTHER = "changed"


CLIENTS = "(clients)"
"""The step's name where clients randomized values before they were read; no step has such a name."""


@dataclass(frozen=True, slots=True)
class HierarchySpec:
    """A generalization hierarchy as the policy gives it: exactly one of its forms is set.

    ``csv`` is a path relative to the policy (leaf first, ``*`` last); ``intervals`` are the ascending edges of
    half-open intervals; ``levels`` maps each value to its ancestors, nearest first; ``prefix`` are the numbers of
    characters kept, level by level; ``date`` the units that dates are cut to; ``order`` the values from least to most.
    ``then`` says for intervals how many neighbours each further level joins, and for an order each level. ``numeric``:
    the attribute holds whole numbers, so that an interval covers as many values as it is wide.
    """

    csv: str | None = None
    intervals: tuple[float, ...] | None = None
    levels: tuple[tuple[str, tuple[str, ...]], ...] | None = None
    delimiter: str = ";"
    prefix: tuple[int, ...] | None = None
    mask: str = "*"
    date: tuple[str, ...] | None = None
    format: str | None = None
    order: tuple[str, ...] | None = None
    then: tuple[int, ...] = ()
    open_ends: str = "none"
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class AttributeFacts:
    """One attribute at one place of the plan. ``changes`` are (step, what it did), oldest first.

    ``source`` is the name it has in the source: renaming keeps it. ``span`` is where the policy declares it.
    ``derived`` is its lineage where a step changed or added it; :attr:`lineage` is that of every attribute.
    ``labels``: a step made labels of its values (intervals, suppressed cells); they are texts for any ``type``.
    ``has_declared_type``: the policy says its ``type``. ``determines`` are attributes of the source whose values follow
    from it, as the policy says. ``description`` is the policy's own. ``recoded`` are values of the source with the
    cells that they became, as the policy writes them down one by one.
    """

    name: str
    role: Role
    type: AttributeType = AttributeType.TEXT
    domain: tuple[str, ...] | None = None
    hierarchy: HierarchySpec | None = None
    source: str = ""
    changes: tuple[tuple[str, Change], ...] = ()
    span: Span | None = field(default=None, compare=False)
    derived: Lineage | None = None
    labels: bool = False
    has_declared_type: bool = False
    determines: frozenset[str] = frozenset()
    description: str = field(default="", compare=False)
    recoded: tuple[tuple[str, str], ...] = ()

    @property
    def is_numeric(self) -> bool:
        """Whether its column is a numeric one: of a type of numbers, and no step has made labels of them."""
        return self.type.is_numeric and not self.labels and self.role is not Role.ITEMS

    @property
    def lineage(self) -> Lineage:
        """Which attributes of the source its cells are computed from, and which ones only chose them."""
        return own(self.source or self.name, self.determines) if self.derived is None else self.derived

    @property
    def unchanged(self) -> bool:
        """Whether it has the values of the source, possibly under another name."""
        return not self.changes and self.derived is None

    @property
    def how(self) -> DerivationKind:
        """How its cells come from what they are computed from."""
        if self.unchanged:
            return DerivationKind.UNCHANGED
        return DerivationKind.GENERATED if self.was(Change.GENERATED) else self.lineage.how

    def other_names(self, values: Iterable[str]) -> Mapping[str, str]:
        """Return the cells that rename a single one of ``values``, each with its value."""
        cell_of = dict(self.recoded)
        if not cell_of:
            return {}
        present = set(values)
        many = Counter(cell_of.get(value, value) for value in present)
        return {
            cell: value for value, cell in cell_of.items() if value in present and cell != value and many[cell] == 1
        }

    def carries(self, attribute: str) -> bool:
        """Whether its cells are computed from this attribute of the source."""
        return attribute in self.lineage.computed_from

    def changed(self, step: str, change: Change) -> AttributeFacts:
        """Return the facts after ``step`` did ``change`` to it."""
        return replace(self, changes=(*self.changes, (step, change)))

    def was(self, *kinds: Change) -> bool:
        """Whether some step did one of these to it."""
        return any(change in kinds for _, change in self.changes)
