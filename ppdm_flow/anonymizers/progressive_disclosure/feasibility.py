"""Requirements that no suppression can satisfy (Wang, Fung, Yu, ICDM 2005, Lemma 3.3), and those that others imply.

Every disclosure only splits groups. So confidences never fall and the smallest group never grows, and each
requirement, be it a template (negated or not), a support or k-anonymity, is at its best on the most suppressed table,
all of them on the same one. Whatever fails there fails by itself: the smallest sets of requirements that cannot be met
together have one member each, and all the others can be met at once, each at the lowest h that this table shows.

Templates that others imply (Wang, Fung, Yu, ICDM 2005, Lemma 3.1): the search need not look at them.
A group over fewer attributes is a union of groups over more of them, so its confidence is a weighted mean of theirs,
and it has at least as many rows. In the search a row is in one group only, whatever the null semantics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ppdm_flow.anonymizers.progressive_disclosure.search import DisclosureSearch
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.requirement import within
from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.requirements.templates.requirement import InferenceTemplate


def infeasible(search: DisclosureSearch) -> tuple[Diagnostic, ...]:
    """Return a diagnostic for each requirement that the most suppressed table violates."""
    worst: dict[str, tuple[float, float]] = {}
    floors: list[Diagnostic] = []
    for place, channel in enumerate(search.problem.channels):
        for template, confidence in zip(channel.templates, search.confidences(place).tolist(), strict=True):
            if not within(confidence, template.confidence, at_most=True):
                known = worst.get(template.id, (0.0, 0.0))[0]
                worst[template.id] = (max(confidence, known), template.confidence)
        sizes, _ = search.groups(place)
        smallest = int(sizes.min(initial=search.problem.total))
        if len(sizes):
            floors += [_small(name, rows, smallest) for name, rows in channel.floors if smallest < rows]
    failing = len(worst) + len(floors)
    return (*(_template(name, *reached, failing) for name, reached in worst.items()), *floors)


def lowest(confidence: float) -> str:
    """Return a threshold that can be met, to be written into a policy: rounded up to six digits."""
    return f"{math.ceil(confidence * 1e6 - 1e-6) / 1e6:g}"


def _template(name: str, confidence: float, bound: float, failing: int) -> Diagnostic:
    alone = "by itself, whatever else is asked for" if failing == 1 else "by itself, as the others here do"
    return Diagnostic(
        "PPF784",
        f"`{name}` cannot be satisfied: with everything suppressed, its confidence is {confidence:.6g},"
        f" above {bound:.6g}",
        notes=(f"it fails {alone}; the lowest confidence that it could have is {lowest(confidence)}",),
        help="raise the template's confidence, or let the step suppress more attributes of its channel",
    )


def _small(name: str, rows: int, smallest: int) -> Diagnostic:
    return Diagnostic(
        "PPF784",
        f"`{name}` cannot be satisfied: with everything suppressed, the smallest group has {smallest} rows,"
        f" and {rows} are asked for",
        notes=("it fails by itself, whatever else is asked for",),
        help="ask for fewer rows, or let the step suppress more attributes",
    )


def needed(templates: Sequence[InferenceTemplate]) -> tuple[tuple[InferenceTemplate, ...], tuple[str, ...]]:
    """Return the templates without the sensitive values that others already take care of, and the ids left out."""
    kept: list[InferenceTemplate] = []
    left_out: list[str] = []
    for place, template in enumerate(templates):
        stronger = [
            t
            for i, t in enumerate(templates)
            if i != place and _bounds(t, template) and (not _bounds(template, t) or i < place)
        ]
        covered = {pair for t in stronger for pair in t.pairs}
        rest = tuple(pair for pair in dict.fromkeys(template.pairs) if pair not in covered)
        if rest:
            kept.append(template.changed(sensitive=by_attribute(rest)))
        else:
            left_out.append(template.id)
    return tuple(kept), tuple(left_out)


def _bounds(one: InferenceTemplate, other: InferenceTemplate) -> bool:
    """Whether ``one`` bounds every inference of ``other`` to a value that both protect, and the groups' rows."""
    return (
        set(one.channel) >= set(other.channel)
        and one.confidence <= other.confidence
        and one.negated == other.negated
        and one.smallest_group >= other.smallest_group
    )
