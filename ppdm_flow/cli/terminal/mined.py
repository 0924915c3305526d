"""What was mined, for a reader: tables of text or Markdown."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from ppdm_flow.cli.terminal.output import aligned
from ppdm_flow.core.phrases import counted

if TYPE_CHECKING:  # the other verbs start faster without it
    from ppdm_flow.api.mine.answer import ItemsetsOfSize, MinedRelease
    from ppdm_flow.mining.transactions.operators import TransactionOperator
    from ppdm_flow.mining.transactions.rules import SupportRatio

_FAMILIES = {
    "cut_and_paste": "cut-and-paste",
    "select_a_size": "select-a-size",
    "uniform": "uniform replacement",
    "none": "nothing changed",
}
_SEEN = 40
"""Itemsets of a size, and rules, that are shown unless more are asked for."""

Rows = list[tuple[str, ...]]


def text(answer: MinedRelease, limit: int | None, *, markdown: bool = False) -> str:
    """Return the whole answer; of each size and of the rules at most ``limit``."""
    shown = _SEEN if limit is None else limit
    drawn = _pipes if markdown else aligned
    lines = [*_head(answer), ""]
    if answer.sizes and not answer.exact:
        lines += [*drawn(list(_sizes(answer))), ""]
    lines += [*_end(answer), ""]
    for one in answer.sizes:
        if len(one):
            lines += [*drawn(list(_itemsets(answer, one, shown))), *_more(len(one), shown), ""]
    if answer.rules is not None:
        if answer.rules:
            lines += [*drawn(list(_rules(answer, shown))), *_more(len(answer.rules), shown), ""]
        else:
            lines += ["No rule is as confident as that.", ""]
    return "\n".join([*lines, *_notes(answer)]).rstrip("\n")


def _head(answer: MinedRelease) -> Iterator[str]:
    number = counted(answer.rows, "transaction" if answer.exact else "randomized transaction")
    yield f"{answer.attribute} in {answer.file}: {number} over {len(answer.names):,} items"
    if answer.operator is not None:
        yield f"operator: {_operator(answer.operator)}"
    least = f"{100 * answer.least:.4g} % ({counted(round(answer.least * answer.rows), 'transaction')})"
    sure = "exact supports" if answer.exact else f"estimates with intervals of {answer.options.level * 100:g} %"
    yield f"itemsets with a support of at least {least}: {sure}"


def _operator(operator: TransactionOperator) -> str:
    words = f"{_FAMILIES.get(operator.family, operator.family)}, by the size of a transaction ({_span(operator.sizes)})"
    if operator.cutoffs:
        words += f", K {_span(operator.cutoffs.values())}"
    if operator.insertion:
        words += f", rho {_span(operator.insertion.values())}"
    words += f", each item kept with {operator.keep:g}" if operator.keep is not None else ""
    return words + (f", {operator.inserted:,} more put in" if operator.inserted else "")


def _span(values: Collection[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


def _sizes(answer: MinedRelease) -> Iterator[tuple[str, ...]]:
    yield ("items", "candidates", "found", "std. error", "discoverable from", "expected false", "expected missing")
    for one in answer.sizes:
        lowest = "nothing" if one.lowest is None else _percent(one.lowest)
        wrong = [f"{n or 0.0:,.0f}" for n in (one.false_positives, one.false_drops)]
        yield (str(one.size), f"{one.candidates:,}", f"{len(one):,}", _percent(one.sigma_least), lowest, *wrong)


def _end(answer: MinedRelease) -> Iterator[str]:
    after = len(answer.sizes)
    match answer.stopped:
        case "length" if answer.options.max_length == after:
            yield f"Ended with {_items(after)}, as asked."
        case "length":
            yield f"Ended with {_items(after)}: no transaction has more."
        case "precision":
            error, errors = _percent(answer.next_sigma or 0.0), f"{answer.options.precision:g}"
            yield f"Ended with {_items(after)}: for itemsets of {after + 1} the standard error is {error}, so that the"
            yield f"minimum support is less than {errors} errors above 0 (--precision {errors})."
        case "seeds":
            yield f"Ended with {_items(after)}: larger itemsets cannot be estimated from these seeds."
        case "lost":
            yield f"Ended with {_items(after)}: the operator keeps too few items for larger itemsets to be recovered."
        case _:
            yield f"Ended with {_items(after)}: no larger itemset has all its parts among these."


def _itemsets(answer: MinedRelease, one: ItemsetsOfSize, limit: int) -> Iterator[tuple[str, ...]]:
    exact = answer.exact
    shown = one.partial is not None and one.size > 1
    parts = (f"holding just {' / '.join(map(str, range(one.size + 1)))}",) if shown else ()
    figures = ("transactions",) if exact else ("std. error", "low", "high")
    yield (_items(one.size), "support", *figures, *parts)
    for place in range(min(limit, len(one))):
        name = _names(answer.texts(one.items[place])) + ("" if one.is_discoverable(place) else " ?")
        value = float(one.value[place])
        partial_shares = (_shares(one.partial[place].tolist()),) if one.partial is not None and shown else ()
        if exact:
            yield name, _percent(value), f"{value * answer.rows:,.0f}", *partial_shares
        else:
            errors = (one.sigma, one.low, one.high)
            yield name, _percent(value), *(_percent(float(e[place])) for e in errors), *partial_shares


def _rules(answer: MinedRelease, limit: int) -> Iterator[tuple[str, ...]]:
    exact = answer.exact
    between = () if exact else ("between",)
    yield ("rule", "support", "confidence", *between, "lift", *between)
    for rule in (answer.rules or ())[:limit]:
        name = f"{_names(answer.texts(rule.antecedent))} => {_names(answer.texts(rule.consequent))}"
        sure = [_share(rule.confidence.value)] if exact else [_share(rule.confidence.value), _interval(rule.confidence)]
        times = [_factor(rule.lift.value)] if exact else [_factor(rule.lift.value), _range(rule.lift)]
        yield name, _percent(rule.support), *sure, *times


def _notes(answer: MinedRelease) -> Iterator[str]:
    if any(one.size > 1 and len(one) and one.partial is not None for one in answer.sizes):
        yield "Partial supports are the shares of the transactions that hold just so many of the items."
    if answer.exact:
        yield "The sets were not randomized: supports are exact."
        return
    yield "A support is the estimated share of the transactions, before they were randomized, that hold all the items."
    yield "An interval is for its itemset alone and about these very transactions: only the randomization is chance."
    if not all(one.is_discoverable(place) for one, place in answer.each()):
        yield "? less than 4 standard errors above 0: such an itemset may not occur at all."
    if any((rule.confidence.value or 0.0) > 1.0 for rule in answer.rules or ()):
        yield "A confidence above 100 % is an estimate like any other: its interval ends at 100 %."
    if answer.rules:
        yield "Intervals of confidence and lift are by the delta method, from the covariances of the supports."


def _more(number: int, limit: int) -> Iterator[str]:
    if number > limit:
        yield f"and {number - limit:,} more (--limit {number}, or --format csv)"


def _items(size: int) -> str:
    return f"{size} item{'' if size == 1 else 's'}"


def _names(names: Sequence[str]) -> str:
    return ", ".join("".join(c if c.isprintable() else "�" for c in name) or "(empty)" for name in names)


def _percent(share: float) -> str:
    return f"{100 * share:.4f} %" if abs(share) < 0.001 else f"{100 * share:.3f} %"


def _shares(partial: Sequence[float]) -> str:
    return " / ".join(f"{100 * share:.1f}" for share in partial).replace("-0.0", "0.0") + " %"


def _share(value: float | None) -> str:
    return "?" if value is None else f"{100 * value:.1f} %"


def _factor(value: float | None) -> str:
    return "?" if value is None else f"{value:.2f}"


def _interval(ratio: SupportRatio) -> str:
    return f"{_share(ratio.low)} to {_share(ratio.high)}"


def _range(ratio: SupportRatio) -> str:
    return f"{_factor(ratio.low)} to {_factor(ratio.high)}" if ratio.high is not None else f"from {_factor(ratio.low)}"


def _pipes(rows: Rows) -> Iterator[str]:
    head, *body = [[cell.replace("\\", "\\\\").replace("|", "\\|") for cell in row] for row in rows]
    yield f"| {' | '.join(head)} |"
    yield f"|---|{'---:|' * (len(head) - 1)}"
    for row in body:
        yield f"| {' | '.join(row)} |"
