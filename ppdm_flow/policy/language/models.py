"""The policy language, version 1, as typed models. Every scalar arrives as text and is typed by its field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, ModelWrapValidatorHandler, PrivateAttr, model_validator

from ppdm_flow.core.gate import MAX_WIDTH
from ppdm_flow.core.model import (
    HIGHER,
    LOWER,
    MORE,
    Analysis,
    Flag,
    Model,
    Name,
    ParamName,
    ParamValue,
    StrongestFirst,
    Texts,
    Tree,
    text_or_texts,
)
from ppdm_flow.core.people import KnownRows
from ppdm_flow.core.roles import AttributeType, Nulls, Role
from ppdm_flow.policy.language.ledger import LedgerOptions, Spelling
from ppdm_flow.policy.language.waivers import WaiverEntry
from ppdm_flow.policy.text.nodes import NONE

TRUE_FIRST = StrongestFirst(("true", "false"))
Undeclared = Annotated[Literal["error", "drop"], StrongestFirst(("error", "drop"))]
"""What becomes of columns that nobody declared."""


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


class PolicyHeader(Model):
    """What a file says of other files, before it is put together with them."""

    extends: tuple[Extends, ...] = ()
    params: dict[ParamName, Param] = Field(default_factory=dict)
    floors: dict[str, str] = Field(default_factory=dict)


class SourceEntry(Model):
    """Where the data is and how to read it."""

    path: str | None = None
    url: str | None = None
    table: Annotated[str, Field(min_length=1)] | None = None
    query: Annotated[str, Field(min_length=1)] | None = None
    format: str | None = None
    columns: Texts | None = None
    missing: tuple[str, ...] = ("",)
    incomplete_rows: Literal["keep", "drop"] = "keep"
    normalize: tuple[Spelling, ...] = ()
    keep_apart: tuple[Spelling, ...] = ()
    randomized_by: Literal["clients"] | None = None
    operator: Annotated[str, Field(min_length=1)] | None = None
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
    determines: Texts | None = None
    description: str = ""


class TableEntry(Model):
    """One of several tables that belong together.

    ``key`` is the attribute that tells its rows apart. ``refers``: attributes whose values are keys of another table.
    """

    source: SourceEntry = Field(default_factory=SourceEntry)
    key: str | None = None
    refers: dict[str, str] = Field(default_factory=dict)
    attributes: dict[str, Attribute] = Field(default_factory=dict)
    undeclared: Undeclared = "error"


class Privacy(Model):
    """What must hold of every release. Each entry is measured on the released bytes and gates the release.

    ``none`` in place of the map says that nothing has to hold.
    """

    # its fields are the kinds of requirements that are installed: `policy_model` adds them
    instead: ClassVar[str] = NONE
    _says_none: bool = PrivateAttr(default=False)

    @model_validator(mode="wrap")
    @classmethod
    def _take_none(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        privacy = handler({} if value == NONE else value)
        privacy._says_none = value == NONE  # noqa: SLF001  # its own class
        return privacy

    @property
    def says_none(self) -> bool:
        """Whether the policy says ``privacy: none``."""
        return self._says_none

    @property
    def is_empty(self) -> bool:
        """Whether the policy states no requirement, on purpose or not."""
        return not any(getattr(self, kind) for kind in type(self).model_fields)

    def entries(self, kind: str) -> Mapping[str, Any]:
        """Return the clauses of a kind by their names; by ``""`` one that has none."""
        clauses: Mapping[str, Any] = getattr(self, kind, {})
        return clauses


class Step(Model):
    """One transformation: a plugin and its parameters."""

    use: str
    input: Annotated[tuple[str, ...], BeforeValidator(text_or_texts), Field(min_length=1)] | None = None
    with_: Tree = Field(default_factory=dict, alias="with")


class AuditEntry(Model):
    """Something measured beside the requirements; on every release, or on one."""

    use: str
    release: str | None = None
    with_: Tree = Field(default_factory=dict, alias="with")


class GateEntry(Model):
    """A bound on any measured figure; on every release that has to be measured by it, or on those named."""

    metric: str
    min: Annotated[float | None, HIGHER] = None
    max: Annotated[float | None, LOWER] = None
    releases: Texts | None = None
    max_width: Annotated[float, Field(gt=0.0), LOWER] = MAX_WIDTH


class DatabaseTable(Model):
    """A table of a database that a release also becomes, once it holds."""

    url: Annotated[str, Field(min_length=1)]
    table: Annotated[str, Field(min_length=1)]
    indexes: tuple[Texts, ...] = ()
    grants: Texts = ()


class Collapse(Model):
    """Each distinct record once, with the number of its rows in the column ``count``. Short form: ``count`` alone."""

    instead: ClassVar[str] = "count"
    count: Annotated[str, Field(min_length=1)] = "count"

    @model_validator(mode="wrap")
    @classmethod
    def _take_word(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        return handler({} if value == cls.instead else value)


class Release(Model):
    """A file that is released if everything holds."""

    from_: str | None = Field(default=None, alias="from")
    path: str
    format: str | None = None
    audience: Annotated[Literal["internal", "partner", "public"], StrongestFirst(("internal", "partner", "public"))] = (
        "internal"
    )
    shuffle: Annotated[Flag, TRUE_FIRST] = True
    description: str = ""
    into: DatabaseTable | None = None
    partition_by: Texts = ()
    collapse: Collapse | None = None
    with_: Tree = Field(default_factory=dict, alias="with")
    received: Tree = Field(default_factory=dict)


class Randomness(Model):
    """``sealed``: a secret key from the operating system. ``reproducible``: a seed, for tests and papers only."""

    mode: Annotated[Literal["sealed", "reproducible"], StrongestFirst(("sealed", "reproducible"))] = "sealed"
    seed: str | None = None


class ReportOptions(Model):
    """What the report may show."""

    values: Annotated[Literal["hide", "show"], StrongestFirst(("hide", "show"))] = "hide"


class PeopleOptions(Model):
    """What counts where a person has several rows, and how many of these an adversary may know."""

    known_rows: Annotated[KnownRows | None, StrongestFirst(("all", "3", "2", "1"))] = None
    unit: Literal["people", "rows"] = "people"


class ApprovalOptions(Model):
    """The roles that must sign a run which holds; until they have, its releases are held back.

    With ``distinct`` each role takes another person; the author never counts as one of them. ``signers`` is the file
    that says who may sign in which role.
    """

    roles: Annotated[tuple[Name, ...], Field(min_length=1), MORE]
    distinct: Annotated[Flag, TRUE_FIRST] = True
    signers: Annotated[str, Field(min_length=1)]


class Policy(Model):
    """A release policy."""

    version: Literal["1"]
    name: Name
    description: str = ""
    owner: str = ""
    extends: tuple[Extends, ...] = ()
    params: dict[ParamName, Param] = Field(default_factory=dict)
    floors: dict[str, str] = Field(default_factory=dict)
    source: SourceEntry = Field(default_factory=SourceEntry)
    attributes: Annotated[dict[str, Attribute], Field(min_length=1)]
    undeclared: Undeclared = "error"
    tables: dict[Name, TableEntry] = Field(default_factory=dict)
    people: PeopleOptions | None = None
    nulls: Nulls = Nulls.OWN_CATEGORY
    privacy: Privacy = Field(default_factory=Privacy)
    steps: dict[Name, Step] = Field(default_factory=dict)
    audits: dict[Name, AuditEntry] = Field(default_factory=dict)
    analyses: dict[Name, Analysis] = Field(default_factory=dict)
    gates: dict[Name, GateEntry] = Field(default_factory=dict)
    waivers: dict[Name, WaiverEntry] = Field(default_factory=dict)
    releases: Annotated[dict[Name, Release], Field(min_length=1)]
    recipients: Annotated[Literal["together", "apart"], StrongestFirst(("together", "apart"))] = "together"
    randomness: Randomness = Field(default_factory=Randomness)
    ledger: LedgerOptions | None = None
    approvals: ApprovalOptions | None = None
    report: ReportOptions = Field(default_factory=ReportOptions)
