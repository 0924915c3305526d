"""From declared attributes, names and globs, to what is known of each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ppdm_flow.core.attributes import AttributeFacts, HierarchySpec
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.policy.language.models import Attribute, Hierarchy, Policy
from ppdm_flow.policy.language.patterns import DeclaredAttributes, is_pattern, matches
from ppdm_flow.policy.loaded import ResolvedPlaces


class Attributes(dict[str, AttributeFacts]):
    """Facts by name, in order. While the columns are unread, a name that only a glob covers is known as well."""

    def __missing__(self, name: str) -> AttributeFacts:
        for pattern, facts in self.items():
            if is_pattern(pattern) and matches(pattern, name):
                derived = None if facts.derived is None else facts.derived.renamed(pattern, name)
                return replace(facts, name=name, source=name, derived=derived)
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def get(self, name: str, default: AttributeFacts | None = None) -> AttributeFacts | None:  # type: ignore[override]  # the overloads of dict.get add nothing here
        """Return the facts of ``name``, also where only a glob covers it."""
        try:
            return self[name]
        except KeyError:
            return default


def resolved(
    policy: Policy, places: ResolvedPlaces, columns: Sequence[str] | None
) -> tuple[dict[str, Attribute], list[Diagnostic]]:
    """Return attributes by the names of the data's columns (as declared, without columns), and unmatched patterns.

    Whether the data has every declared column, and none beside them, is the reader's to say.
    """
    if columns is None:
        return dict(policy.attributes), []
    declared = DeclaredAttributes.of(policy)
    covered = {column: declared.key(column) for column in columns}
    own = [name for name in policy.attributes if not is_pattern(name)]
    names = [*(c for c, key in covered.items() if key is not None), *(name for name in own if name not in covered)]
    diagnostics = [
        _unmatched(name, places) for name in declared.patterns if not any(matches(name, column) for column in columns)
    ]
    diagnostics += [fault for column in columns if (fault := _outranked(column, declared, places)) is not None]
    return {name: policy.attributes[declared.key(name) or name] for name in names}, diagnostics


def _outranked(column: str, declared: DeclaredAttributes, places: ResolvedPlaces) -> Diagnostic | None:
    """Return the fault that the first pattern to fit a column says less of it than a later one."""
    fits = [p for p in declared.patterns if column not in declared.attributes and matches(p, column)]
    stricter = [p for p in fits[1:] if _rank(declared, p) > _rank(declared, fits[0])]
    if not stricter:
        return None
    first, later = fits[0], stricter[0]
    roles = declared.attributes[first].role, declared.attributes[later].role
    return Diagnostic(
        "PPF620",
        f"the column `{column}` fits `{first}`, which makes it {roles[0]}, before `{later}`, which makes it {roles[1]}",
        places.key("attributes", later),
        help="the first pattern holds: put the stricter one first, or declare the column by its own name",
    )


def _rank(declared: DeclaredAttributes, pattern: str) -> int:
    """Return how much a role protects: identifiers stay behind, sensitive attributes and quasi-identifiers count."""
    role = declared.attributes[pattern].role
    if role in (Role.IDENTIFIER, Role.SUBJECT):
        return 2
    return int(role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE))


def facts_of(attributes: Mapping[str, Attribute], places: ResolvedPlaces) -> tuple[AttributeFacts, ...]:
    """Return what is known of each attribute before any step."""
    return tuple(_facts(name, attribute, places) for name, attribute in attributes.items())


def _facts(name: str, attribute: Attribute, places: ResolvedPlaces) -> AttributeFacts:
    hierarchy = None if attribute.hierarchy is None else _hierarchy(attribute.hierarchy, attribute.type)
    span = places.key("attributes", name)
    kind, text = attribute.type, attribute.description
    facts = AttributeFacts(name, attribute.role, kind, attribute.domain, hierarchy, name, span=span, description=text)
    determined = frozenset(attribute.determines or ())
    return replace(facts, has_declared_type="type" in attribute.model_fields_set, determines=determined)


def _hierarchy(given: Hierarchy, kind: AttributeType) -> HierarchySpec:
    return HierarchySpec(
        csv=given.csv,
        intervals=given.intervals,
        levels=None if given.levels is None else tuple(given.levels.items()),
        delimiter=given.delimiter,
        prefix=given.prefix,
        mask=given.mask,
        date=given.date,
        format=given.format,
        order=given.order,
        then=given.then or (),
        open_ends=given.open_ends,
        numeric=kind is AttributeType.INTEGER,
    )


def _unmatched(pattern: str, places: ResolvedPlaces) -> Diagnostic:
    text = f"no column of the data matches `{pattern}`"
    return Diagnostic("PPF612", text, places.key("attributes", pattern), Severity.WARNING)
