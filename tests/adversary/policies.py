"""A random policy and its table, from a number.

One number of five has a further step or requirement: rows that a generator or a lossy join makes, a column of sets
beside others, values that are randomized, moved or rounded, or `cumulative_k` over two releases without a ledger. What
is not drawn, and why:

- `itemset_breach`: its figure is the worst over all itemsets below the maximal supports, by formulas of the operator;
  brute force would enumerate the operator's outputs over the alphabet for each size, and the maxima are estimates.
- `k_map`: which people of another file fit a label is a matter of spelling and hierarchies, which DESIGN leaves to the
  step; an oracle could only repeat the engine's own rules.
- `blend` and `anonymity_score`, which compare generated rows with the source, and no people with releases.
- generated rows beside other releases: they are nobody's, so DESIGN has nothing to join or to intersect.
- weights, of rows that represent several people.
- `sensitivities` are judged by their operator, and the exact posteriors of `worlds` are held against them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Any

from adversary import steps, tables
from adversary.requirements import privacy
from adversary.tables import Row

Policy = dict[str, Any]

EVERY, PLACE = 5, 3
"""One of so many numbers gives a policy with a step that the others do not have."""
SETS = ("apriori_anonymization", "roll_up", "limit_items", "randomize_transactions")
TOGETHER = ("cumulative_k",)
_TURN = (("krimp_generator",), ("lossy_join",), SETS)
CHANGES = ("add_noise", "rank_swap", "round_values", "pram", "top_bottom_code")
MOVES = ("lossy_join", "swap_records", "shuffle_values")
FURTHER = (*_TURN, TOGETHER, _TURN[0], MOVES, SETS, CHANGES)
"""What it is of, in turn; that of several releases together has no step but a requirement."""


@dataclass(frozen=True)
class Case:
    """What ``number`` gives."""

    number: int
    policy: Policy
    rows: list[Row]


def case(number: int, most_releases: int = 2) -> Case:
    """Return the policy and the table of a number, always the same."""
    draw = Random(f"adversary {number}")
    attributes = tables.attributes(draw)
    rows = tables.rows(draw, list(attributes))
    known, secret = ([n for n, a in attributes.items() if a["role"] == r] for r in ("quasi_identifier", "sensitive"))
    domains = {n: sorted({r[n] for r in rows if r[n]}) for n in attributes}
    clauses = privacy(draw, known, secret, domains)
    further = FURTHER[number // EVERY % len(FURTHER)] if number % EVERY == PLACE else ()
    clauses |= _further_clauses(draw, further)
    if further == SETS:
        attributes, rows = attributes | {"basket": tables.SETS}, tables.with_sets(draw, rows)
    while "lossy_join" in further and steps.counts(clauses):
        clauses = privacy(draw, known, secret, domains)
    if draw.random() < 0.12:
        clauses["sensitivities"] = {draw.choice(secret): {"default": {"r1": "0.3", "r2": "0.7"}}}
    gaps = {n for n in attributes if any(not r[n] for r in rows)}
    columns = {n: (n, True) for n in attributes if n != "basket"}
    here = steps.Here(
        draw, clauses, known, secret, domains, columns, len(rows), gaps, sets="plain" if further == SETS else ""
    )
    made: dict[str, Any] = {}
    count = draw.choice((1, 1, 2, 2, 2, 3, 3, 4))
    at = draw.randrange(count) if further else -1
    for i in range(count):
        again = bool(further) and draw.random() < 0.05
        use, options = steps.step(here, further if further != TOGETHER and (i == at or again) else ())
        made[f"s{len(made) + 1}"] = {"use": use, "with": options}
    releases: dict[str, Any] = {"a": {"path": "a.csv"}}
    audits: dict[str, Any] = {}
    if most_releases > 1 and (draw.random() < 0.3 or further == TOGETHER):
        parts = draw.random() < 0.25 and _parts(draw, here, made)
        if parts:
            releases, audits = parts
        else:
            made, releases = _two(draw, here, made)
    apart = {"recipients": "apart"} if len(releases) > 1 and draw.random() < 0.15 and further != TOGETHER else {}
    if further == SETS:  # only such files hold columns of sets beside others
        releases = {n: r | {"path": f"{n}.parquet"} for n, r in releases.items()}
    form = "parquet" if further == SETS else "csv"
    policy = {
        "version": "1",
        "name": f"adversary-{number}",
        "source": {"path": f"data.{form}", "format": form},
        "attributes": attributes,
        "nulls": draw.choice(("own_category", "own_category", "own_category", "exclude", "wildcard")),
        "privacy": clauses,
        "steps": made,
        "audits": audits,
        "releases": releases,
        "randomness": {"mode": "reproducible", "seed": str(number)},
        **apart,
    }
    return Case(number, policy, rows)


def _further_clauses(draw: Random, further: tuple[str, ...]) -> dict[str, Any]:
    """Return the requirements that only some policies have."""
    if further == SETS and draw.random() < 0.6:
        return {"km_anonymity": {"k": draw.choice("223"), "m": draw.choice("12")}}
    if further == TOGETHER:
        return {"cumulative_k": {"k": draw.choice("223")}}
    return {}


def _two(draw: Random, here: steps.Here, made: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Let a second release come from another place: an earlier step, or a branch of its own."""
    last = next(reversed(made))
    other = draw.choice(["source", *made])
    if draw.random() < 0.6:
        start = replace(here, columns={n: (n, True) for n in here.domains})
        use, options = steps.step(start)
        made = made | {"branch": {"use": use, "input": "source", "with": options}}
        other = "branch"
    return made, {"a": {"from": last, "path": "a.csv"}, "b": {"from": other, "path": "b.csv"}}


def _parts(draw: Random, here: steps.Here, made: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Split the table by a class id, and release both parts."""
    key = next((n for n, (a, _) in here.columns.items() if not a), None)
    if key is None:
        made["ids"] = {"use": "assign_class_id", "with": steps.assign_class_id(here)}
        key = made["ids"]["with"]["name"]
    rest = [n for n in here.columns if n != key]
    if len(rest) < 2:
        return None
    some = draw.sample(rest, draw.randint(1, len(rest) - 1))
    tables = {"one": some, "two": [n for n in rest if n not in some]}
    made["split"] = {"use": "vertical_partition", "with": {"key": key, "tables": tables}}
    releases = {"a": {"from": "split.one", "path": "a.csv"}, "b": {"from": "split.two", "path": "b.csv"}}
    return releases, {"both": {"use": "rejoin", "release": "a", "with": {"other": "b", "key": key}}}
