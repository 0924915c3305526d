"""The input of a rule: the policy, its places, and the attributes by name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, Severity
from ppdm_flow.core.roles import Role
from ppdm_flow.core.suggest import closest
from ppdm_flow.policy.language.models import Attribute, Policy
from ppdm_flow.policy.language.patterns import DeclaredAttributes, matches
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.loaded import PolicyPath, ResolvedPlaces

SUPPRESSED = "⊥"
"""How a suppressed cell is written in a release; no value of a policy may be spelled so."""


def entry_path(kind: str, name: str) -> PolicyPath:
    """Return the place of a clause; a clause without a name is called by its kind."""
    return ("privacy", kind, name) if name else ("privacy", kind)


class Scene:
    """One policy under judgement; ``out`` are the paths of what had to be left out of it."""

    def __init__(self, policy: Policy, places: ResolvedPlaces, out: Collection[PolicyPath] = ()) -> None:
        self.policy = policy
        self.places = places
        self.out = frozenset(out)

    def lacks(self, *path: str) -> bool:
        """Whether something at or below ``path``, or ``path`` as part of something larger, was left out."""
        return any(p[: len(path)] == path or path[: len(p)] == p for p in self.out)

    @cached_property
    def declared(self) -> DeclaredAttributes:
        """The attributes, to be looked up by the name of a column."""
        return DeclaredAttributes.of(self.policy)

    def fault(
        self,
        code: str,
        message: str,
        path: PolicyPath,
        *,
        at_key: bool = False,
        warning: bool = False,
        hint: str | None = None,
        note: str | None = None,
        related: tuple[RelatedPlace, ...] = (),
    ) -> Diagnostic:
        """Build a diagnostic at the value of ``path``, or at its key."""
        return Diagnostic(
            code,
            message,
            self.places.key(*path) if at_key else self.places.value(*path),
            Severity.WARNING if warning else Severity.ERROR,
            hint=hint,
            notes=(note,) if note else (),
            related=related,
            path=path,
        )

    def related(self, path: PolicyPath, text: str) -> tuple[RelatedPlace, ...]:
        """Return the key at ``path`` as a second place."""
        span = self.places.key(*path)
        return (RelatedPlace(span, text),) if span else ()

    def attribute(
        self, name: str, path: PolicyPath, *, at_key: bool = False
    ) -> tuple[Attribute | None, list[Diagnostic]]:
        """Look up an attribute that the policy names at ``path``; report it where nothing declares it (PPF500)."""
        attribute = self.declared.get(name)
        if attribute is not None or self.lacks("attributes", name) or self._may_fit(name):
            return attribute, []
        near = closest(name, self.policy.attributes)
        hint = f"did you mean `{short(near)}`?" if near else "declare it under `attributes:`"
        message = f"no attribute `{short(name)}` is declared"
        return None, [self.fault("PPF500", message, path, at_key=at_key, hint=hint)]

    def _may_fit(self, name: str) -> bool:
        """Whether a pattern that was left out would declare ``name``."""
        return any(len(p) == 2 and p[0] == "attributes" and matches(p[1], name) for p in self.out)

    def unfit(self, name: str, role: Role, path: PolicyPath, use: str, *, at_key: bool = False) -> Diagnostic:
        """Report an attribute whose role rules out that use (PPF502)."""
        key = self.declared.key(name) or name
        return self.fault(
            "PPF502",
            f"`{short(name)}` is {_ROLES[role]}, so it cannot be {use}",
            path,
            at_key=at_key,
            related=self.related(("attributes", key), "declared here"),
        )

    def values(
        self, attribute: Attribute, name: str, each: Iterable[tuple[str, PolicyPath]], *, at_key: bool = False
    ) -> Iterator[Diagnostic]:
        """Judge values that a requirement names: in the declared domain, not a mark, not read as missing."""
        missing = set(self.policy.source.missing)
        for value, path in each:
            if value == SUPPRESSED:
                continue
            if attribute.domain is not None and value not in attribute.domain:
                near = closest(value, attribute.domain)
                yield self.fault(
                    "PPF506",
                    f"`{short(value)}` is not in the declared domain of `{short(name)}`",
                    path,
                    at_key=at_key,
                    hint=f"did you mean `{short(near)}`?" if near else None,
                    related=self.related(("attributes", self.declared.key(name) or name, "domain"), "the domain"),
                )
            elif value in missing:
                yield self.fault(
                    "PPF523",
                    f"`{short(value)}` is read as a missing value, so nothing would be protected here",
                    path,
                    at_key=at_key,
                    hint="name a value, or take it out of `missing`",
                    related=self.related(("source", "missing"), "read as missing")
                    if "missing" in self.policy.source.model_fields_set
                    else (),
                )


_ROLES = {
    Role.IDENTIFIER: "an identifier",
    Role.QUASI_IDENTIFIER: "a quasi-identifier",
    Role.SENSITIVE: "a sensitive attribute",
    Role.TARGET: "the target",
    Role.INSENSITIVE: "insensitive",
    Role.WEIGHT: "the weight",
    Role.SAMPLING_WEIGHT: "the sampling weight",
    Role.SUBJECT: "the subject",
    Role.ITEMS: "the set of items",
}
