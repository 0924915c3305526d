"""At most five questions to a steward, and what the answers change in a draft; without one the safer guess stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from ppdm_flow.api.arguments import names
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.roles import Role
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.mining.profiling.roles import OF_ITS_OWN
from ppdm_flow.report.contract import PEOPLE
from ppdm_flow.report.profile import ProfileColumn, ProfileDocument, StewardAnswers

Topic = Literal["audience", "studied", "person", "known_rows", "sensitive"]

_AUDIENCES = {"internal": PEOPLE, "partner": PEOPLE, "public": 10}
"""Among how many people a draft hides everybody, by who receives the release."""
_KNOWN_ROWS = ("1", "2", "3", "all")
_NO = ("no", "none")


@dataclass(frozen=True, slots=True)
class StewardQuestion:
    """A question on a ``topic``, with what may be answered, and the ``guess`` that stands without an answer."""

    topic: Topic
    text: str
    choices: str
    guess: str


def next_question(document: ProfileDocument, answers: Mapping[Topic, str]) -> StewardQuestion | None:
    """Return the first question that was not asked yet; an empty text in ``answers`` says that one was."""
    return next((each for each in _questions(document, answers) if each.topic not in answers), None)


def _questions(document: ProfileDocument, answers: Mapping[Topic, str]) -> Sequence[StewardQuestion]:
    about_all = StewardQuestion("audience", "Who receives it?", ", ".join(_AUDIENCES), "public")
    if "sets" in document:
        return (about_all,)
    subject = _names(document, Role.SUBJECT)
    person = StewardQuestion(
        "person",
        "Has a person several rows? Which column says whose row it is?",
        "no, or the name of a column",
        subject[0] if subject else "no",
    )
    studied = StewardQuestion(
        "studied",
        "Which columns will be studied? Others stay here.",
        "all, or names of columns, each with ! behind it that the study needs most",
        "all",
    )
    sensitive = StewardQuestion(
        "sensitive",
        "What may nobody learn of a person from it?",
        "no, or names of columns",
        ", ".join(_names(document, Role.SENSITIVE)) or "no",
    )
    known = StewardQuestion(
        "known_rows", "How many rows of one person may somebody know already?", ", ".join(_KNOWN_ROWS), "all"
    )
    several = answers.get("person") or person.guess
    return (about_all, studied, person, *((known,) if several.lower() not in _NO else ()), sensitive)


def answered(document: ProfileDocument, answers: Mapping[Topic, str]) -> ProfileDocument:
    """Return a draft with these answers. Raises UsageError for one that is none of the choices."""
    asked = [topic for topic in _CHANGES if topic in answers]
    said = {topic: text for topic in asked if (text := answers[topic].strip())}
    for topic, text in said.items():
        columns = _CHANGES[topic](document, text)
        document = cast("ProfileDocument", {**document, "columns": columns})
    audience = _one_of("audience", said.get("audience", "public"), tuple(_AUDIENCES))
    noted: StewardAnswers = {
        "audience": audience,
        "people": _AUDIENCES[audience],
        "known_rows": _one_of("known_rows", said.get("known_rows", "all"), _KNOWN_ROWS),
        "unanswered": [topic for topic in asked if topic not in said],
    }
    return cast("ProfileDocument", {**document, "answers": noted})


@dataclass(frozen=True, slots=True)
class SharingPurpose:
    """Who receives a table, and what for.

    ``studied`` are the columns that leave, None for all that may; ``person`` is the column that says whose row it is,
    empty where a person has one row, None where nobody was asked.
    """

    audience: str
    studied: Sequence[str] | None
    person: str | None
    known_rows: str = "all"


def for_purpose(document: ProfileDocument, purpose: SharingPurpose) -> ProfileDocument:
    """Return a draft for a purpose, as `answered` does. Raises UsageError where it does not fit the table."""
    if purpose.studied is not None and not purpose.studied:
        raise _refused("studied", "no column would leave")
    leaving = [column["name"] for column in document["columns"] if column["role"] != Role.IDENTIFIER]
    if purpose.studied is not None and set(purpose.studied) != set(leaving):
        document = cast("ProfileDocument", {**document, "columns": _with_studied(document, purpose.studied)})
    if purpose.person is not None:
        chosen = (purpose.person,) if purpose.person else ()
        document = cast("ProfileDocument", {**document, "columns": _with_person(document, chosen)})
    return answered(document, {"audience": purpose.audience, "known_rows": purpose.known_rows})


def with_roles(document: ProfileDocument, roles: Mapping[Role, Sequence[str]], people: int) -> ProfileDocument:
    """Return a draft with these roles of columns, which leaves all others out, and hides everybody among ``people``.

    Raises UsageError for a column that is not there, or has two roles.
    """
    known = [column["name"] for column in document["columns"]]
    chosen: dict[str, Role] = {}
    for role, names_of_role in roles.items():
        for name in names_of_role:
            if name not in known:
                text = f"there is no column `{name}`"
                raise UsageError(Diagnostic("PPF763", text, hint=did_you_mean(name, known)))
            if name in chosen:
                raise UsageError(Diagnostic("PPF763", f"column `{name}` has two roles: {chosen[name]} and {role}"))
            chosen[name] = role
    columns = [
        _changed(column, chosen[column["name"]], "the caller says so")
        if column["name"] in chosen
        else cast("ProfileColumn", {**column, "role": str(Role.IDENTIFIER), "left_out": True})
        for column in document["columns"]
    ]
    noted: StewardAnswers = {"audience": "internal", "people": people, "known_rows": "all", "unanswered": []}
    return cast("ProfileDocument", {**document, "columns": columns, "answers": noted, "ending": ".parquet"})


def _same(document: ProfileDocument, _text: str) -> list[ProfileColumn]:
    return document["columns"]


def _studied(document: ProfileDocument, text: str) -> list[ProfileColumn]:
    if text.lower() == "all":
        return document["columns"]
    known = {column["name"] for column in document["columns"]}
    answered_names = names(text, "an answer on `studied`")
    important = {name[:-1].rstrip() for name in answered_names if name.endswith("!") and name not in known}
    plain = ", ".join(name[:-1].rstrip() if name[:-1].rstrip() in important else name for name in answered_names)
    columns = _with_studied(document, _columns(document, "studied", plain))
    return [cast("ProfileColumn", {**c, "important": True}) if c["name"] in important else c for c in columns]


def _with_studied(document: ProfileDocument, wanted: Sequence[str]) -> list[ProfileColumn]:
    direct = next((c for c in document["columns"] if c["name"] in wanted and not may_be_studied(c)), None)
    if direct is not None:
        why = (
            f"`{direct['name']}` names people by itself ({direct['reason']}), so it never leaves as it is: leave it out"
        )
        raise _refused("studied", why, "if it does not, change its role in the draft")
    return [_studied_column(column, is_wanted=column["name"] in wanted) for column in document["columns"]]


def may_be_studied(column: ProfileColumn) -> bool:
    """Whether a column may leave: it does not name people by itself, as far as a profile can tell."""
    return column["role"] != Role.IDENTIFIER or column["reason"].startswith(OF_ITS_OWN)


def _studied_column(column: ProfileColumn, *, is_wanted: bool) -> ProfileColumn:
    """Return a column as somebody studies it: in doubt whether it names people, a steward has decided."""
    if is_wanted and column["role"] == Role.IDENTIFIER:
        return _changed(
            column, Role.QUASI_IDENTIFIER, f"{column['reason']}, but a steward said that it will be studied"
        )
    if is_wanted or column["role"] in (Role.IDENTIFIER, Role.SUBJECT, Role.SAMPLING_WEIGHT, Role.WEIGHT):
        return column
    left_out = _changed(column, Role.IDENTIFIER, "nobody will study it, a steward said")
    return cast("ProfileColumn", {**left_out, "left_out": True})


def _person(document: ProfileDocument, text: str) -> list[ProfileColumn]:
    return _with_person(document, () if text.lower() in _NO else _columns(document, "person", text))


def _with_person(document: ProfileDocument, chosen: Sequence[str]) -> list[ProfileColumn]:
    if len(chosen) > 1:
        raise _refused("person", "takes one column")
    incomplete = [c["name"] for c in document["columns"] if c["name"] in chosen and c["missing"]]
    if incomplete:
        raise _refused("person", f"rows without a value of `{incomplete[0]}` would belong to nobody")
    reason = "says whose row it is, a steward said, so people are counted by it"
    other = "a steward said that a person has one row" if not chosen else "another column says whose row it is"
    return _with_role(document, chosen, (Role.SUBJECT, reason), (Role.IDENTIFIER, other))


def _sensitive(document: ProfileDocument, text: str) -> list[ProfileColumn]:
    chosen = () if text.lower() in _NO else _columns(document, "sensitive", text)
    leaving = [c for c in document["columns"] if c["role"] not in (Role.IDENTIFIER, Role.SUBJECT)]
    staying = next((name for name in chosen if name not in {c["name"] for c in leaving}), None)
    if staying is not None:
        raise _refused("sensitive", f"`{staying}` does not leave at all")
    reason = "nobody may learn it of a person, a steward said"
    other = "a steward did not name it among what nobody may learn, so others may know it"
    return _with_role(document, chosen, (Role.SENSITIVE, reason), (Role.QUASI_IDENTIFIER, other))


def _with_role(
    document: ProfileDocument, chosen: Sequence[str], given: tuple[Role, str], instead: tuple[Role, str]
) -> list[ProfileColumn]:
    """Give the chosen columns a role, with its reason, and the others that had it another one ``instead``."""
    return [
        _changed(column, *given)
        if column["name"] in chosen
        else _changed(column, *instead)
        if column["role"] == given[0]
        else column
        for column in document["columns"]
    ]


_CHANGES: Mapping[Topic, Callable[[ProfileDocument, str], list[ProfileColumn]]] = {
    "audience": _same,
    "studied": _studied,
    "person": _person,
    "known_rows": _same,
    "sensitive": _sensitive,
}


def _changed(column: ProfileColumn, role: Role, reason: str) -> ProfileColumn:
    return cast("ProfileColumn", {**column, "role": str(role), "reason": reason, "left_out": False})


def _names(document: ProfileDocument, role: Role) -> list[str]:
    return [column["name"] for column in document["columns"] if column["role"] == role]


def _columns(document: ProfileDocument, topic: Topic, text: str) -> tuple[str, ...]:
    chosen = names(text, f"an answer on `{topic}`")
    known = [column["name"] for column in document["columns"]]
    unknown = next((name for name in chosen if name not in known), None)
    if unknown is not None:
        raise _refused(topic, f"there is no column `{unknown}`", did_you_mean(unknown, known))
    return chosen


def _one_of(topic: Topic, text: str, choices: tuple[str, ...]) -> str:
    if text.lower() not in choices:
        raise _refused(topic, f"is one of {', '.join(choices)}, not `{text}`")
    return text.lower()


def _refused(topic: Topic, why: str, hint: str | None = None) -> UsageError:
    return UsageError(Diagnostic("PPF120", f"an answer on `{topic}`: {why}", hint=hint))
