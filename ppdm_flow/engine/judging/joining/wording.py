"""How releases are joined, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from ppdm_flow.core.phrases import counted, listed
from ppdm_flow.engine.judging.joining.rows import JoinedRows

_MOST = 4


def reason(joined_rows: Sequence[JoinedRows]) -> str:
    """Return what the sentence of a figure on a joined table ends with."""
    return "".join(f" {_pair(each)}" for each in joined_rows)


def _pair(each: JoinedRows) -> str:
    one, other = each.link.one.name, each.link.other.name
    ways = [f"by {_column(pair, one, other)}" for pair in each.by]
    if each.aligned:
        ways = ["by the order of the rows, which is the same in both"]
    if each.single:
        names = listed([f"`{a}`" for a, _ in each.link.shared], _MOST)
        ways.append(f"by {names}, which single out {counted(each.single, 'row')} in both")
    rows = counted(len(each.one), "row")
    return f"Whoever has `{one}` and `{other}` joins {rows} of them {listed(ways)}, so they are judged as one table."


def _column(pair: tuple[str, str], one: str, other: str) -> str:
    mine, theirs = pair
    return f"`{mine}`" if mine == theirs else f"`{mine}` of `{one}` and `{theirs}` of `{other}`"
