"""Inheritance: merges a file, the templates that it extends and their params into one tree."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ppdm_flow.core.addresses import is_address
from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.roles import Role
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.demands import NOT_WEAKER, EqualTo, IsSet, OneOf
from ppdm_flow.policy.files import HEADER, Files, Parent, parents_of
from ppdm_flow.policy.flatten import flatten
from ppdm_flow.policy.floor import STAR, Floor, RelativeFloor, Wanted
from ppdm_flow.policy.floors.reading import floors_of
from ppdm_flow.policy.floors.relative import anchored
from ppdm_flow.policy.floors.strength import COUNTED_BY
from ppdm_flow.policy.inheritance.joining import Declarations, ambiguous_param, declarations, known, lay, over
from ppdm_flow.policy.inheritance.layers import PolicyLayer, joined, state
from ppdm_flow.policy.inheritance.references import FoundTemplate, NotFoundError, find, package
from ppdm_flow.policy.language.kinds import kinds_among, places_below, written_once
from ppdm_flow.policy.params import ParamValue, Substitution, evaluate, limits_of, required, unknown, within
from ppdm_flow.policy.text.nodes import (
    NONE,
    Map,
    MappingEntry,
    Node,
    PolicyPath,
    Scalar,
    UnreadableError,
    by_name,
    is_none,
    is_null,
)

CHAIN_LIMIT = 16
USE_LIMIT = 200


@dataclass(frozen=True, slots=True)
class _Use:
    """The use of a file by one that extends it: values and declarations that go before its own."""

    given: Mapping[str, ParamValue]
    over: Declarations
    chain: tuple[tuple[str, Span], ...]

    @property
    def outermost(self) -> bool:
        """Whether the file is the policy itself."""
        return len(self.chain) == 1


@dataclass(slots=True)
class InheritanceRecord:
    """The results of reading a policy beside its tree.

    ``diagnostics`` are all faults, ``users`` the place that brought in each file, ``extending`` the files that extend
    others, ``secrets`` the values that came from the environment, ``ranges`` where each package is asked for, ``files``
    what tells the files apart that were used.
    """

    diagnostics: list[Diagnostic] = field(default_factory=list)
    users: dict[str, Span] = field(default_factory=dict)
    extending: set[str] = field(default_factory=set)
    secrets: set[str] = field(default_factory=set)
    ranges: dict[str, list[Span]] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)
    uses: int = 0

    def add(self, other: InheritanceRecord) -> None:
        """Take over another account."""
        self.diagnostics.extend(other.diagnostics)
        for name, span in other.users.items():
            self.users.setdefault(name, span)
        self.extending |= other.extending
        self.secrets |= other.secrets
        for name, spans in other.ranges.items():
            self.ranges.setdefault(name, []).extend(spans)
        self.files |= other.files
        self.uses += other.uses

    def beside(self, fault: Diagnostic) -> Diagnostic:
        """Add to the fault of one range the places that ask for the same package (PPF317)."""
        several = next((s for s in self.ranges.values() if fault.span in s), []) if fault.code == "PPF317" else []
        others = dict.fromkeys(s for s in several if s != fault.span)
        related = tuple(RelatedPlace(s, "asked for here as well") for s in others)
        return replace(fault, related=fault.related + related) if related else fault


@dataclass(frozen=True, slots=True)
class _ResolvedTemplate:
    """The resolved form of a template, for the next policy that extends it in the same way."""

    layer: PolicyLayer
    account: InheritanceRecord
    files: Files


class Inheritance:
    """Resolves one policy; ``account`` is what comes to light meanwhile.

    ``required`` are the templates, by their identity, of which the policy may take nothing away, and who says so.
    """

    def __init__(self, files: Files, sets: Mapping[str, str], required: Mapping[str, Span] = {}) -> None:
        self.files = files
        self.sets = sets
        self.required = required
        self.account = InheritanceRecord()

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """All faults so far."""
        return self.account.diagnostics

    def resolve(self, root: Map, path: FoundTemplate) -> PolicyLayer:
        """Return the policy of ``root`` with everything that it inherits."""
        layer = self._layer(root, path, _Use({}, {}, ((path.identity, root.span),)))
        self.account.diagnostics = [self.account.beside(d) for d in self.diagnostics]
        for name in self.sets:
            if name not in layer.declared:
                self.diagnostics.append(unknown(name, None, layer.declared, "--set: the policy"))
        if layer.needed:
            how = " ".join(f"--set {n.name}=…" for n in layer.needed)
            self.diagnostics.append(required(layer.needed, None, f"give it a default, or {how}"))
        return layer

    def _layer(self, root: Map, here: FoundTemplate, use: _Use) -> PolicyLayer:
        """Bring in the parents, then lay this file over them."""
        root = by_name(root, "privacy", written_once)
        own = declarations(root)
        early, _, _ = evaluate(over(own, known(use.over, own)), use.given, self.sets)
        layers = []
        complete = True
        for parent in parents_of(root):
            self.account.extending.add(root.span.file)
            layer = self._parent(parent, here, early, own, use)
            complete = complete and layer is not None and layer.complete
            layers.extend([(layer, parent.template.span)] if layer else [])
        merged = joined(root, layers, complete=complete)
        if use.outermost:
            merged.needed = []  # reported where the templates are extended
        self._own(merged, root, own, early, here, use)
        return merged

    def _own(
        self,
        merged: PolicyLayer,
        root: Map,
        own: Declarations,
        early: Mapping[str, ParamValue],
        here: FoundTemplate,
        use: _Use,
    ) -> None:
        """Lay a file's own part over what it inherits."""
        declared = over(over(known(merged.declared, own), own), known(use.over, own))
        inherited = {n: v for n, v in merged.values.items() if n in own and not v.broken}
        values, needed, faults = evaluate(declared, {**inherited, **use.given}, self.sets)
        self.diagnostics.extend(faults)
        secret = (v for v in (*early.values(), *values.values()) if not v.quotable)
        self.account.secrets.update(text for v in secret for text in {v.text, *v.texts})
        merged.declared.update(declared)
        merged.values.update(values)
        merged.needed = [n for n in merged.needed if n.name not in own] + needed
        substitution = Substitution(merged.values)
        rest = {k: e for k, e in root.entries.items() if k not in HEADER}
        node = substitution.map(Map(rest, root.span, root.partial))
        floors = root.get("floors")
        limits = substitution.map(floors) if isinstance(floors, Map) else None
        stated, wrong = floors_of(limits)
        stated = rebased_floors(stated, here, self.files.root)
        self.diagnostics.extend([*substitution.diagnostics, *wrong])
        merged.unsure = {n: v for n, v in merged.unsure.items() if n not in own and n not in self.sets}
        self.diagnostics.extend(
            ambiguous_param(n, substitution.used[n], v) for n, v in merged.unsure.items() if n in substitution.used
        )
        node = self._without_escape(node, merged)
        merged.laid = lay(merged.laid, rebased(node, here, self.files.root, merged.node))
        if here.identity in self.required:
            template = self._by_itself(merged, root, here)
            stated = [*stated, *_anchored(_kept(template, self.required[here.identity]), template)]
        self.diagnostics.extend(state(merged, stated, template=not use.outermost))
        merged.privacy_waivers = within(root, limits, merged.privacy_waivers, policy=use.outermost)

    def _without_escape(self, node: Map, merged: PolicyLayer) -> Map:
        """Take ``privacy: none`` out of a file that inherits requirements, and report it (PPF322)."""
        entry, inherited = node.entries.get("privacy"), merged.node.entries.get("privacy")
        if entry is None or inherited is None or not is_none(entry.node):
            return node
        stated = inherited.node.entries if isinstance(inherited.node, Map) else {}
        required = {kind: each for kind, each in stated.items() if not is_null(each.node)}
        if not required:
            return node
        text = f"`privacy: {NONE}` cannot take away what a template requires"
        related = tuple(RelatedPlace(each.key_span, "required here") for each in required.values())
        fault = Diagnostic("PPF322", text, entry.node.span, hint="remove the line", related=related, path=("privacy",))
        self.diagnostics.append(fault)
        return replace(node, entries={key: each for key, each in node.entries.items() if key != "privacy"})

    def _parent(
        self, parent: Parent, here: FoundTemplate, early: Mapping[str, ParamValue], own: Declarations, use: _Use
    ) -> PolicyLayer | None:
        """Read one parent and resolve it with the values given to it; None where it cannot be read."""
        substitution = Substitution(early)
        reference = substitution.scalar(parent.template)
        given = {
            n: ParamValue.of(made) for n, v in parent.given.items() if not isinstance(made := substitution.node(v), Map)
        }
        self.diagnostics.extend(substitution.diagnostics)
        if reference.broken or reference.text is None:
            return None
        target = self._find_template(reference.text, parent, os.path.dirname(here.path) or ".")  # noqa: PTH120  (keeps `./` away)
        if target is None or self._circular(target, parent, use):
            return None
        self.account.users.setdefault(target.shown, parent.template.span)
        shared = None if given or not use.outermost else self._shared(target, own, use)
        layer = shared or self._resolved(target, parent, _Use({**given, **use.given}, over(own, use.over), use.chain))
        if layer is not None:
            self._check_given(parent, layer, target, outermost=use.outermost)
        return layer

    def _find_template(self, reference: str, parent: Parent, home: str) -> FoundTemplate | None:
        span = parent.template.span
        if name := package(reference):
            self.account.ranges.setdefault(name, []).append(span)
        try:
            return find(reference, home)
        except NotFoundError as error:
            self.diagnostics.append(Diagnostic(error.code, error.message, span, hint=error.hint, help=error.help))
        return None

    def _resolved(self, target: FoundTemplate, parent: Parent, use: _Use) -> PolicyLayer | None:
        root = self._read(target, parent)
        if root is None:
            return None
        chain = (*use.chain, (target.identity, parent.template.span))
        return self._layer(root, target, replace(use, chain=chain))

    def _shared(self, target: FoundTemplate, own: Declarations, use: _Use) -> PolicyLayer | None:
        """Return what the template comes to for any policy that gives it no values; None where this one must look."""
        folder = os.path.abspath(self.files.root.parent)  # noqa: PTH100  (keeps symlinks)
        key = (target.shown, target.identity, folder)
        layers = self.files.library.layers
        if key not in layers:
            layers[key] = self._kept(target)
        kept: _ResolvedTemplate | None = layers[key]
        if kept is None or use.chain[0][0] in kept.account.files or own.keys() & kept.layer.declared.keys():
            return None
        self.account.add(kept.account)
        self.files.add(kept.files)
        return kept.layer

    def _kept(self, target: FoundTemplate) -> _ResolvedTemplate | None:
        """Resolve a template on its own account, as if a policy without a name extended it."""
        files = Files(self.files.root, self.files.library)
        apart = Inheritance(files, self.sets, self.required)
        try:
            root, diagnostics = files.tree(target.path, target.shown)
        except (UnreadableError, UsageError):
            return None
        apart.diagnostics.extend(diagnostics)
        apart.account.files.add(target.identity)
        layer = apart._layer(root, target, _Use({}, {}, (("", root.span), (target.identity, root.span))))
        return _ResolvedTemplate(layer, apart.account, files)

    def _by_itself(self, layer: PolicyLayer, root: Map, here: FoundTemplate) -> PolicyLayer:
        """Return what a template comes to with its own values of params; of those that it offers, with the policy's."""

        def resolved(given: Mapping[str, ParamValue]) -> PolicyLayer:
            apart = Inheritance(Files(self.files.root, self.files.library), {})
            return apart._layer(root, here, _Use(given, {}, (("", root.span), (here.identity, root.span))))

        template = resolved({})
        offered = {
            name: layer.values[name]
            for name, (_, declaration) in template.declared.items()
            if name in layer.values and _is_offer(declaration)
        }
        return resolved(offered) if offered else template

    def _check_given(self, parent: Parent, layer: PolicyLayer, target: FoundTemplate, *, outermost: bool) -> None:
        """Report values for params that the template lacks, and required ones that not even the policy gives."""
        for name in parent.given:
            if name not in layer.declared:
                span = parent.key_spans[name]
                self.diagnostics.append(unknown(name, span, layer.declared, f"the template {target.shown}"))
        if layer.needed and outermost:
            how = "add `with: {" + ", ".join(f"{n.name}: …" for n in layer.needed) + "}`"
            self.diagnostics.append(required(layer.needed, parent.template.span, how))

    def _circular(self, target: FoundTemplate, parent: Parent, use: _Use) -> bool:
        """Report a template that extends itself, directly or through others (PPF302)."""
        identities = [identity for identity, _ in use.chain]
        self.account.files.add(target.identity)
        if target.identity not in identities:
            return self._too_many(len(identities), parent)
        way = use.chain[identities.index(target.identity) + 1 :]
        self.diagnostics.append(
            Diagnostic(
                "PPF302",
                f"{target.shown} extends itself",
                parent.template.span,
                hint="this closes the circle",
                related=tuple(RelatedPlace(span, "by way of this") for _, span in way),
            )
        )
        return True

    def _too_many(self, length: int, parent: Parent) -> bool:
        """Report a chain of templates that is too long, or too many of them in all (PPF313)."""
        self.account.uses += 1
        if length < CHAIN_LIMIT and self.account.uses <= USE_LIMIT:
            return False
        message = f"templates extend each other over more than {CHAIN_LIMIT} files"
        if length < CHAIN_LIMIT:
            message = f"more than {USE_LIMIT} templates are brought in"
        if self.account.uses <= USE_LIMIT + 1:
            self.diagnostics.append(Diagnostic("PPF313", message, parent.template.span))
        return True

    def _read(self, target: FoundTemplate, parent: Parent) -> Map | None:
        try:
            root, diagnostics = self.files.tree(target.path, target.shown)
        except UnreadableError as error:
            self.diagnostics.append(error.diagnostic)
            return None
        except UsageError as error:
            self.diagnostics.extend(replace(d, code="PPF301", span=parent.template.span) for d in error.diagnostics)
            return None
        self.diagnostics.extend(diagnostics)
        return root


def _kept(template: PolicyLayer, place: Span) -> Iterator[Wanted]:
    """Yield the floors of a required template: each requirement that it has stays.

    It gets no weaker either, unless floors of its own say how far it may. Where the template says what columns are, no
    policy adds one by which rows count for several, or for other people.
    """
    for section in ("gates", "approvals"):
        if section in template.node.entries:
            yield RelativeFloor((section,), NOT_WEAKER, place)
    stated = _roles(template.node)
    roles = tuple(role.value for role in Role if role not in COUNTED_BY or role.value in stated)
    if stated and len(roles) < len(Role):
        yield Floor(("attributes", "*", "role"), OneOf(roles), place)
    bounded = {floor.path for floor in template.floors}
    privacy = template.node.get("privacy")
    for kind in privacy.entries if isinstance(privacy, Map) else ():
        path = ("privacy", kind)
        free = any(each[:2] == path or each in (("privacy",), ("privacy", "*")) for each in bounded)
        yield Floor(path, IsSet(), place) if free else RelativeFloor(path, NOT_WEAKER, place)


def _anchored(wanted: Iterable[Wanted], template: PolicyLayer) -> Iterator[Wanted]:
    """Yield floors that go by what the template says by itself."""
    flat = flatten(template.node)
    for each in wanted:
        yield from (each,) if isinstance(each, Floor) else anchored(each, flat)


def _roles(node: Map) -> frozenset[str]:
    """Return the roles of the attributes that a template states."""
    attributes = node.get("attributes")
    bodies = [entry.node for entry in attributes.entries.values()] if isinstance(attributes, Map) else []
    roles = [body.get("role") for body in bodies if isinstance(body, Map)]
    return frozenset(role.text for role in roles if isinstance(role, Scalar) and role.text)


def _is_offer(declaration: Map) -> bool:
    """Whether a template leaves the value of a param to policies: it gives none, or says within which limits."""
    limits = limits_of(declaration)
    return declaration.get("default") is None or bool(limits.low or limits.high or limits.choices)


# Paths in an inherited file are meant from that file's folder; the policy's own paths from the policy's.


PATHS = (
    ("source", "path"),
    ("source", "operator"),
    ("attributes", "*", "hierarchy", "csv"),
    ("tables", "*", "source", "path"),
    ("tables", "*", "source", "operator"),
    ("tables", "*", "attributes", "*", "hierarchy", "csv"),
    ("ledger", "path"),
    ("ledger", "key"),
    ("approvals", "signers"),
)
"""Where the language has a path of a file that is read."""

PLUGIN_FILES: Mapping[str, tuple[PolicyPath, ...]] = {
    "complementary_release": (("other",),),
    "generalize": (("attributes", "*", "hierarchy"),),
    "krimp_generator": (("code_table",),),
    "linkage": (("external",),),
    "pram": (("matrix_file",),),
    "pseudonymize": (("key_file",),),
    "reidentification_risk": (("population",),),
    "roll_up": (("hierarchy",),),
    "unsorted_matching": (("other",),),
}
"""Where a plugin's parameters have the paths of files: what its spec declares as ``FilePath``.

The audit of a requirement has them where an entry of that kind has them.
"""

_PLUGINS = ("steps", "audits")


def rebased(node: Map, here: FoundTemplate, root: Path, inherited: Map) -> Map:
    """Return the tree of the file ``here`` with its relative paths written from the folder of ``root``.

    ``inherited`` is what the file will be laid over: it may say which plugin a parameter belongs to.
    """
    home, folder = os.path.abspath(root.parent), os.path.abspath(here.path.parent)  # noqa: PTH100  (keeps symlinks)
    if home == folder:
        return node
    changed: Node = node
    for pattern in (*PATHS, *_of_requirements(node), *_of_plugins(node, inherited)):
        changed = _at(changed, pattern, os.path.relpath(folder, home))
    return changed if isinstance(changed, Map) else node


def rebased_floors(stated: Iterable[Wanted], here: FoundTemplate, root: Path) -> list[Wanted]:
    """Return the floors of the file ``here`` with the files that they demand written from the folder of ``root``."""
    home, folder = os.path.abspath(root.parent), os.path.abspath(here.path.parent)  # noqa: PTH100  (keeps symlinks)
    way = os.path.relpath(folder, home)
    return [_demanded(each, way) if isinstance(each, Floor) and home != folder else each for each in stated]


def _demanded(floor: Floor, way: str) -> Floor:
    demand = floor.demand
    for pattern in PATHS:
        below = pattern[len(floor.path) :]
        if not _leads_to(floor.path, pattern):
            continue
        if isinstance(demand, EqualTo):
            demand = EqualTo.of(_tree(demand.tree, below, way))
        elif isinstance(demand, OneOf) and not below:
            demand = OneOf(tuple(_path(text, way) for text in demand.wanted))
    return replace(floor, demand=demand)


def _leads_to(path: PolicyPath, pattern: PolicyPath) -> bool:
    """Whether the path of a floor is that of a file, or of something that a file stands in."""
    parts = zip(path, pattern, strict=False)
    return len(path) <= len(pattern) and all(STAR in (a, b) or a == b for a, b in parts)


def _tree(tree: Any, below: PolicyPath, way: str) -> Any:
    """Return a tree of text with the path at ``below`` rewritten."""
    if not below:
        return _path(tree, way) if isinstance(tree, str) else tree
    if not isinstance(tree, Mapping):
        return tree
    return {key: _tree(value, below[1:], way) if below[0] in (STAR, key) else value for key, value in tree.items()}


def _of_requirements(node: Map) -> Iterator[PolicyPath]:
    privacy = node.get("privacy")
    for spec in kinds_among(privacy.entries if isinstance(privacy, Map) else ()):
        yield from (place for file in spec.files for place in places_below(spec, file))


def _of_plugins(node: Map, inherited: Map) -> Iterator[PolicyPath]:
    """Yield the paths in the ``with:`` of steps and audits at which their plugins take a file."""
    for section in _PLUGINS:
        entries = node.get(section)
        for name in entries.entries if isinstance(entries, Map) else ():
            use = _use(node, section, name) or _use(inherited, section, name)
            files = PLUGIN_FILES.get(use) or [f for spec in kinds_among((use,)) for f in spec.files]
            yield from ((section, name, "with", *file) for file in files)


def _use(root: Map, section: str, name: str) -> str:
    node: Node | None = root
    for key in (section, name, "use"):
        node = node.get(key) if isinstance(node, Map) else None
    return node.text or "" if isinstance(node, Scalar) else ""


def _at(node: Node, pattern: tuple[str, ...], way: str) -> Node:
    if not pattern:
        return _moved(node, way)
    if not isinstance(node, Map):
        return node
    keys = list(node.entries) if pattern[0] == "*" else [k for k in node.entries if k == pattern[0]]
    if not keys:
        return node
    entries = dict(node.entries)
    for key in keys:
        entry = entries[key]
        entries[key] = MappingEntry(entry.key_span, _at(entry.node, pattern[1:], way), entry.plain)
    return Map(entries, node.span, node.partial)


def _moved(node: Node, way: str) -> Node:
    return replace(node, text=_path(node.text, way)) if isinstance(node, Scalar) and node.text else node


def _path(text: str, way: str) -> str:
    if is_address(text) or os.path.isabs(text):  # noqa: PTH117  (text, not a Path)
        return text
    return os.path.normpath(os.path.join(way, text))  # noqa: PTH118  (text, not a Path)
