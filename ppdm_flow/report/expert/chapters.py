"""The chapters of a determination, from a report document alone: a public one gives a public determination."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.amounts import amount, between
from ppdm_flow.core.phrases import counted
from ppdm_flow.plan.meanings import Meanings
from ppdm_flow.report.run.checks import CheckedRequirement, audience, gates, requirements
from ppdm_flow.report.run.columns import columns
from ppdm_flow.report.run.fields import ReportDocument
from ppdm_flow.report.run.verdict import verdict
from ppdm_flow.report.run.wording import flat, listed, moment
from ppdm_flow.report.snippet import escaped

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


# What a determination is made of: chapters with what is known, each with its place, and with questions to a person.


@dataclass(frozen=True, slots=True)
class ExpertFact:
    """Something that was measured or that the policy says. ``place`` is where it stands: a file of the run, a line."""

    name: str
    text: str
    place: str
    state: str = ""


@dataclass(frozen=True, slots=True)
class Chapter:
    """One of the Five Safes, or what comes before and after. ``sources`` are the parts of the texts that ask for it.

    ``known`` are rows of (name, text, place); ``questions`` are for a person, who fills them in.
    """

    id: str
    title: str
    sources: str
    intro: str
    known: tuple[ExpertFact, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Determination:
    """All chapters; ``readers`` and ``sentence`` say who may read it, ``verdict`` how the run ended."""

    policy: str
    readers: str
    sentence: str
    verdict: str
    state: str
    stamp: str
    chapters: tuple[Chapter, ...]


# What no tool can say, chapter by chapter: questions that a person answers, in the words of the texts that ask them.
#
# Sources: 45 CFR 164.514(b)(1); ISO/IEC 27559:2022, clauses 6 to 9; Desai, Ritchie, Welpton, Five Safes: designing data
# access for research, UWE Bristol, 2016.


TITLES = {
    "determination": ("The determination", "45 CFR 164.514(b)(1)"),
    "projects": ("Safe projects", "Five Safes; ISO/IEC 27559, 6.3 (transparency and impact assessment)"),
    "people": ("Safe people", "Five Safes; ISO/IEC 27559, 6.2.3 (motives and capacity to re-identify)"),
    "settings": ("Safe settings", "Five Safes; ISO/IEC 27559, 6.2.2 (security and privacy practices)"),
    "data": ("Safe data", "Five Safes; 45 CFR 164.514(b)(1)(i); ISO/IEC 27559, 7.2 and 8.2 (data, identifiability)"),
    "attacks": ("Attacks and risk, measured", "ISO/IEC 27559, 7.3 and 8.2.3 (attack modelling, adversarial testing)"),
    "outputs": ("Safe outputs", "Five Safes; ISO/IEC 27559, 8.3 (mitigation)"),
    "governance": ("Methods, records and governance", "45 CFR 164.514(b)(1)(ii); ISO/IEC 27559, 9 (governance)"),
}
INTROS = {
    "determination": "What an expert determines is the expert's own: this only lays out what the run measured.",
    "projects": "Whether the use is appropriate.",
    "people": "Whether the recipients can be trusted to use the data appropriately.",
    "settings": "Whether the place where the data is used limits what can be done with it.",
    "data": "What the released data tells, and which bounds were measured on the released files themselves.",
    "attacks": "Figures of attacks and of what is left to learn. A figure bounds nothing by itself.",
    "outputs": "Whether what leaves, or is published from it, reveals anything of anybody.",
    "governance": "What was done, by which means, and what keeps it so.",
}
QUESTIONS = {
    "determination": (
        (
            "Who determines it, with what knowledge of and experience with generally accepted statistical and"
            " scientific principles and methods for rendering information not individually identifiable?"
        ),
        (
            "Is the risk very small that the information could be used, alone or in combination with other reasonably"
            " available information, by an anticipated recipient to identify an individual who is a subject of it?"
        ),
        "Which risk counts as very small here, and why?",
        "Until when does the determination hold, and what would end it earlier?",
    ),
    "projects": (
        "What is the data to be used for, and is that lawful, ethical and in the interest of those whom it is about?",
        "Has the impact on people been assessed, and have those concerned been told or asked?",
        "Which agreement or licence binds the use, and does it forbid to identify anybody?",
    ),
    "people": (
        "Who are the anticipated recipients, and who else may come to see the data?",
        "What could move them to identify somebody, and what are they able to do?",
        "What else do they hold or can they reasonably get that could be combined with the data?",
        "Are they trained, and what do they answer for if they break the agreement?",
    ),
    "settings": (
        "Where will the data be held, and who controls access there, physically and technically?",
        "Can the data be copied, linked with other data, or taken out of the place?",
        "Are accesses recorded and looked at, and what happens after an incident?",
        "When is the data deleted, and who sees to it?",
    ),
    "data": (
        (
            "Are the roles right that the policy gives to the attributes? What others may know of a person has to be a"
            " quasi-identifier, or nothing counts it."
        ),
        "Which information outside of the data was looked for that could be linked with it, and what came of it?",
        "Has somebody read the values that are released as text? No tool finds every name or place in them.",
        "Does anybody have actual knowledge by which somebody could be identified?",
        "Are the bounds that the policy asks for right for these people and these recipients?",
    ),
    "attacks": (
        "Which attacks are plausible here, and are those that were measured among them?",
        "Is the maximum or the average risk the one that matters, in the sample or in the population?",
        "Has somebody tried to identify people in the release who did not make it?",
    ),
    "outputs": (
        "Will what recipients publish be checked for disclosure before, by whom and by which rules?",
        "Which other releases of the same people are there, of this tool or not, and can they be joined with this one?",
    ),
    "governance": (
        "Who is responsible for the release, and who approved it?",
        "Who watches whether new data, methods or releases make identification easier, and when is that reviewed?",
        "What happens if somebody is identified after all?",
        "Where are this document, the policy and the report kept, and for how long?",
    ),
}

TITLE = "For an expert determination"
PREAMBLE = (
    "Laid out by the parts of 45 CFR 164.514(b)(1), ISO/IEC 27559:2022 and the Five Safes. Every row was measured by"
    " the run or is said by its policy, and names its place. Every box is for a person: no tool can say it, and none is"
    " ticked here. This is no determination, and no legal advice."
)


def render(document: ReportDocument) -> str:
    """Return the whole text; the same document gives the same text."""
    determined = determination(document)
    head = [
        f"# {TITLE}: {escaped(determined.policy)}",
        "",
        f"**{determined.readers}.** {escaped(determined.sentence)}",
        "",
        PREAMBLE,
        "",
        f"Run finished {escaped(determined.stamp)}. {escaped(determined.verdict)}",
    ]
    return (
        "\n".join([*head, *(line for number, c in enumerate(determined.chapters, 1) for line in _lines(number, c))])
        + "\n"
    )


def _lines(number: int, chapter: Chapter) -> Iterator[str]:
    yield from ("", f"## {number}. {chapter.title}", "", f"*{escaped(chapter.sources)}.* {escaped(chapter.intro)}")
    if chapter.known:
        yield from ("", "| What | Measured, or said by the policy | Place |", "| --- | --- | --- |")
        for row in chapter.known:
            yield f"| {escaped(row.name)} | {escaped(row.text)} | {escaped(row.place)} |"
    else:
        yield from ("", "The run has nothing to say on this.")
    yield from ("", "For a person to fill in:", "")
    for question in chapter.questions:
        yield from (f"- [ ] {escaped(question)}", "", "  Answer: ______________________________________________", "")
    yield "Name, role, date: ______________________________________________"
