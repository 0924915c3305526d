"""The fields of ``report.json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, NotRequired

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt
from typing_extensions import TypedDict

from ppdm_flow.core.amounts import NOT_COMPARED, amount
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.documents import Direction, Interval, Verdict, Version, WaiverDocument, about, one_of
from ppdm_flow.core.phrases import counted
from ppdm_flow.report.run.wording import flat, spoken

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
        about("Whether the report may be shared: `internal` ones have figures on the original data."),
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


# How much information each release keeps, in all and by attribute: the first figure of its usefulness.


TOTAL = "mean_kept"
"""The last part of the figure's name, and of that of one attribute."""
OF_ATTRIBUTE = "kept"
_MOST_SHOWN = 8


@dataclass(frozen=True, slots=True)
class KeptAttribute:
    """What a release keeps of one attribute: ``share`` in [0, 1], None where it is not compared."""

    name: str
    share: float | None
    text: str
    note: str


@dataclass(frozen=True, slots=True)
class InformationKept:
    """What a release keeps; ``release`` is empty where there is one. ``attributes`` are those that keep least first."""

    release: str
    share: float | None
    text: str
    note: str
    attributes: tuple[KeptAttribute, ...]
    what: str = "information kept"

    @property
    def heading(self) -> str:
        """Name it, with its release."""
        return f"{self.what} of {self.release}" if self.release else self.what

    @property
    def heading_of_section(self) -> str:
        """Name what was measured, as a heading."""
        return self.what.capitalize()

    @property
    def least(self) -> str:
        """Return what is kept of the attributes that keep least, in words."""
        compared = [f"{each.name} {each.text}" for each in self.attributes if each.share is not None]
        more = f", and {len(compared) - _MOST_SHOWN:,} more" if len(compared) > _MOST_SHOWN else ""
        return ", ".join(compared[:_MOST_SHOWN]) + more


def is_total(name: str) -> bool:
    """Whether a figure is the information that a release keeps in all."""
    return name.endswith(f".{TOTAL}")


def information_kept(document: ReportDocument) -> tuple[InformationKept, ...]:
    """Return what each release keeps on which it was measured, once each.

    Of generated rows it is how alike their distributions are, under a name of its own: nothing compares the two.
    """
    kept_by_release: dict[tuple[str, str], InformationKept] = {}
    for name, figure in document["metrics"].items():
        owner, _, last = name.rpartition(".")
        if last in _OF_RELEASES:
            release = owner.rpartition("/")[0]
            kept_by_release.setdefault((release, last), _kept(release, owner, last, figure, document["metrics"]))
    return tuple(kept_by_release.values())


_OF_RELEASES = {TOTAL: (OF_ATTRIBUTE, "information kept"), "pair_likeness": ("likeness", "likeness of distributions")}
"""Figures of a release in all: the name of that of an attribute, and what reports call it."""


def _kept(
    release: str, owner: str, total: str, figure: FigureDocument, metrics: dict[str, FigureDocument]
) -> InformationKept:
    total_note = _note(figure)
    each_name, what = _OF_RELEASES[total]
    every = sorted(_attributes(owner, each_name, metrics), key=lambda each: (each.share is None, each.share or 0.0))
    # a remark on all of them, such as that rows are counted, stands once beside the total
    noted = [replace(each, note="") if each.note in total_note.split("; ") else each for each in every]
    return InformationKept(release, figure["value"], _text(figure), total_note, tuple(noted), what)


def _attributes(owner: str, last: str, metrics: dict[str, FigureDocument]) -> Iterator[KeptAttribute]:
    begin, end = f"{owner}.", f".{last}"
    for name, figure in metrics.items():
        if name.startswith(begin) and name.endswith(end) and len(name) > len(begin) + len(end):
            attribute = name[len(begin) : -len(end)]
            yield KeptAttribute(attribute, figure["value"], _text(figure), _note(figure))


def _text(figure: FigureDocument) -> str:
    return NOT_COMPARED if figure["value"] is None else amount(figure["value"], figure["unit"])


def _note(figure: FigureDocument) -> str:
    note = figure.get("note", "")
    return note.removeprefix(f"{NOT_COMPARED}: ") if figure["value"] is None else note


# Nested values as rows of name and text, bounded in depth and length; and the files of releases as such rows.


_MOST_ROWS = 60
_MOST_ITEMS = 24
_NAMES = {"sha256": "SHA-256", "peak_mb": "peak memory in MB"}
_LONGEST = 240


@dataclass(frozen=True, slots=True)
class Fact:
    """A name, in words, and what is known. ``code`` says that the text is a digest, a path or a version."""

    name: str
    text: str
    code: bool = False


def facts(values: Mapping[str, Any], most: int = _MOST_ROWS) -> list[Fact]:
    """Return the leaves of nested maps, at most ``most``; the last row says how many more there are."""
    rows = list(_leaves(values, ""))
    if len(rows) <= most:
        return rows
    return [*rows[:most], Fact("\N{HORIZONTAL ELLIPSIS}", f"{len(rows) - most:,} more in report.json")]


def _leaves(values: Mapping[str, Any], above: str) -> Iterator[Fact]:
    for key, value in values.items():
        word = _NAMES.get(key, key.replace("_", " "))
        name = f"{above} \N{MIDDLE DOT} {word}" if above else spoken(word)
        if isinstance(value, dict) and value:
            yield from _leaves(value, name)
        else:
            text = _facts_text(value)
            yield Fact(name, text, _is_code(text))


def _facts_text(value: Any) -> str:
    if isinstance(value, dict):
        return "none"
    if not isinstance(value, list):
        return _bounded(flat(value))
    if not value:
        return "none"
    shown = [_item(item) for item in value[:_MOST_ITEMS]]
    more = f" \N{HORIZONTAL ELLIPSIS} {len(value) - _MOST_ITEMS:,} more" if len(value) > _MOST_ITEMS else ""
    return _bounded(", ".join(shown)) + more


def _item(item: Any) -> str:
    if isinstance(item, dict):
        return "; ".join(f"{key}: {_facts_text(value)}" for key, value in item.items())
    return f"({_facts_text(item)})" if isinstance(item, list) else flat(item)


def _bounded(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _is_code(text: str) -> bool:
    """Whether it reads like a digest or a path, which want a fixed-width type."""
    long_word = len(text) >= 12 and " " not in text and any(c.isdigit() for c in text)
    return long_word or ("/" in text and " " not in text)


_MOST_FACTS = 16


@dataclass(frozen=True, slots=True)
class ReleaseFacts:
    """One release. ``summary`` is a line for the eye, ``facts`` all that is recorded."""

    name: str
    description: str
    audience: str
    summary: str
    digest: str
    facts: tuple[Fact, ...]


def outputs(document: ReportDocument) -> tuple[ReleaseFacts, ...]:
    """Return the releases in the policy's order."""
    planned = {node["name"]: node for node in document["plan"].get("releases", ())}
    return tuple(_output(name, about, planned.get(name, {})) for name, about in document["releases"].items())


def _output(name: str, about: dict[str, Any], node: dict[str, Any]) -> ReleaseFacts:
    return ReleaseFacts(
        name,
        node.get("description", ""),
        node.get("audience", ""),
        _summary(about),
        str(about.get("sha256") or ""),
        tuple(facts({key: value for key, value in about.items() if key != "audience" and value != []}, _MOST_FACTS)),
    )


def _summary(about: dict[str, Any]) -> str:
    counts = [counted(about[name], name[:-1]) for name in ("rows", "columns") if isinstance(about.get(name), int)]
    return ", ".join([*counts, *([str(about["path"])] if about.get("path") else [])])


# The waivers of a report document: what need not hold for a while, why, who answers for it, and how long still.


@dataclass(frozen=True, slots=True)
class ReportedWaiver:
    """One waiver. ``until`` is its last day (ISO date), ``days_left`` are counted from the day of the verdict.

    ``covers`` says in words what it was needed for; empty where nothing needed it, or where it had expired.
    ``signed_by`` is the role that has to sign it, or empty.
    """

    name: str
    of: str
    reason: str
    owner: str
    until: str
    days_left: int
    covers: tuple[str, ...] = ()
    signed_by: str = ""

    @property
    def left(self) -> str:
        """How long it counts still: ``12 days left``."""
        if self.days_left < 0:
            return "expired"
        return f"{counted(self.days_left, 'day')} left" if self.days_left else "its last day"

    @property
    def terms(self) -> str:
        """Name, owner and time in one line."""
        signed = f", and `{self.signed_by}` signs it" if self.signed_by else ""
        return f"waived by `{self.name}` until {self.until} ({self.left}), {self.owner} answers for it{signed}"


def waivers(document: ReportDocument) -> tuple[ReportedWaiver, ...]:
    """Return the waivers: those that were needed first, then by how long they count still."""
    every = [_waiver(each) for each in document.get("waivers", ())]
    return tuple(sorted(every, key=lambda waiver: (not waiver.covers, waiver.days_left, waiver.name)))


def _waiver(each: ReportWaiver) -> ReportedWaiver:
    of = f"{each['of']} at {each['at']}" if each.get("at") else each["of"]
    words = each["reason"], each["owner"], each["until"]
    return ReportedWaiver(each["name"], of, *words, each["days_left"], tuple(each["covers"]), each.get("signed_by", ""))
