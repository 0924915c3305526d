"""From requirements to the models that the search enforces."""

from __future__ import annotations

from collections.abc import Sequence

from ppdm_flow.anonymizers.class_models.sensitive import Sensitive, dense, ranked
from ppdm_flow.anonymizers.class_models.task import Task
from ppdm_flow.core.requirement import OnSensitive
from ppdm_flow.mining.recoding import models
from ppdm_flow.requirements.alpha_k.requirement import AlphaK
from ppdm_flow.requirements.beta_likeness.requirement import BetaLikeness
from ppdm_flow.requirements.delta_disclosure.requirement import DeltaDisclosure
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.k_map.requirement import KMap
from ppdm_flow.requirements.l_diversity.requirement import Diversity, LDiversity
from ppdm_flow.requirements.lkc.requirement import LKC
from ppdm_flow.requirements.t_closeness.requirement import Distance, TCloseness
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.tables.counts import Counts


class Asked:
    """``models``, and the ``sensitive`` columns that their places mean."""

    def __init__(self, task: Task, counts: Counts, ctx: StepContext, extra: Sequence[str] = ()) -> None:
        self.sensitive = [dense(counts, name, ctx.nulls) for name in dict.fromkeys((*extra, *task.sensitive))]
        self.places = {s.name: i for i, s in enumerate(self.sensitive)}
        self.models: list[models.Model] = [models.KAnonymous(task.least)] if task.least > 1 else []
        self.compares = any(isinstance(r, TCloseness | DeltaDisclosure | BetaLikeness) for r in task.enforced)
        for requirement in task.enforced:
            if isinstance(requirement, OnSensitive):
                self.models.append(self._on_sensitive(requirement, counts, ctx))
            elif isinstance(requirement, KMap):
                self.models.append(models.KMap(requirement.k))
            elif not isinstance(requirement, KAnonymity):
                self.models += self._lkc(requirement)

    def _on_sensitive(self, asked: OnSensitive, counts: Counts, ctx: StepContext) -> models.Model:
        at = self.places[asked.attribute]
        if isinstance(asked, LDiversity):
            return _diverse(asked, at)
        if isinstance(asked, DeltaDisclosure):
            return models.DeltaDisclosing(at, asked.delta)
        if isinstance(asked, BetaLikeness):
            return models.BetaLike(at, asked.beta)
        if isinstance(asked, AlphaK):
            return models.AlphaBounded(at, asked.alpha, self._codes(at, asked.values))
        if not isinstance(asked, TCloseness):
            raise TypeError(f"the search keeps no `{asked.kind}`")
        if asked.distance is Distance.EQUAL:
            return models.Close(at, asked.t)
        self.sensitive.append(ranked(counts, asked, ctx.attributes.get(asked.attribute)))
        return models.Close(len(self.sensitive) - 1, asked.t, ordered=True)

    def _lkc(self, asked: LKC) -> list[models.Model]:
        if asked.c is None:
            return []
        names = dict.fromkeys(name for name, _ in asked.sensitive)
        pairs = {name: self._codes(self.places[name], [v for n, v in asked.sensitive if n == name]) for name in names}
        return [models.UnionBounded(self.places[n], asked.c, codes) for n, codes in pairs.items() if codes]

    def _codes(self, at: int, values: Sequence[str]) -> tuple[int, ...]:
        """Return the codes of the values that occur; one that nothing has, where none of those that are asked does."""
        own: Sensitive = self.sensitive[at]
        return tuple(own.place.get(v, own.size) for v in values)


def _diverse(asked: LDiversity, at: int) -> models.Model:
    if asked.variant is Diversity.DISTINCT:
        return models.DistinctDiverse(at, asked.l)
    if asked.variant is Diversity.ENTROPY:
        return models.EntropyDiverse(at, asked.l)
    return models.RecursiveDiverse(at, asked.c or 1.0, round(asked.l))
