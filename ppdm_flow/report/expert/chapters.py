"""The chapters of a determination, from a report document alone: a public one gives a public determination."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ppdm_flow.core.amounts import amount, between
from ppdm_flow.core.phrases import counted
from ppdm_flow.plan.meanings import Meanings
from ppdm_flow.report.expert.chapter import Chapter, Determination, ExpertFact
from ppdm_flow.report.expert.questions import INTROS, QUESTIONS, TITLES
from ppdm_flow.report.run.audience import audience
from ppdm_flow.report.run.checks import CheckedRequirement, gates, requirements
from ppdm_flow.report.run.columns import columns
from ppdm_flow.report.run.fields import ReportDocument
from ppdm_flow.report.run.verdict import verdict
from ppdm_flow.report.run.wording import flat, listed, moment

_REPORT, _PLAN = "report.json", "plan.json"
_MOST = 60
_STATES = {"holds": "holds", "waived": "does not hold, and is waived", "fails": "does not hold"}


def determination(document: ReportDocument) -> Determination:
    """Return what the report says, by chapter."""
    readers, judged = audience(document), verdict(document)
    return Determination(
        policy=document["policy"],
        readers=readers.word,
        sentence=readers.sentence.replace("`ppdm-flow report RUN --public`", "`--public`"),
        verdict=f"{judged.word}. {judged.sentence}",
        state=judged.state,
        stamp=moment(str(document["run"].get("finished", ""))),
        chapters=tuple(_chapter(name, document) for name in TITLES),
    )


def _chapter(name: str, document: ReportDocument) -> Chapter:
    title, sources = TITLES[name]
    return Chapter(name, title, sources, INTROS[name], tuple(_KNOWN[name](document)), QUESTIONS[name])


def _determined(document: ReportDocument) -> Iterator[ExpertFact]:
    judged = verdict(document)
    yield ExpertFact("Release policy", document["policy"], f"{_PLAN}: policy")
    yield ExpertFact("Verdict of the run", f"{judged.word}: {judged.sentence}", f"{_REPORT}: verdict", judged.state)
    for warning in (judged.contradiction, judged.caution):
        if warning:
            yield ExpertFact("To be known with it", warning, f"{_REPORT}: findings")
    for name, about in document["releases"].items():
        size = ", ".join(_sized(about))
        yield ExpertFact(f"Release {name}", size or "no file", f"{_REPORT}: releases.{name}")


def _sized(about: Mapping[str, Any]) -> Iterator[str]:
    for key in ("path", "rows", "columns", "sha256"):
        if key in about:
            words = {"path": "", "sha256": "SHA-256 "}.get(key)
            yield f"{flat(about[key])} {key}" if words is None else f"{words}{flat(about[key])}"


def _projects(document: ReportDocument) -> Iterator[ExpertFact]:
    for node in document["plan"].get("releases", ()):
        if node.get("description"):
            yield ExpertFact(f"Release {node['name']} is for", node["description"], f"{_PLAN}: releases.{node['name']}")


def _people(document: ReportDocument) -> Iterator[ExpertFact]:
    plan = document["plan"]
    for node in plan.get("releases", ()):
        text = f"{node.get('audience', 'not stated')} (as the policy says; nobody measures who reads it)"
        yield ExpertFact(f"Audience of {node['name']}", text, f"{_PLAN}: releases.{node['name']}.audience")
    if len(document["releases"]) > 1:
        together = plan.get("recipients", "together")
        text = {"apart": "the policy says that nobody sees two of the releases"}.get(
            together, "the releases are judged together, as if somebody had all of them"
        )
        yield ExpertFact("Recipients", text, f"{_PLAN}: recipients")


def _settings(document: ReportDocument) -> Iterator[ExpertFact]:
    del document
    yield ExpertFact("Place of use", "not known to this tool, which ends where the files are written", "none")


def _data(document: ReportDocument) -> Iterator[ExpertFact]:
    people = document["plan"].get("people")
    if people:
        text = f"people are counted, and not rows; known rows of one person: {flat(people.get('known_rows'))}"
        yield ExpertFact("What counts", text, f"{_PLAN}: people")
    several = len(document["releases"]) > 1
    for of in columns(document):
        for column in of.every:
            name = f"{of.release}: {column.name}" if several else column.name
            text = f"{column.role}; {column.done}; computed from {column.computed_from}"
            yield ExpertFact(f"Column {name}", text, f"{_PLAN}: releases.{of.release}.attributes")
    yield from (_checked("Requirement", check, several) for check in requirements(document))
    if not document["requirements"]:
        yield ExpertFact("Requirements", "the policy states none, so no bound was measured", f"{_PLAN}: requirements")


def _checked(kind: str, check: CheckedRequirement, several: bool) -> ExpertFact:
    interval = f" (interval {check.interval})" if check.interval else ""
    where = f" on {check.release}" if several and check.release else ""
    place = f"{check.place}; {_REPORT}: {check.id}" if check.place else f"{_REPORT}: {check.id}"
    text = f"{check.measured}{interval}, {check.bound} is asked: {_STATES[check.state]}. {check.sentence}"
    return ExpertFact(f"{kind} {check.title}{where}", text.strip(), place, check.state)


def _attacks(document: ReportDocument) -> Iterator[ExpertFact]:
    """Yield the figures of the audits that measure no requirement, with what their cards say of them."""
    meanings = Meanings.of(document["plan"])
    named = {a["name"] for a in document["plan"].get("audits", ()) if not a.get("requirements")}
    rows = [
        (name, figure)
        for name, figure in document["metrics"].items()
        if name.rpartition("/")[2].partition(".")[0] in named
    ]
    for name, figure in rows[:_MOST]:
        meaning = meanings.of_figure(name).partition("\n")[0]
        interval = between(figure.get("interval"), figure["unit"])
        known = amount(figure["value"], figure["unit"]) if figure["value"] is not None else figure.get("note", "none")
        text = f"{known}{f' (interval {interval})' if interval else ''}{f': {meaning}' if meaning else ''}"
        yield ExpertFact(name, text, f"{_REPORT}: metrics")
    if len(rows) > _MOST:
        yield ExpertFact("Further figures", counted(len(rows) - _MOST, "figure"), f"{_REPORT}: metrics")
    if not rows:
        yield ExpertFact("Attacks", "none was measured, or none is for these readers", f"{_PLAN}: audits")


def _outputs(document: ReportDocument) -> Iterator[ExpertFact]:
    several = len(document["releases"]) > 1
    yield from (_checked("Gate", check, several) for check in gates(document))
    for node in document["plan"].get("joined_by", ()):
        yield ExpertFact("Releases that can be joined", flat(node), f"{_PLAN}: joined_by")
    ledger = document["plan"].get("ledger")
    text = (
        "this and earlier releases are judged together" if ledger else "no ledger: earlier releases were not looked at"
    )
    yield ExpertFact("Releases over time", text, f"{_PLAN}: ledger")


def _governance(document: ReportDocument) -> Iterator[ExpertFact]:
    run, plan = document["run"], document["plan"]
    for step in plan.get("steps", ()):
        what = step.get("guarantee") or "no guarantee of its own"
        yield ExpertFact(
            f"Step {step['name']}", f"`{step['use']}` {step.get('version', '')}: {what}", f"{_PLAN}: steps"
        )
    yield ExpertFact("Randomness", f"{flat(plan.get('randomness'))}", f"{_PLAN}: randomness")
    for name, digest in (run.get("digests") or {}).items():
        yield ExpertFact(f"Digest of the {name}", flat(digest), f"{_REPORT}: run.digests")
    if versions := run.get("versions"):
        yield ExpertFact("Tool", f"ppdm_flow {versions.get('ppdm_flow', '')}", f"{_REPORT}: run.versions")
    for waiver in document.get("waivers", ()):
        covers = listed(list(waiver["covers"])) if waiver.get("covers") else "nothing"
        text = f"covers {covers}; {flat(waiver.get('reason'))}"
        yield ExpertFact(f"Waiver {flat(waiver.get('name'))}", text, f"{_REPORT}: waivers", "waived")
    for finding in document["findings"]:
        if finding["severity"] != "note":
            yield ExpertFact(
                f"Finding {finding['code']}", finding["text"], f"{_REPORT}: findings; explain {finding['code']}"
            )


_KNOWN: dict[str, Callable[[ReportDocument], Iterator[ExpertFact]]] = {
    "determination": _determined,
    "projects": _projects,
    "people": _people,
    "settings": _settings,
    "data": _data,
    "attacks": _attacks,
    "outputs": _outputs,
    "governance": _governance,
}
