"""Reading the lock: it is as ``ppdm-flow lock`` writes it, or it is refused, with the place."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.lock.model import KINDS, VERSION, Lock, Pin, Pins
from ppdm_flow.policy.text.nodes import Map, Node, Scalar, Seq, UnreadableError
from ppdm_flow.policy.text.parse import parse
from ppdm_flow.policy.text.reading import decode, forbidden

SIZE_LIMIT = 16_000_000
"""Bytes."""
_SHA256 = re.compile(r"[0-9a-f]{64}")
_AGAIN = "restore it from version control, or delete it, run `ppdm-flow lock` and look at what it writes"
_PARTS = {
    "templates": ({"sha256"}, {"distribution", "version", "sha256"}),
    "files": ({"sha256"},),
    "plugins": ({"distribution", "version"},),
}
"""What is fixed of each kind; of templates also the release that brings them, where one does."""


@dataclass(frozen=True, slots=True)
class LockFile:
    """A lock as it was read, with its text and the SHA-256 of its bytes."""

    path: Path
    lock: Lock
    text: str
    sha256: str


def read(path: Path, shown: str | None = None) -> LockFile:
    """Return the lock at ``path``; diagnostics name it ``shown``. Raises UsageError (PPF682) if it is none."""
    name = shown or str(path)
    try:
        with path.open("rb") as file:
            data = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise UsageError(Diagnostic("PPF682", f"cannot read the lock file {name}: {reason}")) from None
    if len(data) > SIZE_LIMIT:
        raise UsageError(Diagnostic("PPF682", f"the lock file {name} is larger than {SIZE_LIMIT // 1_000_000} MB"))
    text = ""
    try:
        text = decode(data, name)
        lock = _Reader(name).lock(_tree(text, name))
    except UnreadableError as error:
        raise UsageError(_refused(error.diagnostic), {name: text}) from None
    return LockFile(path, lock, text, hashlib.sha256(data).hexdigest())


def _refused(fault: Diagnostic) -> Diagnostic:
    """Say of any fault that the lock is of no use, and what to do."""
    if fault.code == "PPF106":
        return Diagnostic(
            "PPF682",
            "the lock file holds the markers of an unresolved merge",
            fault.span,
            help="take either side, run `ppdm-flow lock`, and look at what both sides changed",
            related=fault.related,
        )
    said = fault.message if fault.code == "PPF682" else f"the lock file is damaged: {fault.message}"
    return Diagnostic("PPF682", said, fault.span, hint=fault.hint if fault.code == "PPF682" else None, help=_AGAIN)


def _tree(text: str, name: str) -> Map:
    fault = forbidden(text, name)
    if fault is not None:
        raise UnreadableError(fault)
    root, diagnostics = parse(text, name)
    if diagnostics:
        raise UnreadableError(diagnostics[0])
    if not isinstance(root, Map):
        span = root.span if root is not None else Span(name, 1, 1, 1, 1)
        raise UnreadableError(Diagnostic("PPF682", "this is not a lock file", span))
    return root


@dataclass(slots=True)
class _Reader:
    """Turns the tree into the lock; the first thing that does not fit ends it."""

    file: str
    places: dict[tuple[str, ...], Span] = field(default_factory=dict)

    def lock(self, root: Map) -> Lock:
        written = root.get("lock")
        if not isinstance(written, Scalar) or written.text != VERSION:
            what = "does not say its version" if written is None else f"is of another version than {VERSION}"
            self._fail(f"the lock file {what}", Span(self.file, 1, 1, 1, 1) if written is None else written.span)
        self._keys(root, {"lock", "language", *KINDS, "policies"})
        pins = {kind: dict(self._pins(root.entries[kind].node, kind)) for kind in KINDS}
        policies = {name: self._uses(node, name, pins) for name, node in self._entries(root, "policies")}
        return Lock(pins, policies, self._text(root.entries["language"].node), self.places)

    def _fail(self, message: str, span: Span, hint: str | None = None) -> None:
        raise UnreadableError(Diagnostic("PPF682", message, span, hint=hint))

    def _keys(self, node: Map, known: set[str]) -> None:
        for name, entry in node.entries.items():
            if name not in known:
                self._fail(f"the lock file has an unknown key `{short(name)}`", entry.key_span)
        for name in sorted(known - set(node.entries)):
            self._fail(f"the lock file lacks `{name}` here", node.span)

    def _entries(self, root: Map, key: str) -> Iterator[tuple[str, Node]]:
        yield from self._map(root.entries[key].node, (key,))

    def _map(self, node: Node, path: tuple[str, ...]) -> Iterator[tuple[str, Node]]:
        if not isinstance(node, Map):
            self._fail(f"`{short(path[-1])}` must be a map", node.span)
            return
        for name, entry in node.entries.items():
            self.places[(*path, name)] = entry.key_span
            yield name, entry.node

    def _pins(self, node: Node, kind: str) -> Iterator[tuple[str, Pin]]:
        for name, each in self._map(node, (kind,)):
            parts = {key: self._text(value) for key, value in self._map(each, (kind, name))}
            if set(parts) not in _PARTS[kind]:
                self._fail(f"`{short(name)}` does not say what is fixed of it", self.places[kind, name])
            pin = Pin(**parts)
            if "sha256" in parts and not _SHA256.fullmatch(pin.sha256):
                self._fail(f"the digest of `{short(name)}` is not a SHA-256 digest", self.places[kind, name, "sha256"])
            yield name, pin

    def _uses(self, node: Node, policy: str, pins: Mapping[str, Pins]) -> dict[str, tuple[str, ...]]:
        names_by_kind = dict(self._map(node, ("policies", policy)))
        if isinstance(node, Map):
            self._keys(node, set(KINDS))
        return {kind: tuple(self._names(names_by_kind[kind], policy, kind, pins[kind])) for kind in KINDS}

    def _names(self, node: Node, policy: str, kind: str, pins: Pins) -> Iterator[str]:
        if not isinstance(node, Seq):
            self._fail(f"`{kind}` of a policy must be a list", node.span)
            return
        for item in node.items:
            name = self._text(item)
            if name not in pins:
                self._fail(f"`{short(name)}` is not among the {kind} above", item.span)
            self.places["policies", policy, kind, name] = item.span
            yield name

    def _text(self, node: Node) -> str:
        if not isinstance(node, Scalar) or not node.text:
            self._fail("a text is missing here", node.span)
            return ""
        return node.text
