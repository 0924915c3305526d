"""The files that policies are made of: each read and parsed once, however many policies share it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ppdm_flow.core.addresses.server import masked, passwords
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.files.header import header_faults
from ppdm_flow.policy.files.recognition import is_empty, is_meant_as_policy, no_policy
from ppdm_flow.policy.text.nodes import Map, Node, UnreadableError
from ppdm_flow.policy.text.parse import parse
from ppdm_flow.policy.text.reading import decode, forbidden, limited, read_bytes


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file's text and located tree, and the faults of its text and header that do not hide the rest.

    Of a file that is not meant as a policy there is no text, so that no diagnostic can quote it.

    ``passwords`` of URLs are hidden in ``text``, not in the tree. ``sha256`` is the hash of the bytes that were parsed.
    """

    text: str | None
    root: Map | None
    diagnostics: tuple[Diagnostic, ...] = ()
    error: UnreadableError | UsageError | None = None
    passwords: frozenset[str] = frozenset()
    sha256: str = ""


@dataclass(slots=True)
class Library:
    """What several policies share while they are read together. Files must not change meanwhile.

    ``layers`` holds what templates come to, for policies that give them no values of their own; inheritance keeps it.
    ``texts`` are read in the place of what the files of these paths say, or where there are none yet.
    """

    parsed: dict[tuple[str, str, bool], ParsedFile] = field(default_factory=dict)
    layers: dict[tuple[str, ...], Any] = field(default_factory=dict)
    texts: Mapping[Path, str] = field(default_factory=dict)

    def file(self, path: Path, shown: str, *, template: bool) -> ParsedFile:
        """Return a file's text and tree; diagnostics name it ``shown``, and another file may extend a ``template``."""
        key = (str(path), shown, template)
        if key not in self.parsed:
            self.parsed[key] = _parsed(path, shown, template=template, given=self.texts.get(path))
        return self.parsed[key]


class Files:
    """The files of one policy. ``sources`` is the text of each, by the name that diagnostics give it.

    ``digests`` are the SHA-256 of what was parsed, by the same names. ``passwords`` of URLs in these texts are hidden
    in ``sources``, and must be in what is said of them.
    """

    def __init__(self, root: Path, library: Library | None = None) -> None:
        self.root = root
        self.library = library or Library()
        self.sources: dict[str, str] = {}
        self.digests: dict[str, str] = {}
        self.passwords: set[str] = set()

    def add(self, other: Files) -> None:
        """Take over what other files, which this policy stands on, hold."""
        self.sources |= other.sources
        self.digests |= other.digests
        self.passwords |= other.passwords

    def tree(self, path: Path, shown: str) -> tuple[Map, tuple[Diagnostic, ...]]:
        """Return the located tree of a file, and the faults of its text and header that do not hide the rest.

        Raises
        ------
        UsageError
            Where it cannot be opened.
        UnreadableError
            Where it is no YAML map.
        """
        parsed = self.library.file(path, shown, template=path != self.root)
        if parsed.text is not None:
            self.sources[shown] = parsed.text
            self.digests[shown] = parsed.sha256
            self.passwords |= parsed.passwords
        if parsed.root is None:
            raise parsed.error or UnreadableError(_no_map(None, shown))
        return parsed.root, parsed.diagnostics


def _parsed(path: Path, shown: str, *, template: bool, given: str | None = None) -> ParsedFile:
    try:
        data = read_bytes(path, shown, pipes=not template) if given is None else limited(given.encode(), shown)
        text, digest = decode(data, shown), hashlib.sha256(data).hexdigest()
    except (UnreadableError, UsageError) as error:
        return ParsedFile(None, None, error=error)
    root, diagnostics, fault = _tree(text, shown)
    if not is_meant_as_policy(text, root if isinstance(root, Map) else None, template=template):
        no_map = _no_map(None, shown) if is_empty(text) else no_policy(shown, broken=fault is not None)
        return ParsedFile(None, None, error=UnreadableError(no_map))
    hidden, secret = masked(text), frozenset(passwords(text))
    if not isinstance(root, Map):
        why = fault or UnreadableError(_no_map(root, shown))
        return ParsedFile(hidden, None, error=why, passwords=secret, sha256=digest)
    return ParsedFile(hidden, root, (*diagnostics, *header_faults(root)), passwords=secret, sha256=digest)


def _tree(text: str, shown: str) -> tuple[Node | None, list[Diagnostic], UnreadableError | None]:
    fault = forbidden(text, shown)
    if fault is not None:
        return None, [], UnreadableError(fault)
    try:
        root, diagnostics = parse(text, shown)
    except UnreadableError as error:
        return None, [], error
    return root, diagnostics, None


def _no_map(root: object, shown: str) -> Diagnostic:
    start = Span(shown, 1, 1, 1, 1)
    if root is None:
        return Diagnostic(
            "PPF116",
            "the file is empty",
            start,
            hint="a policy begins with `version: 1`",
            help="ppdm-flow init writes one",
        )
    span = getattr(root, "span", start)
    return Diagnostic("PPF117", "a policy is a map of keys and values", span, hint="write `version: 1`, `name: …`")
