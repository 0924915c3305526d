"""What a column's cells are a function of, in attributes of the source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum

from ppdm_flow.core.records import dataclass

UNTOLD = "PPF838"
"""The finding that says of a requirement that cells count as they are, since rows cannot be paired."""


class How(StrEnum):
    """How a column's cells come from what they are computed from, in a word."""

    UNCHANGED = "unchanged"
    VALUE_MAP = "value_map"
    KEYED = "keyed"
    DRAWN = "drawn"
    GENERATED = "generated"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Lineage:
    """Where a column comes from. All names are attributes of the source.

    ``computed_from``: its cells are a function of these. ``chosen_by``: a step looked at these when it was fitted, but
    no cell depends on them otherwise. ``value_map``: each cell is a map of the one value that it comes from, which
    every step on the way kept, renamed, generalized or suppressed. ``keyed``: those of ``computed_from`` that every way
    leads through a secret key. ``drawn``: those that every way leads through a randomization with a known operator.
    """

    computed_from: frozenset[str]
    chosen_by: frozenset[str] = frozenset()
    value_map: bool = True
    keyed: frozenset[str] = frozenset()
    drawn: frozenset[str] = frozenset()

    @property
    def how(self) -> How:
        """The strongest that is true of every attribute that it is computed from."""
        if self.computed_from and self.computed_from <= self.keyed:
            return How.KEYED
        if self.computed_from and self.computed_from <= self.drawn:
            return How.DRAWN
        return How.VALUE_MAP if self.value_map else How.OTHER

    def renamed(self, old: str, new: str) -> Lineage:
        """Return the lineage where the source's ``old`` is called ``new``: a column that a pattern covers."""
        named = [self.computed_from, self.chosen_by, self.keyed, self.drawn]
        computed, chosen, keyed, drawn = (frozenset(new if n == old else n for n in names) for names in named)
        return Lineage(computed, chosen, self.value_map, keyed, drawn)


def own(name: str) -> Lineage:
    """Return the lineage of an attribute of the source as it was read."""
    return Lineage(frozenset((name,)))


@dataclass(frozen=True, slots=True)
class Derivation:
    """What a step says of a column that it changes or adds, in attributes as they reach it.

    ``computed_from`` are the columns of which each cell is a function, row by row; ``chosen_by`` those that fitting
    looked at, and by which single cells may be suppressed: what a cell shows otherwise is no function of them, and
    a label that goes by the class of its row is computed from all that the class goes by. ``value_map``: the cell
    depends on the one column's value in that row alone, and is that value, a name of it, a coarser one, or
    suppressed. ``keyed``: made with a secret key, or from draws alone. ``drawn``: through a randomization whose
    operator the step returns.
    """

    computed_from: tuple[str, ...]
    chosen_by: tuple[str, ...] = ()
    value_map: bool = False
    keyed: bool = False
    drawn: bool = False

    def lineage(self, computed: Iterable[Lineage], chosen: Iterable[Lineage]) -> Lineage:
        """Return the column's lineage from those of ``computed_from`` and of ``chosen_by``."""
        parts, by = tuple(computed), tuple(chosen)
        sources = frozenset[str]().union(*(p.computed_from for p in parts))
        looked_at = frozenset[str]().union(*(p.chosen_by for p in parts), *(p.computed_from | p.chosen_by for p in by))
        return Lineage(
            computed_from=sources,
            chosen_by=looked_at - sources,
            value_map=self.value_map and len(parts) == 1 and parts[0].value_map,
            keyed=sources if self.keyed else _on_every_way(sources, parts, [p.keyed for p in parts]),
            drawn=sources if self.drawn else _on_every_way(sources, parts, [p.drawn for p in parts]),
        )


def value_maps(names: Iterable[str], chosen_by: Iterable[str] = ()) -> dict[str, Derivation]:
    """Return the derivations of columns whose cells are kept, renamed, coarser or suppressed, each on its own."""
    looked_at = tuple(chosen_by)
    return {n: Derivation((n,), tuple(c for c in looked_at if c != n), value_map=True) for n in names}


def changed_in_place(names: Iterable[str], derivation: Derivation | None = None) -> dict[str, Derivation]:
    """Return derivations of columns each of which is computed from itself alone, as ``derivation`` says besides."""
    form = derivation or Derivation(())
    return {n: replace(form, computed_from=(n,), chosen_by=tuple(c for c in form.chosen_by if c != n)) for n in names}


def _on_every_way(
    sources: frozenset[str], parts: tuple[Lineage, ...], protected: list[frozenset[str]]
) -> frozenset[str]:
    """Return the sources that are protected in every column that carries them."""
    return frozenset(
        s for s in sources if all(s in kept for p, kept in zip(parts, protected, strict=True) if s in p.computed_from)
    )
