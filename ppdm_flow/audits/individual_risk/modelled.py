"""Which log-linear model the number of population uniques is estimated by, and whether it fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ppdm_flow.mining.samples.log_linear import Term, main_effects, two_way
from ppdm_flow.mining.samples.uniques import PopulationUniques, SampleKeys, estimate

LIMIT = 2.0
"""A statistic of fit beyond it, in standard deviations, speaks against the model."""
_NAMES = {"main_effects": "main effects", "two_way": "two-way interactions"}
_CELLS = {"main_effects": 1 << 22, "two_way": 1 << 20}
"""Possible keys up to which a model is fitted: its tables are held in memory, and swept up to 200 times."""
_FEWEST = {"main_effects": 2, "two_way": 3}
"""Attributes from which on a model has fewer parameters than the table has cells."""


@dataclass(frozen=True, slots=True)
class ModelledUniques:
    """``uniques`` by the model of that ``name``; None where there is none, and ``note`` says why."""

    uniques: PopulationUniques | None
    note: str
    name: str = ""

    def figures(self) -> dict[str, float | None]:
        """Return the figures, by the part of their name after the audit's."""
        u = self.uniques
        fits = (None, None) if u is None else u.fits
        return {
            "population_uniques": None if u is None else u.population_uniques,
            "correct_matches": None if u is None else u.correct_matches,
            "fit_population_uniques": fits[0],
            "fit_correct_matches": fits[1],
        }

    @property
    def misfit(self) -> str:
        """What speaks against the estimates; empty where nothing does."""
        if self.uniques is None:
            return ""
        if not self.uniques.converged:
            return f"the log-linear model with {_NAMES[self.name]} was not fitted to the end: its estimates are rough"
        if self.uniques.misfit <= LIMIT:
            return ""
        worst = max(self.uniques.fits, key=lambda fit: abs(fit or 0.0)) or 0.0
        why = "too simple, mostly too high" if worst > 0 else "too large for so few rows, mostly too low"
        model, _, side = why.partition(", ")
        return (
            f"the log-linear model with {_NAMES[self.name]} does not fit (B/√v = {worst:.1f}, from -{LIMIT:g} to"
            f" {LIMIT:g} where it does): it is {model}, and the numbers of population uniques and of correct matches"
            f" are off, {side}"
        )


def modelled(keys: SampleKeys, model: str) -> ModelledUniques:
    """Estimate by ``model``; by the simplest that fits, or the one that fits best, where it is ``fitting``."""
    if not len(keys.frequencies):
        return ModelledUniques(None, "there are no rows")
    if not (keys.frequencies == 1).any():
        return ModelledUniques(
            PopulationUniques(0.0, 0.0, (None, None), converged=True), "there are no sample uniques", model
        )
    widths = [w for w in keys.widths if w > 1]
    wanted = list(_NAMES) if model == "fitting" else [model]
    possible = [m for m in wanted if len(widths) >= _FEWEST[m] and keys.cells <= _CELLS[m]]
    if not possible:
        few = len(widths) < min(_FEWEST[m] for m in wanted)
        why = "fewer parameters than cells need more quasi-identifiers" if few else "there are too many possible keys"
        return ModelledUniques(None, f"no log-linear model was fitted: {why}")
    name, uniques = _first_that_fits(_tried(keys, possible))
    return ModelledUniques(uniques, f"by the model with {_NAMES[name]}", name)


def _tried(keys: SampleKeys, models: Sequence[str]) -> Iterator[tuple[str, PopulationUniques]]:
    for model in models:
        yield model, estimate(keys, _terms(model, len(keys.widths)))


def _terms(model: str, attributes: int) -> tuple[Term, ...]:
    return main_effects(attributes) if model == "main_effects" else two_way(attributes)


def _first_that_fits(tried: Iterator[tuple[str, PopulationUniques]]) -> tuple[str, PopulationUniques]:
    best: tuple[str, PopulationUniques] | None = None
    for name, uniques in tried:
        if best is None or uniques.misfit < best[1].misfit:
            best = name, uniques
        if uniques.misfit <= LIMIT:
            break
    if best is None:
        raise ValueError("no model was tried")
    return best
