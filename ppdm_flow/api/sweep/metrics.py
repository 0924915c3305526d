"""Which figures a sweep looks at, and which side of each is better."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.results import Figure, RequirementResult
from ppdm_flow.core.suggest import closest
from ppdm_flow.engine.judging.results import JudgedResults
from ppdm_flow.plan.definition import Plan
from ppdm_flow.report.run.fields import OF_ATTRIBUTE, TOTAL, is_total

_DIRECTIONS = ("min", "max")
_SMALLER = frozenset(
    {
        "above_baseline",
        "advantage",
        "auc",
        "closer_to_training",
        "confidence",
        "dissimilarity",
        "eigenvalue_change",
        "error_increase",
        "inferences",
        "items_lost",
        "largest_association_change",
        "largest_column_ratio",
        "largest_correlation_change",
        "largest_generalization_loss",
        "largest_il1s",
        "largest_of_columns",
        "largest_total_variation",
        "lost_support",
        "margin",
        "marketer_average",
        "mean_association_change",
        "mean_correlation_change",
        "mean_generalization_loss",
        "mean_il1s",
        "mean_total_variation",
        "nas",
        "new_support",
        "occurrences_lost",
        "pmse",
        "prosecutor_average",
        "prosecutor_highest",
        "risk",
        "rows_below",
        "rows_lost",
        "share_beyond_delta",
        "support_difference",
        "suppressed_cells",
        "suppressed_share",
        "uniques",
        "worst_posterior",
    }
)
_LARGER = frozenset(
    {
        "aggregate_utility",
        "distribution_utility",
        "equal_itemsets",
        "expected_record_utility",
        "genuine",
        "information_kept",
        "k",
        "likeness",
        OF_ATTRIBUTE,
        TOTAL,
        "pair_likeness",
        "record_utility",
        "recovered",
        "smallest_group",
        "smallest_l",
    }
)
_UTILITY = ("error_increase", "record_utility", "dissimilarity", "equal_itemsets", "recovered")
"""Looked at where no metric is named and the policy gates none, if they are there; information kept is always."""


@dataclass(frozen=True, slots=True)
class RequestedMetric:
    """A figure as the user named it; ``direction`` is ``min``, ``max`` or empty."""

    name: str
    direction: str = ""


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure by its full name. ``direction`` is ``min``, ``max`` or, where neither side is better, empty."""

    name: str
    unit: str
    direction: str
    privacy: bool


def requested_metrics(words: Iterable[str]) -> tuple[RequestedMetric, ...]:
    """Return the metrics of ``NAME[:min|:max],…`` words. Raises UsageError."""
    requested: dict[str, RequestedMetric] = {}
    for text in (part.strip() for word in words for part in word.split(",")):
        name, mark, direction = text.partition(":")
        if not name or (mark and direction not in _DIRECTIONS) or name in requested:
            help_ = "write `--metrics NAME,NAME`, each once, with `:min` or `:max` behind a name where you want it"
            raise UsageError(Diagnostic("PPF120", f"`--metrics {text}` cannot be understood", help=help_))
        requested[name] = RequestedMetric(name, direction)
    return tuple(requested.values())


def check(every: Iterable[RequestedMetric], plans: Sequence[Plan]) -> None:
    """Raise UsageError for metrics that no audit, step or requirement of any plan can have."""
    owners = dict.fromkeys(owner for plan in plans for owner in _owners(plan))
    releases = dict.fromkeys(r.name for plan in plans for r in plan.releases)
    faults = [fault for w in every if (fault := _fault(w.name, tuple(owners), tuple(releases))) is not None]
    if faults:
        raise UsageError(faults)


def metrics(
    every: Sequence[RequestedMetric], runs: Iterable[JudgedResults], plan: Plan
) -> tuple[tuple[Metric, ...], list[str]]:
    """Return the figures that were asked for, else those that the policy judges, and the names that gave none."""
    metric_of: dict[str, Metric] = {}
    missing = {w.name: None for w in every}
    for run in runs:
        for each in every or _judged(run) or ():
            for name in _full(each.name, run, plan):
                metric_of.setdefault(name, _metric(name, run, plan, each.direction))
                missing.pop(each.name, None)
        if not every:
            required = all(metric_of[n].privacy for n in metric_of if not is_total(n))
            last = {n: n.rpartition(".")[2] for n in run.metrics if n not in metric_of}
            useful = [n for n in last if last[n] == TOTAL or (required and last[n] in _UTILITY)]
            metric_of |= {name: _metric(name, run, plan, "") for name in useful}
    return tuple(metric_of.values()), list(missing)


def near(name: str, runs: Iterable[JudgedResults]) -> str | None:
    """Return the measured figure whose name is most like this one."""
    known = dict.fromkeys(full for run in runs for full in run.metrics)
    return closest(name, known) or next((full for full in known if full.rpartition(".")[2] == name), None)


def _judged(run: JudgedResults) -> list[RequestedMetric]:
    return [RequestedMetric(r.metric) for r in (*run.requirements, *run.gates)]


def _full(name: str, run: JudgedResults, plan: Plan) -> list[str]:
    """Return the full names of the figures that a name means: of one release or of all, with ``privacy.`` or not."""
    release, slash, own = name.rpartition("/")
    releases = [release] if slash else [r.name for r in plan.releases]
    several = len(plan.releases) > 1
    for base in (own, f"privacy.{own}"):
        judged = dict.fromkeys(r.metric for r in run.requirements if r.id == base and r.release in releases)
        names = [f"{r}/{m}" if several else m for m in (judged or (base,)) for r in releases]
        here = [n for n in names if n in run.metrics]
        if here or (not slash and base in run.metrics):
            return here or [base]
    return []


def _metric(name: str, run: JudgedResults, plan: Plan, direction: str) -> Metric:
    figure: Figure = run.metrics[name]
    release, slash, own = name.rpartition("/")
    if not slash and len(plan.releases) == 1:
        release = plan.releases[0].name
    required = [r for r in run.requirements if r.metric == own and r.release in (release, "")]
    gates = [g for g in run.gates if g.metric in (own, name)]
    return Metric(name, figure.unit, direction or _direction(own, [*required, *gates]), privacy=bool(required))


def _direction(name: str, judged: Sequence[RequirementResult]) -> str:
    """Return the side that a bound on the figure, or else its name, says is better."""
    sides = {r.direction for r in judged}
    if len(sides) == 1:
        return "min" if sides == {"at_most"} else "max"
    last = name.rpartition(".")[2]
    return "min" if last in _SMALLER else "max" if last in _LARGER else ""


def _owners(plan: Plan) -> list[str]:
    return [*(n.name for n in plan.steps), *(n.name for n in plan.audits), *(r.id for r in plan.requirements)]


def _fault(name: str, owners: tuple[str, ...], releases: tuple[str, ...]) -> Diagnostic | None:
    release, slash, own = name.rpartition("/")
    if slash and release not in releases:
        return _unknown(f"there is no release `{release}`", closest(release, releases), f"/{own}")
    for each in (own, f"privacy.{own}"):
        if each in owners and each.startswith("privacy."):
            return None
        if any(each.startswith(f"{owner}.") for owner in owners):
            return None
    owner, _, figure = own.rpartition(".") if own.startswith("privacy.") else own.partition(".")
    if owner in owners:
        return _unknown(f"`{own}` is not a complete metric: write `{owner}.FIGURE`", None, "")
    listed: Mapping[str, None] = dict.fromkeys(owners)
    near_ = closest(owner, listed)
    return _unknown(f"no audit, step or requirement is named `{owner}`", near_, f".{figure}" if figure else "")


def _unknown(text: str, near_: str | None, rest: str) -> Diagnostic:
    return Diagnostic("PPF615", f"--metrics: {text}", help=f"did you mean `{near_}{rest}`?" if near_ else None)
