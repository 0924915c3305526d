"""The minimality attack: what someone learns who knows that nothing was generalized without need.

The attacker knows everybody's quasi-identifiers, and so which groups were merged into a class. The merge itself says
that some group held too much of a sensitive value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy import stats

from ppdm_flow.audits.inference.secrets import secrets_of, summarized
from ppdm_flow.audits.minimality.spec import MinimalityParams
from ppdm_flow.audits.records.columns import NOT_TRUE, truthful
from ppdm_flow.audits.records.proportions import wilson
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import AuditOutcome, Figure, Finding
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.counts import count, merge
from ppdm_flow.tables.table import Table

NAMES = {"breached": "share", "worst_posterior": "probability", "worst_before": "probability"}
NO_GROUPS = "rows cannot be paired with those of the original, so nobody knows what was merged"
Integers = npt.NDArray[np.int64]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Breaches:
    """Of ``people`` looked at ``breached`` are known beyond the bound, which their class keeps.

    ``before`` and ``after`` are the highest probabilities of a value; ``left_out`` classes were too large to look at.
    """

    people: int = 0
    breached: int = 0
    before: float = 0.0
    after: float = 0.0
    left_out: int = 0
    sampled: bool = False


class MinimalityAudit:
    """Looks at every sensitive released column; a bare figure is the worst over them."""

    def __init__(self, params: MinimalityParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the share of people known beyond the bound, and the highest posterior with and without the attack."""
        del original
        of = secrets_of(self.params.attributes, self.params.sensitive, candidate, ctx)
        figures: dict[str, dict[str, Figure]] = {}
        findings = []
        for secret in of.secrets:
            true = truthful((*of.beside(secret), secret), ctx)
            groups = merged(of.beside(secret), secret, ctx) if true else None
            undone = None if groups is None else _attacked(groups, self._protected(groups, secret, ctx), self.params)
            figures[secret] = _figures(undone, NO_GROUPS if true else NOT_TRUE)
            if undone is not None and undone.breached:
                findings.append(_finding(secret, undone, self.params, ctx))
        return AuditOutcome(summarized(figures, NAMES), findings=tuple(findings))

    def _protected(self, groups: MergedClasses, secret: str, ctx: AuditContext) -> list[int]:
        """Return the codes of the protected values."""
        named = self.params.values.get(secret, self.params.values.get(source_of(secret, ctx)))
        return [i for i, name in enumerate(groups.names) if named is None or name in named]


def _attacked(merged: MergedClasses, protected: list[int], params: MinimalityParams) -> Breaches:
    """Attack the classes one by one; evenly spaced ones where there are many."""
    chosen = np.flatnonzero(np.isin(merged.value, protected))
    classes = np.unique(merged.of[chosen])
    most = max(1, int(params.sample * len(classes) / max(1, len(chosen))))
    picked = classes if len(classes) <= most else classes[np.arange(most) * len(classes) // most]
    result = Breaches(sampled=len(picked) < len(classes))
    order = chosen[np.argsort(merged.of[chosen], kind="stable")]
    starts = np.searchsorted(merged.of[order], picked)
    ends = np.searchsorted(merged.of[order], picked, side="right")
    for number, first, last in zip(picked.tolist(), starts.tolist(), ends.tolist(), strict=True):
        result = _with(result, merged, number, merged.holders[order[first:last]].tolist(), params)
    if not result.sampled:
        result = replace(result, people=int(merged.sizes.sum()))
    return result


def _with(
    so_far: Breaches, merged: MergedClasses, number: int, holders: list[int], params: MinimalityParams
) -> Breaches:
    groups, size = np.sort(merged.groups_of(number)), int(merged.sizes[number])
    if size > params.largest:
        return replace(so_far, left_out=so_far.left_out + 1, people=so_far.people + size)
    before = max(h / size for h in holders)
    after = before
    known = np.zeros(len(groups), dtype=np.bool_)
    if len(groups) > 1 and groups.min() >= params.k:
        for own in (h for h in holders if h / size <= params.confidence):
            each = np.array(posteriors(tuple(groups.tolist()), own, params.confidence))
            known |= each > params.confidence + 1e-9
            after = max(after, float(each.max()))
    return replace(
        so_far,
        people=so_far.people + size,
        breached=so_far.breached + int(groups[known].sum()),
        before=max(so_far.before, before),
        after=max(so_far.after, after),
    )


def _figures(undone: Breaches | None, none: str) -> dict[str, Figure]:
    if undone is None or undone.people == 0:
        return {n: Figure(None, u, note=none) for n, u in NAMES.items()}
    share = undone.breached / undone.people
    sample = undone.people if undone.sampled else None
    note = f"{undone.left_out:,} classes are too large to look at" if undone.left_out else ""
    interval = wilson(share, undone.people) if undone.sampled else None
    return {
        "breached": Figure(share, "share", interval, sample, note),
        "worst_posterior": Figure(undone.after, "probability", sample=sample, note=note),
        "worst_before": Figure(undone.before, "probability", sample=sample, note="from the shares in the classes"),
    }


def _finding(secret: str, undone: Breaches, params: MinimalityParams, ctx: AuditContext) -> Finding:
    text = (
        f"if groups are merged only where a value of `{secret}` has more than {params.confidence:.0%} of one, that"
        f" reveals {undone.breached:,} of {undone.people:,} people: a reader who knows everybody's quasi-identifiers"
        f" gives them a value with a probability of up to {undone.after:.1%}, which the classes bound by"
        f" {params.confidence:.0%}"
    )
    return Finding("PPF895", Severity.WARNING, text, f"{ctx.release}.minimality.{secret}")


# Classes, the groups that were merged into them, and the posterior of a value in each of these.
#
# Of the posterior: n_s of the n people of a class have the value, groups of g_1, …, g_m people were merged, and all
# assignments are as likely. Had no group more than the share `confidence`, nothing would have been merged: so some
# group has (Wong et al. 2007, section 4). The numbers of people with the value are counted by multiplying the
# polynomials sum_a C(g_i, a) x^a.


@dataclass(frozen=True, slots=True, eq=False)
class MergedClasses:
    """``groups`` are the people of each group, sorted by class, of which ``owner`` is the class.

    ``holders`` people of class ``of`` have the value ``value``; ``names`` are the values as texts, ``sizes`` the people
    of each class.
    """

    groups: Integers
    owner: Integers
    of: Integers
    value: Integers
    holders: Integers
    names: Sequence[str]
    sizes: Integers

    def groups_of(self, number: int) -> Integers:
        """Return the sizes of the groups of one class."""
        first, last = np.searchsorted(self.owner, [number, number + 1])
        return self.groups[first:last]


def merged(columns: Sequence[str], secret: str, ctx: AuditContext) -> MergedClasses | None:
    """Put classes and groups together; None where rows cannot be paired or there are none."""
    if ctx.pairs is None or not columns:
        return None
    sources = [source_of(c, ctx) for c in columns]
    if any(s not in ctx.original_attributes for s in sources):
        return None
    kept = [f"\0{i}" for i in range(len(sources))]
    joint = merge(count(part, [*kept, *columns, secret]) for part in _parts(sources, columns, secret, ctx))
    if joint.total == 0:
        return None
    group = joint.project([*kept, *columns])
    owner, number = group.groups(tuple(columns))
    values = joint.project([*columns, secret])
    of, _ = values.groups(tuple(columns))
    order = np.argsort(owner, kind="stable")
    sizes = np.zeros(number, dtype=np.int64)
    np.add.at(sizes, owner, group.counts)
    codes = values.of(secret).astype(np.int64)
    shown = codes >= 0
    names = values.names(secret).to_pylist()
    return MergedClasses(group.counts[order], owner[order], of[shown], codes[shown], values.counts[shown], names, sizes)


def _parts(sources: Sequence[str], columns: Sequence[str], secret: str, ctx: AuditContext) -> Iterator[Table]:
    if ctx.pairs is None:
        return
    for left, right in ctx.pairs.pairs(list(dict.fromkeys(sources)), [*columns, secret]):
        mine = {f"\0{i}": left[s] for i, s in enumerate(sources)}
        yield Table({**mine, **{c: right[c] for c in (*columns, secret)}}, left.rows)


@lru_cache(maxsize=100_000)
def posteriors(groups: tuple[int, ...], holders: int, confidence: float) -> tuple[float, ...]:
    """Return for a member of each group the probability of the value.

    Parameters
    ----------
    groups : sizes of the groups, each at least 1
    holders : how many people of the class have the value, at least 1 and fewer than all
    confidence : the share of a group beyond which the groups were merged

    Returns
    -------
    The prior, ``holders`` / n, for every group where no assignment breaks the bound.
    """
    size = sum(groups)
    share = holders / size
    terms = [_terms(g, share, confidence, holders) for g in groups]
    before, after = _running(terms, holders), _running(terms[::-1], holders)[::-1]
    broken = _at(before[-1].some, holders)
    if broken <= 0.0:
        return (share,) * len(groups)
    chances = []
    for i, (group, term) in enumerate(zip(groups, terms, strict=True)):
        rest = _joined(before[i], after[i + 1], holders)
        own = _Parted(term.none * np.arange(len(term.none)), term.some * np.arange(len(term.some)))
        chances.append(min(1.0, _at(_joined(rest, own, holders).some, holders) / broken / group))
    return tuple(chances)


@dataclass(frozen=True, slots=True, eq=False)
class _Parted:
    """Polynomials of the assignments in which ``none`` or ``some`` of the groups has too much. No term is below 0."""

    none: Floats
    some: Floats


def _terms(group: int, share: float, confidence: float, holders: int) -> _Parted:
    """Return the probabilities of a = 0, 1, … people of one group."""
    every: Floats = stats.binom.pmf(np.arange(min(holders, group) + 1), group, share)
    too_much = np.arange(len(every)) > np.floor(confidence * group + 1e-9)
    return _Parted(np.where(too_much, 0.0, every), np.where(too_much, every, 0.0))


def _joined(left: _Parted, right: _Parted, holders: int) -> _Parted:
    none = np.convolve(left.none, right.none)[: holders + 1]
    either = np.convolve(left.some, right.none + right.some) + np.convolve(left.none, right.some)
    return _Parted(none, either[: holders + 1])


def _running(terms: Sequence[_Parted], holders: int) -> list[_Parted]:
    """Return the products of the first 0, 1, … terms, as far as they matter."""
    products = [_Parted(np.ones(1), np.zeros(1))]
    for term in terms:
        products.append(_joined(products[-1], term, holders))
    return products


def _at(polynomial: Floats, degree: int) -> float:
    return float(polynomial[degree]) if degree < len(polynomial) else 0.0
