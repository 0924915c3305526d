"""What each released column is made of, from what the steps of a policy mean and not from its plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

SOURCE = "source"
MAPS = {"generalize", "recode", "mask", "suppress", "full_domain_recoding", "progressive_disclosure",
    "top_bottom_code", "truncate_zip_codes"}  # fmt: skip
"""Steps whose labels are a function of the attribute's own value, or suppressed."""


@dataclass(frozen=True)
class Made:
    """A column at one place of the policy.

    ``computed``: the attributes of the source that its cells are a function of. ``alone``: it is a map of the value of
    the only one of them. ``bare``: those that reach it around every secret key; ``true``: around every operator.
    ``way``: what was done to it, step by step. ``drawn``: the step that perturbed it.
    """

    name: str
    computed: frozenset[str]
    bare: frozenset[str]
    true: frozenset[str]
    way: tuple[str, ...]
    alone: bool = True
    drawn: str = ""

    def after(self, step: str, **changes: Any) -> Made:
        """Return the column after ``step`` did something to it."""
        return replace(self, way=(*self.way, step), **changes)


Columns = Mapping[str, Made]


def source(names: Iterable[str]) -> dict[str, Made]:
    """Return the columns of the source."""
    return {n: Made(n, frozenset((n,)), frozenset((n,)), frozenset((n,)), (n,)) for n in names}


def places(policy: Mapping[str, Any]) -> dict[str, Columns]:
    """Return the columns at every place that a release or a step can name: ``source``, steps, ``step.output``."""
    found: dict[str, Columns] = {SOURCE: source(policy["attributes"])}
    before = SOURCE
    for name, step in policy["steps"].items():
        here = found[step.get("input", before)]
        options = step.get("with", {})
        if step["use"] == "vertical_partition":
            for output, names in options["tables"].items():
                key = options.get("key", "class_id")
                found[f"{name}.{output}"] = {n: here[n] for n in (key, *names)}
        else:
            found[name] = _after(name, step["use"], options, here, policy)
        before = name
    return found


def _other_names(step: str, use: str, names: Any, columns: Columns) -> Columns:
    """Return columns of which some are gone, have another name, or became two."""
    if use == "drop":
        return {n: c for n, c in columns.items() if n not in names}
    if use == "rename":
        return {names.get(n, n): replace(c, name=names.get(n, n)) for n, c in columns.items()}
    return bounded(step, columns, names)


def bounded(step: str, columns: Columns, names: Iterable[str]) -> dict[str, Made]:
    """Return columns with two numbers in place of each of some labels."""
    found = {n: c for n, c in columns.items() if n not in names}
    ends = [(n, f"{n}{end}") for n in names for end in ("_low", "_high")]
    return found | {new: replace(columns[n].after(step), name=new) for n, new in ends}


def as_written(columns: Columns, names: Iterable[str]) -> Columns:
    """Return the columns of a release, some of whose labels may have been written as two numbers each."""
    there = set(names)
    return bounded("labels", columns, [n for n in columns if n not in there and f"{n}_low" in there])


def way(policy: Mapping[str, Any], place: str) -> list[str]:
    """Return the steps that lead to a place, in their order."""
    before, previous = {}, SOURCE
    for name, step in policy["steps"].items():
        before[name] = step.get("input", previous)
        previous = name
    found: list[str] = []
    at = place.partition(".")[0]
    while at != SOURCE:
        found.insert(0, at)
        at = before[at].partition(".")[0]
    return found


def origin(policy: Mapping[str, Any], release: str) -> str:
    """Return the place that a release comes from."""
    found: str = policy["releases"][release].get("from", next(reversed(policy["steps"]), SOURCE))
    return found


def released(policy: Mapping[str, Any]) -> dict[str, Columns]:
    """Return the columns of each release: identifiers that no step replaced stay behind."""
    every, found = places(policy), {}
    for name in policy["releases"]:
        columns = every[origin(policy, name)]
        found[name] = {n: c for n, c in columns.items() if not (len(c.way) == 1 and identifies(c.way[0], policy))}
    return found


def identifies(attribute: str, policy: Mapping[str, Any]) -> bool:
    """Whether an attribute of the source says who somebody is."""
    return attribute in policy["attributes"] and policy["attributes"][attribute]["role"] in ("identifier", "subject")


def _after(step: str, use: str, options: Mapping[str, Any], here: Columns, policy: Mapping[str, Any]) -> Columns:
    columns = dict(here)
    if use in ("drop", "rename", "interval_bounds"):
        return _other_names(step, use, options["attributes"], columns)
    if _is_map(use, options):
        return columns | {n: columns[n].after(step) for n in _relabelled(use, options, columns, policy)}
    if use == "assign_class_id":
        read = options.get("attributes") or [n for c in options["criteria"] for n in c["when"]]
        name = options.get("name", "class_id")
        return columns | {name: _mixture([columns[n] for n in dict.fromkeys(read)], name, (name,))}
    if use in ("microaggregation", "mondrian"):
        return columns | _by_classes(step, use, options, columns, policy)
    if use in (
        "swap",
        "genetic_encode",
        "add_noise",
        "rank_swap",
        "round_values",
        "swap_records",
        "shift_dates",
        "one_row_each",
    ):
        key = {"genetic_encode": "attribute", "swap_records": "areas"}.get(use, "attributes")
        names = [options[key]] if use == "genetic_encode" else options.get(key, ())
        return columns | {n: columns[n].after(step, alone=False) for n in names}
    if use == "shuffle_values":
        return columns | {
            n: _mixture([columns[m] for m in (n, *options["given"])], n, (*columns[n].way, step))
            for n in options["attributes"]
        }
    if use == "pseudonymize":
        return columns | {n: columns[n].after(step, alone=False, bare=frozenset()) for n in options["attributes"]}
    if use in ("fine_grain_perturbation", "pram"):
        return columns | {n: columns[n].after(step, alone=False, drawn=step, true=frozenset()) for n in _drawn(options)}
    if use in (
        "krimp_generator",
        "lossy_join",
        "apriori_anonymization",
        "roll_up",
        "limit_items",
        "randomize_transactions",
    ):
        return _after_further(step, use, options, columns, policy)
    if use in ("sample", "shuffle_rows", "limit_rows"):
        return columns
    raise ValueError(f"what `{use}` does to lineage is not written down")


def _is_map(use: str, options: Mapping[str, Any]) -> bool:
    """Classes over one attribute, which keep equal rows together, are a map of it as well."""
    alone = use == "mondrian" and len(options["attributes"]) == 1 and options.get("partitioning") != "relaxed"
    nearest = use == "round_values" and options.get("how", "nearest") == "nearest"
    return alone or nearest or use in MAPS


def _by_classes(
    step: str, use: str, options: Mapping[str, Any], columns: Columns, policy: Mapping[str, Any]
) -> Columns:
    """What a cell becomes depends on its class: on what that was made of, for labels but for what is known anyway."""
    names = options["attributes"]
    if use == "mondrian":
        telling = [n for n in names if not _is_known(columns[n], policy)]
        read = {n: [n, *telling] for n in names}
    else:
        read = {n: [n] if options.get("apart") == "true" else names for n in names}
    return {n: _mixture([columns[m] for m in dict.fromkeys(of)], n, (*columns[n].way, step)) for n, of in read.items()}


def _is_known(column: Made, policy: Mapping[str, Any]) -> bool:
    (attribute, *others) = column.computed
    known = attribute in policy["attributes"] and policy["attributes"][attribute]["role"] == "quasi_identifier"
    protected = any(attribute in policy["privacy"].get(kind, {}) for kind in ("interval_disclosure", "dominance"))
    return known and not others and not protected


def _after_further(
    step: str, use: str, options: Mapping[str, Any], columns: dict[str, Made], policy: Mapping[str, Any]
) -> Columns:
    """Return the columns after a step that makes rows or is about sets."""
    if use in ("apriori_anonymization", "roll_up", "randomize_transactions"):
        drawn = {"alone": False, "drawn": step, "true": frozenset()} if use == "randomize_transactions" else {}
        return columns | {"basket": columns["basket"].after(step, **drawn)}
    if use == "limit_items":
        shortens = options.get("longer") == "truncate" or "rarer_than" in options
        return columns | ({"basket": columns["basket"].after(step)} if shortens else {})
    if use == "krimp_generator":
        chosen = options.get("attributes") or [n for n, c in columns.items() if not identifies(c.way[0], policy)]
        return {n: c.after(step) for n, c in columns.items() if n in chosen}
    return columns | {n: columns[n].after(step) for n in options["attributes"]}


def _drawn(options: Mapping[str, Any]) -> list[str]:
    return [options["attribute"]] if "attribute" in options else list(options["attributes"])


def _mixture(read: list[Made], name: str, way: tuple[str, ...]) -> Made:
    return Made(
        name=name,
        computed=frozenset().union(*(c.computed for c in read)),
        bare=frozenset().union(*(c.bare for c in read)),
        true=frozenset().union(*(c.true for c in read)),
        way=(*way, *sorted("/".join(c.way) for c in read)),
        alone=False,
        drawn=next((c.drawn for c in read if c.drawn), ""),
    )


def _relabelled(use: str, options: Mapping[str, Any], here: Columns, policy: Mapping[str, Any]) -> list[str]:
    """Return the columns whose labels may change. Steps here always name what they recode."""
    if use == "suppress":
        small = options["attributes"] if options.get("small", "cells") == "cells" else []
        return list(dict.fromkeys([*options.get("rare", {}), *small]))
    if use == "progressive_disclosure":
        return _disclosed(options, here, policy)
    return list(options["attributes"])


def _disclosed(options: Mapping[str, Any], here: Columns, policy: Mapping[str, Any]) -> list[str]:
    """Channels; without templates, or where it is asked for, what k-anonymity groups by."""
    wanted = {a for t in policy["privacy"].get("templates", {}).values() for a in t["channel"]}
    if not wanted or options.get("k_anonymity") == "true":
        wanted |= set(grouping(policy["privacy"]["k_anonymity"], policy))
    found = [n for n, c in here.items() if c.way[0] in wanted]
    return [n for n in found if n in options.get("attributes", found)]


def grouping(clause: Mapping[str, Any], policy: Mapping[str, Any]) -> list[str]:
    """Return the attributes that a clause groups by: all quasi-identifiers unless it names its own."""
    every = [n for n, a in policy["attributes"].items() if a["role"] == "quasi_identifier"]
    return list(clause.get("attributes", every))


def sensitive(policy: Mapping[str, Any]) -> list[str]:
    """Return the attributes of role sensitive."""
    return [n for n, a in policy["attributes"].items() if a["role"] == "sensitive"]
