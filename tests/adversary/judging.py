"""Engine and oracle compared on one case: where they differ, and how."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from adversary.crowds import Release
from adversary.generated import NOBODY, Repeating
from adversary.groups import Alone, View
from adversary.lineage import SOURCE, grouping, origin, released, way
from adversary.oracle import Judged, judge, refusals
from adversary.policies import Case, Policy
from adversary.together import fewest, together
from adversary.trial import REFUSED, Tried, attempt
from ppdm_flow.core.results import RequirementResult

OF_ALL_FILES = (
    *("k_anonymity", "l_diversity", "t_closeness", "alpha_k", "beta_likeness", "delta_disclosure"),
    *("lkc", "templates", "special_uniques"),
)


@dataclass(frozen=True)
class Compared:
    """What came of a case, and what is wrong with it; ``refused`` for what."""

    number: int
    verdict: str
    faults: tuple[str, ...] = ()
    refused: str = ""


def compare(case: Case) -> Compared:
    """Carry out a case and hold every figure against the oracle's."""
    tried = attempt(case)
    reasons = refusals(case.policy, released(case.policy))
    if broken := [code for code in tried.codes if code.startswith("PPF9")]:
        return Compared(case.number, "failed", (f"the engine failed: {broken[0]}",))
    if tried.verdict == REFUSED:
        why = "for what the oracle refuses it" if reasons else " ".join(tried.codes)
        return Compared(case.number, REFUSED, refused=why)
    if reasons:
        return Compared(case.number, tried.verdict, (f"not refused: {reasons[0].split(' in ')[0]}",))
    wanted = expected(case, tried)
    return Compared(case.number, tried.verdict, tuple(faults(tried, wanted)))


def expected(case: Case, tried: Tried) -> list[Judged]:
    """Return what the oracle makes of the releases."""
    releases, rows = tried.releases or {}, tried.rows or {}
    views: dict[str, View] = {}
    views |= {
        n: Repeating(r, tried.generations[n]) if n in tried.generations else Alone(r) for n, r in releases.items()
    }
    alone = [replace(_of_nobody(j), release=name) for name, view in views.items() for j in judge(case.policy, view)]
    releases = {n: r for n, r in releases.items() if n not in tried.generations}  # nobody is found in two of the others
    if len(releases) < 2 or case.policy.get("recipients") == "apart":
        return alone
    names = list(releases)
    alone += _cumulative(case.policy, releases)
    gone = {
        (i, j): dropped(case.policy, releases[one], two, rows)
        for i, one in enumerate(names)
        for j, two in enumerate(names)
        if i != j
    }
    found: dict[tuple[str, str, str], Judged] = {}
    for seen in together(list(releases.values()), gone):
        for judged in judge(case.policy, seen.view):
            if seen.of is None:
                judged = replace(judged, release=" + ".join(names))
            else:
                judged = replace(judged, release=names[seen.of], metric=_named(judged, seen.kind))
            key = (judged.id, judged.release, judged.metric)
            found[key] = _worse(found.get(key, judged), judged)
    return [*alone, *found.values()]


def _cumulative(policy: Policy, releases: Mapping[str, Release]) -> Iterator[Judged]:
    """Judge the groups of people that each release and those before it leave."""
    clause = policy["privacy"].get("cumulative_k")
    if clause is None:
        return
    id_, bound, seen = "privacy.cumulative_k", float(clause["k"]), list(releases.values())
    for i, name in enumerate(releases):
        least = fewest(seen[i], seen[:i], grouping(clause, policy))
        yield Judged(id_, f"{id_}.k", float(least), bound, False, least >= bound, name)


def _of_nobody(judged: Judged) -> Judged:
    """Return what the engine says where rows repeat nobody's."""
    if judged.measured != NOBODY:
        return judged
    return replace(judged, metric=f"{judged.id}.repeated", measured=0.0, bound=0.0, at_most=True)


def _named(judged: Judged, kind: str) -> str:
    """Return what the engine calls a figure on people of several releases."""
    figure = judged.metric.removeprefix(f"{judged.id}.")
    return f"{judged.id}.together_{'dropped' if figure == 'k' and kind == 'dropped' else figure}"


def _worse(one: Judged, two: Judged) -> Judged:
    """Return the worse of two figures: one that nobody can tell, else the larger or the smaller."""
    if one.holds != two.holds:
        return two if one.holds else one
    if one.measured is None or two.measured is None:
        return one if two.measured is None else two
    side = max if one.at_most else min
    return replace(one, measured=side(one.measured, two.measured))


def dropped(policy: Policy, release: Release, other: str, rows: Mapping[str, set[int]]) -> tuple[int, ...]:
    """Return the rows of a release whose people a step, not at random, dropped on the way to another."""
    place, gone = origin(policy, other), set()
    here = rows[SOURCE]
    for step in way(policy, place):
        after = set().union(*(r for p, r in rows.items() if p.partition(".")[0] == step))
        if policy["steps"][step]["use"] != "sample":
            gone |= here - after
        here = after
    return tuple(i for i, o in enumerate(release.origins) if o in gone)


def faults(tried: Tried, wanted: list[Judged]) -> Iterator[str]:
    """Yield where what was judged differs from what was wanted, the verdict first."""
    wanted = [j for j in wanted if not _is_of_all_files(j)]
    holds = all(j.holds for j in wanted)
    ours = [r for r in tried.judged if not (r.id.startswith("privacy.sensitivities") or _is_of_all_files(r))]
    released_ = all(r.passes for r in ours)
    if released_ and not holds:
        yield f"RELEASED, and {next(j for j in wanted if not j.holds).id.split('.')[1]} does not hold"
    if holds and not released_:
        yield f"WITHHELD for {next(r for r in ours if not r.passes).id.split('.')[1]}, and all holds"
    by_name = {(j.id, j.release, j.metric): j for j in wanted}
    unverifiable = {(j.id, j.release) for j in wanted if _is_of_one(j) and j.measured is None and not j.holds}
    for result in ours:
        other = by_name.get((result.id, result.release, result.metric))
        if other is None and result.metric.endswith(".columns"):
            continue  # that none is released
        if not _is_of_one(result) and (result.id, result.release) in unverifiable:
            continue  # both withhold the release alone, and what others add to it is not told in one way
        if other is None:
            yield f"unknown figure {result.metric}"
        elif not _same(result, other):
            yield f"figure {result.id.split('.')[1]} {result.metric.rsplit('.')[-1]}"


def _is_of_one(judged: Judged | RequirementResult) -> bool:
    """Whether a figure is about one release alone."""
    return ".together_" not in judged.metric


def _is_of_all_files(judged: Judged | RequirementResult) -> bool:
    """Whether a figure is of what all files of a run tell together, which `adversary.reader` judges."""
    several = ".together_" in judged.metric or " + " in judged.release
    return several and judged.id.split(".")[1] in OF_ALL_FILES


def _same(result: RequirementResult, other: Judged) -> bool:
    one, two = (math.nan if v is None or math.isinf(v) else float(v) for v in (result.measured, other.measured))
    if other.measured is None:  # nothing is told, or nobody can say
        return result.passes == other.holds
    return result.passes == other.holds and (
        (math.isnan(one) and math.isnan(two)) or abs(one - two) <= 1e-7 * max(1.0, abs(two))
    )
