"""The released columns that reveal a requirement's attributes, found by their lineage.

A column that is computed from a grouping attribute forms classes, unless it is computed from a sensitive attribute of
the requirement as well. Then it is mixed: a person's crowd is limited to the people who share its cells with somebody
of the same values. Every column that is computed from the sensitive attribute carries it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.lineage import Lineage, own
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.releases.attributes import listed, namesakes
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView


class ReadingMethod(Enum):
    """How the values of a sensitive attribute are read off a release.

    ``SHOWN``: the cells of one column as they are. ``DECODED``: each cell counts for a value with the share of that
    value among the rows that show the cell. ``ORIGINAL``: the values that the rows had in the source.
    """

    SHOWN = "shown"
    DECODED = "decoded"
    ORIGINAL = "original"


@dataclass(frozen=True, slots=True)
class RevealingColumns:
    """The released columns that depend on attributes of a requirement.

    ``grouping`` form classes; ``mixed`` are computed from grouping and from sensitive attributes; ``known`` are the
    grouping attributes as the source names them. ``untold``: rows cannot be paired with their originals, so that mixed
    columns form classes as well, and cells count as they are.
    """

    grouping: tuple[str, ...]
    mixed: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    untold: bool = False

    @property
    def every(self) -> tuple[str, ...]:
        """All columns that depend on grouping attributes."""
        return (*self.grouping, *self.mixed)


@dataclass(frozen=True, slots=True)
class ValueColumns:
    """One way to read the values of ``attribute``; ``shown`` are the columns whose cells are looked at."""

    attribute: str
    way: ReadingMethod
    shown: tuple[str, ...]

    @property
    def name(self) -> str:
        """What a sentence calls it: the column where its cells count as they are, else the attribute."""
        return self.shown[0] if self.way is ReadingMethod.SHOWN else self.attribute


def facts_of(column: str, ctx: AuditContext) -> Lineage:
    """Return where a released column comes from; one that the plan does not know comes from itself."""
    facts = ctx.attributes.get(column)
    return own(column) if facts is None else facts.lineage


def carriers(attribute: str, candidate: DataView, ctx: AuditContext) -> tuple[str, ...]:
    """Return the released columns that are computed from ``attribute``, in the release's order."""
    return tuple(c for c in candidate.schema.names if attribute in facts_of(c, ctx).computed_from)


def beside(attribute: str, candidate: DataView, ctx: AuditContext) -> tuple[str, ...]:
    """Return the columns that are computed from ``attribute`` under another name, and not from a drawn value of it."""
    own = namesakes(attribute, candidate, ctx)
    every = carriers(attribute, candidate, ctx)
    return tuple(c for c in every if c not in own and attribute not in facts_of(c, ctx).drawn)


def sensitive_attributes(ctx: AuditContext) -> tuple[str, ...]:
    """Return the attributes of the source that are sensitive: those of a requirement that names none."""
    return tuple(name for name, facts in ctx.original_attributes.items() if facts.role is Role.SENSITIVE)


def columns(known: Iterable[str], secret: Iterable[str], candidate: DataView, ctx: AuditContext) -> RevealingColumns:
    """Return the columns that depend on the grouping attributes ``known``; ``secret`` are the sensitive ones."""
    hidden = frozenset(secret)
    names = tuple(n for n in dict.fromkeys(known) if n not in hidden)
    every = tuple(dict.fromkeys(c for n in names for c in carriers(n, candidate, ctx)))
    mixed = tuple(c for c in every if not hidden.isdisjoint(facts_of(c, ctx).computed_from))
    if mixed and ctx.pairs is None:
        return RevealingColumns(every, (), names, untold=True)
    return RevealingColumns(tuple(c for c in every if c not in mixed), mixed, names)


def readings(attribute: str, candidate: DataView, ctx: AuditContext) -> tuple[ValueColumns, ...]:
    """Return the ways to read a sensitive attribute, of which the worst counts; none where no column carries it."""
    carrying = carriers(attribute, candidate, ctx)
    facts = [ctx.attributes.get(c) for c in carrying]
    if not carrying:
        return ()
    as_they_are = tuple(ValueColumns(attribute, ReadingMethod.SHOWN, (c,)) for c in carrying)
    if ctx.pairs is None or all(unchanged(f) for f in facts):
        return as_they_are
    if all(f is None or f.lineage.value_map for f in facts):
        return (ValueColumns(attribute, ReadingMethod.DECODED, carrying),)
    changed = (r for r, f in zip(as_they_are, facts, strict=True) if not unchanged(f))
    return (
        ValueColumns(attribute, ReadingMethod.ORIGINAL, carrying),
        *changed,
    )  # unchanged cells are the original values


def unchanged(facts: AttributeFacts | None) -> bool:
    """Whether a column has the values of the source, possibly under another name."""
    return facts is None or facts.unchanged


def untold(attributes: Iterable[str], secret: Iterable[str], candidate: DataView, ctx: AuditContext) -> tuple[str, ...]:
    """Return the carriers of ``attributes`` that only a pairing of rows could read; none where rows are paired.

    These are what steps made of ``secret`` attributes, and generated columns. Every other column forms classes by its
    cells as they are; it does not matter which step made them.
    """
    if ctx.pairs is not None or ctx.generation is not None:
        return ()
    hidden = frozenset(secret)
    every = dict.fromkeys(c for a in attributes for c in carriers(a, candidate, ctx))
    return tuple(c for c in every if _needs_pairs(c, hidden, ctx))


def _needs_pairs(column: str, secret: frozenset[str], ctx: AuditContext) -> bool:
    facts = ctx.attributes.get(column)
    if facts is None or facts.unchanged:
        return False
    return facts.was(Change.GENERATED) or not secret.isdisjoint(facts.lineage.computed_from)


def made_of(names: Sequence[str], ctx: AuditContext) -> str:
    """Return a sentence on the lineage of each column that is not its attribute alone; or nothing."""
    sentences = []
    for name in dict.fromkeys(names):
        sources = facts_of(name, ctx).computed_from
        if sources != {name}:
            sentences.append(f" `{name}` is computed from {listed(sorted(sources))}.")
    return "".join(sentences)
