"""The parameters of the operator, and what they leave to be found."""

from __future__ import annotations

import math

from ppdm_flow.anonymizers.randomize_transactions.account import Account
from ppdm_flow.core.results import Chart, Series

MOST = 60


def charts(account: Account, step: str) -> tuple[Chart, ...]:
    """Return how likely items come through and others come in, by length of the original set."""
    operator = account.chosen.operator
    lengths = [m for m in account.found.numbers if m][:MOST]
    kept = tuple(sum(j * p for j, p in enumerate(operator.law(m).tolist())) / m for m in lengths)
    others = [
        (m - m * share) / max(1, operator.alphabet - m) if operator.refills else operator.rho(m)
        for m, share in zip(lengths, kept, strict=True)
    ]
    both = Chart(
        id=f"{step}.operator",
        title="How likely an item is in the randomized set",
        kind="lines",
        x=tuple(str(m) for m in lengths),
        series=(Series("an item of the original set", kept), Series("any other item", tuple(others))),
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
            series=(Series("share of all sets", tuple(able.values())),),
            x_label="size of the itemset",
            y_label="support",
            group="randomize_transactions",
            note="Rarer itemsets cannot be told from none: their estimates are within 4 standard errors of 0.",
        ),
    )
