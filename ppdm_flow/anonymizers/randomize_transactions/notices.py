"""Findings on the operator and pictures of it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ppdm_flow.anonymizers.randomize_transactions.account import OperatorAccount, is_identity
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Chart, FigureSeries, Finding

MANY = 5
FEW = 5
"""A size that fewer people have is told."""

MOST = 60


def notices(account: OperatorAccount, step: str) -> Iterator[Finding]:
    """Yield the findings."""
    chosen = account.chosen
    if is_identity(chosen.operator):
        text = f"`operator: none` leaves the sets of `{account.sets.name}` as they are: this is no protection at all"
        yield Finding("PPF803", Severity.ERROR, text, step)
    hopeless = [k for k, support in account.lowest.items() if not math.isfinite(support)]
    if hopeless and not is_identity(chosen.operator):
        sizes = ", ".join(str(k) for k in hopeless)
        text = f"no itemset of {sizes} items can be discovered, however frequent: the noise is too large for these rows"
        yield Finding("PPF805", Severity.WARNING, text, f"{step}.lowest_support")
    if chosen.estimated and chosen.choices:
        text = (
            f"the maximal supports that the parameters are for were taken from the data"
            f" ({account.sets.rows:,} sets, by length in {len(chosen.estimated)} pools): they hold for these sets"
        )
        yield Finding("PPF804", Severity.INFO, text, f"{step}.max_supports")
    yield _sizes(account, step)
    if not account.sets.declared:
        text = (
            f"the {len(account.sets.alphabet):,} items of the alphabet are those that occur in the data, and all are"
            f" named beside the release: declare a `domain` for `{account.sets.name}` where the existence of an item"
            " is a secret"
        )
        yield Finding("PPF804", Severity.INFO, text, f"{step}.alphabet")


def _sizes(account: OperatorAccount, step: str) -> Finding:
    """Say that sizes are published, and whom a rare one singles out."""
    alone, few = account.sets.fewer_than(2), account.sets.fewer_than(FEW)
    text = (
        f"how many items each set of `{account.sets.name}` had is released beside it, since estimates need it:"
        f" {counted(alone, 'set')} of {account.sets.rows:,} {'has' if alone == 1 else 'have'} a size that no other"
        f" has, and {few:,} one that fewer than {FEW} have"
    )
    return Finding("PPF858", Severity.WARNING if alone else Severity.INFO, text, f"{step}.alone_by_size")


def charts(account: OperatorAccount, step: str) -> tuple[Chart, ...]:
    """Return how likely items come through and others come in, by length of the original set."""
    operator = account.chosen.operator
    lengths = [m for m in account.sets.numbers if m][:MOST]
    kept = tuple(sum(j * p for j, p in enumerate(operator.law(m).tolist())) / m for m in lengths)
    others = [
        (m - m * share + operator.inserted) / max(1, operator.alphabet - m) if operator.refills else operator.rho(m)
        for m, share in zip(lengths, kept, strict=True)
    ]
    both = Chart(
        id=f"{step}.operator",
        title="How likely an item is in the randomized set",
        kind="lines",
        x=tuple(str(m) for m in lengths),
        series=(FigureSeries("an item of the original set", kept), FigureSeries("any other item", tuple(others))),
        x_label="items of the original set",
        y_label="probability",
        group="randomize_transactions",
    )
    able = {k: s for k, s in account.lowest.items() if math.isfinite(s)}
    if not able:
        return (both,)
    return (
        both,
        Chart(
            id=f"{step}.lowest_support",
            title="Lowest discoverable support",
            kind="bars",
            x=tuple(f"{k} item{'s' * (k > 1)}" for k in able),
            series=(FigureSeries("share of all sets", tuple(able.values())),),
            x_label="size of the itemset",
            y_label="support",
            group="randomize_transactions",
            note="Rarer itemsets cannot be told from none: their estimates are within 4 standard errors of 0.",
        ),
    )
