"""What must hold of a release: what the program asks of any requirement, whatever its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from typing import Any, ClassVar, Protocol, Self, TypeVar, cast

from ppdm_flow.core.roles import ValuesAbsent
from ppdm_flow.core.spans import Span

TOLERANCE = 1e-9
"""Relative tolerance of every comparison of a measured figure with its bound."""

R = TypeVar("R", bound="Requirement")
NamedValue = tuple[str, str, Span | None]
"""An attribute, one of its values, and the place where the policy names it."""
NameOf = Callable[[str], str | None]
"""Says what an attribute of the source is called where a step reads it; None where it does not reach the step."""


def within(measured: float, bound: float, *, at_most: bool) -> bool:
    """Compare with the relative tolerance of the contract; NaN never holds."""
    slack = TOLERANCE * max(1.0, abs(bound))
    return measured <= bound + slack if at_most else measured >= bound - slack


class Columns(Protocol):
    """The columns of the data, as the names in requirements mean them: a pattern means every column that it fits."""

    def meant(self, name: str, requirement: Requirement) -> tuple[str, ...]:
        """Return the columns that a name means; that there is none is a fault of the requirement."""
        ...

    def every(self, names: Iterable[str], requirement: Requirement) -> tuple[str, ...]:
        """Return the columns that any of the names means, each once."""
        ...

    def pairs(self, pairs: Iterable[tuple[str, str]], requirement: Requirement) -> tuple[tuple[str, str], ...]:
        """Return (column, value) for (name, value), each once."""
        ...

    def each(self, requirement: OnAttribute) -> Iterator[str]:
        """Yield the columns that its attribute means, but for those that have a requirement of that kind of their own.

        A name that is a column is always itself.
        """
        ...

    def domain(self, column: str) -> tuple[str, ...] | None:
        """Return the declared domain of a column."""
        ...


class Requirement:
    """One thing that must hold of a release. Kinds are frozen dataclasses; ``id`` is the place in the policy.

    ``on_groups``: judged on groups of rows, and so on the joined table of releases that can be joined as well.
    ``hides_people``: a group that keeps it has several rows. ``in_population``: the groups are those of a population,
    which its field ``population`` names.
    ``counts_values``: it counts values as they are, so that randomized ones say nothing. ``needs_operator``: it can
    only hold of attributes that a known operator randomized. ``on_sets``: it is about sets of items.
    ``counts_whole_rows``: it compares whole rows with the original's. ``successive``: it is about people, over this and
    earlier releases. ``waivable``: a waiver may take it back for a while. ``classes``: of a kind that can be enforced
    class by class, the dotted path of its models (``package.module:name``, a function as
    `mining.recoding.models.ModelsOf` says), loaded where a step makes classes. ``releases`` are those that it is about;
    all where there are none.
    """

    __slots__ = ()

    kind: ClassVar[str]
    on_groups: ClassVar[bool] = False
    hides_people: ClassVar[bool] = False
    in_population: ClassVar[bool] = False
    counts_values: ClassVar[bool] = False
    needs_operator: ClassVar[bool] = False
    on_sets: ClassVar[bool] = False
    counts_whole_rows: ClassVar[bool] = False
    successive: ClassVar[bool] = False
    waivable: ClassVar[bool] = True
    classes: ClassVar[str] = ""
    id: str
    span: Span | None
    releases: tuple[str, ...]

    @property
    def grouping(self) -> tuple[str, ...]:
        """The attributes that form groups of rows; none where it is not about groups."""
        return ()

    @property
    def secrets(self) -> tuple[str, ...]:
        """The attributes of which something must not be inferred."""
        return ()

    @property
    def counts_rows(self) -> bool:
        """Whether a group has to have so many rows."""
        return False

    @property
    def groups_are_classes(self) -> bool:
        """Whether its groups are formed by all of ``grouping`` at once, and not by parts of it."""
        return True

    @property
    def class_claim(self) -> str:
        """What a class that keeps it does, in words that follow on "every class"."""
        return f"keeps {self.id}"

    @property
    def tells_frequencies(self) -> bool:
        """Whether an operator made for it tells how often values occur."""
        return False

    def concerns(self, release: str) -> bool:
        """Whether it is about a release."""
        return not self.releases or release in self.releases

    def is_absent_from(self, sources: frozenset[str]) -> bool:
        """Whether a release whose columns are computed from ``sources`` tells nothing that it is about."""
        return bool(self.secrets) and sources.isdisjoint(self.secrets)

    def named_values(self) -> Iterable[NamedValue]:
        """Return the values that it names."""
        return ()

    def on_columns(self, columns: Columns) -> Iterator[Self]:
        """Yield it with the columns that its names mean; for each of several where it is about one attribute."""
        del columns
        yield self

    def renamed(self, name_of: NameOf) -> Self | None:
        """Return it in the names that attributes have where a step reads them, over what is left of its groups.

        None where no attribute is left of which something must not be inferred.
        """
        del name_of
        return self

    def document(self) -> dict[str, Any]:
        """Return what it asks, without kind and id, as plain values."""
        raise NotImplementedError


class OnPeople(Requirement):
    """How many people every class that ``attributes`` form has, at least."""

    __slots__ = ()

    on_groups: ClassVar[bool] = True
    hides_people: ClassVar[bool] = True
    attributes: tuple[str, ...]

    @property
    def grouping(self) -> tuple[str, ...]:
        """The attributes that form the classes."""
        return self.attributes

    @property
    def counts_rows(self) -> bool:
        """Whether a group has to have so many rows."""
        return True

    def on_columns(self, columns: Columns) -> Iterator[Self]:
        """Yield it with the columns that its names mean."""
        yield changed(self, attributes=columns.every(self.attributes, self))

    def renamed(self, name_of: NameOf) -> Self | None:
        """Return it in present names."""
        return changed(self, attributes=reaching(self.attributes, name_of))


class OnValues(Requirement):
    """What must not be inferred: some of an attribute's values, ``sensitive`` as (attribute, value), from groups."""

    __slots__ = ()

    on_groups: ClassVar[bool] = True
    hides_people: ClassVar[bool] = True
    sensitive: tuple[tuple[str, str], ...]

    @property
    def secrets(self) -> tuple[str, ...]:
        """The attributes of which values must not be inferred."""
        return tuple(dict.fromkeys(attribute for attribute, _ in self.sensitive))

    def named_values(self) -> Iterator[NamedValue]:
        """Yield the values that must not be inferred."""
        return ((attribute, value, self.span) for attribute, value in self.sensitive)


class OnAttribute(Requirement):
    """A requirement on one attribute, or on each that a pattern means."""

    __slots__ = ()

    attribute: str

    @property
    def secrets(self) -> tuple[str, ...]:
        """The attribute."""
        return (self.attribute,)

    def renamed(self, name_of: NameOf) -> Self | None:
        """Return it in present names; None where the attribute does not reach the step."""
        name = name_of(self.attribute)
        return None if name is None else changed(self, attribute=name)


class OnSensitive(OnAttribute):
    """What must hold of the values of one sensitive attribute in every class that ``attributes`` form."""

    __slots__ = ()

    on_groups: ClassVar[bool] = True
    counts_values: ClassVar[bool] = True
    attributes: tuple[str, ...]

    @property
    def grouping(self) -> tuple[str, ...]:
        """The attributes that form the classes."""
        return self.attributes

    def on_columns(self, columns: Columns) -> Iterator[Self]:
        """Yield it for each column that its attribute means and that has none of its own."""
        grouped = columns.every(self.attributes, self)
        for name in columns.each(self):
            path = self.id if name == self.attribute else f"privacy.{self.kind}.{name}"
            yield changed(self, id=path, attribute=name, attributes=grouped)

    def renamed(self, name_of: NameOf) -> Self | None:
        """Return it in present names; None where the attribute does not reach the step."""
        name = name_of(self.attribute)
        return None if name is None else changed(self, attribute=name, attributes=reaching(self.attributes, name_of))

    def document(self) -> dict[str, Any]:
        """Return what it asks."""
        return {"attribute": self.attribute, "attributes": list(self.attributes), **self.bounds()}

    def bounds(self) -> dict[str, Any]:
        """Return its figures, as plain values."""
        raise NotImplementedError


def changed(requirement: R, **others: Any) -> R:
    """Return a requirement with other fields."""
    other: R = replace(cast("Any", requirement), **others)
    return other


def fields_of(requirement: Requirement) -> dict[str, Any]:
    """Return all that a requirement says, by field."""
    return {f.name: getattr(requirement, f.name) for f in fields(cast("Any", requirement))}


def reaching(attributes: Iterable[str], name_of: NameOf) -> tuple[str, ...]:
    """Return the present names of the attributes that reach a step, each once."""
    names = (name_of(attribute) for attribute in attributes)
    return tuple(dict.fromkeys(name for name in names if name is not None))


def pairs_reaching(pairs: Iterable[tuple[str, str]], name_of: NameOf) -> tuple[tuple[str, str], ...]:
    """Return (attribute, value) for the attributes that reach a step, in present names."""
    named = ((name_of(attribute), value) for attribute, value in pairs)
    return tuple((name, value) for name, value in named if name is not None)


def absent(said: ValuesAbsent) -> dict[str, Any]:
    """Return what becomes of values that neither the domain nor the data has, where that is not an error."""
    return {} if said is ValuesAbsent.ERROR else {"values_absent": said.value}
