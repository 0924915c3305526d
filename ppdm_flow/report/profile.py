"""The profile of a table as a commented policy, as text and as JSON. None shows a value of the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NotRequired

from typing_extensions import TypedDict

from ppdm_flow.core.phrases import counted
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.profiling.column import ColumnFacts
from ppdm_flow.mining.profiling.roles import Guess
from ppdm_flow.mining.profiling.sets import SetFacts
from ppdm_flow.mining.profiling.table import Profile
from ppdm_flow.mining.profiling.words import of_ids
from ppdm_flow.policy.language.wording import DraftFacts
from ppdm_flow.report.contract import PEOPLE, comment, flow, policy_name, privacy, recoding, scalar
from ppdm_flow.report.snippet import printable

_EXACT = 0.05
_MOST_NAMED = 6
_BY_TYPE = "text"
_NUMBERS = ("integer", "float")
_MANY_VALUES = 20
_LISTED = (
    " Each `domain` is the list of labels that the file itself has, whether a row has them or not; it is left out"
    " where fewer than 5 rows have one."
)
_ENOUGH_FOR_TAILS = 500
"""Rows of which a hundredth are a tail that is not one person's."""


# A first policy from a profile: every line a guess, with its reason beside it.


def render(profile: ProfileDocument, path: str) -> str:
    """Return the policy as YAML with comments; ``path`` is that of the data as the policy will name it."""
    name = policy_name(profile["file"])
    parts = [
        _head(profile),
        f"version: 1\nname: {name}\n",
        _source(profile, path),
        _attributes(profile),
        _people(profile),
        _privacy(profile),
        _steps(profile),
        _release(profile, f"{name}{profile.get('ending', '.csv')}"),
    ]
    return "\n".join(part for part in parts if part)


def _head(profile: ProfileDocument) -> str:
    rows, columns = profile["rows"], f"{len(profile['columns']):,} columns"
    what = f"{rows:,} sets of items" if "sets" in profile else f"{rows:,} rows of {columns}"
    lines = comment(
        f"A first policy, made by `ppdm-flow profile` from what {what} look like. Every"
        " line is a guess, with its reason: somebody who knows the data and its recipients has to decide. No value of"
        " the data stands here." + (_LISTED if any(c["domain"] for c in profile["columns"]) else "")
    )
    return "\n".join([*lines, *_write_combinations(profile)]) + "\n"


def _write_combinations(profile: ProfileDocument) -> Iterator[str]:
    """Yield what tells rows apart."""
    single = [c for c in profile["unique_combinations"] if len(c) == 1]
    several = [c for c in profile["unique_combinations"] if len(c) > 1]
    if single:
        yield from comment(f"No two rows have the same {_listed([c[0] for c in single])}.")
    if several:
        more = len(several) - _MOST_NAMED + profile["more_unique_combinations"]
        tail = f" (and {more:,} more)" if more > 0 else ""
        yield from comment(
            f"Nor the same {_either(several[:_MOST_NAMED])}{tail}."
            if single
            else f"No two rows have the same {_either(several[:_MOST_NAMED])}{tail}."
        )
    for each in profile["telling_combinations"][:_MOST_NAMED]:
        yield from comment(f"{_percent(each['alone'])} of the rows are alone with their {_joined(each['columns'])}.")
    if profile["combinations_left_out"]:
        yield from comment(f"{profile['combinations_left_out']:,} combinations were not looked at: there may be more.")


_SETS_ARE = {"long": "a row for each id and item: all items of an id are one set, and the id stays here"}


def _source(profile: ProfileDocument, path: str) -> str:
    lines = ["source:", f"  path: {scalar(path)}  # from the folder of this file; or give another with --data"]
    source = profile["source"]
    if source.get("format"):
        what = _SETS_ARE.get(source["format"], "a set of items in each line") if "sets" in profile else ""
        lines.append(f"  format: {source['format']}" + (f"  # {what}" if what else ""))
    if source.get("options"):
        options = source["options"]
        lines += comment("Numbers are written like 12,5.", "  ") if options.get("decimal") == "comma" else []
        lines += comment("How dates are written: day %d, month %m, year %Y.", "  ") if "dates" in options else []
        lines.append(f"  with: {flow(source['options'])}")
    if source.get("columns"):
        lines += comment("The file seems to have no header: give the columns their names, here and below.", "  ")
        lines.append(f"  columns: {flow(source['columns'])}")
    if source["missing"] != [""]:
        lines += comment("Texts that mean missing values.", "  ")
        lines.append(f"  missing: {flow(source['missing'])}")
    return "\n".join(lines) + "\n"


def _attributes(profile: ProfileDocument) -> str:
    lines = ["attributes:"]
    for column in _declared_columns(profile):
        is_sets = "sets" in profile and column["role"] == Role.ITEMS
        figures = _figures_of_sets(profile["rows"], profile["sets"]) if is_sets else _figures(column)
        lines += comment(f"{column['reason']}; {figures}", "  ")
        lines.append(f"  {scalar(column['name'])}: {flow(_declared(column))}")
    left_out = [column["name"] for column in profile["columns"] if column.get("left_out")]
    if left_out:
        lines += comment(
            f"Nobody will study {_comma_separated(left_out)}: columns that are not declared do not leave. To release"
            " one, declare it above with its role."
        )
        lines.append("undeclared: drop")
    return "\n".join(lines) + "\n"


def _declared_columns(profile: ProfileDocument) -> list[ProfileColumn]:
    return [column for column in profile["columns"] if not column.get("left_out")]


def _people(profile: ProfileDocument) -> str:
    """Return how people are counted, where a column says whose row it is."""
    subjects = [c["name"] for c in profile["columns"] if c["role"] == "subject"]
    answers = profile.get("answers")
    if profile["source"].get("format") == "long":
        text = (
            "Each id counts as a person of its own: where a person has several, give the id of the person. Where the"
            " rows are no sets, such as visits of which each counts, draft a table: `ppdm-flow profile --input-format"
            " csv`."
        )
        return "\n".join(comment(text)) + "\n"
    if not subjects and "sets" in profile:
        text = (
            "Each set counts as a person of its own, as no column says whose it is. Where a person has several sets,"
            " everybody is protected less than it seems: write a row for each id and item, and read them with `format:"
            " long`, which makes one set of all items of an id."
        )
        return "\n".join(comment(text)) + "\n"
    if not subjects:
        unsaid = answers is not None and "person" in answers["unanswered"]
        text = (
            "Nobody said whether a person has several rows. No id repeats, so each row counts as a person; if it is"
            " otherwise, the column that says whose row it is has the role `subject`."
        )
        return "\n".join(comment(text)) + "\n" if unsaid else ""
    text = (
        f"A person has several rows, told by {scalar(subjects[0])}: people are counted, not rows. Somebody may"
        " know this many rows of one person: 1, 2, 3 or all. Where each row is a person of its own, make it an"
        " identifier and leave this out."
    )
    known_rows = "1" if answers is None else answers["known_rows"]
    if answers is not None and "known_rows" in answers["unanswered"]:
        text += " Nobody said how many: all are the safer guess."
    return "\n".join([*comment(text), f"people: {{known_rows: {known_rows}}}"]) + "\n"


def _release(profile: ProfileDocument, path: str) -> str:
    """Return the release, with its audience where somebody was asked."""
    lines = ["releases:"]
    answers = profile.get("answers")
    audience = "" if answers is None else f", audience: {answers['audience']}"
    if answers is not None and "audience" in answers["unanswered"]:
        text = (
            f"Nobody said who receives it: the safer guess is everybody, so that each hides among {answers['people']}."
            f" Among partners {PEOPLE} are usual."
        )
        lines += comment(text, "  ")
    return "\n".join([*lines, f"  study: {{path: {path}{audience}}}"]) + "\n"


def _hidden_among(profile: ProfileDocument) -> int:
    answers = profile.get("answers")
    return PEOPLE if answers is None else answers["people"]


def _declared(column: ProfileColumn) -> dict[str, Any]:
    declared: dict[str, Any] = {"role": column["role"]}
    if column["type"] != _BY_TYPE and column["role"] not in ("identifier", "subject"):
        declared["type"] = column["type"]
    if column["hierarchy"]:
        declared["hierarchy"] = column["hierarchy"]
    if column["domain"]:
        declared["domain"] = column["domain"]
    if column["description"]:
        declared["description"] = column["description"]
    return declared


def _figures(column: ProfileColumn) -> str:
    values = f"{column['distinct']:,} value{'' if column['distinct'] == 1 else 's'}"
    alone = f", {_percent(column['alone_share'])} of the rows alone with theirs" if column["alone"] else ""
    missing = f", {column['missing']:,} missing" if column["missing"] else ""
    exact = column["role"] == "sensitive" and column["alone_share"] >= _EXACT
    caution = ". A reader who knows it exactly finds the row: coarser values are safer" if exact else ""
    decide = f". {column['decide']}" if column.get("decide") else ""
    return f"{values}{alone}{missing}{caution}{decide}"


def _figures_of_sets(rows: int, sets: SetFigures) -> str:
    alone = f"; {_percent(sets['alone'] / rows)} of the sets have an item that no other has" if sets["alone"] else ""
    empty = f"; {sets['empty']:,} without items" if sets["empty"] else ""
    sizes = f"{sets['mean_size']:.3g} in a set on average and {sets['largest']:,} at most"
    return f"{sets['items']:,} items, {sizes}{empty}{alone}"


def _privacy(profile: ProfileDocument) -> str:
    columns = profile["columns"]
    sensitive = [c for c in _with_role(columns, "sensitive") if c["distinct"] > 1]
    return privacy(
        DraftFacts(
            _with_role(columns, "quasi_identifier"), sensitive, _hidden_among(profile), _with_role(columns, "items")
        )
    )


def _steps(profile: ProfileDocument) -> str:
    sets = "sets" in profile
    if not sets and not _with_role(profile["columns"], "quasi_identifier"):
        return ""
    if profile["rows"] < (people := _hidden_among(profile)):
        return "\n".join(comment(f"No step helps: the data has fewer than {people} rows.")) + "\n"
    if sets:
        return "\n".join(["steps:", *_STEP_ON_SETS]) + "\n"
    lines = [
        "steps:",
        *_steps_on_people(profile["columns"]),
        *comment(
            "Small classes, each with labels of its own, that keep what `privacy` asks. Intervals end at round numbers,"
            " not at people's values. With `full_domain_recoding` each value has one label, which loses more; it needs"
            " a `hierarchy` of each attribute, which `ppdm-flow hierarchy` makes.",
            "  ",
        ),
    ]
    important = {
        c["name"]: _IMPORTANT for c in _with_role(profile["columns"], "quasi_identifier") if c.get("important")
    }
    if important:
        text = f"The study needs {_comma_separated(list(important))} most: others get coarser first."
        lines += comment(text, "  ")
    lines.append(recoding(_labels(profile["columns"]), important))
    return "\n".join([*lines, *_steps_on_numbers(profile)]) + "\n"


_IMPORTANT = 5
"""What a lost cell of an attribute costs that a study needs most, beside 1 for others."""


def _labels(columns: Sequence[ProfileColumn]) -> dict[str, Any]:
    """Return what values become where that is neither intervals with ends of two digits nor what the type says.

    Those two digits are too coarse for some numbers and dates. Prefixes are for other steps: in a small class hardly
    any codes begin alike.
    """
    labels: dict[str, Any] = {}
    for column in _with_role(columns, "quasi_identifier"):
        width = column.get("interval_width")
        if "prefix" in (column["hierarchy"] or {}):
            labels[column["name"]] = "sets"
        elif column["type"] != _BY_TYPE and not column["hierarchy"] and width is not None:
            labels[column["name"]] = {"round": width}
    return labels


_STEP_ON_SETS = (
    *comment(
        "Of rare combinations the items are left out, each in every set. Where the attribute has a `hierarchy` (`csv:`"
        " a file with lines like `pear;fruit;food`), they become categories instead: fewer items are lost, and the"
        " others get coarser. `ppdm-flow sweep` shows which keeps more, by `by: [leave_out]` and `[roll_up]`.",
        "  ",
    ),
    "  frequent: {use: apriori_anonymization}",
)


def _steps_on_people(columns: Sequence[ProfileColumn]) -> Iterator[str]:
    """Yield, as a comment, a step that leaves out what shows which rows are one person's."""
    if _with_role(columns, "subject"):
        yield from comment("Cells that only one person has link the rows of that person; such rows may go first.", "  ")
        yield "  # unlink: {use: suppress, with: {small: keep, linked: drop}}"


def _steps_on_numbers(profile: ProfileDocument) -> Iterator[str]:
    """Yield, as comments, steps for sensitive numbers that are hardly shared: far values first, then noise."""
    exact = [c for c in _with_role(profile["columns"], "sensitive") if _is_exact(c)]
    if not exact or profile["rows"] < _ENOUGH_FOR_TAILS:
        return
    names = flow([c["name"] for c in exact])
    yield from comment("The largest numbers are known to many: they may end at a bound, the rest get noise.", "  ")
    yield f"  # tails: {{use: top_bottom_code, with: {{attributes: {names}, top: {{quantile: 0.99}}}}}}"
    yield f"  # noise: {{use: add_noise, with: {{attributes: {names}, scale: 0.2}}}}"


def _is_exact(column: ProfileColumn) -> bool:
    return column["type"] in _NUMBERS and column["distinct"] >= _MANY_VALUES


def _with_role(columns: Sequence[ProfileColumn], role: str) -> list[ProfileColumn]:
    return [c for c in columns if c["role"] == role]


def _listed(names: Iterable[str]) -> str:
    return ", nor the same ".join(scalar(n) for n in names)


def _comma_separated(names: Sequence[str]) -> str:
    return ", ".join(scalar(n) for n in names)


def _joined(names: Sequence[str]) -> str:
    return " + ".join(scalar(n) for n in names)


def _either(combinations: Iterable[Sequence[str]]) -> str:
    return ", nor the same ".join(_joined(c) for c in combinations)


def _percent(share: float) -> str:
    if share >= 0.9995 and share < 1:
        return "nearly 100 %"
    return f"{100 * share:.1f} %" if share >= 0.001 else "a few"


# The document that the forms of a profile are made from, and its form for a terminal.


_MOST_MINIMAL = 20
_FEW = 8
_QUANTITIES = frozenset({"age", "birth", "date", "money", "survey"})
"""Kinds whose numbers are quantities, however few there are."""


class ProfileColumn(TypedDict):
    """What a column looks like, and the guess of its role with its reason."""

    name: str
    role: str
    reason: str
    kind: str | None
    type: str
    date_format: str | None
    missing: int
    distinct: int
    alone: int
    alone_share: float
    largest_share: float
    hierarchy: dict[str, Any] | None
    interval_width: NotRequired[float | None]
    decide: NotRequired[str]
    left_out: NotRequired[bool]
    important: NotRequired[bool]
    description: str
    domain: list[str]


@dataclass(frozen=True, slots=True)
class ToldByFile:
    """What a file says of a column: what it means, and all codes that it can have, none where that is not known."""

    description: str = ""
    domain: Sequence[str] = ()


class StewardAnswers(TypedDict):
    """What a steward said: who receives a release, so among how many ``people`` everybody hides, and what is known.

    ``unanswered`` are the questions where the safer guess stands.
    """

    audience: str
    people: int
    known_rows: str
    unanswered: list[str]


class SetFigures(TypedDict):
    """What sets of items look like: ``alone`` have an item that no other set has, ``empty`` none.

    ``telling`` says why some items look like identifiers of people, where they do.
    """

    items: int
    mean_size: float
    largest: int
    empty: int
    alone: int
    most_frequent: int
    telling: NotRequired[str]


class TellingCombination(TypedDict):
    """Columns by which this share of the rows is alone."""

    columns: list[str]
    alone: float


class ProfileDocument(TypedDict):
    """What a table looks like: ``source`` says how it is read, the combinations what tells its rows apart.

    A file of sets has one column of the role ``items``, and may have one that says whose they are; ``ending`` is that
    of a release that can hold them.
    """

    version: int
    file: str
    source: dict[str, Any]
    rows: int
    columns: list[ProfileColumn]
    unique_combinations: list[list[str]]
    more_unique_combinations: int
    telling_combinations: list[TellingCombination]
    combinations_looked_at: int
    combinations_left_out: int
    answers: NotRequired[StewardAnswers]
    sets: NotRequired[SetFigures]
    ending: NotRequired[str]


def document_of_sets(
    facts: SetFacts, file: str, source: dict[str, Any], ending: str, name: str, owner: Profile | None = None
) -> ProfileDocument:
    """Return the JSON-ready form of a file of sets, whose column has this ``name``.

    ``ending`` is that of a release in the same format. ``owner`` is the profile of the one column that says whose sets
    they are.
    """
    both = () if owner is None else zip(owner.columns, owner.guesses, strict=True)
    owners = [_column(facts_, guess, ToldByFile()) for facts_, guess in both]
    column: ProfileColumn = {
        "name": name,
        "role": str(Role.ITEMS),
        "reason": "each row is a set of items" + (f"; {facts.telling}" if facts.telling else ""),
        "kind": None,
        "type": _BY_TYPE,
        "date_format": None,
        "missing": 0,
        "distinct": facts.items,
        "alone": facts.alone,
        "alone_share": facts.alone / facts.rows,
        "largest_share": facts.most_frequent / facts.rows,
        "hierarchy": None,
        "description": "",
        "domain": [],
    }
    drafted: ProfileDocument = {
        "version": 1,
        "file": file,
        "source": source,
        "rows": facts.rows,
        "columns": [*owners, column],
        "unique_combinations": [],
        "more_unique_combinations": 0,
        "telling_combinations": [],
        "combinations_looked_at": 0,
        "combinations_left_out": 0,
        "sets": {
            "items": facts.items,
            "mean_size": facts.mean_size,
            "largest": facts.largest,
            "empty": facts.empty,
            "alone": facts.alone,
            "most_frequent": facts.most_frequent,
        },
        "ending": ending,
    }
    if facts.telling:
        drafted["sets"]["telling"] = facts.telling
    return drafted


def document(
    profile: Profile, file: str, source: dict[str, Any], file_notes: Mapping[str, ToldByFile] = MappingProxyType({})
) -> ProfileDocument:
    """Return the JSON-ready form of a profile.

    ``file`` is the data's name, ``source`` how it is read, ``file_notes`` what the file says of its columns.
    """
    uniques = profile.uniques
    return {
        "version": 1,
        "file": file,
        "source": source,
        "rows": profile.rows,
        "columns": [
            _column(c, g, file_notes.get(c.name, ToldByFile()))
            for c, g in zip(profile.columns, profile.guesses, strict=True)
        ],
        "unique_combinations": [list(profile.names(c)) for c in uniques.minimal[:_MOST_MINIMAL]],
        "more_unique_combinations": max(0, len(uniques.minimal) - _MOST_MINIMAL),
        "telling_combinations": [
            {"columns": list(profile.names(a.columns)), "alone": a.share} for a in uniques.telling
        ],
        "combinations_looked_at": uniques.looked_at,
        "combinations_left_out": uniques.left_out,
    }


def _column(column: ColumnFacts, guess: Guess, file_note: ToldByFile) -> ProfileColumn:
    listed = file_note.domain if guess.role not in (Role.IDENTIFIER, Role.SUBJECT) else ()
    return {
        "name": column.name,
        "role": str(guess.role),
        "reason": guess.reason,
        "kind": guess.kind or None,
        "type": "text" if _is_code(column, guess) or listed else str(column.type),
        "date_format": column.date_format,
        "missing": column.missing,
        "distinct": column.distinct,
        "alone": column.alone,
        "alone_share": column.alone_share,
        "largest_share": column.largest / column.rows if column.rows else 0.0,
        "hierarchy": None if listed else _hierarchy(column, guess),
        "interval_width": column.width,
        "decide": _undecided_dates(column, guess),
        "description": file_note.description,
        "domain": list(listed),
    }


def _hierarchy(column: ColumnFacts, guess: Guess) -> dict[str, Any] | None:
    """Return a hierarchy that fits every value, for texts with an order that only it can tell the step."""
    if guess.role is not Role.QUASI_IDENTIFIER or column.distinct <= _FEW:
        return None
    if column.dates is not None and not column.dates.unread:
        parts = ["quarter", "year", "decade"] if column.dates.is_certain else ["year", "decade"]
        finer = ["month"] if column.dates.is_certain and column.dates.has_days else []
        return {"date": finer + parts, "format": column.dates.formats[0]}
    if guess.kind == "postal_code" and column.type in ("text", "integer"):
        kept = [n for n in (4, 3, 2, 1) if n < column.length]
        return {"prefix": kept} if kept else None
    return None


def _undecided_dates(column: ColumnFacts, guess: Guess) -> str:
    """Say what a steward has to do for dates of which a draft cannot make a hierarchy; nothing of other columns."""
    form = column.dates
    if form is None or form.is_certain or guess.role is not Role.QUASI_IDENTIFIER or column.distinct <= _FEW:
        return ""
    if form.unread:
        typed = f', or write `type: date` here and `with: {{dates: "{form.formats[0]}"}}` in the source'
        typed = typed if form.has_days else ""
        return (
            f"{form.unread:,} of its {counted(column.distinct, 'value')} cannot be read as dates ({form.pattern}), so"
            " this column will lose nearly everything. Correct them in the file, or list them under `missing` of the"
            f" source; then make a new draft{typed}"
        )
    return (
        "These are dates, but nothing shows whether the day or the month comes first, so only the year is used. If"
        f" this is wrong, correct `format`, and put `month` before `year` ({' or '.join(map(repr, form.formats))})"
    ).replace("'", '"')


def _is_code(column: ColumnFacts, guess: Guess) -> bool:
    """Whether its numbers are no quantities: few, diagnoses, named like ids, or postal codes, near by first digits."""
    if guess.kind == "diagnosis" or (guess.kind == "postal_code" and column.type == "integer"):
        return True
    if column.type == "integer" and of_ids(column.name) and guess.kind not in _QUANTITIES:
        return True
    return column.codes and guess.kind not in _QUANTITIES


_HEAD = ("column", "type", "values", "alone", "missing", "role", "since")
_LONGEST = 32


def render_document(profile: ProfileDocument, width: int = 100) -> str:
    """Return a table of the columns, and what tells rows apart; its lines are cut at ``width``."""
    rows = [_HEAD, *(_row(column) for column in profile["columns"])]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD) - 1)]
    lines = [f"{profile['file']}: {profile['rows']:,} rows, {len(profile['columns']):,} columns", ""]
    for row in rows:
        cells = [
            cell.rjust(w) if 2 <= i <= 4 else cell.ljust(w)
            for i, (cell, w) in enumerate(zip(row, widths, strict=False))
        ]
        lines.append(_cut("  ".join([*cells, row[-1]]).rstrip(), width))
    return "\n".join(printable(line) for line in [*lines, *_combinations(profile)]) + "\n"


def _row(column: ProfileColumn) -> tuple[str, ...]:
    return (
        _cut(" ".join(column["name"].split()), _LONGEST),
        column["type"],
        f"{column['distinct']:,}",
        f"{100 * column['alone_share']:.1f} %",
        f"{column['missing']:,}",
        column["role"],
        column["reason"],
    )


def _combinations(profile: ProfileDocument) -> list[str]:
    lines = []
    if profile["unique_combinations"]:
        lines += ["", "unique (no two rows agree):"]
        lines += [f"  {_named(c)}" for c in profile["unique_combinations"]]
        if profile["more_unique_combinations"]:
            lines.append(f"  and {profile['more_unique_combinations']:,} more")
    if profile["telling_combinations"]:
        lines += ["", "rows that are alone:"]
        lines += [f"  {100 * c['alone']:5.1f} %  {_named(c['columns'])}" for c in profile["telling_combinations"]]
    if profile["combinations_left_out"]:
        lines += ["", f"{profile['combinations_left_out']:,} combinations were not looked at: there may be more."]
    return lines


def _named(names: list[str]) -> str:
    return " + ".join(" ".join(name.split()) for name in names)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "\N{HORIZONTAL ELLIPSIS}"
