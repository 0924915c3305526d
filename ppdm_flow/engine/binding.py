"""The columns of a file and the attributes of a policy, one against the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.spans import Span
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.likeness import look_alike
from ppdm_flow.engine.unmatched import absent, nothing_fits
from ppdm_flow.plan.definition import ReleaseNode, SourceNode

_MARKS = frozenset("*?[")
_MOST = 8


@dataclass(frozen=True, slots=True)
class Binding:
    """``columns`` maps each attribute to the name that the reader gives its column."""

    attributes: tuple[AttributeFacts, ...]
    columns: Mapping[str, str]


def named(node: SourceNode, found: Sequence[str]) -> Mapping[str, str]:
    """Return the reader's name of each column by the name that the policy gives it. Raises DataError."""
    if node.columns is None:
        return {name: name for name in found}
    if len(node.columns) != len(found):
        raise data_fault(
            "PPF710",
            f"the file has {len(found)} columns, and `source.columns` names {len(node.columns)}",
            span=node.span,
        )
    return dict(zip(node.columns, found, strict=True))


def bind(node: SourceNode, found: Sequence[str]) -> Binding:
    """Match the file's columns with the declared attributes. Raises DataError for missing and undeclared ones."""
    names = named(node, found)
    attributes = tuple(a for a in node.attributes if a.name in names or _MARKS.isdisjoint(a.name))
    missing = [a for a in attributes if a.name not in names]
    if missing:
        raise _missing(missing, attributes, tuple(names), node.span)
    declared = {a.name for a in attributes}
    rest = [n for n in names if n not in declared]
    globbed = [n for n in rest if any(fnmatchcase(n, p) for p in node.patterns)]
    if rest and (node.undeclared == "error" or globbed):
        raise _undeclared(node, globbed or rest)
    _check_globbed(node, attributes)
    return Binding(attributes, {a.name: names[a.name] for a in attributes})


def _check_globbed(node: SourceNode, attributes: Sequence[AttributeFacts]) -> None:
    """Refuse a column that only a glob covers and that looks like one with a declaration of its own."""
    own = [p for p in node.patterns if _MARKS.isdisjoint(p)]
    globbed = [a for a in attributes if a.name not in node.patterns]
    found = look_alike([a.name for a in globbed], own)
    if found is not None:
        facts, name = globbed[found[0]], found[1]
        text = f"the data has a column that looks like `{name}`, and only a pattern declares it, as {facts.role}"
        raise data_fault("PPF727", text, span=facts.span, advice="declare it under its own name, or take it out")


def _missing(
    missing: Sequence[AttributeFacts], every: Sequence[AttributeFacts], names: Sequence[str], span: Span | None = None
) -> DataError:
    """Say what is missing. Where nothing fits, the file may have no header: then its names may be values."""
    if len(missing) == len(every):
        return DataError(nothing_fits(every, names, span))
    return DataError([absent(facts, names) for facts in missing[:_MOST]])


def _undeclared(node: SourceNode, names: Sequence[str]) -> DataError:
    if not any(name.strip() for name in names):
        return data_fault(
            "PPF709",
            "the data has columns without a name" if len(names) > 1 else "the data has a column without a name",
            span=node.span,
            advice="perhaps every line ends with a delimiter, or begins with a row number: take it away, or say"
            " `undeclared: drop`",
        )
    shown = ", ".join(f"`{n}`" for n in names[:_MOST]) + (f" and {len(names) - _MOST} more" if names[_MOST:] else "")
    return data_fault(
        "PPF709",
        f"the data has columns that the policy does not declare: {shown}",
        span=node.span,
        advice="declare them, or say `undeclared: drop`",
    )


def foreign(release: ReleaseNode, found: Sequence[str]) -> tuple[AttributeFacts, ...]:
    """Return a release's attributes in the order of a file that claims to be it. Raises DataError."""
    by_name = {a.name: a for a in release.attributes}
    missing = [a for a in release.attributes if a.name not in found]
    if missing:
        raise _missing(missing, release.attributes, found)
    extra = sum(name not in by_name for name in found)
    if extra:
        text = f"the file has {extra} column{'s' if extra > 1 else ''} more than release `{release.name}` may have"
        raise data_fault("PPF709", text)
    return tuple(by_name[name] for name in found)
