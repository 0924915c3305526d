"""The interface of every kind of requirement: what must hold of a release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self, cast

from pydantic import PrivateAttr

from ppdm_flow.core.model import Model, Releases, document_type, plain
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.spans import Span

TOLERANCE = 1e-9
"""Relative tolerance of every comparison of a measured figure with its bound."""

NamedValue = tuple[str, str, Span | None]
"""An attribute, one of its values, and the place where the policy names it."""
NameOf = Callable[[str], str | None]
"""Says what an attribute of the source is called where a step reads it; None where it does not reach the step."""


def within(measured: float, bound: float, *, at_most: bool) -> bool:
    """Compare with the relative tolerance of the contract; NaN never holds."""
    slack = TOLERANCE * max(1.0, abs(bound))
    return measured <= bound + slack if at_most else measured >= bound - slack


class NamePattern(Protocol):
    """The columns of the data, as the names in requirements mean them: a pattern means every column that it fits."""

    def meant(self, name: str, requirement: Requirement) -> tuple[str, ...]:
        """Return the columns that a name means; no such column is a fault of the requirement."""
        ...

    def every(self, names: Iterable[str], requirement: Requirement) -> tuple[str, ...]:
        """Return the columns that any of the names means, each once."""
        ...

    def pairs(self, pairs: Iterable[tuple[str, str]], requirement: Requirement) -> tuple[tuple[str, str], ...]:
        """Return (column, value) for (name, value), each once."""
        ...

    def each(self, requirement: Requirement) -> Iterator[str]:
        """Yield the columns that its name means, but for those that have a requirement of that kind of their own.

        A name that is a column is always itself.
        """
        ...

    def domain(self, column: str) -> tuple[str, ...] | None:
        """Return the declared domain of a column."""
        ...


class ClauseBinding(Protocol):
    """The place of a clause in a policy, and what the policy says that the clause leaves out."""

    @property
    def id(self) -> str:
        """The id of the requirement: its path."""
        ...

    @property
    def name(self) -> str:
        """The attribute of the clause, or its name; empty where it has none."""
        ...

    @property
    def span(self) -> Span | None:
        """Where its key stands."""
        ...

    @property
    def domain(self) -> tuple[str, ...] | None:
        """The declared domain of the attribute that it is on."""
        ...

    @property
    def type(self) -> AttributeType | None:
        """The declared type of that attribute."""
        ...

    def key(self, *below: str) -> Span | None:
        """Return where a key below the clause stands."""
        ...

    def value(self, *below: str) -> Span | None:
        """Return where a value below it stands."""
        ...

    def grouped(self, attributes: Sequence[str]) -> tuple[str, ...]:
        """Return what it groups by: all quasi-identifiers (or patterns of them) unless it names its own."""
        ...

    def sets(self, attribute: str) -> str:
        """Return which sets it is about: the first ones unless it names an attribute."""
        ...

    def with_role(self, role: Role) -> tuple[str, ...]:
        """Return the attributes (or patterns of them) that are declared with a role."""
        ...


@dataclass(frozen=True, slots=True)
class RequirementPlace:
    """The place of a requirement: its ``id``, its ``name`` (an attribute, or one of its own), and its ``span``.

    ``domain`` is the declared domain of the attribute, or None.
    """

    id: str = ""
    name: str = ""
    span: Span | None = field(default=None, compare=False)
    domain: tuple[str, ...] | None = field(default=None, compare=False)


class Requirement(Model):
    """One thing that must hold of a release: an entry under ``privacy:``, and the place where it stands.

    Each kind is a model. Its fields are the keys of its entry, each with a description, an example, and a mark that
    says which side is stricter, if one is. Read from a policy, it is bound to its place there, which also fills in what
    the entry leaves out.

    ``on_groups``: judged on groups of rows, and so (as what is judged on ``numbers``) on the joined table of releases
    that can be joined as well.
    ``of_all_files``: its audit holds all files of a run against each other itself, as a reader of them does.
    ``hides_people``: a group that keeps it has several rows. ``in_population``: the groups are those of a population,
    which its field ``population`` names.
    ``counts_values``: it counts values as they are, so that randomized ones say nothing. ``needs_operator``: it can
    only hold of attributes that a known operator randomized. ``on_sets``: it is about sets of items.
    ``counts_whole_rows``: it compares whole rows with the original's. ``counts_people``: where a person has several
    rows it counts people; the others are refused there. ``bounds_confidence``: what it bounds is how sure somebody is
    of a value, which grows with every row that is known of a person. ``successive``: it is about people, over this and
    earlier releases. ``waivable``: a waiver may take it back for a while. ``classes``: of a kind that can be enforced
    class by class, the dotted path of its models (``package.module:name``, a function as
    `mining.recoding.models.ModelsOf` says), loaded where a step makes classes. ``releases`` are those that it is about;
    all where there are none.
    """

    kind: ClassVar[str]
    of_all_files: ClassVar[bool] = False
    on_groups: ClassVar[bool] = False
    hides_people: ClassVar[bool] = False
    in_population: ClassVar[bool] = False
    counts_values: ClassVar[bool] = False
    needs_operator: ClassVar[bool] = False
    on_sets: ClassVar[bool] = False
    counts_whole_rows: ClassVar[bool] = False
    counts_people: ClassVar[bool] = False
    bounds_confidence: ClassVar[bool] = False
    successive: ClassVar[bool] = False
    waivable: ClassVar[bool] = True
    classes: ClassVar[str] = ""
    releases: Releases = ()
    _place: RequirementPlace = PrivateAttr(default=RequirementPlace())

    @classmethod
    def of(cls, identifier: str, name: str = "", span: Span | None = None, **fields: Any) -> Self:
        """Return one that stands in no policy; its fields are taken as they are."""
        made = cls.model_construct(**fields)
        return cast("Self", made.placed(RequirementPlace(identifier, name, span)))

    @property
    def id(self) -> str:
        """The place in the policy."""
        return self._place.id

    @property
    def name(self) -> str:
        """What it is called below its kind: an attribute, or a name of its own."""
        return self._place.name

    @property
    def span(self) -> Span | None:
        """Where its key stands."""
        return self._place.span

    @property
    def grouping(self) -> tuple[str, ...]:
        """The attributes that form groups of rows; none where it is not about groups."""
        return ()

    @property
    def secrets(self) -> tuple[str, ...]:
        """The attributes of which something must not be inferred."""
        return ()

    @property
    def numbers(self) -> tuple[str, ...]:
        """The attributes whose released numbers, all copies together, are compared with the original ones."""
        return ()

    @property
    def asks(self) -> tuple[str, ...]:
        """Attributes of the source that it compares with, besides those that it protects: identifiers too."""
        return ()

    @property
    def attributes_concerned(self) -> frozenset[str]:
        """The attributes of which another file may tell more than its figure takes into account."""
        return frozenset((*self.grouping, *self.secrets, *self.numbers, *self.asks))

    @property
    def awaits_data(self) -> bool:
        """Whether what it protects is still to be chosen from the data: until then nothing can be said of it."""
        return False

    @property
    def chosen_from_data(self) -> bool:
        """Whether the values that it names were chosen from the data: no policy declares them; no text names them."""
        return False

    @property
    def on_joined(self) -> bool:
        """Whether it is judged on the joined table of releases that can be joined, too."""
        of_sets = self.on_sets and not self.needs_operator
        return not self.of_all_files and (self.on_groups or bool(self.numbers) or self.counts_whole_rows or of_sets)

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

    def bound(self, place: ClauseBinding) -> Self:
        """Return it bound to its place in a policy, with what the policy says where the entry leaves it out."""
        return self.placed(RequirementPlace(place.id, place.name, place.span, place.domain))

    def placed(self, place: RequirementPlace) -> Self:
        """Return it at another place."""
        other = self.model_copy()
        other._place = place  # noqa: SLF001  # its own class
        return other

    def changed(self, **fields: Any) -> Self:
        """Return it with other fields, which are taken as they are."""
        return self.model_copy(update=fields)

    def on_columns(self, columns: NamePattern) -> Iterator[Self]:
        """Yield it with the columns that its names mean; for each of several where it is about one attribute."""
        del columns
        yield self

    def renamed(self, name_of: NameOf) -> Self | None:
        """Return it in the names that attributes have where a step reads them, over what is left of its groups.

        None where no attribute is left of which something must not be inferred.
        """
        del name_of
        return self

    def said(self) -> dict[str, Any]:
        """Return all that it says, by field."""
        fields = {name: _comparable(getattr(self, name)) for name in type(self).model_fields}
        return {"id": self.id, "name": self.name, "span": self.span, **fields}

    def document(self) -> dict[str, Any]:
        """Return its fields as plain values, without id, kind, releases and defaults."""
        return plain(self, without=("releases",))

    @classmethod
    def document_type(cls) -> Any:
        """Return the type of its document, a TypedDict."""
        return document_type(cls, without=("releases",))


def _comparable(value: Any) -> Any:
    """Return a field's value so that it can be compared and hashed."""
    return tuple((key, _comparable(value[key])) for key in sorted(value)) if isinstance(value, Mapping) else value
