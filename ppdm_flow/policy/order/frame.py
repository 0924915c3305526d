"""What affects the meaning of a clause: null semantics, roles, how the data is read, the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ppdm_flow.core.roles import AttributeType, Nulls, Role
from ppdm_flow.policy.language.kinds import Entries, kinds_of
from ppdm_flow.policy.language.models import Attribute, Policy
from ppdm_flow.policy.language.patterns import DeclaredAttributes, is_pattern
from ppdm_flow.policy.successive import subject_of

Contents = Callable[[str], str | None]
"""What tells the content of a file that the policy names, by its path; None where it cannot be read."""
NEVER_MATCHED = frozenset({Role.IDENTIFIER, Role.SUBJECT, Role.WEIGHT, Role.ITEMS})
"""Columns that are left out where whole rows are compared with the original."""


def unread(_path: str) -> str | None:
    """Read no file at all: then equal paths mean equal files."""
    return None


@dataclass(frozen=True)
class PolicyFrame:
    """One policy, seen as the ground that its clauses stand on."""

    policy: Policy
    contents: Contents = unread

    @property
    def nulls(self) -> Nulls:
        """How groups treat missing values."""
        return self.policy.nulls

    @property
    def counts_people(self) -> bool:
        """Whether a person can have several rows, and people are counted."""
        said = self.policy.people
        return said is not None and said.unit == "people"

    @cached_property
    def roles(self) -> tuple[tuple[str, Role], ...]:
        """Every declared name with its role; in order, where patterns make the order count."""
        roles = tuple((name, a.role) for name, a in self.policy.attributes.items())
        return roles if any(is_pattern(name) for name, _ in roles) else tuple(sorted(roles))

    @cached_property
    def declared(self) -> DeclaredAttributes:
        """The attributes, to be looked up by name."""
        return DeclaredAttributes.of(self.policy)

    def having(self, *roles: Role) -> frozenset[str]:
        """Return the declared names with one of these roles."""
        return frozenset(name for name, a in self.policy.attributes.items() if a.role in roles)

    def attribute(self, name: str) -> Attribute | None:
        """Return what is declared of a name."""
        return self.declared.get(name)

    def type(self, name: str) -> AttributeType | None:
        """Return the type of an attribute."""
        attribute = self.attribute(name)
        return None if attribute is None else attribute.type

    def domain(self, name: str) -> frozenset[str]:
        """Return the declared values of an attribute; empty where none are."""
        attribute = self.attribute(name)
        return frozenset((attribute.domain if attribute else None) or ())

    @cached_property
    def keyed(self) -> tuple[frozenset[str], ...]:
        """The attributes that have a requirement of each kind of their own."""
        privacy = self.policy.privacy
        specs = [spec for spec in kinds_of(self.kinds) if spec.entries is Entries.BY_ATTRIBUTE]
        return tuple(frozenset(privacy.entries(spec.name)) for spec in specs)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of requirements that the policy can have."""
        return frozenset(type(self.policy.privacy).model_fields)

    @cached_property
    def reading(self) -> tuple[object, ...]:
        """Everything that says which table the bytes of the original are."""
        source = self.policy.source
        return (
            source.format,
            source.columns,
            source.missing,
            source.incomplete_rows,
            frozenset(source.normalize),
            source.query,
            source.randomized_by,
            repr(sorted(source.with_.items())),
        )

    @cached_property
    def ledger(self) -> tuple[object, ...]:
        """What tells one history from another."""
        ledger = self.policy.ledger
        if ledger is None:
            return ()
        return (subject_of(self.policy), repr(sorted(ledger.model_dump(exclude={"repeat", "subject"}).items())))


@dataclass(frozen=True)
class ComparedPolicies:
    """Two policies of which one's clauses are ``given``, and the other's are ``asked`` for."""

    given: PolicyFrame
    asked: PolicyFrame

    @property
    def frames(self) -> tuple[PolicyFrame, PolicyFrame]:
        """Both of them."""
        return self.given, self.asked

    @cached_property
    def back(self) -> ComparedPolicies:
        """The same two the other way round."""
        return ComparedPolicies(self.asked, self.given)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of requirements that one of the two can have."""
        return self.given.kinds | self.asked.kinds

    @cached_property
    def same_roles(self) -> bool:
        """Whether all names are declared alike: then patterns mean the same columns."""
        return self.given.roles == self.asked.roles

    @cached_property
    def same_counting(self) -> bool:
        """Whether rows count alike, and cells are sets alike."""
        return all(self.given.having(r) == self.asked.having(r) for r in (Role.WEIGHT, Role.ITEMS))

    @property
    def people(self) -> bool:
        """Whether one of the two counts people."""
        return self.given.counts_people or self.asked.counts_people

    @cached_property
    def same_original(self) -> bool:
        """Whether the bytes of the original are the same table to both."""
        return self.given.reading == self.asked.reading and self.same_operator and self.same_counting

    @cached_property
    def same_operator(self) -> bool:
        """Whether clients randomized by one operator; one that cannot be read may be another."""
        one, other = self.given.policy.source.operator, self.asked.policy.source.operator
        if one is None or other is None:
            return one is other
        read = [frame.contents for frame in self.frames if frame.contents is not unread]
        if not read:
            return one == other
        contents = self.given.contents(one), self.asked.contents(other)
        return None not in contents and contents[0] == contents[1]

    @cached_property
    def measured_alike(self) -> bool:
        """Whether every audit finds the same on any release: an audit may read all that the policy says of the data."""
        one, other = self.frames
        described = [
            {n: a.model_copy(update={"description": ""}) for n, a in f.policy.attributes.items()} for f in self.frames
        ]
        files = [
            sorted(a.hierarchy.csv for a in f.policy.attributes.values() if a.hierarchy and a.hierarchy.csv is not None)
            for f in self.frames
        ]
        return (
            described[0] == described[1]
            and self.same_roles
            and self.same_original
            and one.nulls is other.nulls
            and one.policy.randomness == other.policy.randomness
            and len(one.policy.releases) == len(other.policy.releases)
            and all(self.same_file(a, b) for a, b in zip(*files, strict=True))
        )

    @property
    def one_history(self) -> bool:
        """Whether somebody sees the same earlier releases, of the same people."""
        one, other = self.given, self.asked
        seen = one.policy.recipients in ("together", other.policy.recipients)
        return one.ledger == other.ledger and seen and self.same_original

    def certain(self, *names: Iterable[str]) -> bool:
        """Whether these names mean the same columns to both."""
        return self.same_roles or not any(is_pattern(name) for some in names for name in some)

    @property
    def same_rows(self) -> bool:
        """Whether whole rows are compared in the same columns, and numbers by the same intervals."""
        frames = self.given, self.asked
        if not self.same_original or len({f.having(*NEVER_MATCHED) for f in frames}) > 1:
            return False
        names = [frozenset(f.policy.attributes) for f in frames]
        alike = names[0] == names[1] and all(self.same_hierarchy(name) for name in names[0])
        return alike and (self.same_roles or self.certain(self.given.policy.attributes))

    def about(self, name: str) -> bool:
        """Whether a clause on the attribute ``name`` is about the same columns in both: patterns yield to names."""
        return not is_pattern(name) or (self.same_roles and self.given.keyed == self.asked.keyed)

    def same_file(self, given: str | None, other: str | None) -> bool:
        """Whether two paths are about one content; by their names where one of them cannot be read."""
        if given is None or other is None:
            return given == other
        contents = self.given.contents(given), self.asked.contents(other)
        return given == other if None in contents else contents[0] == contents[1]

    def same_type(self, name: str) -> bool:
        """Whether an attribute has one type in both."""
        return self.given.type(name) is self.asked.type(name)

    def same_hierarchy(self, name: str) -> bool:
        """Whether an attribute has one type and one hierarchy in both."""
        one, other = self.given.attribute(name), self.asked.attribute(name)
        if one is None or other is None:
            return one is other
        csv = [a.hierarchy.csv if a.hierarchy else None for a in (one, other)]
        return (one.type, one.hierarchy) == (other.type, other.hierarchy) and self.same_file(*csv)


def by_role(names: Iterable[str]) -> tuple[str, ...]:
    """Mark patterns among names that were taken for their role.

    A pattern among quasi-identifiers means the columns that it makes so; written in a clause it means all that fit it.
    """
    return tuple(f"{name} (by role)" if is_pattern(name) else name for name in names)


Obstacles = Mapping[str, bool]


def obstacles(between: ComparedPolicies) -> list[str]:
    """Return what keeps clauses of two policies from being compared, as words for a sentence."""
    applies: Obstacles = {
        "`nulls` differs": between.given.nulls is not between.asked.nulls,
        "rows are weighted, or sets are read, otherwise": not between.same_counting,
        "the original is read otherwise": not between.same_original,
        "the declared patterns differ": not between.same_roles
        and any(is_pattern(n) for f in (between.given, between.asked) for n, _ in f.roles),
    }
    return [words for words, there in applies.items() if there]
