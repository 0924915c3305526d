"""All inferences of one template on one table, over its several sensitive attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.sizes import classes
from ppdm_flow.requirements.templates.inference import Images, Inferences, inferences
from ppdm_flow.requirements.templates.requirement import InferenceTemplate
from ppdm_flow.sdk.view import DataView


@dataclass(frozen=True, slots=True)
class TemplateTarget:
    """A column that carries a sensitive attribute, and what may stand for each of its sensitive values."""

    attribute: str
    column: str
    images: Images


@dataclass(frozen=True, slots=True, eq=False)
class TemplateSurvey:
    """The inferences of a template to each of its targets. The groups are the same for all of them.

    ``smallest`` is the number of rows of the smallest group, where the template bounds it. ``repeated`` are the
    original rows in some group, where rows are generated: then it is they that are counted.
    """

    targets: tuple[TemplateTarget, ...]
    by_target: tuple[Inferences, ...]
    smallest: int
    repeated: int | None = None

    @property
    def worst(self) -> float:
        """The highest confidence."""
        return max((f.worst for f in self.by_target), default=0.0)

    @property
    def worst_pair(self) -> tuple[str, str] | None:
        """The sensitive attribute and value that can be inferred with the highest confidence."""
        present = [(f.worst, i) for i, f in enumerate(self.by_target) if len(f.confidence)]
        if not present:
            return None
        best = max(present, key=lambda p: (p[0], -p[1]))[1]
        inferred, target = self.by_target[best], self.targets[best]
        return target.attribute, tuple(target.images)[int(inferred.value[int(inferred.confidence.argmax())])]

    def inferences(self, threshold: float) -> int:
        """Return how many inferences exceed ``threshold``."""
        return sum(int(f.beyond(threshold).sum()) for f in self.by_target)

    def groups(self, threshold: float) -> tuple[int, int]:
        """Return how many groups allow an inference beyond ``threshold``, and how many rows stand in them."""
        if not self.by_target:
            return 0, 0
        hit = np.logical_or.reduce([f.groups_beyond(threshold) for f in self.by_target])
        return int(hit.sum()), int(self.by_target[0].rows[hit].sum())


def survey(
    template: InferenceTemplate, view: DataView, channel: Sequence[str], targets: Iterable[TemplateTarget], nulls: Nulls
) -> TemplateSurvey:
    """Measure a template on a table; the groups' rows only where it bounds them."""
    every = tuple(targets)
    by_target = tuple(inferences(view, channel, t.column, t.images, nulls, negated=template.negated) for t in every)
    return TemplateSurvey(
        every, by_target, classes(view.counts(channel), nulls).k if template.smallest_group > 1 else 0
    )


def by_attribute(template: InferenceTemplate) -> Mapping[str, tuple[str, ...]]:
    """Return the sensitive values of a template by attribute, in the order of the policy."""
    values_by_attribute: dict[str, tuple[str, ...]] = {}
    for attribute, value in template.pairs:
        values_by_attribute[attribute] = (*values_by_attribute.get(attribute, ()), value)
    return values_by_attribute
