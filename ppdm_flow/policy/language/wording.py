"""The words for a kind of requirement, and for one that does not hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ppdm_flow.core import phrases

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Failure:
    """A requirement that does not hold on a release, for the texts of plan and report.

    ``requirement`` is its document, ``steps`` those of the steps that work towards it, ``released`` what was done to
    each attribute of the release, by its name in the source, and ``changing`` the steps that did it. ``result`` is what
    was measured (``measured``, ``bound``, ``sentence``). ``several_rows``: a person may have several rows.
    """

    requirement: Document
    steps: Sequence[Document]
    released: Mapping[str, Sequence[str]]
    changing: Mapping[str, Sequence[Document]] = field(default_factory=dict)
    result: Document = field(default_factory=dict)
    several_rows: bool = False

    @property
    def serving(self) -> list[str]:
        """The names of those steps, quoted."""
        return [f"`{step['name']}`" for step in self.steps]

    @property
    def who(self) -> str:
        """The same for a sentence."""
        return listed(self.serving)


@dataclass(frozen=True, slots=True)
class Wording:
    """The ``label`` of a kind, a ``clause`` on what one bounds (from its document), and ``advice`` where it fails.

    ``section`` is the title of the section of a report that its charts stand in; other charts come after. ``draft`` is
    its part of a first policy, if it has one.
    """

    label: str
    clause: Callable[[Document], str]
    advice: Callable[[Failure], str]
    section: str = ""
    draft: Callable[[DraftFacts], Draft | None] | None = None


@dataclass(frozen=True, slots=True)
class DraftFacts:
    """The input of a drafted first policy: documents of columns, and how many ``people`` one is to hide among.

    ``sets`` are columns of sets of items.
    """

    quasi_identifiers: Sequence[Document]
    sensitive: Sequence[Document]
    people: int
    sets: Sequence[Document] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """An entry for a first policy, with its ``reason``; as a ``comment`` where somebody has to fill something in."""

    reason: str
    entry: Document
    comment: bool = False


def listed(names: Sequence[str]) -> str:
    """``a, b and c``; of a long list only the first few and how many more."""
    return phrases.listed(names, 6)


RECODING = "`recode: {use: mondrian}`"
"""A step that makes groups which keep every requirement on groups, as advice writes it."""
LEAVING_OUT = "`small-groups: {use: suppress, with: {small: rows}}`"
"""A step that leaves out the rows of groups of fewer than k."""


_STRENGTHS = {"rank_swap": ("percent", 100.0), "add_noise": ("scale", 10.0), "microaggregation": ("k", 1e6)}
"""Parameters that say how much a step changes numbers, and their largest value."""


def stronger_steps(failure: Failure, names: Sequence[str]) -> list[str]:
    """Return larger parameters for the steps that change the numbers of ``names``, as far as their largest value.

    What is found falls about as fast as the parameter grows, so the parameter grows half as much again as what was
    measured exceeds its bound: what is drawn may be unlucky.
    """
    measured, bound = failure.result.get("measured"), failure.result.get("bound")
    factor = 1.5 * max(1.0, measured / bound) if measured and bound else 2.0
    steps = {step["name"]: step for name in names for step in failure.changing.get(name, ())}
    texts = []
    for name, step in steps.items():
        parameter, most = _STRENGTHS.get(step.get("use", ""), ("", 0.0))
        value = step.get("parameters", {}).get(parameter)
        if value is None or value >= most:
            continue
        larger = min(most, value * factor)
        texts.append(f"`{parameter}: {math.ceil(larger) if larger > _WHOLE else f'{larger:.2g}'}` in `{name}`")
    return texts


_WHOLE = 2.0
"""Larger parameters are written as whole numbers."""


def larger_classes(failure: Failure) -> str:
    """Say what to do where classes lack something that larger ones may have."""
    if failure.serving:
        return (
            f"{failure.who} works at it, and a later step changes its groups: let {RECODING} be the last step before"
            " the release, after all that change values or rows."
        )
    return (
        f"Add {RECODING} as the last step before the release: it makes values coarser only in the rows where a group"
        " lacks something, so that no column becomes `*` as a whole. It needs the `type` of numbers and dates."
        " `full_domain_recoding` gives each value one label everywhere, which loses more. Coarser sensitive values help"
        " t-closeness, and never l-diversity."
    )
