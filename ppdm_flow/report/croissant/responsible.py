"""Croissant's responsible-AI terms (RAI 1.0), as far as a run can fill them in.

How data was collected, what it is for, whom it may harm and how it is biased only people know: these terms are left
out rather than guessed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ppdm_flow.core.phrases import listed
from ppdm_flow.core.texts.file_names import CONTRACT, OPERATOR
from ppdm_flow.report.run.released import ReleasedFiles, ReportedRun, bound

Document = dict[str, Any]

_ROLES = {
    "quasi_identifier": "known to others, so that it may single people out",
    "sensitive": "sensitive",
    "subject": "says whose row it is",
    "identifier": "made from an identifier",
    "items": "a set of items, which may single people out",
}


def statements(run: ReportedRun, release: ReleasedFiles) -> Document:
    """Return the terms with their texts; of public facts alone."""
    said = {
        "rai:personalSensitiveInformation": [*_personal(release), *_guarantees(run, release)],
        "rai:dataManipulationProtocol": _manipulation(run, release),
        "rai:dataPreprocessingProtocol": [f"{column.name}: {column.done}" for column in release.columns],
        "rai:dataCollectionMissingData": _missing(release),
        "rai:dataLimitations": list(_limitations(release)),
    }
    return {term: text for term, text in said.items() if text}


def _personal(release: ReleasedFiles) -> Iterator[str]:
    """Yield what is personal, by roles."""
    for role, what in _ROLES.items():
        names = [column.name for column in release.columns if column.role == role]
        if names:
            yield f"{listed(names)}: {what}."


def _guarantees(run: ReportedRun, release: ReleasedFiles) -> Iterator[str]:
    """Yield what was required of the release; a waived one is said to be."""
    for each in run.results(release.name):
        if each["holds"]:
            yield f"{each['id']} ({bound(each)}) holds on the released file."
        else:
            yield f"{each['id']} ({bound(each)}) does not hold on the released file, and was waived."


def _manipulation(run: ReportedRun, release: ReleasedFiles) -> str:
    changed = [column.name for column in release.columns if not column.done.startswith("Not changed")]
    words = f"values of {listed(changed)} were changed" if changed else "no values were changed"
    return (
        f"Released by ppdm-flow {run.tool} under the release policy {run.policy}: {words},"
        " and what the policy requires was measured on the released file."
    )


def _missing(release: ReleasedFiles) -> str:
    dictionary = release.dictionary
    return f"A missing value is {dictionary['missing']}. {dictionary['suppressed']} stands for a suppressed value."


def _limitations(release: ReleasedFiles) -> Iterator[str]:
    """Yield what a user of the data must not overlook."""
    done = {each["change"] for column in release.dictionary["attributes"] for each in column.get("done", ())}
    hows = {column["how"] for column in release.dictionary["attributes"]}
    if "suppressed" in done:
        yield "Suppressed values are not missing at random: what is rare is suppressed more often."
    if "generalized" in done:
        yield "Generalized values stand for several original ones; categories may differ in width."
    for name in (OPERATOR, CONTRACT):
        if name in release.files:
            yield f"Values were randomized: counts are biased unless they are corrected by {name}."
    if "generated" in done or "generated" in hows:
        yield "Rows were generated from a model: none stands for a person, and some may equal a person's all the same."
    if "other" in hows:
        yield "Cells of some columns are no map of one original value: joint statistics may differ."
