"""Policies and plans held against data: for the columns that it has, and with what its rows let one expect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ppdm_flow.api.loading.policies import ON_SPARK, ReadyPlan, quote_sources, ready_plan, unchosen, valid_plan
from ppdm_flow.core.addresses import is_bucket
from ppdm_flow.core.clock import Clock, utc_today
from ppdm_flow.core.diagnostics import has_errors, in_order
from ppdm_flow.core.file_sets import telling_name
from ppdm_flow.core.phrases import counted
from ppdm_flow.engine.buckets.copies import BucketCopies
from ppdm_flow.engine.linked.sources import data_columns
from ppdm_flow.engine.run.preview import Preview, chosen_fields, preview
from ppdm_flow.plan.compile import CompileResult, compile_policy
from ppdm_flow.plan.definition import Plan
from ppdm_flow.policy import PolicyReading, load
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.loading import NO_SETS, NOTHING_OVER
from ppdm_flow.policy.requirements import awaits_data


def plan_for_data(
    path: Path,
    sets: Mapping[str, str],
    data: Path | None,
    *,
    strict: bool = False,
    over: Mapping[PolicyPath, str] = NOTHING_OVER,
    locked: bool = False,
    any_params: bool = False,
    clock: Clock | None = utc_today,
    copies: BucketCopies | None = None,
    cluster: bool = False,
) -> ReadyPlan:
    """Return a valid plan for the columns of ``data``, else of the policy's own file; the rest is as in `ready_plan`.

    What requirements protect is chosen from its rows where they say so, and no later: not on a ``cluster``. Own data in
    an object store is copied by ``copies``. Raises PolicyError, DataError.
    """

    def choose(loaded: PolicyReading) -> Mapping[PolicyPath, Any]:
        if cluster:
            raise unchosen(loaded, ON_SPARK)
        return _chosen(loaded, data, copies)

    ready = ready_plan(
        path, sets, data, strict=strict, over=over, locked=locked, any_params=any_params, clock=clock, choose=choose
    )
    with quote_sources(ready.sources, ready.plan.secrets):
        there = _local(ready.plan, data, copies)
        bound = valid_plan(ready.loaded, data_columns(ready.plan, there), data, strict=strict, clock=clock)
        if ready.locked_policy is not None:
            ready.locked_policy.still(ready.loaded, bound.plan)
    return replace(bound, locked_policy=ready.locked_policy, data=there)


def _local(plan: Plan, data: Path | None, copies: BucketCopies | None) -> Path | None:
    """Return what is read: the data, or a copy of the policy's own where that is in an object store."""
    own, paths = plan.source.path, [table.plan.source.path for table in plan.tables]
    if copies is not None and data is None and not paths and is_bucket(own):
        return copies.local(Path(own or ""))
    if copies is not None and data is None and any(map(is_bucket, paths)) and all(paths):
        return copies.local_tables([Path(path or "") for path in paths])
    return data


def _chosen(loaded: PolicyReading, data: Path | None, copies: BucketCopies | None) -> Mapping[PolicyPath, Any]:
    """Return the fields of requirements that are chosen from the data; none for a policy with faults.

    Raises DataError where the data cannot be read or nothing can be chosen, PolicyError where it is in a database.
    """
    name = None if data is None else telling_name(data)
    plan = compile_policy(loaded, None, name, None, digested=False).plan
    if plan is None:
        return {}
    with quote_sources(loaded.sources, plan.secrets):
        there = _local(plan, data, copies)
        if there is None and plan.source.server:
            raise unchosen(loaded, "of a file, and not of a database")
        bound = compile_policy(loaded, data_columns(plan, there), name, None, digested=False).plan
        return {} if bound is None else chosen_fields(bound, there)


def held_against(
    loaded: PolicyReading, outcome: CompileResult, data: Path, clock: Clock, sets: Mapping[str, str] = NO_SETS
) -> CompileResult:
    """Return the outcome for the columns that ``data`` has, with what its rows rule out or warn of.

    A policy that is wrong by itself is not held against data. ``sets`` are those that it was loaded with. Raises
    DataError where it cannot be read or does not match.
    """
    if outcome.plan is not None and awaits_data(loaded.policy) and not has_errors(outcome.diagnostics):
        loaded = load(Path(loaded.file), sets, chosen=_chosen(loaded, data, None))
        outcome = compile_policy(loaded, digested=False, clock=clock)
    if outcome.plan is None or has_errors(outcome.diagnostics):
        return outcome
    named = compile_policy(loaded, None, telling_name(data), clock, digested=False)  # its format may be another
    if named.plan is None or has_errors(named.diagnostics):
        return named
    with quote_sources(loaded.sources, named.plan.secrets):
        bound = compile_policy(loaded, data_columns(named.plan, data), telling_name(data), clock, digested=False)
        if bound.plan is None or has_errors(bound.diagnostics):
            return bound
        seen = preview(bound.plan, data).diagnostics
    return replace(bound, diagnostics=in_order((*bound.diagnostics, *seen)))


def previewed(
    path: Path, sets: Mapping[str, str], data: Path, *, strict: bool, locked: bool
) -> tuple[ReadyPlan, Preview]:
    """Return the plan for the data's columns, and what its rows let one expect. Raises PolicyError, DataError."""
    ready = plan_for_data(path, sets, data, strict=strict, locked=locked)
    with quote_sources(ready.sources, ready.plan.secrets):
        return ready, preview(ready.plan, data)


def expected(preview: Preview) -> str:
    """Return rows and cost estimates as text."""
    parts = [f"data    {preview.rows:,} rows"]
    if preview.used != preview.rows:
        parts.append(f"{preview.used:,} of them without a missing value")
    if preview.people != preview.used:
        parts.append(f"representing {preview.people:,}")
    costs = [
        f"        {c.step}: {c.passes} pass{'' if c.passes == 1 else 'es'}, {_about(c.seconds)}" for c in preview.costs
    ]
    return "\n".join([", ".join(parts), *_of_sets(preview), *costs]) + "\n"


def _of_sets(preview: Preview) -> list[str]:
    """Return what the sets are like, and how large they will be in each release."""
    parts = []
    for counts in preview.sets:
        text = f"sets    {counts.name}: {counts.mean:.3g} items each, at most {counts.longest:,}"
        text += f", of {len(counts.alphabet):,} distinct ones; {counts.empty:,} are empty"
        parts.append(text + (f", {counts.repeated:,} repeated items merged" if counts.repeated else ""))
        if preview.sizes:
            parts.append(
                f"        their sizes are released: {counted(counts.alone, 'set')} of a size that no other has"
            )
    parts += [f"        release {s.release}: about {_megabytes(s.octets)} as {s.form}" for s in preview.sizes]
    return parts


def _megabytes(octets: int) -> str:
    return f"{octets / 1e9:.2g} GB" if octets >= 1e9 else f"{max(octets, 1e5) / 1e6:.1f} MB"


def _about(seconds: float) -> str:
    return "below 0.01 s" if seconds < 0.01 else f"about {seconds:g} s"
