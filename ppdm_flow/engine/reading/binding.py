"""Binds the columns of a file to the attributes of a policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.spans import Span
from ppdm_flow.core.suggest import closest
from ppdm_flow.engine.faults import data_fault, wrap_plugin_errors
from ppdm_flow.engine.opening.opening import data_path, open_source, refuse_linked
from ppdm_flow.engine.streams.lookalikes import look_alike
from ppdm_flow.plan.definition import Plan, ReleaseNode, SourceNode

_DELIMITERS = {";": '";"', "\t": '"\\t"', "|": '"|"', ",": '","', ":": '":"'}
_EXCEL = "sep="


def missing_column(facts: AttributeFacts, names: Sequence[str]) -> Diagnostic:
    """Say that one column is missing where others are there; a name of the file may be told then."""
    near = closest(facts.name, names)
    hint = f"did you mean `{near}`?" if near else None
    if near is not None and near != facts.name == near.strip():
        hint = "the file has it with blanks around the name: `source: {with: {strip: true}}` takes them off"
    return Diagnostic("PPF708", f"the data has no column `{facts.name}`", facts.span, hint=hint)


def nothing_fits(declared: Sequence[AttributeFacts], names: Sequence[str], span: Span | None) -> Diagnostic:
    """Say once that no declared column is there, and what the header's form makes likely."""
    if len(declared) == 1:
        what = f"the data has no column `{declared[0].name}`"
    else:
        what = f"the data has none of the {len(declared)} columns that the policy declares"
    place = declared[0].span if len(declared) == 1 else span
    return Diagnostic("PPF708", what, place, help=_cause([a.name for a in declared], names))


def _cause(declared: Sequence[str], names: Sequence[str]) -> str:
    head = names[0] if names else ""
    if head.lower().startswith(_EXCEL) and len(head) > len(_EXCEL):
        written = _DELIMITERS.get(head[len(_EXCEL)], '"…"')
        return f"the first line is Excel's `sep=`: `source: {{with: {{skip_rows: 1, delimiter: {written}}}}}`"
    if len(names) == 1 and (delimiter := _delimiter(head)):
        count = head.count(delimiter)
        return (
            f"the file was read as one column, with {count} {_DELIMITERS[delimiter]} in its first line: if that is the"
            f" delimiter, say `source: {{with: {{delimiter: {_DELIMITERS[delimiter]}}}}}`"
        )
    if same := _alike(declared, names):
        return f"{same} of them differ in upper and lower case or in blanks alone: names must be equal letter by letter"
    return "a file without a header needs `source.columns`, and for CSV `with: {header: false}`"


def _delimiter(head: str) -> str | None:
    """Return the likeliest delimiter: the most frequent one, if any."""
    best = max(_DELIMITERS, key=head.count)
    return best if head.count(best) else None


def _alike(declared: Sequence[str], names: Sequence[str]) -> int:
    bare = {name.strip().casefold() for name in names}
    return sum(name.strip().casefold() in bare for name in declared)


_MARKS = frozenset("*?[")
_MOST = 8
DELIMITED = 'the file was read as one column: if its delimiter is another one, say `with: {delimiter: ";"}`'
"""What is likely where a file has one column only."""


@dataclass(frozen=True, slots=True)
class ColumnBinding:
    """``columns`` maps each attribute to the name that the reader gives its column."""

    attributes: tuple[AttributeFacts, ...]
    columns: Mapping[str, str]


def named(node: SourceNode, column_names: Sequence[str]) -> Mapping[str, str]:
    """Return the reader's name of each column by the name that the policy gives it. Raises DataError."""
    if node.columns is None:
        return {name: name for name in column_names}
    if len(node.columns) != len(column_names):
        raise data_fault(
            "PPF710",
            f"the file has {counted(len(column_names), 'column')}, and `source.columns` names {len(node.columns)}",
            span=node.span,
            advice=DELIMITED if len(column_names) == 1 else None,
        )
    return dict(zip(node.columns, column_names, strict=True))


def bind(node: SourceNode, column_names: Sequence[str]) -> ColumnBinding:
    """Match the file's columns with the declared attributes. Raises DataError for missing and undeclared ones."""
    names = named(node, column_names)
    attributes = tuple(a for a in node.attributes if a.name in names or _MARKS.isdisjoint(a.name))
    missing = [a for a in attributes if a.name not in names]
    if missing:
        raise _missing(missing, attributes, tuple(names), node.span)
    declared = {a.name for a in attributes}
    rest = [n for n in names if n not in declared]
    globbed = [n for n in rest if any(fnmatchcase(n, p) for p in node.patterns)]
    if rest and (node.undeclared == "error" or globbed):
        raise _undeclared(node, globbed or rest, tuple(names))
    _check_globbed(node, attributes)
    return ColumnBinding(attributes, {a.name: names[a.name] for a in attributes})


def _check_globbed(node: SourceNode, attributes: Sequence[AttributeFacts]) -> None:
    """Refuse a column that only a glob covers and that looks like one with a declaration of its own."""
    own = [p for p in node.patterns if _MARKS.isdisjoint(p)]
    globbed = [a for a in attributes if a.name not in node.patterns]
    similar = look_alike([a.name for a in globbed], own)
    if similar is not None:
        facts, name = globbed[similar[0]], similar[1]
        text = f"the data has a column that looks like `{name}`, and only a pattern declares it, as {facts.role}"
        raise data_fault("PPF727", text, span=facts.span, advice="declare it under its own name, or take it out")


def _missing(
    missing: Sequence[AttributeFacts], every: Sequence[AttributeFacts], names: Sequence[str], span: Span | None = None
) -> DataError:
    """Say what is missing. Where nothing fits, the file may have no header: then its names may be values."""
    if len(missing) == len(every):
        return DataError(nothing_fits(every, names, span))
    return DataError([missing_column(facts, names) for facts in missing[:_MOST]])


def _undeclared(node: SourceNode, names: Sequence[str], every: Sequence[str]) -> DataError:
    if not any(name.strip() for name in names):
        where = _placed([place for place, name in enumerate(every, 1) if not name.strip()])
        return data_fault(
            "PPF709",
            "the data has columns without a name" if len(names) > 1 else "the data has a column without a name",
            span=node.span,
            advice=f"{where}: perhaps every line ends with a delimiter, or begins with a row number: take it away, or"
            " say `undeclared: drop`",
        )
    return data_fault(
        "PPF709",
        f"the data has columns that the policy does not declare: {_shown(names)}",
        span=node.span,
        advice="declare them, or say `undeclared: drop`",
    )


def _placed(places: Sequence[int]) -> str:
    """Name columns by where they stand, from 1."""
    listing = ", ".join(str(place) for place in places[:_MOST])
    more = f" and {len(places) - _MOST} more" if places[_MOST:] else ""
    return f"column{'s' if len(places) > 1 else ''} {listing}{more}"


def _shown(names: Sequence[str]) -> str:
    """Name columns; one without a name by that."""
    listing = ", ".join(f"`{name}`" if name.strip() else "one without a name" for name in names[:_MOST])
    return listing + (f" and {len(names) - _MOST} more" if names[_MOST:] else "")


def foreign(release: ReleaseNode, column_names: Sequence[str]) -> tuple[AttributeFacts, ...]:
    """Return a release's attributes in the order of a file that claims to be it. Raises DataError.

    Another tool may have made labels of numbers, so all its columns are read as texts.
    """
    by_name = {a.name: a for a in release.attributes}
    missing = [a for a in release.attributes if a.name not in column_names]
    if missing:
        raise _missing(missing, release.attributes, column_names)
    extra = [place for place, name in enumerate(column_names, 1) if name not in by_name]
    if extra:  # its names may be values: the file comes from elsewhere
        text = f"the file has {counted(len(extra), 'column')} more than release `{release.name}` may have"
        raise data_fault("PPF709", f"{text}: {_placed(extra)}")
    return tuple(replace(by_name[name], labels=True) for name in column_names)


def columns(source: Plan | SourceNode, data: Path | None) -> tuple[str, ...]:
    """Return the column names of ``data`` (else of the policy's own file). Raises DataError."""
    if isinstance(source, Plan):
        refuse_linked(source)
    node = source.source if isinstance(source, Plan) else source
    path = data_path(node, data)
    with wrap_plugin_errors("the source"):
        column_names = open_source(node, path).names()
    return tuple(named(node, column_names))
