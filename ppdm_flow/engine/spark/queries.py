"""Queries of the audits, taken apart: what in them groups one relation and nothing else, and that in Spark's words."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot.expressions import Expr, Select

_CAST = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\?::(\w+(?:\[\])?)""")


def parsable(query: str) -> str:
    """Return a query with casts of parameters (``?::VARCHAR[]``) in the words that sqlglot reads, too."""
    return _CAST.sub(lambda match: f"CAST(? AS {match[1]})" if match[1] else match[0], query)


def groupings(tree: Expr, frames: Container[str]) -> Iterator[Select]:
    """Yield the innermost groupings that read one of ``frames`` and nothing else: several queries share these."""
    from sqlglot import exp  # noqa: PLC0415  # heavy

    hidden = {cte.alias for cte in tree.find_all(exp.CTE)}
    known = {table.name for table in tree.find_all(exp.Table) if table.name in frames} - hidden
    selects = [each for each in tree.find_all(exp.Select) if _is_grouping(each) and base_of(each, known) is not None]
    for select in selects:
        if not any(each is not select and each in selects for each in select.find_all(exp.Select)):
            yield select


def without_filter(select: Select) -> tuple[Select, Expr | None]:
    """Return a grouping without its WHERE, and that as a filter of its rows, where it is about what is grouped by.

    Several queries differ in such a filter alone, and share the groups then.
    """
    from sqlglot import exp  # noqa: PLC0415  # heavy

    where, group = select.args.get("where"), select.args.get("group")
    source = select.find(exp.From)
    if where is None or group is None or source is None or not isinstance(source.this, exp.Table):
        return select, None
    named = {}
    for key in group.expressions:
        number = int(key.this) - 1 if isinstance(key, exp.Literal) and key.is_int else None
        column = select.expressions[number] if number is not None and number < len(select.expressions) else None
        if isinstance(column, exp.Alias) and isinstance(column.this, exp.Column):
            named[column.this.name] = column.alias
    if any(column.name not in named for column in where.find_all(exp.Column)):
        return select, None
    every, condition = select.copy(), where.this.copy()
    every.set("where", None)
    for column in list(condition.find_all(exp.Column)):
        column.replace(exp.column(named[column.name], quoted=True))
    return every, condition


def base_of(select: Expr, frames: Container[str]) -> str | None:
    """Return the relation that a SELECT without joins reads, directly or through another such; None for any other."""
    from sqlglot import exp  # noqa: PLC0415  # heavy

    refused = (exp.Join, exp.Window, exp.Order, exp.Limit, exp.Placeholder, exp.With, exp.SetOperation, exp.Distinct)
    if not isinstance(select, exp.Select) or any(select.find_all(*refused)):
        return None
    tables = list(select.find_all(exp.Table))
    selects = list(select.find_all(exp.Select))
    if len(tables) != 1 or any(not each.find(exp.From) for each in selects):
        return None
    name = tables[0].name
    nested = all(isinstance(each.parent and each.parent.parent, exp.From) for each in selects if each is not select)
    return name if name in frames and nested else None


def _is_grouping(select: Select) -> bool:
    """Whether a SELECT has one row for each group, or one at all."""
    from sqlglot import exp  # noqa: PLC0415  # heavy

    if select.args.get("group") is not None:
        return True
    return all(any(each.find_all(exp.AggFunc)) for each in select.expressions)


def columns_of(select: Select) -> frozenset[str]:
    """Return the columns of the relation that a grouping may read."""
    from sqlglot import exp  # noqa: PLC0415  # heavy

    return frozenset(column.name for column in select.find_all(exp.Column))


def in_spark(select: Select, base: str, view: str) -> str | None:
    """Return the grouping in Spark's words, of ``view`` in the place of the relation; None where it has none."""
    import sqlglot  # noqa: PLC0415  # heavy
    from sqlglot import exp  # noqa: PLC0415  # the same

    copied = reading(select, base, view)
    for number, each in enumerate(copied.expressions):
        if not each.alias_or_name:
            each.replace(exp.alias_(each.copy(), f"_col_{number}"))
    try:
        return copied.sql(dialect="spark", unsupported_level=sqlglot.ErrorLevel.RAISE)
    except sqlglot.errors.SqlglotError:
        return None


def reading(select: Select, base: str | None, view: str) -> Select:
    """Return the query, of the relation ``view`` in the place of ``base``."""
    from sqlglot import exp  # noqa: PLC0415  # heavy

    copied = select.copy()
    for table in copied.find_all(exp.Table):
        if table.name == base:
            table.set("this", exp.to_identifier(view))
            if not table.alias:
                table.set("alias", exp.TableAlias(this=exp.to_identifier(base, quoted=True)))
    return copied
