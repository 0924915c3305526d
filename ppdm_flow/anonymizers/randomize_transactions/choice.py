"""The operator: as the parameters say, or the best that keeps the requirement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from ppdm_flow.anonymizers.randomize_transactions.observed import ObservedSets
from ppdm_flow.anonymizers.randomize_transactions.spec import EVERY, RandomizeTransactionsParams
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.transactions.choosing import Challenge, SizeChoice, choose
from ppdm_flow.mining.transactions.operators import TransactionOperator
from ppdm_flow.mining.transactions.prevalent import SizePool, pools, prevalent
from ppdm_flow.requirements.itemset_breach.requirement import ItemsetBreach

V = TypeVar("V")
Maxima = Mapping[int, tuple[float, ...]]

NEARLY_ALL = 0.95
"""A share of the sets from which on raising the level above it is no advice."""


@dataclass(frozen=True, slots=True, eq=False)
class SizedOperatorChoice:
    """``maxima``: m -> largest supports; ``estimated``: the lengths whose maxima are those of the data, in pools."""

    operator: TransactionOperator
    requirement: ItemsetBreach | None
    maxima: Maxima = field(default_factory=dict)
    estimated: tuple[SizePool, ...] = ()
    choices: Mapping[int, SizeChoice] = field(default_factory=dict)


def operator_for(
    params: RandomizeTransactionsParams, sets: ObservedSets, requirement: ItemsetBreach | None
) -> SizedOperatorChoice:
    """Return the operator. Raises PluginError PPF773 where nothing keeps the level, PPF782 for parameters amiss."""
    if params.chooses and requirement is None:
        text = f"nothing says how to randomize `{sets.name}`: there is no `privacy.itemset_breach` on it"
        raise PluginError(Diagnostic("PPF780", text))
    maxima, estimated = _maxima(sets, requirement)
    if not params.chooses or requirement is None:
        return SizedOperatorChoice(_given(params, sets), requirement, maxima, estimated)
    _refuse_known(sets, requirement, maxima)
    picked = choose(
        maxima,
        sets.numbers,
        len(sets.alphabet),
        level=requirement.level,
        lengths=requirement.sizes,
        challenge=Challenge(params.challenge),
        cutoff=params.largest_cutoff,
    )
    return SizedOperatorChoice(picked.operator, requirement, maxima, estimated, picked.choices)


def _maxima(sets: ObservedSets, requirement: ItemsetBreach | None) -> tuple[Maxima, tuple[SizePool, ...]]:
    """Return the maxima of each length: the policy's, or else those of the data in the pool of the length."""
    if requirement is None:
        return {}, ()
    given = {m: requirement.declared(m) for m in sets.numbers if m}
    if all(given.values()):
        return given, ()
    together = pools(sets.numbers, requirement.pool)
    shares = prevalent(sets.partitions, together, len(sets.alphabet), max(requirement.sizes)).maxima()
    for place, pool in enumerate(together):
        for m in pool.sizes:
            given[m] = given[m] or tuple(float(s) for s in np.minimum(shares[:, place], 1.0))
    missing = tuple(p for p in together if not all(requirement.declared(m) for m in p.sizes))
    return given, missing


def _refuse_known(sets: ObservedSets, requirement: ItemsetBreach, maxima: Maxima) -> None:
    """Raise PluginError PPF773 where an item is expected with the level already, before anything is released."""
    known = {m: shares[0] for m, shares in maxima.items() if shares[0] >= requirement.level}
    if not known:
        return
    most = max(known, key=lambda m: known[m])
    text = (
        f"a level of {requirement.level:g} cannot be kept for `{sets.name}`: the most frequent item is in"
        f" {known[most]:.1%} of the sets of {most} item{'s' * (most > 1)}, so it is expected in each, whatever is"
        " released"
    )
    others = len(known) - 1
    note = f"the same is true of {others} other length{'s' * (others > 1)}" if others else ""
    higher = f"ask for a level above {known[most]:.3g}, " if known[most] < NEARLY_ALL else ""
    hint = f"{higher}shorten the sets with `limit_items`, or leave that item out (`without`)"
    raise PluginError(Diagnostic("PPF773", text, notes=(note,) if note else (), hint=hint))


def _given(params: RandomizeTransactionsParams, sets: ObservedSets) -> TransactionOperator:
    sizes, number = tuple(sets.numbers), len(sets.alphabet)
    try:
        match params.operator:
            case "none":
                return TransactionOperator.none(sizes, number)
            case "uniform":
                return TransactionOperator.uniform(sizes, params.keep or 0.0, number, params.insert or 0)
            case "select_a_size":
                retained = {m: _law(params.retained or {}, m, sets) for m in sizes}
                return TransactionOperator.select_a_size(retained, _all(params.insertion, "insertion", sets), number)
        cutoffs = _all(params.cutoff, "cutoff", sets)
        return TransactionOperator.cut_and_paste(cutoffs, _all(params.insertion, "insertion", sets), number)
    except ValueError as error:
        raise PluginError(Diagnostic("PPF782", f"`{sets.name}` cannot be randomized so: {error}")) from None


def _all(given: Mapping[int, V] | None, parameter: str, sets: ObservedSets) -> dict[int, V]:
    return {m: _of(given or {}, m, parameter, sets) for m in sets.numbers}


def _of(given: Mapping[int, V], size: int, parameter: str, sets: ObservedSets) -> V:
    """Return what is given for sets of ``size`` items; empty ones may take what the smallest length has."""
    value = given.get(size, given.get(EVERY))
    if value is None and size == 0 and given:
        value = given[min(given)]
    if value is None:
        raise _silent(size, parameter, sets, "give one number, or one for each length that occurs")
    return value


def _law(given: Mapping[int, tuple[float, ...]], size: int, sets: ObservedSets) -> tuple[float, ...]:
    """Return the law for sets of ``size`` items; of empty ones nothing can be kept."""
    law = given.get(size, (1.0,) if size == 0 else None)
    if law is None:
        raise _silent(size, "retained", sets, "give one law for each length that occurs")
    return law


def _silent(size: int, parameter: str, sets: ObservedSets, hint: str) -> PluginError:
    text = f"`{sets.name}` has sets of {size} item{'s' * (size != 1)}, and `{parameter}` says nothing of these"
    return PluginError(Diagnostic("PPF782", text, hint=hint))
