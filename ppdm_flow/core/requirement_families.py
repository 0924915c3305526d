"""Families of requirements: on classes, on people, on values, on an attribute, on sets of items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field

from ppdm_flow.core.model import MORE, DocumentField, Fixed, FixedMap, GroupedBy, Pair, Sets, Texts, document_type
from ppdm_flow.core.requirement import ClauseBinding, NamedValue, NameOf, NamePattern, Requirement


class OnClasses(Requirement):
    """A requirement on the classes that ``attributes`` form."""

    attributes: GroupedBy = ()

    @property
    def grouping(self) -> tuple[str, ...]:
        """The attributes that form the classes."""
        return self.attributes

    def bound(self, place: ClauseBinding) -> Self:
        """Return it over all quasi-identifiers where it names no attributes."""
        return super().bound(place).changed(attributes=place.grouped(self.attributes))

    def on_columns(self, columns: NamePattern) -> Iterator[Self]:
        """Yield it with the columns that its names mean."""
        for each in super().on_columns(columns):
            yield each.changed(attributes=columns.every(self.attributes, self))

    def renamed(self, name_of: NameOf) -> Self | None:
        """Return it in present names."""
        other = super().renamed(name_of)
        return None if other is None else other.changed(attributes=reaching(self.attributes, name_of))


class OnPeople(OnClasses):
    """A requirement on the least number of people in every class that ``attributes`` form."""

    on_groups: ClassVar[bool] = True
    hides_people: ClassVar[bool] = True

    @property
    def counts_rows(self) -> bool:
        """Whether a group has to have so many rows."""
        return True


ValuesByAttribute = Annotated[
    dict[str, Texts], MORE, Fixed, DocumentField(list[Pair], lambda values: [list(pair) for pair in pairs_of(values)])
]


class OnValues(Requirement):
    """A requirement that some values of attributes, ``sensitive``, are not inferred from groups."""

    on_groups: ClassVar[bool] = True
    hides_people: ClassVar[bool] = True
    sensitive: ValuesByAttribute

    @property
    def values(self) -> Mapping[str, tuple[str, ...]]:
        """The values that must not be inferred, by attribute."""
        return self.sensitive

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The values that must not be inferred, as (attribute, value)."""
        return tuple(pairs_of(self.values))

    @property
    def secrets(self) -> tuple[str, ...]:
        """The attributes of which values must not be inferred."""
        return tuple(self.values)

    def on_columns(self, columns: NamePattern) -> Iterator[Self]:
        """Yield it with the columns that its names mean."""
        for each in super().on_columns(columns):
            yield each.changed(sensitive=by_attribute(columns.pairs(self.pairs, self)))

    def named_values(self) -> Iterator[NamedValue]:
        """Yield the values that must not be inferred."""
        return ((attribute, value, self.span) for attribute, value in self.pairs)

    def said(self) -> dict[str, Any]:
        """Return all that it says, by field."""
        return {**super().said(), "sensitive": self.pairs}


class OnAttribute(Requirement):
    """A requirement on one attribute, or on each that a pattern means: the name that its entry stands under."""

    @property
    def attribute(self) -> str:
        """The attribute."""
        return self.name

    @property
    def secrets(self) -> tuple[str, ...]:
        """The attribute."""
        return (self.attribute,)

    def on_columns(self, columns: NamePattern) -> Iterator[Self]:
        """Yield it for each column that its attribute means and that has none of its own."""
        for name in columns.each(self):
            path, domain = f"privacy.{self.kind}.{name}", columns.domain(name)
            own = name == self.attribute
            yield self if own else self.placed(replace(self._place, id=path, name=name, domain=domain))

    def renamed(self, name_of: NameOf) -> Self | None:
        """Return it in present names; None where the attribute does not reach the step."""
        name = name_of(self.attribute)
        return None if name is None else self.placed(replace(self._place, name=name))

    def said(self) -> dict[str, Any]:
        """Return all that it says, by field."""
        return {**super().said(), "attribute": self.attribute}

    def document(self) -> dict[str, Any]:
        """Return what it asks."""
        return {"attribute": self.attribute, **super().document()}

    @classmethod
    def document_type(cls) -> Any:
        """Return the type of its document, a TypedDict."""
        return document_type(cls, without=("releases",), attribute=Annotated[str, Field(description="The attribute.")])


class OnSensitive(OnClasses, OnAttribute):
    """A requirement on the values of one sensitive attribute in every class that ``attributes`` form."""

    of_all_files: ClassVar[bool] = True
    on_groups: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True
    counts_values: ClassVar[bool] = True


class OnSets(Requirement):
    """A requirement on the sets of items in ``attribute``."""

    on_sets: ClassVar[bool] = True
    attribute: Sets = ""

    @property
    def secrets(self) -> tuple[str, ...]:
        """The attribute."""
        return (self.attribute,)

    def bound(self, place: ClauseBinding) -> Self:
        """Return it on the first sets where it names none."""
        return super().bound(place).changed(attribute=place.sets(self.attribute))

    def on_columns(self, columns: NamePattern) -> Iterator[Self]:
        """Yield it for each column that its name means."""
        return (self.changed(attribute=name) for name in columns.meant(self.attribute, self))

    def renamed(self, name_of: NameOf) -> Self | None:
        """Return it in present names; None where the sets do not reach the step."""
        name = name_of(self.attribute)
        return None if name is None else self.changed(attribute=name)


def reaching(attributes: Iterable[str], name_of: NameOf) -> tuple[str, ...]:
    """Return the present names of the attributes that reach a step, each once."""
    names = (name_of(attribute) for attribute in attributes)
    return tuple(dict.fromkeys(name for name in names if name is not None))


def pairs_of(values: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, str]]:
    """Yield (attribute, value) for values by attribute."""
    return ((attribute, value) for attribute, several in values.items() for value in several)


def by_attribute(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Return the values by attribute, each once, in order."""
    values: dict[str, dict[str, None]] = {}
    for attribute, value in pairs:
        values.setdefault(attribute, {})[value] = None
    return FixedMap({attribute: tuple(several) for attribute, several in values.items()})


def reaching_values(values: Mapping[str, Iterable[str]], name_of: NameOf) -> dict[str, tuple[str, ...]]:
    """Return the values of the attributes that reach a step, in present names."""
    named = ((name_of(attribute), value) for attribute, value in pairs_of(values))
    return by_attribute((name, value) for name, value in named if name is not None)
