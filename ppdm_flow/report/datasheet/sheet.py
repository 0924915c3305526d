"""The data sheet as a value: every form of it is made from this."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ppdm_flow.core.phrases import counted, listed
from ppdm_flow.core.results import Report
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.core.texts.file_names import DICTIONARY
from ppdm_flow.plan.definition import COLLAPSE
from ppdm_flow.report.datasheet.columns import SheetColumn, columns, left_out
from ppdm_flow.report.datasheet.estimates import Estimate, estimates
from ppdm_flow.report.datasheet.given import DatasheetInput, given
from ppdm_flow.report.datasheet.promises import Promise, gates, promises
from ppdm_flow.report.datasheet.steps import StepAccount, accounts
from ppdm_flow.report.run.fields import FindingDocument

_NULLS = {
    Nulls.OWN_CATEGORY: "A missing cell counts as one more value, which others may know as well.",
    Nulls.WILDCARD: "A missing cell may stand for any value.",
    Nulls.EXCLUDE: "Rows with a missing cell among what others may know were left out of the counts.",
}
_KNOWN = (
    "The protection was judged against somebody who knows the method, and of a person {}; not the secret key of the"
    " run, and not what the other rows held before."
)
_NOBODY_KNOWS = "The protection was judged against somebody who knows the method; not the secret key of the run."
_BEYOND = (
    "What other data on the same people tells together with this file was not measured, nor what somebody learns by"
    " asking why a method chose just this outcome."
)
_NO_PROMISE = "The policy states no privacy requirement, so nothing is promised of this file."
_SEEDED = "Draws were made from a seed that the policy holds: whoever has the policy can undo what was done at random."
_INCOMPLETE = "Rows of the original with a missing value were left out. They may differ from those that are here."
_GENERATED = "All rows were generated: none of them belongs to a person, and their number is no number of people."


@dataclass(frozen=True, slots=True)
class WaivedRequirement:
    """A waiver that this release needed: of what, why, and until when."""

    of: str
    reason: str
    until: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """What the recipient of one release is told, section by section. Pairs are a name and what it is."""

    policy: str
    release: str
    description: str
    day: str
    facts: tuple[tuple[str, str], ...]
    columns: tuple[SheetColumn, ...]
    left_out: tuple[str, ...]
    rows: tuple[str, ...]
    steps: tuple[StepAccount, ...]
    estimates: tuple[Estimate, ...]
    promises: tuple[Promise, ...]
    gates: tuple[Promise, ...]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    waived: tuple[WaivedRequirement, ...]
    provenance: tuple[tuple[str, str], ...]


def sheet(report: Report, release: str, beside: Mapping[str, Mapping[str, Any]]) -> Sheet:
    """Return the data sheet of a release; ``beside`` are the documents in its folder, by file name."""
    known = given(report, release, beside)
    judged = promises(known)
    return Sheet(
        policy=known.report["policy"],
        release=release,
        description=known.node["description"],
        day=_day(known.report["run"]),
        facts=tuple(_facts(known)),
        columns=tuple(columns(known)),
        left_out=left_out(known),
        rows=tuple(_rows(known)),
        steps=tuple(each for each in accounts(known) if each.true or each.untrue or each.correct),
        estimates=tuple(estimates(known)),
        promises=judged,
        gates=gates(known),
        assumptions=tuple(_assumptions(known, judged)),
        notes=tuple(dict.fromkeys(_note(f) for f in known.findings() if not f.get("waived_by"))),
        waived=tuple(_waived(known)),
        provenance=tuple(_provenance(known)),
    )


def _day(run: Mapping[str, Any]) -> str:
    try:
        return f"{datetime.fromisoformat(run['started']):%Y-%m-%d}"
    except (KeyError, ValueError):
        return ""


def _facts(known: DatasheetInput) -> Iterator[tuple[str, str]]:
    dictionary, about = known.beside[DICTIONARY], known.about
    rows = about["rows"]
    yield "File", dictionary["file"]
    yield "Format", dictionary["format"]
    if (delimiter := dictionary["options"].get("delimiter", ",")) != ",":
        yield "Between fields", {"\t": "a tab"}.get(delimiter, delimiter)
    if folders := dictionary.get("partition_by"):
        yield "Folders", f"one for each combination of the values of {listed(folders)}"
    written = counted(rows, "row") if isinstance(rows, int) else str(rows)
    if counts := dictionary["options"].get(COLLAPSE):
        written += f", each distinct record written once: {counts} says how many rows it stands for"
    yield "Rows", written
    yield "Columns", counted(len(dictionary["attributes"]), "column")
    yield "A missing cell", dictionary["missing"]
    yield "A suppressed cell", f"{dictionary['suppressed']} (it had a value, which is not told)"
    if "formulas" in dictionary:
        yield "Cells like formulas", str(dictionary["formulas"])
    yield "Meant for", "the public" if about.get("audience") == "public" else f"{about.get('audience')} use"


def _rows(known: DatasheetInput) -> Iterator[str]:
    """Yield what has to be known before rows are counted."""
    if known.source["incomplete_rows"] == "drop":
        yield _INCOMPLETE
    if all(column.get("how") == "generated" for column in known.node["attributes"]):
        yield _GENERATED
    for column in known.node["attributes"]:
        if column["role"] == Role.WEIGHT:
            yield f"A row stands for as many rows of the original as {column['name']} says."
    if counts := known.beside[DICTIONARY]["options"].get(COLLAPSE):
        yield f"Count each record as often as {counts} says: all figures here are about the rows, not the records."


def _assumptions(known: DatasheetInput, judged: tuple[Promise, ...]) -> Iterator[str]:
    if not judged:
        yield _NO_PROMISE
        return
    sources = {name for column in known.node["attributes"] for name in column["computed_from"]}
    guessed = [a["name"] for a in known.source["attributes"] if a["role"] == Role.QUASI_IDENTIFIER]
    guessed = [name for name in guessed if name in sources]
    yield _KNOWN.format(listed(guessed)) if guessed else _NOBODY_KNOWS
    if known.report["plan"]["nulls"] in _NULLS and guessed:
        yield _NULLS[known.report["plan"]["nulls"]]
    if known.report["plan"]["randomness"] == "reproducible" and any(step["randomized"] for step in known.steps):
        yield _SEEDED
    yield _BEYOND


def _note(finding: FindingDocument) -> str:
    return f"The run noted: {finding['text']} ({finding['code']}, which `ppdm-flow explain` explains)."


def _waived(known: DatasheetInput) -> Iterator[WaivedRequirement]:
    """Yield the waivers of what does not hold on this release, and of findings about it."""
    judged = (*known.results("requirements"), *known.results("gates"))
    needed = dict.fromkeys(each.get("waived_by", "") for each in (*judged, *known.findings()))
    for waiver in known.report["waivers"]:
        if waiver["name"] in needed:
            yield WaivedRequirement(waiver["of"], waiver["reason"], waiver["until"])


def _provenance(known: DatasheetInput) -> Iterator[tuple[str, str]]:
    run = known.report["run"]
    yield "Release policy", known.report["policy"]
    yield "Digest of the policy", str(run.get("digests", {}).get("policy", ""))
    yield "Digest of the plan", str(run.get("digests", {}).get("plan", ""))
    yield f"SHA-256 of {known.beside[DICTIONARY]['file']}", str(known.about.get("sha256", ""))
    yield "Made with", f"ppdm_flow {run.get('versions', {}).get('ppdm_flow', '')}".strip()
