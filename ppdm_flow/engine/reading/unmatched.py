"""Columns that are not there, and why: said of the header's form alone, since its names may be values of the data."""

from __future__ import annotations

from collections.abc import Sequence

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.spans import Span
from ppdm_flow.core.suggest import closest

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
