"""A first policy from a profile: every line a guess, with its reason beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ppdm_flow.policy.language.wording import DraftFacts
from ppdm_flow.report.draft import PEOPLE, RECODING, policy_name, privacy
from ppdm_flow.report.profile.document import ProfileColumn, ProfileDocument
from ppdm_flow.report.yaml_text import comment, flow, scalar

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


def render(profile: ProfileDocument, path: str) -> str:
    """Return the policy as YAML with comments; ``path`` is that of the data as the policy will name it."""
    name = policy_name(profile["file"])
    parts = [
        _head(profile),
        f"version: 1\nname: {name}\n",
        _source(profile, path),
        _attributes(profile["columns"]),
        _people(profile["columns"]),
        _privacy(profile),
        _steps(profile),
        f"releases:\n  study: {{path: {name}.csv}}\n",
    ]
    return "\n".join(part for part in parts if part)


def _head(profile: ProfileDocument) -> str:
    rows, columns = profile["rows"], len(profile["columns"])
    lines = comment(
        f"A first policy, made by `ppdm-flow profile` from what {rows:,} rows of {columns:,} columns look like. Every"
        " line is a guess, with its reason: whoever knows the data and its recipients has to decide. No value of the"
        " data stands here: edges of intervals are round numbers around the middle nine tenths of the rows."
        + (_LISTED if any(c["domain"] for c in profile["columns"]) else "")
    )
    return "\n".join([*lines, *_told(profile)]) + "\n"


def _told(profile: ProfileDocument) -> Iterator[str]:
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


def _source(profile: ProfileDocument, path: str) -> str:
    lines = ["source:", f"  path: {scalar(path)}  # from the folder of this file; or give another with --data"]
    source = profile["source"]
    if source.get("options"):
        lines.append(f"  with: {flow(source['options'])}")
    if source.get("columns"):
        lines += comment("The file seems to have no header: give the columns their names, here and below.", "  ")
        lines.append(f"  columns: {flow(source['columns'])}")
    if source["missing"] != [""]:
        lines += comment("Marks of missing values that occur, of a list that ppdm-flow has.", "  ")
        lines.append(f"  missing: {flow(source['missing'])}")
    return "\n".join(lines) + "\n"


def _attributes(columns: Sequence[ProfileColumn]) -> str:
    lines = ["attributes:"]
    for column in columns:
        lines += comment(f"{column['reason']}; {_figures(column)}", "  ")
        lines.append(f"  {scalar(column['name'])}: {flow(_declared(column))}")
    return "\n".join(lines) + "\n"


def _people(columns: Sequence[ProfileColumn]) -> str:
    """Return how people are counted, where a column says whose row it is."""
    subjects = [c["name"] for c in columns if c["role"] == "subject"]
    if not subjects:
        return ""
    text = (
        f"A person has several rows, told by {scalar(subjects[0])}: people are counted, not rows. Somebody may"
        " know this many rows of one person: 1, 2, 3 or all. Where each row is a person of its own, make it an"
        " identifier and leave this out."
    )
    return "\n".join([*comment(text), "people: {known_rows: 1}"]) + "\n"


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
    caution = ". Whoever knows it exactly finds the row: coarser values are safer" if exact else ""
    return f"{values}{alone}{missing}{caution}"


def _privacy(profile: ProfileDocument) -> str:
    columns = profile["columns"]
    sensitive = [c for c in _with_role(columns, "sensitive") if c["distinct"] > 1]
    return privacy(DraftFacts(_with_role(columns, "quasi_identifier"), sensitive, PEOPLE))


def _steps(profile: ProfileDocument) -> str:
    if not _with_role(profile["columns"], "quasi_identifier"):
        return ""
    if profile["rows"] < PEOPLE:
        return "\n".join(comment(f"No step helps: the data has fewer than {PEOPLE} rows.")) + "\n"
    lines = [
        "steps:",
        *_steps_on_people(profile["columns"]),
        *comment("Small classes, each with labels of its own, that keep what `privacy` asks.", "  "),
    ]
    return "\n".join([*lines, RECODING, *_steps_on_numbers(profile)]) + "\n"


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


def _joined(names: Sequence[str]) -> str:
    return " + ".join(scalar(n) for n in names)


def _either(combinations: Iterable[Sequence[str]]) -> str:
    return ", nor the same ".join(_joined(c) for c in combinations)


def _percent(share: float) -> str:
    if share >= 0.9995 and share < 1:
        return "nearly 100 %"
    return f"{100 * share:.1f} %" if share >= 0.001 else "a few"
