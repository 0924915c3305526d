"""The ranks of sensitive values, for the ordered distance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from ppdm_flow.mining.exposure.faults import UnrankedError
from ppdm_flow.requirements.t_closeness.requirement import TCloseness
from ppdm_flow.sdk.audit import AuditContext


def ranked(requirement: TCloseness, values: Sequence[str], ctx: AuditContext) -> list[str]:
    """Return the values from low to high: as the policy orders them, or as numbers or dates.

    Raises UnrankedError where some have no place.
    """
    if requirement.order:
        place = {value: i for i, value in enumerate(requirement.order)}
        return _sorted(values, lambda v: place[v], f"the order of `{requirement.attribute}` that the policy gives")
    facts = ctx.original_attributes.get(requirement.attribute)
    if facts is not None and facts.type.is_time:
        return _sorted(values, _moment, f"the order of dates, as `{requirement.attribute}` should have")
    return _sorted(values, _number, f"the order of numbers, as `{requirement.attribute}` should have")


def _sorted(values: Sequence[str], key: Callable[[str], Any], what: str) -> list[str]:
    keyed = []
    for value in values:
        try:
            keyed.append((key(value), value))
        except (KeyError, ValueError, InvalidOperation):
            continue
    lost = len(values) - len(keyed)
    if lost:
        verb = "has" if lost == 1 else "have"
        raise UnrankedError(f"{lost:,} of {len(values):,} released values {verb} no place in {what}.")
    return [value for _, value in sorted(keyed)]


def _number(text: str) -> Decimal:
    number = Decimal(text.strip())
    if not number.is_finite() or "_" in text:
        raise ValueError("the text must be a finite decimal number without underscores")
    return number


def _moment(text: str) -> float:
    moment = datetime.fromisoformat(text)
    seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if not math.isfinite(seconds):
        raise ValueError("the text must be an ISO 8601 date or time")
    return seconds
