"""Engine and oracle compared on one case about numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from adversary.crowds import Release
from adversary.groups import Alone
from adversary.judging import Compared, faults
from adversary.lineage import released
from adversary.numbers import linkage, near, totals, uniques
from adversary.oracle import Judged, judge, refusals
from adversary.policies import Case, Policy
from adversary.trial import REFUSED, Tried, attempt


def compare(case: Case) -> Compared:
    """Carry out a case and hold every figure against the oracle's."""
    return compared(case, expected)


def compared(case: Case, expected: Callable[[Case, Tried], list[Judged]]) -> Compared:
    """Carry out a case and hold every figure against what is expected of its releases."""
    tried = attempt(case)
    reasons = refusals(case.policy, released(case.policy))
    if broken := [code for code in tried.codes if code.startswith("PPF9")]:
        return Compared(case.number, "failed", (f"the engine failed: {broken[0]}",))
    if tried.verdict == REFUSED:
        why = "for what the oracle refuses it" if reasons else " ".join(tried.codes)
        return Compared(case.number, REFUSED, refused=why)
    if reasons:
        return Compared(case.number, tried.verdict, (f"not refused: {reasons[0].split(' in ')[0]}",))
    return Compared(case.number, tried.verdict, tuple(faults(tried, expected(case, tried))))


def expected(case: Case, tried: Tried) -> list[Judged]:
    """Return what the oracle makes of the release."""
    return [
        replace(j, release=name)
        for name, release in (tried.releases or {}).items()
        for j in (*judge(case.policy, Alone(release)), *_of_numbers(case.policy, release))
    ]


def _of_numbers(policy: Policy, release: Release) -> Iterator[Judged]:
    privacy = policy["privacy"]
    for name, clause in privacy.get("interval_disclosure", {}).items():
        yield near.judged(name, clause, policy, release)
    for name, clause in privacy.get("dominance", {}).items():
        yield from totals.judged(name, clause, policy, release)
    if "special_uniques" in privacy:
        yield uniques.judged(privacy["special_uniques"], policy, release)
    if "numeric_linkage" in privacy:
        yield from linkage.judged(privacy["numeric_linkage"], policy, release)
