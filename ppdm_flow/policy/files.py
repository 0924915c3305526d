"""Policy files, each read once, and the keys of their head."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ppdm_flow.core.addresses import masked, passwords
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.flatten import flatten
from ppdm_flow.policy.language.models import Policy, PolicyHeader
from ppdm_flow.policy.text.nodes import Map, MappingEntry, Node, Scalar, Seq, UnreadableError
from ppdm_flow.policy.text.parse import parse
from ppdm_flow.policy.text.reading import decode, forbidden, limited, read_bytes
from ppdm_flow.policy.validate import validate

# The files that policies are made of: each read and parsed once, however many policies share it.


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
    """The files that several policies share while they are read together. Files must not change meanwhile.

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


# Whether a file is meant as a policy (or template, or policy test): of anything else no line and no key is quoted.
#
# A table of data or a key, given by mistake, would otherwise stand in the log of a build.


_OWN = frozenset(
    ("extends", "params", "floors", "attributes", "undeclared", "nulls", "privacy", "steps", "audits", "gates")
) | frozenset(
    ("analyses", "waivers", "releases", "recipients", "people", "tables", "randomness", "ledger", "approvals", "tests")
)
"""Keys that hardly a table, a record or a settings file has at its top."""
_MAPS = frozenset(("source", "report"))
"""Keys that are its own where maps stand at them."""
_SHARED = frozenset(("version", "name", "description", "owner", "policy", "set", "data"))
_OF_TEMPLATES = _OWN | _MAPS | {"version", "description", "owner"}
_KEY = r"""["']?([^\s"'{}\[\],:]+)["']?[ \t]*:(?=[\s"'\[{]|$)[ \t]*([{\n]?)"""
_AT_LINE = re.compile(rf"^(?:-[ \t]+)?{_KEY}", re.MULTILINE)
_IN_FLOW = re.compile(rf"[{{,]\s*{_KEY}")
_VERSION = re.compile(
    r"""^(?:-[ \t]+|\{[ \t]*)?["']?version["']?[ \t]*:[ \t]*["']?1["']?[ \t]*([#,].*)?$""", re.MULTILINE
)


def is_meant_as_policy(text: str, root: Map | None, *, template: bool = False) -> bool:
    """Return whether the keys at the top are a policy's: at least half of them, and one that is its own.

    ``version: 1`` is its own, too; a ``template`` that another file extends may say nothing but who its owner is.
    ``root`` is None where the text cannot be parsed; then its keys are those that begin a line.
    """
    keys = _keys(text) if root is None else {key: _is_own(key, e.node) for key, e in root.entries.items()}
    known = keys.keys() & (_OWN | _MAPS | _SHARED)
    own = any(keys.values()) or _VERSION.search(text) is not None
    return (own and 2 * len(known) >= len(keys)) or (template and root is not None and keys.keys() <= _OF_TEMPLATES)


def is_template(root: Map) -> bool:
    """Return whether a file has only keys that a template has: neither a policy's ``name`` nor its ``releases``."""
    return not root.entries.keys() & {"name", "releases"} and root.entries.keys() <= Policy.model_fields.keys()


def has_policy_keys(root: Map) -> bool:
    """Return whether a file that nobody named is in the policy language, so that its faults are worth telling.

    Files of other tools share a key with it now and then (``steps``, ``extends``): ``version: 1`` and a key of its own
    say so, or two of its own, and at least half of the keys must be known. Policy tests are no policies.
    """
    keys = root.entries.keys()
    version = root.entries["version"].node if "version" in keys else None
    own = sum(_is_own(key, entry.node) for key, entry in root.entries.items())
    own += isinstance(version, Scalar) and version.text == "1"
    known = keys & (_OWN | _MAPS | _SHARED)
    return own >= 2 and 2 * len(known) >= len(keys) and not keys & {"tests", "policy"}


def _is_own(key: str, node: Node) -> bool:
    if key == "policy":
        return isinstance(node, Scalar) and (node.text or "").endswith((".yaml", ".yml"))
    return key in _OWN or (key in _MAPS and isinstance(node, Map))


def _keys(text: str) -> dict[str, bool]:
    pattern = _IN_FLOW if text.lstrip("\ufeff \t\r\n").startswith("{") else _AT_LINE
    return {key: key in _OWN or (key in _MAPS and begins in ("{", "\n")) for key, begins in pattern.findall(text)}


def is_empty(text: str) -> bool:
    """Return whether a text holds nothing but comments."""
    return all(not line.strip() or line.lstrip().startswith("#") for line in text.splitlines())


def no_policy(file: str, *, broken: bool = False) -> Diagnostic:
    """Return the fault of a file that is none, of ``broken`` YAML perhaps; it points to no line."""
    keys = "its top-level keys are not those of a policy"
    return Diagnostic(
        "PPF595",
        f"`{file}` is not a policy: {'it is no valid YAML, and ' if broken else ''}{keys}",
        Span(file, 1, 1, 1, 1),
        help="nothing of it is shown, since it may be data or a key; `ppdm-flow init` writes a policy",
    )


# The part of a file that is about other files: `extends:`, `params:`, `floors:`.


HEADER = ("extends", "params", "floors")


@dataclass(frozen=True, slots=True)
class Parent:
    """One entry of ``extends:`` as it stands in the file."""

    template: Scalar
    given: Mapping[str, Scalar | Seq]
    key_spans: Mapping[str, Span]


def header_faults(root: Map) -> list[Diagnostic]:
    """Report what is wrong with the shape of a file's header."""
    entries = {k: e for k, e in root.entries.items() if k in HEADER and not _empty(e.node)}
    if not entries:
        return []
    if "extends" in entries:
        entries["extends"] = MappingEntry(entries["extends"].key_span, _listed(entries["extends"].node))
    _, diagnostics = validate(flatten(Map(entries, root.span)), PolicyHeader)
    return diagnostics


def parents_of(root: Map) -> list[Parent]:
    """Return the well-formed entries of ``extends:``, in order."""
    node = root.get("extends")
    if node is None or _empty(node):
        return []
    listed = _listed(node)
    parents = []
    for item in listed.items if isinstance(listed, Seq) else ():
        template = item.get("template") if isinstance(item, Map) else None
        if isinstance(item, Map) and isinstance(template, Scalar) and template.text:
            parents.append(Parent(template, *_given(item)))
    return parents


def _given(item: Map) -> tuple[dict[str, Scalar | Seq], dict[str, Span]]:
    node = item.get("with")
    entries = node.entries.items() if isinstance(node, Map) else ()
    values = {n: e.node for n, e in entries if not isinstance(e.node, Map) and not _empty(e.node)}
    return values, {n: e.key_span for n, e in entries}


def _listed(node: Node) -> Node:
    """Write ``extends: a.yaml`` and ``extends: [a.yaml]`` out as ``extends: [{template: a.yaml}]``."""
    if isinstance(node, Scalar):
        return Seq((_template(node),), node.span)
    if isinstance(node, Seq):
        return Seq(tuple(_template(i) if isinstance(i, Scalar) else i for i in node.items), node.span)
    return node


def _template(node: Scalar) -> Map:
    return Map({"template": MappingEntry(node.span, node)}, node.span)


def _empty(node: Node) -> bool:
    return isinstance(node, Scalar) and node.text is None
