"""From counts and templates to the problem that the search solves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.progressive_disclosure.problem import Attribute, Channel, Codes, Problem, Template
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.requirements import Template as Requirement
from ppdm_flow.core.roles import Nulls
from ppdm_flow.tables.column import MISSING
from ppdm_flow.tables.counts import Counts


def encode(
    counts: Counts,
    templates: Sequence[Requirement],
    suppressible: Sequence[str],
    targets: Sequence[str],
    nulls: Nulls,
) -> Problem:
    """Build the problem. Raises PluginError where missing values stand in a channel that must stay as it is.

    Under ``own_category`` a missing value is one more value, after all others; else it stays suppressed, so that all
    null semantics agree on the outcome. Cells that come suppressed stay so.
    """
    attributes = tuple(_attribute(counts, name, nulls) for name in suppressible)
    place = {name: i for i, name in enumerate(suppressible)}
    by_channel: dict[tuple[str, ...], list[Template]] = {}
    for requirement in templates:
        by_channel.setdefault(tuple(sorted(requirement.channel)), []).extend(_single(counts, requirement))
    channels = tuple(_channel(counts, names, found, place, nulls) for names, found in by_channel.items())
    classes = counts.groups(targets)[0] if targets else None
    return Problem(attributes, channels, counts.counts.astype(np.float64), classes)


def _attribute(counts: Counts, name: str, nulls: Nulls) -> Attribute:
    codes = counts.of(name).astype(np.int64)
    size = len(counts.names(name))
    if nulls is Nulls.OWN_CATEGORY and (codes == MISSING).any():
        codes = np.where(codes == MISSING, size, codes)
        size += 1
    return Attribute(name, np.maximum(codes, -1), size)


def _single(counts: Counts, requirement: Requirement) -> list[Template]:
    """One template a sensitive value: a list of values is never their union."""
    found = []
    for name, value in requirement.sensitive:
        code = counts.code(name, value)
        hits = np.zeros(len(counts), dtype=np.bool_) if code is None else counts.of(name) == code
        found.append(Template(requirement.id, hits, requirement.confidence))
    return found


def _channel(
    counts: Counts, names: Sequence[str], templates: list[Template], place: Mapping[str, int], nulls: Nulls
) -> Channel:
    fixed = [name for name in names if name not in place]
    for name in fixed:
        _refuse_missing(name, counts.of(name), nulls)
    base: Codes = counts.groups(fixed)[0]
    return Channel(tuple(place[name] for name in names if name in place), base, tuple(templates))


def _refuse_missing(name: str, codes: npt.NDArray[np.int32], nulls: Nulls) -> None:
    if nulls is not Nulls.OWN_CATEGORY and (codes == MISSING).any():
        raise PluginError(
            Diagnostic(
                "PPF799",
                f"the column `{name}` has missing values, belongs to a channel, and may not be suppressed by this step",
                help=f"let the step suppress `{name}`, or use `nulls: own_category`",
            )
        )
