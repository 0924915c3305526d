"""The fields of ``report.json``."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt
from typing_extensions import TypedDict

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.documents import Direction, Interval, Verdict, Version, WaiverDocument, about, one_of

INTERNAL, PUBLIC = "internal", "public"
"""Who may read a report."""


class SpanDocument(TypedDict):
    """Lines of the policy."""

    file: Annotated[str, about("The policy file.")]
    line: Annotated[PositiveInt, about("First line, from 1.")]
    column: Annotated[PositiveInt, about("First character of that line, from 1.")]
    end_line: Annotated[PositiveInt, about("Last line.")]
    end_column: Annotated[PositiveInt, about("The character after the last one.")]


class ResultDocument(TypedDict):
    """A requirement or gate, as measured on a release."""

    id: Annotated[str, about("`privacy.KIND`, `privacy.KIND.NAME` or `gates.NAME`, its place; or `personal_data`.")]
    release: Annotated[str, about("The release that it was measured on.")]
    metric: Annotated[str, about("Name of the measured figure in `metrics`.")]
    bound: Annotated[float, about("What the policy asks for, in the figure's unit.")]
    direction: Annotated[
        Direction, about("The side of the bound on which `measured` must lie (relative tolerance 1e-9).")
    ]
    measured: Annotated[
        float | None, about("The figure; null where it could not be measured, or is not for the public.")
    ]
    interval: NotRequired[Annotated[Interval, about("Lower and upper end.")]]
    holds: Annotated[bool, about("Whether the requirement holds. What is unmeasured does not.")]
    waived_by: NotRequired[Annotated[str, about("The waiver, where it does not hold and withholds nothing.")]]
    policy_span: Annotated[SpanDocument | None, about("The lines of the policy that ask for it.")]
    sentence: Annotated[str, about("What the measurement means.")]


class FigureDocument(TypedDict):
    """A measured figure."""

    value: Annotated[float | None, about("The figure; null where it does not exist.")]
    unit: Annotated[str, about("rows, share, probability, nats, bits, seconds, …")]
    interval: NotRequired[Annotated[Interval, about("Lower and upper end.")]]
    sample: NotRequired[Annotated[NonNegativeInt, about("Rows looked at, where the figure is an estimate.")]]
    note: NotRequired[Annotated[str, about("What else to know about it.")]]


class StepDocument(TypedDict):
    """A step of the run."""

    name: Annotated[str, about("Name of the step in the policy.")]
    use: Annotated[str, about("The plugin.")]
    version: Annotated[str, about("The plugin's version.")]
    rows_in: Annotated[NonNegativeInt, about("Rows that went in.")]
    rows_out: Annotated[NonNegativeInt, about("Rows that came out.")]
    seconds: Annotated[
        NonNegativeFloat | None, about("Wall-clock seconds; null where executors of a cluster did its work.")
    ]
    figures: Annotated[
        dict[str, FigureDocument], about("The step's own figures; also in `metrics` under the step's name.")
    ]
    description: Annotated[dict[str, Any], about("The fitted transform, in the plugin's own words.")]


class FindingDocument(TypedDict):
    """What a reader should know beside the figures."""

    code: Annotated[str, about("Code of its page: `ppdm-flow explain CODE`.")]
    severity: Annotated[str, one_of(Severity), about("How bad it is.")]
    text: Annotated[str, about("What was found.")]
    subject: Annotated[str, about("What it is about; may be empty.")]
    hash: Annotated[
        str, Field(pattern="^[0-9a-f]{16}$"), about("Names this finding in waivers; the same in every run.")
    ]
    release: NotRequired[Annotated[str, about("The release that it is about, where there are several.")]]
    waived_by: NotRequired[Annotated[str, about("The waiver that covers it.")]]


class SeriesDocument(TypedDict):
    """One set of bars, one line or one row."""

    name: Annotated[str, about("Its name in the legend.")]
    y: Annotated[list[float], about("One value a label.")]
    low: NotRequired[Annotated[list[float], about("Lower ends of intervals.")]]
    high: NotRequired[Annotated[list[float], about("Upper ends of intervals.")]]


class ChartDocument(TypedDict):
    """A picture's data."""

    id: Annotated[str, about("A name, used once in a document.")]
    title: Annotated[str, about("Heading of the picture.")]
    kind: Annotated[
        str,
        one_of(("bars", "lines", "matrix", "forest")),
        about("How it is drawn; in a matrix a series is a row, in a forest estimates have their intervals."),
    ]
    group: Annotated[str, about("The section that it belongs to; may be empty.")]
    release: Annotated[
        str, about("The release that it shows; empty where it is about all, or where there is only one.")
    ]
    x: Annotated[list[str], about("Labels along the axis.")]
    series: Annotated[list[SeriesDocument], about("One set of bars, one line or one row each.")]
    x_label: Annotated[str, about("Title of the axis of labels; may be empty.")]
    y_label: Annotated[str, about("Title of the axis of values; may be empty.")]
    note: Annotated[str, about("How to read it; may be empty.")]


class ReportWaiver(WaiverDocument):
    """A waiver of the policy, and what needed it."""

    days_left: Annotated[int, about("Days after that of the verdict; below 0: it had expired.")]
    covers: Annotated[list[str], about("What it was needed for; empty where nothing needed it.")]
    policy_span: Annotated[SpanDocument | None, about("The lines of the policy that grant it.")]


class ReportDocument(TypedDict):
    """Report of a ppdm-flow run.

    The verdict on a release, every figure that it rests on, and how the data was made.
    """

    version: Version
    audience: Annotated[
        str,
        one_of((INTERNAL, PUBLIC)),
        about("Whether the report may leave the house: `internal` ones have figures on the original data."),
    ]
    policy: Annotated[str, about("Name of the release policy.")]
    verdict: Annotated[
        Verdict,
        about(
            "`released` if every requirement and every gate holds on every release, or does not and is waived"
            " (`waived_by`), else `withheld`; in place of `released`, `held` where the policy asks for approvals:"
            " `publication.json` says whether it was released."
        ),
    ]
    requirements: Annotated[
        list[ResultDocument], about("What the policy's `privacy` section asks for, as measured on each release.")
    ]
    gates: Annotated[list[ResultDocument], about("The policy's bounds on other figures, as measured on each release.")]
    metrics: Annotated[
        dict[str, FigureDocument],
        about(
            "Every measured figure, by `<audit, step or requirement>.<figure>`; where a run has several releases,"
            " figures of a release begin with `<release>/`."
        ),
    ]
    steps: Annotated[list[StepDocument], about("The steps in the order of the plan, with rows, seconds and figures.")]
    findings: Annotated[list[FindingDocument], about("What a reader should know beside the figures, errors first.")]
    waivers: NotRequired[
        Annotated[list[ReportWaiver], about("What the policy says need not hold for a while, and what needed it.")]
    ]
    charts: Annotated[list[ChartDocument], about("The data of the report's pictures.")]
    releases: Annotated[
        dict[str, dict[str, Any]],
        about("The releases by name: file, rows, columns and digest, as far as they are known."),
    ]
    plan: Annotated[dict[str, Any], about("The plan that was executed, as in `plan.json`.")]
    run: Annotated[dict[str, Any], about("Times, versions, input and mode of randomness.")]
