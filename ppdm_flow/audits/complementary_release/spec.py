"""The card of the audit `complementary_release`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.records.attributes import unknown
from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, FilePath, Params, PluginSpec, Scope


class ComplementaryReleaseParams(Params):
    """``other`` is a CSV file with a header (path relative to the policy): another release about the same people.

    ``columns`` says which of its columns tells which attribute (those of the same name if not given); it may tell
    quasi-identifiers that this release leaves out. ``attributes`` tell people apart: all quasi-identifiers if not
    given; ``sensitive`` are wanted: those of that role if not given. Groups of fewer than ``k`` people are a finding.

    Where labels of the other release cannot be read, the attack has no figures, and no gate on it holds (PPF856).
    """

    other: FilePath
    columns: Mapping[str, str] = Field(default_factory=dict)
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] = ","
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sensitive: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    k: Annotated[int, Field(ge=2)] = 5


def effect(params: ComplementaryReleaseParams, scope: Scope) -> Effect:
    """Complain of attributes that the release does not have."""
    return Effect(problems=unknown({"attributes": params.attributes or (), "sensitive": params.sensitive or ()}, scope))


SPEC = PluginSpec(
    info=PluginInfo(
        name="complementary_release",
        kind=Kind.AUDIT,
        summary="whom this and another release tell apart that neither does alone: classes of both, intersected",
        reference=(
            "Sweeney, k-anonymity: a model for protecting privacy, IJUFKS 10(5), 2002, sections 4.2 and 4.3; Ganta,"
            " Kasiviswanathan, Smith, Composition attacks and auxiliary information in data privacy, KDD 2008"
        ),
        cost="one lookup of each distinct person in the other release's classes",
        example=(
            "audits:\n  spring: {use: complementary_release, with: {other: spring.csv}}\n"
            "gates:\n  still-many: {metric: spring.k, min: 5}"
        ),
        figures={
            "k": FigureInfo(
                "the smallest group of released people whom both releases leave together",
                formula="min over groups of people with the same class here and the same classes there that fit",
                better="higher",
            ),
            "k_alone": FigureInfo(
                "the smallest class of this release, for comparison",
                formula="min over classes C of |C|",
                better="higher",
            ),
            "rows_below": FigureInfo("the rows in such groups of fewer than `k` people", better="lower"),
            "groups": FigureInfo("how many groups both releases leave", better="lower"),
            "matched": FigureInfo(
                "the share of the rows for which the other release has a class that fits",
                formula="rows of people whom some class of the other release fits / rows",
            ),
            "certain": FigureInfo(
                "the share of rows whose sensitive value is certain, since the classes of both have only one in common",
                formula="rows with one value in common to both classes / rows; the worst sensitive attribute"
                " counts; values are taken not to have changed between the releases",
                better="lower",
            ),
            "certain_alone": FigureInfo(
                "the share of rows whose class in this release has one value",
                formula="rows of classes with one value / rows; the worst sensitive attribute counts",
                better="lower",
            ),
        },
    ),
    params=ComplementaryReleaseParams,
    algorithm="ppdm_flow.audits.complementary_release.algorithm:ComplementaryReleaseAudit",
    effect=effect,
)
