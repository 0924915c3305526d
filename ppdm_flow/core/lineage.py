"""Lineage: the attributes of the source that a column's cells are a function of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

UNTOLD = "PPF838"
"""The finding that says of a requirement that cells count as they are, since rows cannot be paired."""


class DerivationKind(StrEnum):
    """The kind of function that computes a column's cells, in a word."""

    UNCHANGED = "unchanged"
    VALUE_MAP = "value_map"
    KEYED = "keyed"
    DRAWN = "drawn"
    GENERATED = "generated"
    OTHER = "other"


class CellKind(StrEnum):
    """How a reader of a file can use a column's cells, for the attributes that they carry."""

    MAP = "map"
    CLASS_ID = "class_id"
    EXCHANGED = "exchanged"
    AVERAGED = "averaged"
    NOISY = "noisy"
    KEYED = "keyed"
    GENERATED = "generated"


@dataclass(frozen=True, slots=True)
class Lineage:
    """The lineage of a column. All names are attributes of the source.

    ``computed_from``: its cells are a function of these. ``chosen_by``: a step looked at these when it was fitted, but
    no cell depends on them otherwise. ``value_map``: each cell is a map of the one value that it comes from, which
    every step on the way kept, renamed, generalized or suppressed. ``keyed``: those of ``computed_from`` that every way
    leads through a secret key. ``drawn``: those that every way leads through a randomization with a known operator.
    ``carried``: with the fitted steps and the draws held, rows that are equal in these show equal cells; exchanged
    values carry their own attribute alone, labels by class all that the classes are made of. ``hidden_by``: which
    single cells are hidden goes by these, and ``hidden_for`` are the sensitive ones for whose sake. ``key``: the key
    and scope of keyed cells. ``moved_by`` are the steps that moved its cells by draws which they have in common with
    other columns. ``decided_by``: the values of these, as they are and not as drawn, decided which cells are hidden, or
    among which rows they were exchanged.
    """

    computed_from: frozenset[str]
    chosen_by: frozenset[str] = frozenset()
    value_map: bool = True
    keyed: frozenset[str] = frozenset()
    drawn: frozenset[str] = frozenset()
    carried: frozenset[str] | None = None
    hidden_by: frozenset[str] = frozenset()
    hidden_for: frozenset[str] = frozenset()
    kind: CellKind = CellKind.MAP
    key: str = ""
    moved_by: frozenset[str] = frozenset()
    decided_by: frozenset[str] = frozenset()

    @property
    def carries(self) -> frozenset[str]:
        """``carried``, or what it is computed from."""
        return self.computed_from if self.carried is None else self.carried

    @property
    def undrawn(self) -> frozenset[str]:
        """The attributes of which its cells tell by another way than through a randomization."""
        return (self.carries - self.drawn) | self.decided_by

    @property
    def how(self) -> DerivationKind:
        """The strongest that is true of every attribute that it is computed from."""
        if self.computed_from and self.computed_from <= self.keyed:
            return DerivationKind.KEYED
        if self.computed_from and self.computed_from <= self.drawn:
            return DerivationKind.DRAWN
        return DerivationKind.VALUE_MAP if self.value_map else DerivationKind.OTHER

    def renamed(self, old: str, new: str) -> Lineage:
        """Return the lineage where the source's ``old`` is called ``new``: a column that a pattern covers."""
        return self.mapped(lambda name: new if name == old else name)

    def mapped(self, name_of: Callable[[str], str]) -> Lineage:
        """Return the lineage with other names of attributes."""

        def named(names: frozenset[str]) -> frozenset[str]:
            return frozenset(map(name_of, names))

        return replace(
            self,
            computed_from=named(self.computed_from),
            chosen_by=named(self.chosen_by),
            keyed=named(self.keyed),
            drawn=named(self.drawn),
            carried=None if self.carried is None else named(self.carried),
            hidden_by=named(self.hidden_by),
            hidden_for=named(self.hidden_for),
            decided_by=named(self.decided_by),
        )


@lru_cache(maxsize=16_384)
def own(name: str, determines: frozenset[str] = frozenset()) -> Lineage:
    """Return the lineage of an attribute of the source as it was read; its cells carry what it determines as well."""
    return Lineage(frozenset((name,)), carried=frozenset((name, *determines)) if determines else None)


@dataclass(frozen=True, slots=True)
class Derivation:
    """A step's declaration about a column that it changes or adds, in attributes as they reach it.

    ``computed_from`` are the columns of which each cell is a function, row by row; ``chosen_by`` those that fitting
    looked at, and by which single cells may be suppressed: what a cell shows otherwise is no function of them, and
    a label that goes by the class of its row is computed from all that the class goes by. ``value_map``: the cell
    depends on the one column's value in that row alone, and is that value, a name of it, a coarser one, or
    suppressed. ``keyed``: made with a secret key, or from draws alone. ``drawn``: through a randomization whose
    operator the step returns. ``carries``: the columns on whose values a cell depends within a run, where these are
    others than ``computed_from``: labels by class depend on all that the classes are made of, exchanged values on their
    own attribute alone. ``hidden_by``: the columns by which single cells are hidden or not, ``hidden_for`` the
    sensitive ones for whose sake whole classes are. ``kind`` is what a reader can make of the cells, ``key`` the key
    and scope of keyed ones. ``moved``: one draw moves all cells of a row in the columns of the step with this mark.
    ``within``: cells are exchanged only among rows that are alike in these columns.
    """

    computed_from: tuple[str, ...]
    chosen_by: tuple[str, ...] = ()
    value_map: bool = False
    keyed: bool = False
    drawn: bool = False
    carries: tuple[str, ...] | None = None
    hidden_by: tuple[str, ...] = ()
    hidden_for: tuple[str, ...] = ()
    kind: CellKind = CellKind.MAP
    key: str = ""
    moved: bool = False
    within: tuple[str, ...] = ()

    def lineage(self, before: Mapping[str, Lineage]) -> Lineage:
        """Return the column's lineage from those of the columns ``before``; other names have none."""

        def of(names: Iterable[str]) -> tuple[Lineage, ...]:
            return tuple(before[n] for n in names if n in before)

        parts, by = of(self.computed_from), of(self.chosen_by)
        carrying = parts if self.carries is None else of(self.carries)
        sources = frozenset[str]().union(*(p.computed_from for p in parts))
        looked_at = frozenset[str]().union(*(p.chosen_by for p in parts), *(p.computed_from | p.chosen_by for p in by))
        hiding = [p.hidden_by for p in carrying] + [p.carries | p.hidden_by for p in of(self.hidden_by)]
        deciding = of((*self.hidden_by, *self.hidden_for, *self.within))
        return Lineage(
            computed_from=sources,
            chosen_by=looked_at - sources,
            value_map=self.value_map and len(parts) == 1 and parts[0].value_map,
            keyed=sources if self.keyed else _on_every_way(sources, parts, [p.keyed for p in parts]),
            drawn=sources if self.drawn else _on_every_way(sources, parts, [p.drawn for p in parts]),
            carried=frozenset[str]().union(*(p.carries for p in carrying)),
            hidden_by=frozenset[str]().union(*hiding),
            hidden_for=frozenset[str]().union(
                *(p.hidden_for for p in carrying), *(p.carries for p in of(self.hidden_for))
            ),
            kind=self._kind(parts),
            key=self.key or next((p.key for p in parts if p.key), ""),
            moved_by=frozenset[str]().union(*(p.moved_by for p in parts)),
            decided_by=frozenset[str]().union(*(p.decided_by for p in parts), *(p.undrawn for p in deciding)),
        )

    def _kind(self, parts: Sequence[Lineage]) -> CellKind:
        if self.keyed:
            return CellKind.KEYED
        if self.kind is CellKind.CLASS_ID and any(p.kind is not CellKind.GENERATED for p in parts):
            return CellKind.CLASS_ID  # numbers of classes, also where the classes are made of means or noise
        own = CellKind.NOISY if self.drawn and self.kind is CellKind.MAP else self.kind
        every = list(CellKind)
        return max([own, *(p.kind for p in parts)], key=every.index)


def value_maps(
    names: Iterable[str],
    chosen_by: Iterable[str] = (),
    hidden_by: tuple[str, ...] = (),
    hidden_for: tuple[str, ...] = (),
) -> dict[str, Derivation]:
    """Return the derivations of columns whose cells are kept, renamed, coarser or suppressed, each on its own.

    ``hidden_by`` are those by which single cells are suppressed, where these are more than the value alone;
    ``hidden_for`` the sensitive ones for whose sake.
    """
    looked_at = tuple(chosen_by)
    form = Derivation((), value_map=True, hidden_by=hidden_by, hidden_for=hidden_for)
    return {n: replace(form, computed_from=(n,), chosen_by=tuple(c for c in looked_at if c != n)) for n in names}


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
