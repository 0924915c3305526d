"""Lock files: the digests and versions of all that a reviewed policy uses."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, NotRequired

from pydantic import PositiveInt
from typing_extensions import TypedDict

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.documents import Sha256, Text, about
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.spans import Span
from ppdm_flow.core.suggest import closest, did_you_mean
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.text.nodes import Map, Node, Scalar, Seq, UnreadableError
from ppdm_flow.policy.text.parse import parse
from ppdm_flow.policy.text.reading import decode, forbidden

FILE = "ppdm-flow.lock"
"""Its name; it stands in the folder that its paths start from."""
VERSION = "1"
"""Version of the file's form."""
LANGUAGE = "1"
"""Version of the policy language."""
KINDS = ("templates", "files", "plugins")
"""What is fixed: templates, files with definitions, plugins as ``anonymizers/NAME``."""

Pins = Mapping[str, "Pin"]
Distribution = Annotated[Text, about("The installed package that brings it.")]
Version = Annotated[Text, about("The package's version.")]


# The lock: which bytes and which versions stand behind each policy.


@dataclass(frozen=True, slots=True, order=True)
class Pin:
    """The locked facts of one thing: the SHA-256 of its bytes, the distribution that brings it, or both."""

    sha256: str = ""
    distribution: str = ""
    version: str = ""

    @property
    def words(self) -> str:
        """It in words."""
        return self._words(Pin())

    def against(self, other: Pin) -> tuple[str, str]:
        """Return this and the other in words, with what tells them apart."""
        return self._words(other), other._words(self)

    def _words(self, other: Pin) -> str:
        parts = [" ".join(self.release)] if self.release != other.release and any(self.release) else []
        parts += [f"sha256 {self.sha256[:12]}…"] if self.sha256 != other.sha256 and self.sha256 else []
        return ", ".join(parts) or "a file"

    @property
    def release(self) -> tuple[str, str]:
        """The distribution and its version; empty for a file of the repository."""
        return self.distribution, self.version


@dataclass(frozen=True, slots=True)
class Lock:
    """Content of a lock file. ``pins`` and the uses of each policy are by kind; ``places`` are spans in the file."""

    pins: Mapping[str, Pins]
    policies: Mapping[str, Mapping[str, tuple[str, ...]]]
    language: str = LANGUAGE
    places: Mapping[tuple[str, ...], Span] = field(default_factory=dict, compare=False)

    def releases(self) -> frozenset[tuple[str, str]]:
        """Return distribution and version of all plugins."""
        return frozenset(pin.release for pin in self.pins["plugins"].values())


@dataclass(frozen=True, slots=True)
class Use:
    """One thing that a policy uses, as it is now, and the ``place`` in the policy's files that asks for it.

    An ``implied`` plugin is one that the data asked for: it may be any of a release that the lock has. ``path`` is
    the absolute path of a definition.
    """

    kind: str
    name: str
    pin: Pin
    place: Span | None = None
    implied: bool = False
    path: str = ""


def locked(policies: Mapping[str, Iterable[Use]]) -> Lock:
    """Return the lock of policies with these uses; what they share is in it once."""
    pins: dict[str, dict[str, Pin]] = {kind: {} for kind in KINDS}
    used: dict[str, dict[str, tuple[str, ...]]] = {}
    for policy, uses in sorted(policies.items()):
        names: dict[str, set[str]] = {kind: set() for kind in KINDS}
        for use in uses:
            pins[use.kind][use.name] = use.pin
            names[use.kind].add(use.name)
        used[policy] = {kind: tuple(sorted(names[kind])) for kind in KINDS}
    return Lock({kind: dict(sorted(by_name.items())) for kind, by_name in pins.items()}, used)


@dataclass(slots=True)
class LockFileFinder:
    """Finds lock files. Each folder is read once: answers agree with each other while others write."""

    _lock_files: dict[Path, Path | None] = field(default_factory=dict)

    def of(self, policy: Path) -> Path | None:
        """Return the lock file in the policy's folder or above it, up to the repository's root; None without one.

        A folder of that name counts: then the lock cannot be read, and is not missing.
        """
        return self._in(policy.absolute().parent)

    def _in(self, folder: Path) -> Path | None:
        if folder not in self._lock_files:
            self._lock_files[folder] = self._look(folder)
        return self._lock_files[folder]

    def _look(self, folder: Path) -> Path | None:
        file = folder / FILE
        if file.exists() or file.is_symlink():
            return file
        if is_repository(folder) or folder.parent == folder:
            return None
        return self._in(folder.parent)


def is_repository(folder: Path) -> bool:
    """Whether a folder is the root of a working tree of Git: an empty `.git` makes none."""
    git = folder / ".git"
    return git.is_file() or (git / "HEAD").is_file()


# What the lock says against what is there: every difference, at the place that asks for the thing.


_NOUN = {"templates": "template", "files": "file", "plugins": "plugin"}
_LOOK = "look at what is new; if it is meant, run `ppdm-flow lock`"


def drifts(lock: Lock, policy: str, uses: Iterable[Use], file: str) -> Iterator[Diagnostic]:
    """Yield what a policy uses and the lock does not have, or has otherwise; ``file`` is the policy's own."""
    start = Span(file, 1, 1, 1, 1)
    if lock.language != LANGUAGE:
        text = f"the lock is of version {short(lock.language)} of the policy language, and this is {LANGUAGE}"
        yield Diagnostic("PPF339", text, start)
    known = lock.policies.get(policy)
    if known is None:
        near = closest(policy, lock.policies)
        hint = f"it has `{near}`" if near else None
        yield Diagnostic("PPF320", f"the lock does not have the policy `{short(policy)}`", start, hint=hint, help=_LOOK)
        return
    for use in uses:
        yield from _drift(lock, policy, use, start)


def _drift(lock: Lock, policy: str, use: Use, start: Span) -> Iterator[Diagnostic]:
    noun, place = _NOUN[use.kind], use.place or start
    pin = lock.pins[use.kind].get(use.name)
    if use.implied and pin is None and use.pin.release in lock.releases():
        return
    if pin is None:
        yield Diagnostic("PPF320", f"the lock does not have the {noun} `{short(use.name)}`", place, help=_LOOK)
    elif pin != use.pin:
        before, now = pin.against(use.pin)
        text = f"the {noun} `{short(use.name)}` is not the locked one: locked is {before}, and this is {now}"
        name = use.name if pin.release == use.pin.release else use.pin.distribution
        yield Diagnostic("PPF339", text, place, help=f"if that is meant: ppdm-flow lock --upgrade {name}")
    elif not use.implied and use.name not in lock.policies[policy][use.kind]:
        text = f"the lock does not have the {noun} `{short(use.name)}` for this policy"
        yield Diagnostic("PPF320", text, place, help=_LOOK)


def stale(lock: Lock, now: Lock) -> Iterator[Diagnostic]:
    """Yield what the lock lists and nothing uses, at its place in the lock file."""
    for policy, uses in lock.policies.items():
        if policy not in now.policies:
            yield _missing_entry(
                lock, f"the policy `{short(policy)}` is locked, and there is none", ("policies", policy)
            )
            continue
        for kind in KINDS:
            for name in uses[kind]:
                if name not in now.policies[policy][kind] and name in now.pins[kind]:
                    text = f"the {_NOUN[kind]} `{short(name)}` is locked for `{short(policy)}`, which does not use it"
                    yield _missing_entry(lock, text, ("policies", policy, kind, name))
    for kind in KINDS:
        for name in lock.pins[kind]:
            if name not in now.pins[kind]:
                text = f"the {_NOUN[kind]} `{short(name)}` is locked, and no policy uses it"
                yield _missing_entry(lock, text, (kind, name))


def _missing_entry(lock: Lock, text: str, place: tuple[str, ...]) -> Diagnostic:
    return Diagnostic("PPF321", text, lock.places.get(place), help="run `ppdm-flow lock`")


def changes(before: Lock | None, now: Lock) -> Iterator[tuple[str, str, str]]:
    """Yield a sign (``+``, ``-``, ``~``), the thing, and what became of it, for everything that is not as before."""
    old = before or Lock({kind: {} for kind in KINDS}, {})
    for kind in KINDS:
        was, is_ = old.pins[kind], now.pins[kind]
        for name in sorted({*was, *is_}):
            thing = f"{_NOUN[kind]} {name}"
            if name not in was:
                yield "+", thing, is_[name].words
            elif name not in is_:
                yield "-", thing, ""
            elif was[name] != is_[name]:
                yield "~", thing, " -> ".join(was[name].against(is_[name]))
    for policy in sorted({*old.policies, *now.policies}):
        sign = "+" if policy not in old.policies else "-" if policy not in now.policies else "~"
        if old.policies.get(policy) != now.policies.get(policy):
            yield sign, f"policy {policy}", _uses(old, now, policy) if sign == "~" else ""


def _uses(old: Lock, now: Lock, policy: str) -> str:
    """Say what a policy uses now and did not, and the other way round."""
    was, is_ = ({name for kind in KINDS for name in lock.policies[policy][kind]} for lock in (old, now))
    more = [f"now uses {', '.join(sorted(is_ - was))}"] if is_ - was else []
    less = [f"no longer uses {', '.join(sorted(was - is_))}"] if was - is_ else []
    return "; ".join([*more, *less])


# Reading the lock: it is as `ppdm-flow lock` writes it, or it is refused, with the place.


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


# An upgrade of what is named, and of nothing in its shadow.


_PACKAGED = "pkg:"


def only(before: Lock, now: Lock, upgrade: Sequence[str]) -> None:
    """Raise UsageError (PPF683) where more than ``upgrade`` names has other content or versions, or it names nothing.

    Naming a distribution names all that it brings. What is in only one of the two locks is no upgrade of anything: it
    follows from what the policies say now.
    """
    every = [(name, pins, _names(name, pins)) for name, pins in _pins(before, now)]
    known = {each for _, _, names in every for each in names}
    for name in upgrade:
        if name not in known:
            text = f"neither the lock nor a policy has `{short(name)}`"
            raise UsageError(Diagnostic("PPF683", text, hint=did_you_mean(name, known)))
    others = [_more(name, pins) for name, pins, names in every if pins[0] != pins[-1] and not names & set(upgrade)]
    if others:
        raise UsageError(others)


def _pins(before: Lock, now: Lock) -> Iterator[tuple[str, list[Pin]]]:
    """Yield every entry with its old and its new value."""
    for kind in KINDS:
        for name in sorted({*before.pins[kind], *now.pins[kind]}):
            yield name, [lock.pins[kind][name] for lock in (before, now) if name in lock.pins[kind]]


def _names(name: str, pins: Sequence[Pin]) -> set[str]:
    """Return what an upgrade may call a thing: its name, or a distribution that brings or brought it."""
    packages = {pin.distribution for pin in pins if pin.distribution}
    if name.startswith(_PACKAGED):
        packages.add(name.removeprefix(_PACKAGED).partition("/")[0])
    return {name, *packages}


def _more(name: str, pins: Sequence[Pin]) -> Diagnostic:
    was, is_ = pins[0].against(pins[1])
    return Diagnostic("PPF683", f"`{short(name)}` differs as well: {was} -> {is_}")


# The lock as text: sorted, one thing a line, so that differences can be read and merged.


_PLAIN = re.compile(r"[A-Za-z_./][A-Za-z0-9_./-]*[A-Za-z0-9_]")
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_HEAD = "# written by ppdm-flow lock: do not edit; `ppdm-flow explain lock` says what it is for"


def text(lock: Lock) -> str:
    """Return the lock as YAML that any reader understands alike."""
    return "".join(f"{line}\n" for line in _lines(lock))


def _lines(lock: Lock) -> Iterator[str]:
    yield _HEAD
    yield f"lock: {VERSION}"
    yield f"language: {lock.language}"
    for kind in KINDS:
        pins = lock.pins[kind]
        yield f"{kind}:" if pins else f"{kind}: {{}}"
        yield from (f"  {_name(name)}: {_pin(pin)}" for name, pin in pins.items())
    yield "policies:" if lock.policies else "policies: {}"
    for policy, uses in lock.policies.items():
        yield f"  {_name(policy)}:"
        for kind in KINDS:
            names = uses[kind]
            yield f"    {kind}:" if names else f"    {kind}: []"
            yield from (f"      - {_name(name)}" for name in names)


def _pin(pin: Pin) -> str:
    parts = {"distribution": pin.distribution, "version": pin.version, "sha256": pin.sha256}
    return "{" + ", ".join(f"{key}: {_quoted(value)}" for key, value in parts.items() if value) + "}"


def _name(name: str) -> str:
    """Return a name plain where it can only be itself."""
    return name if _PLAIN.fullmatch(name) and name.lower() not in _WORDS else _quoted(name)


def _quoted(text: str) -> str:
    return f'"{"".join(map(_character, text))}"'


def _character(one: str) -> str:
    """Return a character as it stands between double quotes."""
    if one in '"\\':
        return f"\\{one}"
    if one.isprintable():
        return one
    return f"\\u{ord(one):04x}" if ord(one) <= 0xFFFF else f"\\U{ord(one):08x}"


# The fields of the lock file.


class LockedFile(TypedDict):
    """A file with definitions."""

    sha256: Annotated[Sha256, about("Of the file's bytes.")]


class LockedTemplate(LockedFile):
    """A template, and the package that brings it, where one does."""

    distribution: NotRequired[Distribution]
    version: NotRequired[Version]


class LockedPlugin(TypedDict):
    """A plugin."""

    distribution: Distribution
    version: Version


class LockedUses(TypedDict):
    """What a policy uses."""

    templates: Annotated[list[str], about("Templates above.")]
    files: Annotated[list[str], about("Files above.")]
    plugins: Annotated[list[str], about("Plugins above.")]


class LockDocument(TypedDict):
    """The lock file of release policies: ppdm-flow.lock.

    Which bytes and which versions stand behind each policy. `ppdm-flow lock` writes it.
    """

    lock: Annotated[Literal[1], about("Version of this file's form.")]
    language: Annotated[PositiveInt, about("Version of the policy language.")]
    templates: Annotated[
        dict[str, LockedTemplate], about("Templates: `builtin:NAME`, `pkg:DISTRIBUTION/NAME`, or a path.")
    ]
    files: Annotated[dict[str, LockedFile], about("Files with definitions by their paths: hierarchies.")]
    plugins: Annotated[dict[str, LockedPlugin], about("Plugins: `anonymizers/NAME`, `audits/NAME` and so on.")]
    policies: Annotated[dict[str, LockedUses], about("Policies by their paths, with what each of them uses.")]
