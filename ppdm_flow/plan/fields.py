"""The fields of ``plan.json``."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, get_args

from pydantic import Field
from typing_extensions import TypedDict

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.documents import Randomness, Sha256, Version, WaiverDocument, about, one_of
from ppdm_flow.core.gate import MAX_WIDTH
from ppdm_flow.core.lineage import DerivationKind
from ppdm_flow.core.people import KnownRows
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.core.roles import AttributeType, Nulls, Role
from ppdm_flow.plan.together import APART

Names = Annotated[list[str], Field(min_length=2, max_length=2)]
ChangeName = Annotated[str, one_of(Change)]


class PlanChange(TypedDict):
    """What a step does to an attribute."""

    step: Annotated[str, about("The step.")]
    change: Annotated[ChangeName, about("What it does to the values.")]


class PlanAttribute(TypedDict):
    """An attribute."""

    name: Annotated[str, about("Its name here.")]
    role: Annotated[str, one_of(Role), about("What it is to the release.")]
    type: Annotated[str, one_of(AttributeType), about("How the text of a value is understood.")]
    source: Annotated[str, about("Its name in the source.")]
    changes: Annotated[list[PlanChange], about("What steps have done to it, oldest first.")]


class PlanColumn(PlanAttribute):
    """A released column."""

    computed_from: Annotated[list[str], about("Attributes of the source that its cells are a function of.")]
    how: Annotated[
        str,
        one_of(DerivationKind),
        about(
            "`unchanged`: its values as in the source. `value_map`: each cell depends on the one value alone (a coarser"
            " one, a code, suppressed). `keyed`: made with a secret key. `drawn`: drawn by a published operator."
            " `generated`: rows that a model drew. `other`: anything else, such as an id of classes or a mean of"
            " neighbours."
        ),
    ]
    chosen_by: Annotated[
        list[str], about("Attributes of the source that a step looked at, and that no cell depends on otherwise.")
    ]
    steps: Annotated[list[str], about("The steps that it went through, and the columns that it is computed from.")]


class PlanSpellings(TypedDict, total=False):
    """Which differences between spellings count."""

    normalize: Annotated[list[str], about("Differences between spellings that are taken away at reading.")]
    keep_apart: Annotated[list[str], about("Differences that may tell two people or two sensitive values apart.")]


class PlanClients(TypedDict, total=False):
    """Who randomized the data before they were read."""

    randomized_by: Annotated[str, one_of(("clients",)), about("Each client randomized its own set.")]
    operator: Annotated[dict[str, Any], about("By which operator, and the digest of the items it chooses from.")]


class PlanSource(PlanSpellings, PlanClients):
    """The data that is read."""

    path: Annotated[str | None, about("The file, relative to the policy; null where --data must name it.")]
    format: Annotated[str | None, about("The reader; null where the file's name tells it.")]
    options: Annotated[dict[str, Any], about("The reader's parameters.")]
    columns: Annotated[list[str] | None, about("Names of the columns of a file without a header.")]
    missing: Annotated[list[str], about("Texts that mean a missing value.")]
    incomplete_rows: Annotated[str, one_of(("keep", "drop")), about("What happens to rows with missing values.")]
    undeclared: Annotated[str, one_of(("error", "drop")), about("What happens to columns that are not declared.")]
    attributes: Annotated[list[PlanAttribute], about("The declared attributes.")]


class PlanTable(TypedDict):
    """One of several tables that belong together."""

    name: Annotated[str, about("Its name in the policy.")]
    key: Annotated[str | None, about("The attribute that tells its rows apart.")]
    person: Annotated[str, about("The attribute that says whose row it is.")]
    refers: Annotated[str | None, about("The table that this attribute refers to; null where it is the key.")]
    source: PlanSource


class PlanJoin(TypedDict):
    """Releases of several tables, read as one."""

    tables: Annotated[list[str], about("The tables.")]
    releases: Annotated[list[str], about("Their releases.")]
    requirements: Annotated[list[str], about("The requirements that are judged on it.")]


class BoundPlugin(TypedDict):
    """A plugin with its parameters."""

    use: Annotated[str, about("The plugin.")]
    kind: Annotated[str, one_of(Kind), about("How the plugin works.")]
    version: Annotated[str, about("The plugin's version.")]
    distribution: Annotated[str, about("The package that brings it, with its version.")]
    parameters: Annotated[dict[str, Any], about("Its parameters, defaults included.")]


class PlanNode(BoundPlugin):
    """A step or an audit."""

    name: Annotated[str, about("Its name in the policy, or the one that the plan gave it.")]
    implicit: Annotated[bool, about("Whether the plan put it there, not the policy.")]


class PlanStep(PlanNode):
    """A step."""

    input: Annotated[str | list[str], about("`source`, a step, or `step.output`; a list where it reads several.")]
    outputs: Annotated[list[str], about('Names of its outputs; "" is its own.')]
    reads: Annotated[list[str], about("Attributes that it looks at to decide.")]
    changes: Annotated[dict[str, ChangeName], about("What it does to the values of attributes.")]
    drops: Annotated[list[str], about("Attributes that it takes out.")]
    renames: Annotated[dict[str, str], about("New names by old ones.")]
    rows: Annotated[str, one_of(("same", "fewer", "reordered", "generated")), about("What it does to the rows.")]
    serves: Annotated[list[str], about("Ids of the requirements that it works towards.")]
    guarantee: Annotated[str, about("What it claims; the audits measure it.")]
    randomized: Annotated[bool, about("Whether it draws at random.")]
    expands_weights: Annotated[bool, about("Whether weighted rows are written out singly before.")]
    attributes: Annotated[list[PlanAttribute], about("The attributes that leave it.")]


class PlanAudit(PlanNode):
    """An audit."""

    release: Annotated[str, about("The release that it measures.")]
    requirements: Annotated[list[str], about("Ids of the requirements that it judges; none for utility and attacks.")]


class PlanTableOfDatabase(TypedDict):
    """A table of a database."""

    url: Annotated[str, about("The server and the database, without a password.")]
    table: Annotated[str, about("Its name, with its schema.")]
    indexes: Annotated[list[list[str]], about("The columns of each index.")]
    grants: Annotated[list[str], about("Who may read it.")]


class PlanInto(TypedDict, total=False):
    """Where else a release goes."""

    into: Annotated[PlanTableOfDatabase, about("The table that it becomes.")]


class PlanPartitions(TypedDict, total=False):
    """How a release is divided."""

    partition_by: Annotated[list[str], about("The columns that are names of folders: there is a file for each value.")]


class PlanRelease(PlanInto, PlanPartitions):
    """A file that leaves."""

    name: Annotated[str, about("Its name.")]
    input: Annotated[str, about("The step that it comes from.")]
    path: Annotated[str, about("The file, relative to `released/NAME/`.")]
    format: Annotated[str, about("The writer.")]
    options: Annotated[dict[str, Any], about("The writer's parameters, and `collapse`, a column of counts.")]
    audience: Annotated[str, one_of(("internal", "partner", "public")), about("Who gets it.")]
    description: Annotated[str, about("What it is, in the policy's words.")]
    attributes: Annotated[list[PlanColumn], about("Its columns.")]


class PlanGate(TypedDict):
    """A bound on a figure."""

    id: Annotated[str, about("Place in the policy.")]
    metric: Annotated[str, about("The figure.")]
    min: Annotated[float | None, about("The least that holds.")]
    max: Annotated[float | None, about("The most that holds.")]
    releases: Annotated[list[str], about("The releases that it is about; none where the figure is a step's.")]
    max_width: NotRequired[Annotated[float, about(f"How wide its interval may be; {MAX_WIDTH:g} if not said.")]]


class PlanLink(TypedDict):
    """Two releases that can be joined."""

    releases: Annotated[Names, about("The two releases.")]
    columns: Annotated[list[Names], about("The column of the one, and that of the other.")]


class PlanPeople(TypedDict):
    """Whom the requirements count, where a person can have several rows."""

    subject: Annotated[str, about("The attribute that says whose row it is.")]
    known_rows: Annotated[str, one_of(get_args(KnownRows)), about("How many rows of a person somebody may know.")]


class PlanLedger(TypedDict):
    """The release ledger."""

    path: NotRequired[Annotated[str, about("The release ledger in a file, relative to the policy.")]]
    server: NotRequired[Annotated[str, about("The release ledger in a database: host and database.")]]
    subject: Annotated[str | None, about("The attribute that names people.")]
    ignore: Annotated[
        list[Annotated[str, one_of(("blanks", "case", "form"))]],
        about("Differences in the spelling of ids that make nobody another person."),
    ]
    repeat: Annotated[str, one_of(("refuse", "warn")), about("What becomes of a second draw.")]


class PlanApprovals(TypedDict):
    """Who has to sign before anything is released."""

    roles: Annotated[list[str], about("The roles that have to sign, beside the author.")]
    distinct: Annotated[bool, about("Whether each role takes another person.")]
    signers: Annotated[str, about("The file that says who may sign, relative to the policy.")]
    sha256: Annotated[Sha256, about("SHA-256 of that file's bytes.")]
    waivers: NotRequired[Annotated[dict[str, str], about("The roles that have to sign waivers, by the waiver's name.")]]


class PlanSources(TypedDict, total=False):
    """What is read."""

    source: PlanSource
    tables: list[PlanTable]
    joins: list[PlanJoin]


class PlanDocument(TypedDict):
    """Plan of a ppdm-flow policy.

    What a run of the policy does: reading, steps, audits, releases, and what must hold.
    """

    version: Version
    policy: Annotated[str, about("Name of the release policy.")]
    policy_digest: Annotated[Sha256, about("SHA-256 of the resolved policy.")]
    source: NotRequired[PlanSource]
    tables: NotRequired[Annotated[list[PlanTable], about("Linked tables, in place of the source.")]]
    joins: NotRequired[Annotated[list[PlanJoin], about("Joins that a reader of several tables' releases can make.")]]
    steps: Annotated[list[PlanStep], about("The steps in an order in which they can run.")]
    audits: Annotated[list[PlanAudit], about("What is measured: requirements first.")]
    releases: Annotated[list[PlanRelease], about("The files that leave, if everything holds.")]
    requirements: Annotated[list[dict[str, Any]], about("What must hold of every release.")]
    gates: Annotated[list[PlanGate], about("Bounds on other figures.")]
    nulls: Annotated[str, one_of(Nulls), about("How groups treat missing values.")]
    randomness: Annotated[Randomness, about("Where the randomness comes from.")]
    report_values: Annotated[str, one_of(("show", "hide")), about("Whether the report may show data values.")]
    ledger: NotRequired[PlanLedger]
    approvals: NotRequired[PlanApprovals]
    people: NotRequired[PlanPeople]
    recipients: NotRequired[
        Annotated[str, one_of((APART,)), about("Nobody sees two of the releases, says the policy.")]
    ]
    joined_by: NotRequired[
        Annotated[
            list[PlanLink], about("Releases that share a column made with a key, so that they are judged as one.")
        ]
    ]
    waivers: NotRequired[Annotated[list[WaiverDocument], about("What need not hold for a while.")]]
    digest: NotRequired[Annotated[Sha256, about("SHA-256 of this document without `digest`, `preview` and `cluster`.")]]
    preview: NotRequired[Annotated[dict[str, Any], about("What the data lets one expect; only with --data.")]]
    cluster: NotRequired[
        Annotated[dict[str, Any], about("What each part takes on a cluster; only with --engine spark, never in a run.")]
    ]
