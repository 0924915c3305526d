"""Policy tests: small tables, and the results that a policy must give on them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from ppdm_flow.core.diagnostics import Diagnostic, current_code, in_order
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.model import Code, Model, Name, ParamName
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.files import Files, Library
from ppdm_flow.policy.flatten import FlatPolicy, flatten
from ppdm_flow.policy.language.schemas import TESTS, Writer, descriptions
from ppdm_flow.policy.language.shape import FixedKeys, FreeShape, ListOf, MapOf, Shape, shape_of
from ppdm_flow.policy.language.words import number as words_number
from ppdm_flow.policy.language.words import place_name, short
from ppdm_flow.policy.loaded import PolicyPath, ResolvedPlaces
from ppdm_flow.policy.text.nodes import Map, MappingEntry, Node, Scalar, Seq, UnreadableError, is_null
from ppdm_flow.policy.validate import empty_hint, validate

_Schema = dict[str, Any]


# The format of policy tests (`*.test.yaml`) as typed models, in the long form of every key.
#
# Short forms are written out before validation, see :mod:`ppdm_flow.policy.test`.


class PolicyTestTable(Model):
    """Data of a test: one of ``text``, ``rows``, ``csv`` and ``file``.

    ``text`` is what a file would hold, ``rows`` are maps, or lists below a list of names, ``csv`` is a CSV file with a
    header, ``file`` one of the kind that the policy's source reads.
    """

    text: str | None = None
    rows: Annotated[tuple[object, ...], Field(min_length=1)] | None = None
    csv: str | None = None
    file: str | None = None


class ExpectedFigure(Model):
    """A figure: ``equals`` (within ``tolerance``), or at least ``min`` and at most ``max``."""

    equals: float | None = None
    min: float | None = None
    max: float | None = None
    tolerance: Annotated[float, Field(ge=0.0)] | None = None


class ExpectedNames(Model):
    """A set of names: ``exactly`` these; or all of ``include`` and none of ``exclude``."""

    exactly: tuple[str, ...] | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


def _current_codes(some: ExpectedNames | None) -> ExpectedNames | None:
    """Return codes by their names of today."""
    codes = {form: tuple(map(current_code, names)) for form, names in some or () if names}
    return None if some is None else some.model_copy(update=codes)


Codes = Annotated[ExpectedNames | None, AfterValidator(_current_codes)]


class ExpectedSuppression(Model):
    """Values of one column, by where they are suppressed: in some row that has them, in every one, in none."""

    somewhere: tuple[str, ...] = ()
    everywhere: tuple[str, ...] = ()
    nowhere: tuple[str, ...] = ()


class ExpectedContents(Model):
    """What a released file holds."""

    rows: ExpectedFigure | None = None
    columns: ExpectedNames | None = None
    released_values: dict[str, ExpectedNames] = Field(default_factory=dict)
    suppressed: dict[str, ExpectedSuppression] = Field(default_factory=dict)


class ExpectedResult(ExpectedContents):
    """Expected result of a test. Contents are those of the only release; of several, they are under ``releases``."""

    verdict: Literal["released", "withheld", "held", "refused"] | None = None
    code: Code | None = None
    fails: ExpectedNames | None = None
    holds: tuple[str, ...] = ()
    waived: tuple[str, ...] = ()
    metrics: dict[str, ExpectedFigure] = Field(default_factory=dict)
    findings: Codes = None
    check: Codes = None
    releases: dict[Name, ExpectedContents] = Field(default_factory=dict)


class PolicyTestCase(Model):
    """One test: a table, values of params, and what is expected.

    ``released`` is judged in place of what the steps would make, as ``release`` where there are several. ``tables`` is
    the data of linked tables.
    """

    description: str = ""
    data: PolicyTestTable | None = None
    tables: dict[Name, PolicyTestTable] = Field(default_factory=dict)
    released: PolicyTestTable | None = None
    release: Name | None = None
    set: dict[ParamName, str] = Field(default_factory=dict)
    repeat: Annotated[int, Field(ge=1, le=1000)] = 1
    expect: ExpectedResult


class CaseFile(Model):
    """Tests of one policy. ``set``, ``data`` and ``tables`` hold for each test that does not say otherwise."""

    description: str = ""
    policy: str
    set: dict[ParamName, str] = Field(default_factory=dict)
    data: PolicyTestTable | None = None
    tables: dict[Name, PolicyTestTable] = Field(default_factory=dict)
    tests: Annotated[dict[Name, PolicyTestCase], Field(min_length=1)]


# Reading a test file: text, shape, and contradictions within its tests. The outcome holds all faults.


@dataclass(frozen=True, slots=True)
class LoadedTests:
    """A test file as it was read. ``cases`` is None where its shape has errors."""

    file: str
    cases: CaseFile | None
    places: ResolvedPlaces
    sources: Mapping[str, str]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def policy(self) -> Path:
        """The policy's file. Only where there are ``cases``."""
        return self.beside(self.cases.policy if self.cases else "")

    def beside(self, name: str) -> Path:
        """Return the file of that name, relative to this one."""
        return Path(os.path.normpath(Path(self.file).parent / name))


def load(path: Path, library: Library | None = None) -> LoadedTests:
    """Read the tests in the file at ``path``, or in the text that ``library`` has of it. Never raises for a bad file.

    Raises
    ------
    UsageError
        Where the file itself cannot be read (PPF100).
    """
    file, files = str(path), Files(path, library)
    start = Span(file, 1, 1, 1, 1)
    try:
        root, diagnostics = files.tree(path, file)
    except UsageError as error:
        reason = error.diagnostics[0].message.rpartition(": ")[2]
        raise UsageError(Diagnostic("PPF100", f"cannot read the test file {path}: {reason}")) from None
    except UnreadableError as error:
        fault = _describe_file(error.diagnostic)
        return LoadedTests(file, None, ResolvedPlaces({}, {(): start}), files.sources, (fault,))
    writing = ShorthandExpander()
    flat = flatten(writing.out(root, shape_of(CaseFile)))
    cases, faults = validate(flat, CaseFile)
    every = [*diagnostics, *writing.diagnostics, *faults, *cells(flat)]
    if cases is not None:
        every += judge(cases, flat.places)
    return LoadedTests(file, cases if not writing.diagnostics else None, flat.places, files.sources, in_order(every))


def _describe_file(fault: Diagnostic) -> Diagnostic:
    """Say what a test file is, where the reader says it of a policy."""
    if fault.code not in ("PPF116", "PPF117"):
        return fault
    message = "the file is empty" if fault.code == "PPF116" else "a test file is a map of keys and values"
    return Diagnostic(fault.code, message, fault.span, hint="write `policy: FILE` and `tests:`")


# Short forms of a test file are written out, so that each value is where its model has it.
#
# `data: |…` is `data: {text: …}`, a list of rows `{rows: […]}`; a bare figure is `{equals: …}`, a list of names
# `{exactly: […]}`, a list of suppressed values `{somewhere: […]}`; one name is a list of one.


SHORT: Mapping[Any, Mapping[type[Node], str]] = {
    PolicyTestTable: {Scalar: "text", Seq: "rows"},
    ExpectedFigure: {Scalar: "equals"},
    ExpectedNames: {Seq: "exactly", Scalar: "exactly"},
    ExpectedSuppression: {Seq: "somewhere", Scalar: "somewhere"},
}
"""The key of a value that is written where a map belongs."""


class ShorthandExpander:
    """Writes one file out; ``diagnostics`` are the keys and items without a value, which are left out."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []

    def out(self, node: Map, shape: FixedKeys) -> Map:
        """Return the file in long form."""
        return self._map(node, shape, ())

    def _node(self, node: Node, shape: Shape | None, path: PolicyPath) -> Node:
        if isinstance(shape, FixedKeys):
            key = SHORT.get(shape.model, {}).get(type(node))
            if key is not None:
                node = Map({key: MappingEntry(node.span, _listed(node, shape.keys[key].shape))}, node.span)
        if isinstance(node, Map):
            return self._map(node, shape, path)
        return self._list(node, path) if isinstance(node, Seq) else node

    def _map(self, node: Map, shape: Shape | None, path: PolicyPath) -> Map:
        entries: dict[str, MappingEntry] = {}
        partial = node.partial
        for key, entry in node.entries.items():
            below = (*path, key)
            if is_null(entry.node):
                message = f"`{short(key)}` of {place_name(path) if path else 'the file'} has no value"
                self.diagnostics.append(Diagnostic("PPF210", message, entry.key_span, hint=empty_hint(below)))
                partial = True
            elif _is_rows(shape, key):
                entries[key] = entry  # an empty cell is a missing value there
            else:
                inner = self._node(entry.node, _below(shape, key), below)
                entries[key] = MappingEntry(entry.key_span, inner, entry.plain)
        return Map(entries, node.span, partial)

    def _list(self, node: Seq, path: PolicyPath) -> Seq:
        items = []
        for number, item in enumerate(node.items):
            if is_null(item):
                message = f"item {number + 1} of `{short(path[-1])}` is empty"
                hint = 'write "" for the empty text, or "null" for that word'
                self.diagnostics.append(Diagnostic("PPF210", message, item.span, hint=hint))
            else:
                items.append(self._node(item, None, (*path, str(number))))
        return Seq(tuple(items), node.span)


def _listed(node: Node, shape: Shape) -> Node:
    """Take one name for a list of one."""
    return Seq((node,), node.span) if isinstance(node, Scalar) and isinstance(shape, ListOf) else node


def _is_rows(shape: Shape | None, key: str) -> bool:
    return isinstance(shape, FixedKeys) and shape.model is PolicyTestTable and key == "rows"


def _below(shape: Shape | None, key: str) -> Shape | None:
    if isinstance(shape, FixedKeys):
        return shape.keys[key].shape if key in shape.keys else None
    return shape.value if isinstance(shape, MapOf) else None


# Rows that a test file writes down.


def cells(flat: FlatPolicy) -> Iterator[Diagnostic]:
    """Yield a fault for each row of a test file that does not fit the others (PPF142)."""
    for path, rows in _rows(flat.tree, ()):
        names = _names(rows[0]) if rows else None
        if names is None:
            continue  # reported by its shape
        for number, row in enumerate(rows):
            fault = _misfit(row, names, like=rows[0])
            if fault:
                place = (*path, str(number))
                yield Diagnostic("PPF142", f"row {number + 1}: {fault}", flat.places.value(*place), path=place)


def text_of(rows: Sequence[Any]) -> str:
    r"""Return rows as CSV with a header: every text in quotes, a missing value as an empty cell without.

    >>> text_of([["job", "age"], ["Cook", None]])
    '"job","age"\n"Cook",\n'
    """
    names = _names(rows[0]) or []
    body = [[row[name] for name in names] for row in rows] if isinstance(rows[0], dict) else rows[1:]
    return "".join(",".join(map(_quoted, row)) + "\n" for row in [names, *body])


def _quoted(cell: str | None) -> str:
    return "" if cell is None else '"' + cell.replace('"', '""') + '"'


def given(table: PolicyTestTable) -> list[str]:
    """Return which of its forms a table has."""
    return [name for name in ("text", "rows", "csv", "file") if getattr(table, name) is not None]


def _rows(tree: Any, path: PolicyPath) -> Iterator[tuple[PolicyPath, list[Any]]]:
    for owner, place in _owners(tree):
        linked = owner.get("tables")
        several = linked.items() if isinstance(linked, dict) else ()
        tables: list[tuple[PolicyPath, Any]] = [((key,), owner.get(key)) for key in ("data", "released")]
        tables += [(("tables", name), table) for name, table in several]
        for key, table in tables:
            if isinstance(table, dict) and isinstance(table.get("rows"), list):
                yield (*path, *place, *key, "rows"), table["rows"]


def _owners(tree: Any) -> Iterator[tuple[dict[str, Any], PolicyPath]]:
    if not isinstance(tree, dict):
        return
    yield tree, ()
    tests = tree.get("tests")
    for name, case in tests.items() if isinstance(tests, dict) else ():
        if isinstance(case, dict):
            yield case, ("tests", name)


def _names(row: Any) -> list[str] | None:
    if isinstance(row, dict):
        return list(row)
    return [str(name) for name in row] if isinstance(row, list) else None


def _misfit(row: Any, names: Sequence[str], like: Any) -> str | None:
    if type(row) is not type(like):
        return f"a {'map' if isinstance(like, dict) else 'list'} like the first one, please"
    values = row.values() if isinstance(row, dict) else row
    if any(isinstance(value, (dict, list)) for value in values):
        return "a cell is a single value"
    if isinstance(row, list):
        return None if len(row) == len(names) else f"{len(row)} cells, and the first row names {len(names)} columns"
    odd = [name for name in row if name not in names]
    lost = [name for name in names if name not in row]
    if odd or lost:
        return f"`{short(lost[0])}` is missing" if lost else f"the first row has no column `{short(odd[0])}`"
    return None


# What a test says against itself, before any policy is looked at (PPF141, PPF145, PPF146).


def figures(figure: ExpectedFigure | None, path: PolicyPath, at: ResolvedPlaces) -> Iterator[Diagnostic]:
    """Yield what is wrong with an expected figure."""
    if figure is None:
        return
    bounded = figure.min is not None or figure.max is not None
    if figure.equals is None and not bounded:
        yield _key_fault(
            "PPF141", f"nothing is expected of `{short(path[-1])}`", at, path, "give `equals`, `min` or `max`"
        )
    if figure.equals is not None and bounded:
        yield _key_fault("PPF145", "`equals` leaves nothing to `min` and `max`", at, (*path, "equals"))
    if figure.min is not None and figure.max is not None and figure.min > figure.max:
        text = f"nothing is at least {words_number(figure.min)} and at most {words_number(figure.max)}"
        yield _key_fault("PPF145", text, at, (*path, "min"))
    if figure.tolerance is not None and figure.equals is None:
        yield _key_fault("PPF145", "`tolerance` goes with `equals`", at, (*path, "tolerance"))


def names(some: ExpectedNames | None, path: PolicyPath, at: ResolvedPlaces) -> Iterator[Diagnostic]:
    """Yield what is wrong with an expected set of names."""
    if some is None:
        return
    if some.exactly is None and not some.include and not some.exclude:
        yield _key_fault("PPF141", f"nothing is expected of `{short(path[-1])}`", at, path, "give a list, or `include`")
    if some.exactly is not None and (some.include or some.exclude):
        yield _key_fault("PPF145", "`exactly` leaves nothing to `include` and `exclude`", at, (*path, "exactly"))
    for place, each in enumerate(some.exclude):
        if each in some.include:
            text = f"`{short(each)}` is both included and excluded"
            yield _key_fault("PPF145", text, at, (*path, "exclude", str(place)))


def places(hidden: ExpectedSuppression, path: PolicyPath, at: ResolvedPlaces) -> Iterator[Diagnostic]:
    """Yield what is wrong with the values that are expected to be suppressed."""
    if not (hidden.somewhere or hidden.everywhere or hidden.nowhere):
        text = f"nothing is expected of `{short(path[-1])}`"
        yield _key_fault("PPF141", text, at, path, "list values that are suppressed")
    for number_, each in enumerate(hidden.nowhere):
        if each in hidden.somewhere or each in hidden.everywhere:
            text = f"`{short(each)}` is expected to be suppressed, and not to be"
            yield _key_fault("PPF145", text, at, (*path, "nowhere", str(number_)))


def _key_fault(code: str, text: str, at: ResolvedPlaces, path: PolicyPath, hint: str | None = None) -> Diagnostic:
    return Diagnostic(code, text, _nearest(at, path), hint=hint, path=path)


def _nearest(at: ResolvedPlaces, path: PolicyPath) -> Span | None:
    return at.value(*path) if path[-1].isdecimal() else at.key(*path)


FORMS = "`text`, `rows`, `csv` and `file`"


def judge(cases: CaseFile, at: ResolvedPlaces) -> list[Diagnostic]:
    """Return the faults of every test."""
    diagnostics = [*_table(cases.data, ("data",), at), *_tables(cases, (), at)]
    for name, case in cases.tests.items():
        path = ("tests", name)
        diagnostics += [*_table(case.data, (*path, "data"), at), *_table(case.released, (*path, "released"), at)]
        diagnostics += _tables(case, path, at)
        diagnostics += [*_case(name, case, path, at, shared=cases.data is not None or bool(cases.tables))]
        diagnostics += [*_verdict(case.expect, (*path, "expect"), at), *_expect(case.expect, (*path, "expect"), at)]
    return diagnostics


def expects_a_run(expect: ExpectedResult) -> bool:
    """Whether there is anything to look at but what `check` says."""
    return bool(expect.model_fields_set - {"check"})


def says(contents: ExpectedContents) -> set[str]:
    """Return which keys about a released file are given."""
    return contents.model_fields_set & {"rows", "columns", "released_values", "suppressed"}


def _table(table: PolicyTestTable | None, path: PolicyPath, at: ResolvedPlaces) -> Iterator[Diagnostic]:
    if table is not None and len(forms := given(table)) != 1:
        what = f"both `{forms[0]}` and `{forms[1]}`" if forms else "no rows"
        yield _fault("PPF146", f"`{path[-1]}` has {what}", at, path, f"it takes one of {FORMS}")


def _tables(owner: CaseFile | PolicyTestCase, path: PolicyPath, at: ResolvedPlaces) -> Iterator[Diagnostic]:
    """Judge the data of linked tables."""
    for name, table in owner.tables.items():
        yield from _table(table, (*path, "tables", name), at)
    if owner.tables and owner.data is not None:
        text = "`data` is of one table, and `tables` of linked ones"
        yield _fault("PPF146", text, at, (*path, "tables"), "leave one of the two out")


def _case(
    name: str, case: PolicyTestCase, path: PolicyPath, at: ResolvedPlaces, *, shared: bool
) -> Iterator[Diagnostic]:
    run = expects_a_run(case.expect)
    if not case.expect.model_fields_set:
        yield _fault("PPF141", f"test `{name}` expects nothing", at, (*path, "expect"), "add `verdict: released`")
    elif run and case.data is None and not case.tables and not shared:
        yield _fault("PPF141", f"test `{name}` has no `data` to run on", at, path, "add `data: |` and a small table")
    elif not run and (case.data is not None or case.tables or case.released is not None):
        key = "data" if case.data is not None else "tables" if case.tables else "released"
        text = f"test `{name}` has `{key}`, and expects nothing of a run"
        yield _fault("PPF141", text, at, (*path, key), "add `verdict: …` to `expect`, or remove the data")
    if case.release is not None and case.released is None:
        yield _fault("PPF145", "`release` says what `released` is, which is not given", at, (*path, "release"))
    if case.released is not None and case.repeat > 1:
        yield _fault("PPF145", "nothing is random where `released` is given", at, (*path, "repeat"), "remove `repeat`")
    if case.released is not None:
        yield from _given_release(case.expect, (*path, "expect"), at)


def _given_release(expect: ExpectedResult, path: PolicyPath, at: ResolvedPlaces) -> Iterator[Diagnostic]:
    if expect.suppressed:
        text = "`suppressed` needs the steps: rows of a given release cannot be paired with those of the data"
        yield _fault("PPF145", text, at, (*path, "suppressed"), "use `released_values`")
    if expect.releases:
        text = "a given release is judged alone: `releases` has no place here"
        yield _fault("PPF145", text, at, (*path, "releases"), "write its keys under `expect`")


def _verdict(expect: ExpectedResult, path: PolicyPath, at: ResolvedPlaces) -> Iterator[Diagnostic]:
    refused = expect.verdict == "refused" or (expect.verdict is None and expect.code is not None)
    given_ = expect.model_fields_set
    if expect.code is not None and not refused:
        text = f"`code` is that of refused input, and the verdict is `{expect.verdict}`"
        yield _fault("PPF145", text, at, (*path, "code"), "write `verdict: refused`")
    if refused:
        for key in sorted(given_ - {"verdict", "code", "check"}):
            yield _fault("PPF145", f"refused data comes to no release, so there is no `{key}`", at, (*path, key))
    failing = {*(expect.fails.exactly or ()), *expect.fails.include} if expect.fails else set()
    if expect.verdict in ("released", "held") and failing:
        yield _fault("PPF145", f"what fails is withheld, not {expect.verdict}", at, (*path, "fails"))
    if expect.verdict == "withheld" and expect.fails and expect.fails.exactly == ():
        yield _fault("PPF145", "a release is withheld because something fails", at, (*path, "fails"))
    for key, named in (("holds", expect.holds), ("waived", expect.waived)):
        for place, each in enumerate(named):
            if each in failing or (key == "waived" and each in expect.holds):
                text = f"`{each}` cannot both fail and hold" if key == "holds" else f"`{each}` is waived, or it is not"
                yield _fault("PPF145", text, at, (*path, key, str(place)))


def _expect(expect: ExpectedResult, path: PolicyPath, at: ResolvedPlaces) -> Iterator[Diagnostic]:
    for key in ("fails", "findings", "check"):
        yield from names(getattr(expect, key), (*path, key), at)
    for name, figure in expect.metrics.items():
        yield from figures(figure, (*path, "metrics", name), at)
    yield from _contents(expect, path, at)
    for name, contents in expect.releases.items():
        if not says(contents):
            text = f"nothing is expected of release `{name}`"
            yield _fault("PPF141", text, at, (*path, "releases", name))
        yield from _contents(contents, (*path, "releases", name), at)


def _contents(contents: ExpectedContents, path: PolicyPath, at: ResolvedPlaces) -> Iterator[Diagnostic]:
    yield from figures(contents.rows, (*path, "rows"), at)
    yield from names(contents.columns, (*path, "columns"), at)
    for column, values in contents.released_values.items():
        yield from names(values, (*path, "released_values", column), at)
    for column, hidden in contents.suppressed.items():
        yield from places(hidden, (*path, "suppressed", column), at)


def _fault(code: str, text: str, at: ResolvedPlaces, path: PolicyPath, hint: str | None = None) -> Diagnostic:
    span = at.value(*path) if path[-1].isdecimal() else at.key(*path)
    return Diagnostic(code, text, span, hint=hint, path=path)


# The JSON Schema (draft-07) of a test file, for editors and for CI without this package.


IDENTITY = "https://ppdm-flow.example/schemas/test.v1.json"

_CELL = {"type": ["string", "number", "boolean", "null"]}
_ROW = {"anyOf": [{"type": "object", "additionalProperties": _CELL}, {"type": "array", "items": _CELL}]}


def schema() -> _Schema:
    """Return the schema of a test file."""
    what = "Small tables, and what a release policy has to make of them."
    return _CasesWriter(descriptions(TESTS)).document(CaseFile, IDENTITY, "ppdm-flow policy tests", what)


class _CasesWriter(Writer):
    """Allows the short form of each value beside its map."""

    def value(self, shape: Shape) -> _Schema:
        if isinstance(shape, FreeShape):
            return _ROW
        if not isinstance(shape, FixedKeys) or shape.model not in SHORT:
            return super().value(shape)
        short = [self._short(shape, kind is Seq, key) for kind, key in SHORT[shape.model].items()]
        return {"anyOf": [*short, self.reference(shape)]}

    def _short(self, shape: FixedKeys, listed: bool, key: str) -> _Schema:
        inner = shape.keys[key].shape
        if isinstance(inner, ListOf) and not listed:
            inner = inner.item
        return {"type": "string"} if shape.model is PolicyTestTable and not listed else super().value(inner)
