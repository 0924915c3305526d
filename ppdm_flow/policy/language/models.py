"""The policy language, version 1, as typed models. Every scalar arrives as text and is typed by its field."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from ppdm_flow.core.gate import MAX_WIDTH
from ppdm_flow.core.roles import AttributeType, Directions, Nulls, Role, ValuesAbsent
from ppdm_flow.core.supports import Supported
from ppdm_flow.policy.language.anonymity import (
    LKC,
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    KmAnonymity,
    KMap,
    LDiversity,
    TCloseness,
)
from ppdm_flow.policy.language.ledger import CumulativeK, Ledger
from ppdm_flow.policy.language.model import (
    HIGHER,
    LOWER,
    Flag,
    Model,
    Name,
    ParamName,
    ParamValue,
    Probability,
    Texts,
    Tree,
    one_or_more,
)
from ppdm_flow.policy.language.waivers import Waiver


class Extends(Model):
    """One parent policy: a local file, ``pkg:distribution/name`` or ``builtin:name``, with values for its params."""

    template: str
    with_: dict[str, ParamValue] = Field(default_factory=dict, alias="with")


class Param(Model):
    """A typed parameter of the policy, used as ``${params.NAME}``."""

    type: Literal["text", "integer", "float", "boolean", "list"] = "text"
    default: ParamValue | None = None
    help: str = ""
    min: float | None = None
    max: float | None = None
    choices: Texts | None = None
    from_env: str | None = None


class Header(Model):
    """What a file says of other files, before it is put together with them."""

    extends: tuple[Extends, ...] = ()
    params: dict[ParamName, Param] = Field(default_factory=dict)
    floors: dict[str, str] = Field(default_factory=dict)


class Source(Model):
    """Where the data is and how to read it."""

    path: str | None = None
    format: str | None = None
    columns: Texts | None = None
    missing: tuple[str, ...] = ("",)
    incomplete_rows: Literal["keep", "drop"] = "keep"
    with_: Tree = Field(default_factory=dict, alias="with")


class Hierarchy(Model):
    """A generalization hierarchy: one of ``csv``, ``intervals``, ``levels``, ``prefix``, ``date`` and ``order``.

    ``then`` goes with ``intervals`` and ``order``: how many neighbours each further level joins.
    """

    csv: str | None = None
    delimiter: str = ";"
    intervals: Annotated[tuple[float, ...], Field(min_length=2)] | None = None
    levels: Annotated[dict[str, Texts], Field(min_length=1)] | None = None
    prefix: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1)] | None = None
    mask: Annotated[str, Field(pattern="^.$")] = "*"
    date: Annotated[tuple[Literal["month", "quarter", "year", "decade"], ...], Field(min_length=1)] | None = None
    format: str | None = None
    order: Texts | None = None
    then: Annotated[tuple[Annotated[int, Field(ge=2)], ...], Field(min_length=1)] | None = None
    open_ends: Literal["none", "below", "above", "both"] = "none"


class Attribute(Model):
    """What a column is."""

    role: Role
    type: AttributeType = AttributeType.TEXT
    domain: Texts | None = None
    hierarchy: Hierarchy | None = None
    description: str = ""


class KAnonymity(Model):
    """Every combination of quasi-identifier values occurs in at least ``k`` released rows."""

    k: Annotated[int, Field(ge=2), HIGHER]
    attributes: Texts | None = None


class Template(Model):
    """<IC -> pi, h>: no group over ``channel`` lets one infer a sensitive value with more than ``confidence``.

    ``negated``: to infer that someone has *not* the value. ``min_support``: besides, no group has fewer rows.
    """

    channel: Annotated[tuple[str, ...], Field(min_length=1)]
    sensitive: Annotated[dict[str, Annotated[tuple[str, ...], Field(min_length=1)]], Field(min_length=1)]
    confidence: Annotated[float, Field(gt=0.0, lt=1.0), LOWER]
    negated: Flag = False
    min_support: Annotated[Annotated[int, Field(ge=2)] | None, HIGHER] = None
    values_absent: ValuesAbsent = ValuesAbsent.ERROR


class ValueBound(Model):
    """(r1, r2): whoever gives the value a prior of at most r1 must not come to a posterior above r2.

    ``given`` says, for readers, what else is known of the people that the prior is about.
    """

    r1: Annotated[Probability, HIGHER]
    r2: Annotated[Probability, LOWER]
    given: str = ""


class ValueGroup(Model):
    """One bound for each of several values. Their union then keeps it as well."""

    values: Texts
    r1: Annotated[Probability, HIGHER]
    r2: Annotated[Probability, LOWER]
    given: str = ""


ValueBounds = Annotated[tuple[ValueBound, ...], BeforeValidator(one_or_more), Field(min_length=1)]
"""One bound, or a list of several: each must hold."""


class DefaultBound(Model):
    """The bound of other values: ``tolerance`` (r1 = frequency, r2 = tolerance r1), or (r1, r2)."""

    tolerance: Annotated[Annotated[float, Field(gt=1.0)] | None, LOWER] = None
    r1: Annotated[Probability | None, HIGHER] = None
    r2: Annotated[Probability | None, LOWER] = None


class Sensitivity(Model):
    """(r1, r2) per value of one sensitive attribute."""

    directions: Directions = Directions.BOTH
    default: DefaultBound | None = None
    values: dict[str, ValueBounds] = Field(default_factory=dict)
    groups: dict[Name, ValueGroup] = Field(default_factory=dict)
    values_absent: ValuesAbsent = ValuesAbsent.ERROR


class AnonymityScore(Model):
    """The Normalised Anonymity Score is at most ``max``: 0 where no original row is released, 1 where all are."""

    max: Annotated[float, Field(ge=0.0, le=1.0), LOWER]


class Blend(Model):
    """Of released rows rarer than ``min_support``, at most a share of ``max`` is rarer than that in the original too.

    That is minsup in the role of k: rare original rows do not show among the released ones.
    """

    min_support: Supported
    max: Annotated[float, Field(ge=0.0, le=1.0), LOWER] = 0.0


Share = Annotated[float, Field(gt=0.0, le=1.0)]
Shares = Annotated[tuple[Share, ...], Field(min_length=1)]
Length = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,3}$")]
"""A number of items, from 1."""


class ItemsetBreach(Model):
    """Items of an original set are not inferred from what was released in its place with more than ``level``.

    ``sizes``: of the itemsets that are looked for. ``max_supports``: the largest supports of itemsets of 1, 2, .. items
    among the sets of one length. ``pool``: lengths with fewer sets are judged together with their neighbours.
    """

    level: Annotated[Probability, LOWER]
    sizes: Annotated[tuple[Annotated[int, Field(ge=1, le=4)], ...], Field(min_length=1)] = (1, 2, 3)
    attribute: str | None = None
    max_supports: Shares | None = None
    max_supports_by_length: dict[Length, Shares] = Field(default_factory=dict)
    pool: Annotated[int, Field(ge=1)] = 1000


class Privacy(Model):
    """What must hold of every release. Each entry is measured on the released bytes and gates the release."""

    k_anonymity: KAnonymity | None = None
    templates: dict[Name, Template] = Field(default_factory=dict)
    sensitivities: dict[str, Sensitivity] = Field(default_factory=dict)
    anonymity_score: AnonymityScore | None = None
    blend: Blend | None = None
    itemset_breach: ItemsetBreach | None = None
    l_diversity: dict[str, LDiversity] = Field(default_factory=dict)
    t_closeness: dict[str, TCloseness] = Field(default_factory=dict)
    alpha_k: dict[str, AlphaK] = Field(default_factory=dict)
    delta_disclosure: dict[str, DeltaDisclosure] = Field(default_factory=dict)
    beta_likeness: dict[str, BetaLikeness] = Field(default_factory=dict)
    k_map: KMap | None = None
    lkc: LKC | None = None
    km_anonymity: KmAnonymity | None = None
    cumulative_k: CumulativeK | None = None


class Step(Model):
    """One transformation: a plugin and its parameters."""

    use: str
    input: str | None = None
    with_: Tree = Field(default_factory=dict, alias="with")


class Audit(Model):
    """Something measured beside the requirements; on every release, or on one."""

    use: str
    release: str | None = None
    with_: Tree = Field(default_factory=dict, alias="with")


class Gate(Model):
    """A bound on any measured figure; on every release that has to be measured by it, or on those named."""

    metric: str
    min: Annotated[float | None, HIGHER] = None
    max: Annotated[float | None, LOWER] = None
    releases: Texts | None = None
    max_width: Annotated[float, Field(gt=0.0), LOWER] = MAX_WIDTH


class Release(Model):
    """A file that leaves the house, if everything holds."""

    from_: str | None = Field(default=None, alias="from")
    path: str
    format: str | None = None
    audience: Literal["internal", "partner", "public"] = "internal"
    shuffle: Flag = True
    description: str = ""
    with_: Tree = Field(default_factory=dict, alias="with")


class Randomness(Model):
    """``sealed``: a secret key from the operating system. ``reproducible``: a seed, for tests and papers only."""

    mode: Literal["sealed", "reproducible"] = "sealed"
    seed: str | None = None


class ReportOptions(Model):
    """What the report may show."""

    values: Literal["hide", "show"] = "hide"


class Policy(Model):
    """A release policy."""

    version: Literal["1"]
    name: Name
    description: str = ""
    owner: str = ""
    extends: tuple[Extends, ...] = ()
    params: dict[ParamName, Param] = Field(default_factory=dict)
    floors: dict[str, str] = Field(default_factory=dict)
    source: Source = Field(default_factory=Source)
    attributes: Annotated[dict[str, Attribute], Field(min_length=1)]
    undeclared: Literal["error", "drop"] = "error"
    nulls: Nulls = Nulls.OWN_CATEGORY
    privacy: Privacy = Field(default_factory=Privacy)
    steps: dict[Name, Step] = Field(default_factory=dict)
    audits: dict[Name, Audit] = Field(default_factory=dict)
    gates: dict[Name, Gate] = Field(default_factory=dict)
    waivers: dict[Name, Waiver] = Field(default_factory=dict)
    releases: Annotated[dict[Name, Release], Field(min_length=1)]
    recipients: Literal["together", "apart"] = "together"
    randomness: Randomness = Field(default_factory=Randomness)
    ledger: Ledger | None = None
    report: ReportOptions = Field(default_factory=ReportOptions)
