"""What a reader of the report should know of the operator."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ppdm_flow.anonymizers.randomize_transactions.account import Account, is_identity
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Finding

MANY = 5
FEW = 5
"""A size that fewer people have is told."""


def notices(account: Account, step: str) -> Iterator[Finding]:
    """Yield the findings."""
    chosen = account.chosen
    if is_identity(chosen.operator):
        text = f"`operator: none` leaves the sets of `{account.found.name}` as they are: this is no protection at all"
        yield Finding("PPF803", Severity.ERROR, text, step)
    hopeless = [k for k, support in account.lowest.items() if not math.isfinite(support)]
    if hopeless and not is_identity(chosen.operator):
        sizes = ", ".join(str(k) for k in hopeless)
        text = f"no itemset of {sizes} items can be discovered, however frequent: the noise is too large for these rows"
        yield Finding("PPF805", Severity.WARNING, text, f"{step}.lowest_support")
    if chosen.estimated and chosen.choices:
        text = (
            f"the maximal supports that the parameters are for were taken from the data"
            f" ({account.found.rows:,} sets, by length in {len(chosen.estimated)} pools): they hold for these sets"
        )
        yield Finding("PPF804", Severity.INFO, text, f"{step}.max_supports")
    yield _sizes(account, step)
    if not account.found.declared:
        text = (
            f"the {len(account.found.alphabet):,} items of the alphabet are those that occur in the data, and all are"
            f" named beside the release: declare a `domain` for `{account.found.name}` where the existence of an item"
            " is a secret"
        )
        yield Finding("PPF804", Severity.INFO, text, f"{step}.alphabet")


def _sizes(account: Account, step: str) -> Finding:
    """Say that sizes are published, and whom a rare one singles out."""
    alone, few = account.found.fewer_than(2), account.found.fewer_than(FEW)
    text = (
        f"how many items each set of `{account.found.name}` had is released beside it, since estimates need it:"
        f" {counted(alone, 'set')} of {account.found.rows:,} {'has' if alone == 1 else 'have'} a size that no other"
        f" has, and {few:,} one that fewer than {FEW} have"
    )
    return Finding("PPF858", Severity.WARNING if alone else Severity.INFO, text, f"{step}.alone_by_size")
