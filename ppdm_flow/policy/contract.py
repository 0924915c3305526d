"""Data contracts of the Open Data Contract Standard, version 3: text to values that know their places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace
from ppdm_flow.core.errors import PolicyError, UsageError
from ppdm_flow.core.spans import Span
from ppdm_flow.core.texts import visible_line
from ppdm_flow.policy.text.nodes import Map, Node, Scalar, Seq, UnreadableError
from ppdm_flow.policy.text.parse import parse
from ppdm_flow.policy.text.reading import forbidden, read

# What a data contract says of data, as far as a release policy can use it; the rest is kept by name.


@dataclass(frozen=True, slots=True)
class ContractProperty:
    """A column. ``unused`` are the keys that say what no policy says.

    ``column`` is the physical name where there is one, ``name`` that of the contract. ``type`` is the logical type,
    ``format`` that of its texts or dates; ``role`` is what a contract that this program wrote says of the column.
    """

    column: str
    name: str
    type: str = ""
    format: str = ""
    description: str = ""
    classification: str = ""
    tags: tuple[str, ...] = ()
    role: str = ""
    primary_key: bool = False
    unique: bool = False
    encrypted: bool = False
    refers: bool = False
    unused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ContractObject:
    """A table."""

    name: str
    physical_name: str
    description: str
    properties: tuple[ContractProperty, ...]
    unused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Contract:
    """A data contract; ``file`` is where it stands."""

    file: str
    name: str
    version: str
    standard: str
    purpose: str
    objects: tuple[ContractObject, ...]
    unused: tuple[str, ...] = ()


# A data contract as a file: YAML or JSON to a :class:`Contract`, with every fault at its place.
#
# Source: Open Data Contract Standard, versions 3.0 to 3.2 (https://bitol-io.github.io/open-data-contract-standard/).


ROLE = "ppdmFlowRole"
"""The custom property in which contracts that this program writes hold the role of a column."""
_KIND = "DataContract"
_STANDARD = re.compile(r"v3\.\d+\.\d+")
_PATTERN = re.compile(r"[*?\[]")
_CONTRACT = ("kind", "apiVersion", "id", "name", "version", "description", "schema")
_OBJECT = ("name", "physicalName", "physicalType", "logicalType", "description", "properties")
_PROPERTY = (
    *("name", "physicalName", "logicalType", "logicalTypeOptions", "description", "classification", "tags"),
    *("primaryKey", "unique", "encryptedName", "relationships"),
)


def read_contract(path: Path) -> Contract:
    """Read a contract.

    Raises
    ------
    UsageError
        Where the file cannot be read (PPF100).
    PolicyError
        Where it is no YAML, or no contract (PPF980), or anything in it is not what the standard says (PPF981), or two
        columns have one name (PPF982), or a column has a name that no policy can declare (PPF984).
    """
    file = str(path)
    try:
        text = read(path, file)
    except UsageError as error:
        raise UsageError([_of_contract(each) for each in error.diagnostics]) from None
    except UnreadableError as error:
        raise PolicyError(_of_contract(error.diagnostic)) from None
    sources = {file: text}
    fault = forbidden(text, file)
    try:
        root, faults = parse(text, file) if fault is None else (None, [fault])
    except UnreadableError as error:
        raise PolicyError(_of_contract(error.diagnostic), sources) from None
    if faults:
        raise PolicyError([_of_contract(each) for each in faults], sources)
    reader = FieldReader()
    contract = _contract(root, file, reader)
    if contract is None or reader.faults:
        raise PolicyError(reader.faults, sources)
    return contract


def _of_contract(diagnostic: Diagnostic) -> Diagnostic:
    """Return a diagnostic of the reader of policies in words that fit contracts."""
    if diagnostic.code == "PPF100":
        return replace(diagnostic, message=diagnostic.message.replace("the policy file", "the contract"))
    if diagnostic.code == "PPF101":
        return replace(diagnostic, help="cut the contract down to the tables that are to be released")
    if diagnostic.code == "PPF109":
        return replace(diagnostic, message="merge keys `<<` are not read", hint="write the keys out")
    return diagnostic


def _contract(root: Node | None, file: str, reader: FieldReader) -> Contract | None:
    start = Span(file, 1, 1, 1, 1)
    if not isinstance(root, Map):
        help_ = "a data contract is a map that begins with `kind: DataContract`"
        reader.faults.append(Diagnostic("PPF980", "the file holds no data contract", start, help=help_))
        return None
    standard = _standard(root, reader)
    if not standard:
        return None
    about = reader.map(root, "description") or Map({}, root.span)
    objects = tuple(_object(each, reader) for each in reader.maps(root, "schema"))
    _unique((each.name for each in objects), "table", root, reader)
    if not objects and not reader.faults:
        reader.missing(root, "schema")
    return Contract(
        file,
        reader.text(root, "name") or reader.text(root, "id", required=True),
        reader.text(root, "version", required=True),
        standard,
        reader.text(about, "purpose"),
        objects,
        tuple(key for key in root.entries if key not in _CONTRACT)
        + tuple(f"description.{key}" for key in about.entries if key != "purpose"),
    )


def _standard(root: Map, reader: FieldReader) -> str:
    """Return the version of the standard, or nothing after a fault where the file is no contract of version 3."""
    kind, standard = reader.text(root, "kind"), reader.text(root, "apiVersion")
    if reader.faults:
        return ""
    if kind == _KIND and _STANDARD.fullmatch(standard):
        return standard
    key = "kind" if kind != _KIND else "apiVersion"
    entry = root.entries.get(key)
    span = entry.key_span if entry else Span(root.span.file, 1, 1, 1, 1)
    hint = "write `kind: DataContract`" if key == "kind" else "write `apiVersion: v3.1.0`, or convert the contract"
    text = "this is no data contract of the Open Data Contract Standard, version 3"
    reader.faults.append(Diagnostic("PPF980", text, span, hint=hint))
    return ""


def _object(node: Map, reader: FieldReader) -> ContractObject:
    properties = []
    for each in reader.maps(node, "properties"):
        properties.append(_property(each, reader))
        _declarable(properties[-1].column, each, reader)
    _unique((each.column for each in properties), "column", node, reader)
    return ContractObject(
        reader.text(node, "name", required=True),
        reader.text(node, "physicalName"),
        reader.text(node, "description"),
        tuple(properties),
        tuple(key for key in node.entries if key not in _OBJECT),
    )


def _property(node: Map, reader: FieldReader) -> ContractProperty:
    name = reader.text(node, "name", required=True)
    options = reader.map(node, "logicalTypeOptions") or Map({}, node.span)
    role, custom = _custom(node, reader)
    return ContractProperty(
        column=reader.text(node, "physicalName") or name,
        name=name,
        type=reader.text(node, "logicalType"),
        format=reader.text(options, "format"),
        description=reader.text(node, "description"),
        classification=reader.text(node, "classification"),
        tags=reader.texts(node, "tags"),
        role=role,
        primary_key=reader.truth(node, "primaryKey"),
        unique=reader.truth(node, "unique"),
        encrypted=bool(reader.text(node, "encryptedName")),
        refers=bool(reader.items(node, "relationships", "a list")),
        unused=(
            *(key for key in node.entries if key not in _PROPERTY and key != "customProperties"),
            *(f"logicalTypeOptions.{key}" for key in options.entries if key != "format"),
            *custom,
        ),
    )


def _custom(node: Map, reader: FieldReader) -> tuple[str, list[str]]:
    """Return the role that a contract of ours holds, and the names of all other custom properties."""
    role, others = "", []
    for each in reader.maps(node, "customProperties"):
        name = reader.text(each, "property", required=True)
        if name == ROLE:
            role = reader.text(each, "value")
        else:
            others.append(f"customProperties.{name}")
    return role, others


def _declarable(column: str, node: Map, reader: FieldReader) -> None:
    if _PATTERN.search(column):
        entry = node.entries.get("physicalName") or node.entries["name"]
        text = f"no policy can declare the column `{shown(column)}`: `*`, `?` and `[` begin a pattern there"
        reader.faults.append(Diagnostic("PPF984", text, entry.node.span, hint="rename the column in the data first"))


def _unique(names: Iterable[str], what: str, node: Map, reader: FieldReader) -> None:
    """Report names that occur twice, at the second place."""
    entry = node.entries.get("properties" if what == "column" else "schema")
    items = getattr(entry.node, "items", ()) if entry else ()
    first: dict[str, Span] = {}
    for name, item in zip(names, (each for each in items if isinstance(each, Map)), strict=False):
        place = _name_place(item)
        if name in first:
            related = (RelatedPlace(first[name], "first here"),)
            text = f"two {what}s are named `{shown(name)}`"
            reader.faults.append(Diagnostic("PPF982", text, place, hint="rename one", related=related))
        elif name:
            first[name] = place


def _name_place(node: Map) -> Span:
    entry = node.entries.get("physicalName") or node.entries.get("name")
    return entry.node.span if entry else node.span


# Values of a located tree by their keys, each of the kind that its key wants; what does not fit is reported.


_SHOWN = 60


class FieldReader:
    """Reads the fields of maps, remembers which keys were asked for, and collects faults (PPF981)."""

    _TRUTHS: ClassVar = {"true": True, "false": False}

    def __init__(self) -> None:
        self.faults: list[Diagnostic] = []

    def text(self, node: Map, key: str, *, required: bool = False) -> str:
        """Return a text; an empty one where there is none."""
        value = node.get(key)
        if value is None or (isinstance(value, Scalar) and (value.text is None or value.broken)):
            if required:
                self.missing(node, key)
            return ""
        if not isinstance(value, Scalar):
            self.wrong(value, key, "a text")
            return ""
        text = (value.text or "").strip()
        if required and not text:
            self.missing(node, key)
        return text

    def truth(self, node: Map, key: str) -> bool:
        """Return whether a key is true; false where it is missing."""
        value = node.get(key)
        if value is None or (isinstance(value, Scalar) and (value.text is None or value.broken)):
            return False
        known = self._TRUTHS.get((value.text or "").lower()) if isinstance(value, Scalar) else None
        if known is None:
            self.wrong(value, key, "`true` or `false`")
        return bool(known)

    def maps(self, node: Map, key: str) -> Iterator[Map]:
        """Yield the maps of a list; nothing where there is none."""
        for item in self.items(node, key, "a list of maps"):
            if isinstance(item, Map):
                yield item
            else:
                self.wrong(item, key, "a map as each item")

    def texts(self, node: Map, key: str) -> tuple[str, ...]:
        """Return the texts of a list; none where there is no list."""
        texts = []
        for item in self.items(node, key, "a list of texts"):
            if isinstance(item, Scalar):
                texts += [item.text.strip()] if item.text else []
            else:
                self.wrong(item, key, "a text as each item")
        return tuple(texts)

    def items(self, node: Map, key: str, what: str) -> tuple[Node, ...]:
        """Return the items of a list; none where there is none."""
        value = node.get(key)
        if value is None or (isinstance(value, Scalar) and (value.text is None or value.broken)):
            return ()
        if isinstance(value, Seq):
            return value.items
        self.wrong(value, key, what)
        return ()

    def map(self, node: Map, key: str) -> Map | None:
        """Return a map; None where there is none."""
        value = node.get(key)
        if value is None or (isinstance(value, Scalar) and (value.text is None or value.broken)):
            return None
        if isinstance(value, Map):
            return value
        self.wrong(value, key, "a map of keys and values")
        return None

    def missing(self, node: Map, key: str) -> None:
        """Report a key that must be there."""
        at = Span(node.span.file, node.span.line, node.span.column, node.span.line, node.span.column + 1)
        self.faults.append(Diagnostic("PPF981", f"`{key}` is missing here", at, hint="the standard requires it"))

    def wrong(self, value: Node, key: str, wanted: str) -> None:
        """Report a value of another kind."""
        self.faults.append(Diagnostic("PPF981", f"`{key}` must be {wanted}", _begin(value.span)))


def shown(text: str) -> str:
    """Return a contract's own text for a message: on one line, and not long."""
    line = visible_line(" ".join(text.split()))
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}\N{HORIZONTAL ELLIPSIS}"


def _begin(span: Span) -> Span:
    """Return the span, of one of several lines its beginning."""
    if span.line == span.end_line:
        return span
    return Span(span.file, span.line, span.column, span.line, span.column + 1)
