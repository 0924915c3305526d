"""The population that a release was taken from: its people in each released class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.attributes import Change
from ppdm_flow.mining.populations.matching import fitting
from ppdm_flow.mining.populations.population import PopulationFile as FileOf
from ppdm_flow.mining.populations.profiles import profiles
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.table import Table, concat

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class PopulationClassSizes:
    """Class sizes in the population that the release was taken from.

    ``sizes`` (classes,) of the released classes, at least what is released of them; ``note`` says what was taken.

    ``strangers`` counts released classes that the population does not have.
    """

    sizes: Integers
    note: str = ""
    strangers: int = 0


def population_of(
    file: str | None,
    released: Counts,
    original: DataView,
    ctx: AuditContext,
    counted: Callable[[Sequence[str]], Counts],
    *,
    whole: bool,
) -> PopulationClassSizes:
    """Return the population: the file's, or the original's where its classes are comparable, or the release itself.

    Generalized, perturbed or renamed values have no counterpart in the original: then only the release itself can be
    taken, which overstates the risk. A file is read as `k_map` reads one. Raises DataError where it cannot be used.

    ``released`` are the classes with their rows or people, ``counted`` counts those of the original over its columns.
    ``whole``: every row of the original is released.
    """
    columns = released.columns
    sizes = released.counts
    if file is not None:
        people = profiles(FileOf(path=file), released, ctx, "an audit `reidentification_risk`")
        fitting_people = fitting(released.codes, people)
        strangers = int((fitting_people < sizes).sum())
        return PopulationClassSizes(np.maximum(fitting_people, sizes), "", strangers)
    facts = [ctx.attributes[c] for c in columns if c in ctx.attributes]
    if any(f.was(Change.GENERATED) for f in facts):
        return PopulationClassSizes(sizes, "at most: generated rows belong to nobody, and only look like somebody's")
    if whole:
        return PopulationClassSizes(sizes, "every row of the original is released, so the release is the population")
    sources = [source_of(c, ctx) for c in columns]
    if any(f.was(*Change) for f in facts) or any(s not in original.schema for s in sources):
        return PopulationClassSizes(
            sizes, "at most: the classes of the original are not comparable, so the release stands for it"
        )
    own = counted(sources)
    return _sized(released, Counts(columns, own.categories, own.codes, own.counts))


def _sized(released: Counts, population: Counts) -> PopulationClassSizes:
    """Look the released classes up among those of the population."""
    both = concat(
        Table(
            {c: Column(np.ascontiguousarray(part.of(c)), part.names(c)) for c in released.columns},
            np.arange(len(part), dtype=np.int64),
        )
        for part in (released, population)
    )
    codes = np.empty((len(both), len(both.names)), dtype=np.int32)
    for i, name in enumerate(both.names):
        codes[:, i] = both[name].codes
    rows = np.concatenate([np.zeros(len(released), dtype=np.int64), population.counts])
    group, size = Counts(both.names, tuple(both[c].categories for c in both.names), codes, rows).groups(both.names)
    in_population = np.zeros(size, dtype=np.int64)
    np.add.at(in_population, group, rows)
    sizes = in_population[group[: len(released)]]
    return PopulationClassSizes(np.maximum(sizes, released.counts), "", int((sizes < released.counts).sum()))
