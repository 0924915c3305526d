"""The data sheet as a value: every form of it is made from this."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from shlex import quote
from typing import Any

from ppdm_flow.core.amounts import amount
from ppdm_flow.core.attributes import CLIENTS, Change
from ppdm_flow.core.card_pages import RecipientStatement, Topic, said
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.lineage import DerivationKind
from ppdm_flow.core.phrases import counted, listed
from ppdm_flow.core.roles import AttributeType, Nulls, Role
from ppdm_flow.core.texts import CONTRACT, DICTIONARY, OPERATOR
from ppdm_flow.plan.definition import COLLAPSE
from ppdm_flow.policy.language.kind_pages import page_of
from ppdm_flow.policy.language.kinds import kind_of as kind_of_requirement
from ppdm_flow.report.datasheet.given import DatasheetInput
from ppdm_flow.report.run.fields import FindingDocument, ResultDocument
from ppdm_flow.report.run.wording import is_cumulative, kind_of, title_of
from ppdm_flow.sdk import registry

_NULLS = {
    Nulls.OWN_CATEGORY: "A missing cell counts as one more value, which others may know as well.",
    Nulls.WILDCARD: "A missing cell may hide any value.",
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
_SEEDED = "Draws were made from a seed that the policy holds: a reader of the policy can undo what was done at random."
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
    """The texts for the recipient of one release, section by section. Pairs are a name and what it is."""

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


def sheet(known: DatasheetInput) -> Sheet:
    """Return the data sheet of a release."""
    judged = promises(known)
    return Sheet(
        policy=known.report["policy"],
        release=known.release,
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
        written += f", each distinct record written once: {counts} says how many rows it represents"
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
            yield f"A row represents as many rows of the original as {column['name']} says."
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


# The columns of a release in plain words: what each is, and what was done to it.


_TYPES = {
    AttributeType.TEXT: "text",
    AttributeType.INTEGER: "whole number",
    AttributeType.FLOAT: "number",
    AttributeType.DATE: "date",
    AttributeType.TIMESTAMP: "date and time",
}
_ROLES = {
    Role.IDENTIFIER: "names a person",
    Role.QUASI_IDENTIFIER: "others may know it of a person",
    Role.SENSITIVE: "to be protected",
    Role.TARGET: "what an analysis is to explain",
    Role.INSENSITIVE: "nothing to be protected",
    Role.WEIGHT: "how many rows this row represents: count it so often",
    Role.SAMPLING_WEIGHT: "how many people of the population the row represents",
    Role.SUBJECT: "whose row it is",
    Role.ITEMS: "a set of items",
}
_COUNTED = "Rows that are equal in all other columns, missing cells among them, became one record."


@dataclass(frozen=True, slots=True)
class SheetColumn:
    """A released column: what it holds, and what was done to it in the order of the steps, a sentence each."""

    name: str
    holds: str
    description: str
    done: tuple[str, ...]
    kept: bool


def columns(given: DatasheetInput) -> Iterator[SheetColumn]:
    """Yield the columns in the order of the file."""
    words = {step["name"]: StepWords.of(step) for step in given.steps}
    described = {a["name"]: a for a in given.beside[DICTIONARY]["attributes"]}
    for column in given.node["attributes"]:
        about = described[column["name"]]
        step_notes = {each["step"]: each["told"] for each in about.get("done", ()) if "told" in each}
        done = tuple(dict.fromkeys(_done(given, column, words, step_notes)))
        holds = f"{_TYPES.get(about['type'], about['type'])}; {_ROLES.get(column['role'], column['role'])}"
        sizes = f"The sizes are {about['sizes']}." if "sizes" in about else ""
        description = " ".join(filter(None, (about.get("description", ""), sizes)))
        yield SheetColumn(column["name"], holds, description, done or ("Kept as it was.",), kept=not done)
    for about in described.values():
        if about["name"] == given.beside[DICTIONARY]["options"].get(COLLAPSE):
            holds = f"{_TYPES[AttributeType.INTEGER]}; {_ROLES[Role.WEIGHT]}"
            yield SheetColumn(about["name"], holds, about["description"], (_COUNTED,), kept=False)


def left_out(given: DatasheetInput) -> tuple[str, ...]:
    """Return the attributes of the original that steps dropped, and identifiers of which nothing is released."""
    released = {name for column in given.node["attributes"] for name in (column["name"], *column["computed_from"])}
    identifiers = (a["name"] for a in given.source["attributes"] if a["role"] == Role.IDENTIFIER)
    dropped = (name for step in given.steps for name in step["drops"])
    return tuple(dict.fromkeys(name for name in (*identifiers, *dropped) if name not in released))


def _done(
    given: DatasheetInput, column: Mapping[str, Any], words: Mapping[str, StepWords], step_notes: Mapping[str, str]
) -> Iterator[str]:
    """Yield what was done: what the step says of this column, or else its card of any."""
    changes = {change["step"]: change["change"] for change in column.get("changes", ())}
    since, added = _since(given, column["name"])
    if CLIENTS in changes:
        yield "Each client randomized its own set, by the published operator, before it was collected."
    for step in since:
        name = step["name"]
        if name in changes or name == added or name in column.get("steps", ()):
            yield from (step_notes[name],) if name in step_notes else words[name].done(changes.get(name))
    sources = column.get("computed_from", [])
    if column.get("how") == DerivationKind.GENERATED:
        return
    if sources and sources != [column["name"]]:
        yield f"It is made from {listed(sources)} of the original."
    if not sources:
        yield "It is made from no column of the original."


def _since(given: DatasheetInput, name: str) -> tuple[list[Mapping[str, Any]], str]:
    """Return the steps from the one on that added a column, with its name; all where it was in the source."""
    since: list[Mapping[str, Any]] = []
    for place in range(len(given.steps) - 1, -1, -1):
        step = given.steps[place]
        since.insert(0, step)
        old = next((old for old, new in step["renames"].items() if new == name), None)
        before = given.steps[place - 1] if place else given.source
        if old is None and all(a["name"] != name for a in before["attributes"]) and not _is_pattern(before, name):
            return since, step["name"]
        name = old or name
    return since, ""


def _is_pattern(before: Mapping[str, Any], name: str) -> bool:
    """Whether the source declares the column by a pattern, which has no name of its own before the data is read."""
    return any(fnmatchcase(name, a["name"]) for a in before["attributes"] if set("*?[") & set(a["name"]))


# What the steps up to a release tell its recipients, by their cards.


_SILENT = (
    "The author of this step does not say what it leaves true. Take no figure of what it changed for one of the"
    " original before you have asked the owner of the data."
)
_BY_CHANGE: Mapping[str, str] = {
    Change.GENERALIZED: "Values were replaced by coarser ones.",
    Change.SUPPRESSED: "Some values were suppressed.",
    Change.PERTURBED: "Values were changed at random.",
    Change.PSEUDONYMIZED: "Values were replaced by pseudonyms.",
    Change.GENERATED: "Values were generated: a row belongs to nobody.",
    Change.OTHER: "Values were changed.",
}
_BY_ROWS = {
    "fewer": "Some rows may have been left out, and nothing is said of which.",
    "reordered": "Rows were put into another order.",
    "generated": "Rows were made anew: a row belongs to nobody.",
}
_SINGLY = "Rows that counted for several were written out singly before this step."


@dataclass(frozen=True, slots=True)
class StepAccount:
    """What one step tells: of which released columns, and what remains true of its table, what does not, what helps.

    ``done`` is what it did where it did that to rows: what it did to columns is told with these.
    """

    name: str
    use: str
    summary: str
    columns: tuple[str, ...]
    done: tuple[str, ...]
    true: tuple[str, ...]
    untrue: tuple[str, ...]
    correct: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepWords:
    """The words of a step: those of its card, or where that is silent what its plan tells."""

    step: Mapping[str, Any]
    statements: tuple[RecipientStatement, ...]
    summary: str

    @classmethod
    def of(cls, step: Mapping[str, Any]) -> StepWords:
        """Look up the card of a step; a plugin that is not installed is silent."""
        try:
            info = registry.load("anonymizers", step["use"]).info
        except PluginError:
            return cls(step, (), "")
        return cls(step, info.recipients, info.summary)

    def on(self, topic: Topic) -> tuple[str, ...]:
        """Return what the card says on a topic with the step's parameters."""
        return said(self.statements, topic, self.step["parameters"])

    def done(self, change: str | None) -> tuple[str, ...]:
        """Return what was done to a column, of which the plan says what kind of change it was."""
        if self.statements:
            return self.on("done")
        return (_BY_CHANGE.get(change or Change.OTHER, _BY_CHANGE[Change.OTHER]),)


def accounts(given: DatasheetInput) -> Iterator[StepAccount]:
    """Yield what each step up to the release tells, the first one first."""
    for step in given.steps:
        columns = tuple(c["name"] for c in given.node["attributes"] if step["name"] in c.get("steps", ()))
        if step["changes"] and not columns and step["rows"] == "same":
            continue  # all that it changed is not in this file
        words = StepWords.of(step)
        rows = (_BY_ROWS[step["rows"]],) if not words.statements and step["rows"] in _BY_ROWS else ()
        silent = () if words.statements else (*rows, _SILENT)
        singly = (_SINGLY,) if step["expands_weights"] else ()
        done = () if columns else words.on("done")
        statements = (done, words.on("true"), (*words.on("not true"), *silent, *singly), words.on("correct"))
        yield StepAccount(step["name"], step["use"], words.summary, columns, *statements)


# How recipients estimate what the original had from values that were changed with known probabilities.


FINE_GRAIN, SETS = "fine_grain", "transactions"
"""Forms of entries in ``operator.json``; all others are tables of probabilities."""
PER_PERSON = "values_per_person"
"""The key of an entry that says that rows of one person with equal values were changed alike."""
_EXAMPLE = (
    "An example, with invented numbers: of two values A and B each is kept with a probability of 60%, and else one"
    " of the two is drawn evenly. Where it was A, A is then shown with 60% + 20% = 80%; where it was B, with 20%. If"
    " 440 of 1,000 rows show A, its original share is estimated as (0.44 - 0.20) / (0.80 - 0.20) = 0.40: about 400"
    " rows, and not 440."
)
_SETS_EXAMPLE = (
    "An example, with invented numbers: an item of a set is kept with a probability of 70%, and one that was not there"
    " is put in with 10%. If 340 of 1,000 sets show an item, its original share is estimated as"
    " (0.34 - 0.10) / (0.70 - 0.10) = 0.40: about 400 sets."
)
_OF_SETS = (
    f"`{OPERATOR}` says, for sets of each length, with which probabilities items were kept and put in. From them"
    " follows how often an item or a small combination of items occurred."
)
_CONTRACT = f"Beside it, `{CONTRACT}` says which supports are large enough to be found."
_INTERVALS = (
    "An estimate has an error of chance, which the program gives as an interval. It is large for few rows and for rare"
    " values, and an estimate may even lie below 0 or above 1: then it says that there is too little to tell."
)


_PEOPLE = "Rows of one person with equal values were changed alike, so intervals are wider than so many rows suggest."


@dataclass(frozen=True, slots=True)
class Estimate:
    """How to correct what is counted in one column, sentence by sentence; ``formula`` and ``command`` may be empty."""

    column: str
    sentences: tuple[str, ...]
    formula: str = ""
    command: str = ""
    example: str = ""


def estimates(given: DatasheetInput) -> Iterator[Estimate]:
    """Yield what is known of each column with an operator, then of those that were perturbed and have none."""
    entries = given.beside.get(OPERATOR, {}).get("operators", [])
    for entry in entries:
        if entry["form"] == SETS:
            yield _of_sets(entry, contract=CONTRACT in given.beside)
        else:
            yield _of_values(entry)
    known = {entry["attribute"] for entry in entries}
    perturbed = [
        column["name"]
        for column in given.node["attributes"]
        if column["name"] not in known and any(c["change"] == Change.PERTURBED for c in column.get("changes", ()))
    ]
    if perturbed:
        text = (
            f"No published operator describes {listed(perturbed)}: counts of it cannot be corrected from this folder."
        )
        yield Estimate("", (f"{text} Ask the owner of the data before you take them for those of the original.",))


def _of_values(entry: dict[str, Any]) -> Estimate:
    name, fine = entry["attribute"], entry["form"] == FINE_GRAIN
    if fine:
        how = (
            "For each value of `domain` it gives under `retention` the probability with which it was kept; else one of"
            " all m values was drawn evenly."
        )
        formula = (
            "f(v) = (o(v) - c) / p(v), with c = (Σ o(w) / p(w) - 1) / Σ 1 / p(w) over all values w, where no p is 0"
        )
    else:
        how = (
            "Row by row of `transition` it gives the probabilities with which a value of `domain` became each of them."
        )
        formula = "f = (Pᵀ)⁻¹ o, P being the table `transition`"
    where = (
        "o is the share of each value as it is shown, f the estimate of its share in the original; this holds for all"
        " rows, and for any group of rows that columns select which were not made together with this one."
    )
    twice = (_PEOPLE,) if PER_PERSON in entry else ()
    last = () if fine else ("Where the table cannot be inverted, `--method em` gives the most likely shares.",)
    sentences = (
        f"`{OPERATOR}` says how the values of this column were changed. {how}",
        where,
        *last,
        *twice,
        _INTERVALS,
    )
    return Estimate(name, sentences, formula, f"ppdm-flow reconstruct . --attribute {quote(name)}", _EXAMPLE)


def _of_sets(entry: dict[str, Any], *, contract: bool) -> Estimate:
    command = "ppdm-flow mine . --min-support 5%"
    sentences = (_OF_SETS, _CONTRACT, _INTERVALS) if contract else (_OF_SETS, _INTERVALS)
    return Estimate(entry["attribute"], sentences, command=command, example=_SETS_EXAMPLE)


# Which requirements and bounds held on a release, in sentences for people who are no experts.


_SECTION = "For recipients"
_NOTHING = "No column of this file depends on the attributes that this is about."
_NO_WORDS = "It was measured on this file itself, and holds."
_TOGETHER = "So it is also with what was released before of the same people."
_NOT = "This does NOT hold on this file. It was waived:"
_NO_COLUMNS = ".columns"
"""Ends the name of the figure that says that a release carries nothing that a requirement is about."""
_PROMISES_KNOWN = "what others may know"
_PROMISES_COUNTED = frozenset({"rows", "people", "sets"})


@dataclass(frozen=True, slots=True)
class Promise:
    """A requirement or a gate that was judged: its name, its bound, and what it means where it holds."""

    title: str
    kind: str
    bound: str
    sentence: str
    holds: bool


def promises(given: DatasheetInput) -> tuple[Promise, ...]:
    """Return the requirements that were judged on the release."""
    requirements = {r["id"]: r for r in given.report["plan"].get("requirements", ())}
    return tuple(
        dict.fromkeys(_promise(r, requirements.get(r["id"], {}), given) for r in given.results("requirements"))
    )


def gates(given: DatasheetInput) -> tuple[Promise, ...]:
    """Return the other bounds that were judged: of usefulness, of attacks."""
    return tuple(
        Promise(title_of(r["id"]), r["metric"], _bound(r, given.unit(r)), "", bool(r["holds"]))
        for r in given.results("gates")
    )


def _promise(result: ResultDocument, requirement: Mapping[str, Any], given: DatasheetInput) -> Promise:
    unit = given.unit(result)
    names = {key: _written(value, given) for key, value in requirement.items()}
    text = " ".join(_sentences(result, names, unit))
    sentence = text if result["holds"] else f"{_NOT} {text}"
    empty = result["metric"].endswith(_NO_COLUMNS)
    bound = "" if empty or unit == "points" else _bound(result, unit)
    title = given.plain(title_of(result["id"]))
    return Promise(title, kind_of(result["id"]), bound, sentence, bool(result["holds"]))


def _sentences(result: ResultDocument, names: Mapping[str, str], unit: str) -> Iterator[str]:
    if result["metric"].endswith(_NO_COLUMNS):
        yield _NOTHING
        return
    yield _meaning(result, names, unit)
    if is_cumulative(result):
        yield _TOGETHER


def _meaning(result: ResultDocument, names: Mapping[str, str], unit: str) -> str:
    """Return what the page of a kind says of it to recipients, with the bound and the names of this requirement."""
    spec = kind_of_requirement(result["id"])
    try:
        page = page_of(spec) if spec else None
    except PluginError:
        page = None
    if page is None or _SECTION not in page.sections:
        return _NO_WORDS
    try:
        return page.section(_SECTION).format_map({**names, "bound": _size(result, unit)})
    except (KeyError, IndexError, ValueError):
        return _NO_WORDS


def _written(value: Any, given: DatasheetInput) -> str:
    """Return what a requirement names as a sentence has it: of linked tables, what is of the release's own."""
    if isinstance(value, list | tuple):
        return listed(given.own([str(each) for each in value])) or _PROMISES_KNOWN
    return f"{value:g}" if isinstance(value, float) else given.plain(str(value))


def _size(result: ResultDocument, unit: str) -> str:
    number = amount(result["bound"], unit)
    return f"{number} {unit}" if unit in _PROMISES_COUNTED and not number.endswith(unit) else number


def _bound(result: ResultDocument, unit: str) -> str:
    return f"{'at most' if result['direction'] == 'at_most' else 'at least'} {_size(result, unit)}"
