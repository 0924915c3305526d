"""Inheritance: a file, the templates that it extends and their params become one tree."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ppdm_flow.core.diagnostics import Diagnostic, Related
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.faults import UnreadableError
from ppdm_flow.policy.files import Files
from ppdm_flow.policy.floors import Floor, floors_of
from ppdm_flow.policy.header import HEADER, Parent, header_faults, parents_of
from ppdm_flow.policy.merge import merge
from ppdm_flow.policy.nodes import Map
from ppdm_flow.policy.params import Needed, Value, evaluate, required, unknown
from ppdm_flow.policy.permission import Permission, together, within
from ppdm_flow.policy.rebase import rebased
from ppdm_flow.policy.references import Found, NotFoundError, find
from ppdm_flow.policy.substitute import Substitution

Declarations = dict[str, tuple[Span, Map]]

CHAIN_LIMIT = 16
USE_LIMIT = 200


@dataclass(slots=True)
class Layer:
    """One file with all that it inherits, params replaced: what stands in it, its params, and its floors."""

    node: Map
    declared: Declarations = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    needed: list[Needed] = field(default_factory=list)
    floors: list[Floor] = field(default_factory=list)
    whole: bool = True
    privacy_waivers: Permission = Permission()


@dataclass(frozen=True, slots=True)
class _Use:
    """How a file is used by the one that extends it: values and declarations that go before its own."""

    given: Mapping[str, Value]
    over: Declarations
    chain: tuple[tuple[str, Span], ...]


class Inheritance:
    """Resolves one policy.

    ``found`` gathers all faults, ``users`` the place that brought in each file, ``extending`` the files that extend
    others, ``secrets`` the values that came from the environment.
    """

    def __init__(self, files: Files, sets: Mapping[str, str]) -> None:
        self.files = files
        self.sets = sets
        self.found: list[Diagnostic] = []
        self.users: dict[str, Span] = {}
        self.extending: set[str] = set()
        self.secrets: set[str] = set()
        self._uses = 0

    def resolve(self, root: Map, path: Found) -> Layer:
        """Return the policy of ``root`` with everything that it inherits."""
        layer = self._layer(root, path, _Use({}, {}, ((path.identity, root.span),)))
        for name in self.sets:
            if name not in layer.declared:
                self.found.append(unknown(name, None, layer.declared, "--set: the policy"))
        if layer.needed:
            how = " ".join(f"--set {n.name}=…" for n in layer.needed)
            self.found.append(required(layer.needed, None, f"give it a default, or {how}"))
        return layer

    def _layer(self, root: Map, here: Found, use: _Use) -> Layer:
        """Bring in the parents, then lay this file over them."""
        self.found.extend(header_faults(root))
        own = _declarations(root)
        early, _, _ = evaluate(_laid(own, _known(use.over, own)), use.given, self.sets)
        layers = []
        whole = True
        for parent in parents_of(root):
            self.extending.add(root.span.file)
            layer = self._parent(parent, here, early, own, use)
            whole = whole and layer is not None and layer.whole
            layers.extend([layer] if layer else [])
        merged = Layer(
            Map({}, root.span), whole=whole, privacy_waivers=together(each.privacy_waivers for each in layers)
        )
        for layer in layers:
            _take(merged, layer)
        self._own(merged, root, own, early, here, use)
        return merged

    def _own(
        self, merged: Layer, root: Map, own: Declarations, early: Mapping[str, Value], here: Found, use: _Use
    ) -> None:
        """Lay a file's own part over what it inherits."""
        declared = _laid(_laid(_known(merged.declared, own), own), _known(use.over, own))
        inherited = {n: v for n, v in merged.values.items() if n in own and not v.broken}
        values, needed, faults = evaluate(declared, {**inherited, **use.given}, self.sets)
        self.found.extend(faults)
        self.secrets.update(v.text for v in (*early.values(), *values.values()) if not v.quotable)
        merged.declared.update(declared)
        merged.values.update(values)
        merged.needed = [n for n in merged.needed if n.name not in own] + needed
        substitution = Substitution(merged.values)
        node = substitution.map(
            Map({k: e for k, e in root.entries.items() if k not in HEADER}, root.span, root.partial)
        )
        floors = root.get("floors")
        limits, wrong = floors_of(substitution.map(floors) if isinstance(floors, Map) else None)
        self.found.extend([*substitution.found, *wrong])
        merged.node = merge(merged.node, rebased(node, here, self.files.root))
        merged.floors.extend(limits)
        merged.privacy_waivers = within(root, merged.privacy_waivers, policy=len(use.chain) == 1)

    def _parent(
        self, parent: Parent, here: Found, early: Mapping[str, Value], own: Declarations, use: _Use
    ) -> Layer | None:
        """Read one parent and resolve it with the values given to it; None where it cannot be read."""
        substitution = Substitution(early)
        reference = substitution.scalar(parent.template)
        given = {n: Value.of(substitution.scalar(v)) for n, v in parent.given.items()}
        self.found.extend(substitution.found)
        if reference.broken or reference.text is None:
            return None
        try:
            target = find(reference.text, os.path.dirname(here.path) or ".")  # noqa: PTH120  (keeps `./` away)
        except NotFoundError as error:
            self.found.append(
                Diagnostic(error.code, error.message, parent.template.span, hint=error.hint, help=error.help)
            )
            return None
        if self._circular(target, parent, use):
            return None
        self.users.setdefault(target.shown, parent.template.span)
        root = self._read(target, parent)
        if root is None:
            return None
        chain = (*use.chain, (target.identity, parent.template.span))
        inner = _Use({**given, **use.given}, _laid(own, use.over), chain)
        layer = self._layer(root, target, inner)
        self._check_given(parent, layer, target, outermost=len(use.chain) == 1)
        return layer

    def _check_given(self, parent: Parent, layer: Layer, target: Found, *, outermost: bool) -> None:
        """Report values for params that the template lacks, and required ones that not even the policy gives."""
        for name in parent.given:
            if name not in layer.declared:
                span = parent.key_spans[name]
                self.found.append(unknown(name, span, layer.declared, f"the template {target.shown}"))
        if layer.needed and outermost:
            how = "add `with: {" + ", ".join(f"{n.name}: …" for n in layer.needed) + "}`"
            self.found.append(required(layer.needed, parent.template.span, how))
            layer.needed = []

    def _circular(self, target: Found, parent: Parent, use: _Use) -> bool:
        """Report a template that extends itself, by whatever detour (PPF302)."""
        identities = [identity for identity, _ in use.chain]
        if target.identity not in identities:
            return self._too_many(len(identities), parent)
        way = use.chain[identities.index(target.identity) + 1 :]
        self.found.append(
            Diagnostic(
                "PPF302",
                f"{target.shown} extends itself",
                parent.template.span,
                hint="this closes the circle",
                related=tuple(Related(span, "by way of this") for _, span in way),
            )
        )
        return True

    def _too_many(self, length: int, parent: Parent) -> bool:
        """Report a chain of templates that is too long, or too many of them in all (PPF313)."""
        self._uses += 1
        if length < CHAIN_LIMIT and self._uses <= USE_LIMIT:
            return False
        message = f"templates extend each other over more than {CHAIN_LIMIT} files"
        if length < CHAIN_LIMIT:
            message = f"more than {USE_LIMIT} templates are brought in"
        if self._uses <= USE_LIMIT + 1:
            self.found.append(Diagnostic("PPF313", message, parent.template.span))
        return True

    def _read(self, target: Found, parent: Parent) -> Map | None:
        try:
            root, found = self.files.tree(target.path, target.shown)
        except UnreadableError as error:
            self.found.append(error.diagnostic)
            return None
        except UsageError as error:
            self.found.extend(replace(d, code="PPF301", span=parent.template.span) for d in error.diagnostics)
            return None
        self.found.extend(found)
        return root


def _take(merged: Layer, layer: Layer) -> None:
    merged.node = merge(merged.node, layer.node)
    merged.declared.update(layer.declared)
    merged.values.update(layer.values)
    merged.needed.extend(layer.needed)
    merged.floors.extend(layer.floors)


def _declarations(root: Map) -> Declarations:
    params = root.get("params")
    entries = params.entries.items() if isinstance(params, Map) else ()
    return {name: (entry.key_span, entry.node) for name, entry in entries if isinstance(entry.node, Map)}


def _laid(base: Declarations, over: Declarations) -> Declarations:
    """Lay declarations over others: each by the merge rule, in the place of the nearest."""
    laid = dict(base)
    for name, (span, declaration) in over.items():
        laid[name] = (span, merge(laid[name][1], declaration)) if name in laid else (span, declaration)
    return laid


def _known(over: Declarations, own: Declarations) -> Declarations:
    return {name: declaration for name, declaration in over.items() if name in own}
