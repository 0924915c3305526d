"""Random steps: every bundled one of tables, with parameters that fit the columns that reach it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from adversary.tables import NUMBERS, VALUES

KEY = "ADVERSARY_KEY"
Options = dict[str, Any]


@dataclass
class Here:
    """The columns at a place: by name their attribute, empty for a class id, and whether values are the source's.

    ``gaps`` are attributes with missing cells, which some steps refuse. ``generated``: the rows are nobody's already.
    ``sets``: whether there is a column of sets, ``plain`` ones or ``drawn``.
    """

    draw: Random
    privacy: Mapping[str, Any]
    known: list[str]
    secret: list[str]
    domains: Mapping[str, list[str]]
    columns: dict[str, tuple[str, bool]]
    rows: int = 0
    gaps: set[str] = field(default_factory=set)
    generated: bool = False
    sets: str = ""

    def some(self, names: list[str]) -> list[str]:
        """Choose one or more."""
        return self.draw.sample(names, self.draw.randint(1, len(names)))

    def of(self, attributes: list[str] | tuple[str, ...], *, plain: bool = True) -> list[str]:
        """Return the columns of attributes; only those with the source's values unless they may be labels."""
        return [n for n, (a, fresh) in self.columns.items() if a in attributes and (fresh or not plain)]

    def all_but_people(self) -> list[str]:
        """Return the columns that name nobody."""
        return [n for n, (a, _) in self.columns.items() if a != "person"]

    def changed(self, names: list[str]) -> None:
        """Note that these columns have labels now."""
        self.columns |= {n: (self.columns[n][0], False) for n in names}


Maker = Callable[[Here], Options | None]


def assign_class_id(here: Here) -> Options | None:
    """Class ids over some columns, mostly with a secret among them, or by a criterion."""
    draw, names = here.draw, here.all_but_people()
    secret = here.of(here.secret, plain=False)
    if draw.random() < 0.05 and here.of(["person"], plain=False):
        names = [*here.of(["person"], plain=False)]
    name = f"class_{len(here.columns)}"
    asked = here.of(here.secret)
    if draw.random() < 0.3 and asked:
        column = draw.choice(asked)
        values = here.domains[here.columns[column][0]]
        if values:
            when = {column: {"values": draw.sample(values, draw.randint(1, max(1, len(values) - 1)))}}
            here.columns[name] = ("", False)
            return {"name": name, "criteria": [{"id": "in", "when": when}], "other": "out"}
    chosen = here.some(names)[:2]
    if secret and draw.random() < 0.5:
        chosen = list(dict.fromkeys([draw.choice(secret), *chosen[:1]]))
    here.columns[name] = ("", False)
    return {"name": name, "attributes": chosen}


def drop(here: Here) -> Options | None:
    """Drop a column or two, gladly a secret one."""
    names = here.all_but_people()
    if len(names) < 2:
        return None
    secret = here.of(here.secret, plain=False)
    gone = here.draw.choice(secret) if secret and here.draw.random() < 0.6 else here.draw.choice(names)
    del here.columns[gone]
    return {"attributes": [gone]}


def rename(here: Here) -> Options | None:
    """Give a column another name."""
    old = here.draw.choice(here.all_but_people())
    new = f"{old}_new"
    here.columns = {new if n == old else n: c for n, c in here.columns.items()}
    return {"attributes": {old: new}}


def generalize(here: Here) -> Options | None:
    """Make values coarser by their own hierarchies, or otherwise."""
    names = [n for n in here.of(list(VALUES)) if here.columns[n][0] != "note"]
    if not names:
        return None
    chosen = here.some(names)
    here_rules = {n: _rule(here, here.columns[n][0]) for n in chosen}
    here.changed(chosen)
    return {"attributes": here_rules}


def _rule(here: Here, attribute: str) -> Options:
    draw = here.draw
    if attribute in NUMBERS:
        rules: list[Options] = [{}, {"round": "20"}, {"intervals": ["0", "30", "100"]}, {"top": "30"}]
        return draw.choice(rules)
    if attribute == "zip":
        return draw.choice([{}, {"prefix": "1"}, {"level": "2"}])
    return {}


def recode(here: Here) -> Options | None:
    """Give values other names, or one name to several."""
    names = here.of(list(VALUES))
    if not names:
        return None
    column = here.draw.choice(here.of(here.secret) or names)
    attribute = here.columns[column][0]
    values = here.domains[attribute] or list(VALUES[attribute])
    if attribute in NUMBERS and here.draw.random() < 0.5:
        rule: Options = {"ranges": {"low": ["0", "25"], "high": ["25", "200"]}}
    else:
        chosen = here.draw.sample(values, here.draw.randint(1, len(values)))
        names_ = ("H1", "H1", "H2") if here.draw.random() < 0.5 else ("H1", "H2", "H3", "H4", "H5", "H6")
        rule = {"values": {v: names_[i % len(names_)] for i, v in enumerate(chosen)}}
        rule |= {"keep_others": "true"} if here.draw.random() < 0.6 else {"other": "rest"}
    here.changed([column])
    return {"attributes": {column: rule}}


def mask(here: Here) -> Options | None:
    """Cover characters."""
    names = here.of(["job", "zip", "illness", "note"])
    if not names:
        return None
    column = here.draw.choice(names)
    here.changed([column])
    cover: Options = {"first": here.draw.choice("01"), "last": "0"}
    if here.draw.random() < 0.5:
        cover["length"] = "4"
    return {"attributes": {column: cover}}


def truncate_zip_codes(here: Here) -> Options | None:
    """Keep three digits of what may be a ZIP code, and nothing of what is none."""
    names = here.of(["zip"])
    if not names:
        return None
    column = here.draw.choice(names)
    here.changed([column])
    return {"attributes": [column]}


def suppress(here: Here) -> Options | None:
    """Suppress rare values, gladly secret ones, and small classes."""
    draw, options = here.draw, {}
    columns = here.all_but_people()
    secret = here.of(here.secret, plain=False)
    if draw.random() < 0.6:
        column = draw.choice(secret or columns)
        unit = {"count": draw.choice("234")} if draw.random() < 0.7 else {"ratio": "0.3"}
        options["rare"] = {column: unit}
    small = draw.choice(("cells", "rows", "keep"))
    known = here.of(here.known, plain=False)
    if small == "keep" or not known:
        if "rare" not in options:
            return None
        return options | {"small": "keep"}
    chosen = known if draw.random() < 0.7 else here.some(columns)
    return options | {"small": small, "attributes": chosen, "k": draw.choice("23")}


def microaggregation(here: Here) -> Options | None:
    """Average over groups, secret numbers as well."""
    names = here.of(here.known) + here.of([s for s in here.secret if s in NUMBERS or here.draw.random() < 0.3])
    names = [n for n in names if here.columns[n][0] not in here.gaps or here.draw.random() < 0.05]
    if not names:
        return None
    chosen = here.some(names)
    here.changed(chosen)
    release = here.draw.choice(("mean", "median"))
    apart = {"apart": "true"} if here.draw.random() < 0.3 else {}
    return {"attributes": chosen, "k": here.draw.choice("23"), "release": release, **apart}


def swap(here: Here) -> Options | None:
    """Exchange values between rows."""
    names = here.all_but_people()
    secret = here.of(here.secret, plain=False)
    chosen = [here.draw.choice(secret)] if secret and here.draw.random() < 0.6 else here.some(names)[:2]
    rest = [n for n in names if n not in chosen]
    within = [here.draw.choice(rest)] if rest and here.draw.random() < 0.4 else []
    together = {"together": "true"} if here.draw.random() < 0.3 else {}
    here.changed(chosen)
    return {"attributes": chosen, "within": within, "share": here.draw.choice(("0.3", "1")), **together}


def add_noise(here: Here) -> Options | None:
    """Add noise to numbers, little or much of it."""
    names = here.of(NUMBERS)
    if not names:
        return None
    chosen = here.some(names)
    here.changed(chosen)
    bounds = {"min": "0", "outside": here.draw.choice(("reflect", "clamp"))} if here.draw.random() < 0.4 else {}
    return {"attributes": chosen, "sd": here.draw.choice(("0.3", "5")), **bounds}


def rank_swap(here: Here) -> Options | None:
    """Exchange numbers with near ones."""
    names = here.of(NUMBERS)
    if not names:
        return None
    chosen = here.some(names)
    here.changed(chosen)
    return {"attributes": chosen, "percent": "100"}


def shuffle_values(here: Here) -> Options | None:
    """Let numbers go where others of their row say."""
    names = here.of(NUMBERS)
    if not names:
        return None
    chosen = here.some(names)
    rest = [n for n in here.all_but_people() if n not in chosen]
    given = [here.draw.choice(rest)] if rest and here.draw.random() < 0.6 else []
    here.changed(chosen)
    return {"attributes": chosen, "given": given}


def swap_records(here: Here) -> Options | None:
    """Exchange what somebody knows between similar rows."""
    names = here.all_but_people()
    if len(names) < 2:
        return None
    areas = here.some(names)[:2]
    rest = [n for n in names if n not in areas]
    if not rest:
        return None
    here.changed(areas)
    return {"areas": areas, "key": rest[:2], "similar": [rest[:1], []], "swap_rate": here.draw.choice(("0", "0.5"))}


def round_values(here: Here) -> Options | None:
    """Round numbers, in one of the three ways."""
    names = here.of(NUMBERS)
    if not names:
        return None
    chosen = here.some(names)
    here.changed(chosen)
    how = here.draw.choice(("nearest", "random", "controlled"))
    return {"attributes": chosen, "base": here.draw.choice(("2", "20")), "how": how}


def top_bottom_code(here: Here) -> Options | None:
    """Cut tails off."""
    names = here.of(NUMBERS)
    if not names:
        return None
    chosen = here.some(names)
    here.changed(chosen)
    bottom = {"bottom": "10"} if here.draw.random() < 0.5 else {}
    return {"attributes": chosen, "top": here.draw.choice(("30", {"quantile": "0.7"})), **bottom}


def pseudonymize(here: Here) -> Options | None:
    """Replace who somebody is, or a secret, by pseudonyms."""
    people = here.of(["person"])
    names = people if people and here.draw.random() < 0.8 else here.of(list(VALUES), plain=False)
    if not names:
        return None
    column = here.draw.choice(names)
    here.changed([column])
    return {"attributes": [column], "key_env": KEY}


def sample(here: Here) -> Options | None:
    """Keep some rows."""
    sizes = [str(s) for s in (2, 5, 10) if s <= here.rows]
    return {"fraction": "0.8"} if here.draw.random() < 0.5 or not sizes else {"size": here.draw.choice(sizes)}


def shuffle_rows(_here: Here) -> Options | None:
    """Reorder them."""
    return {}


def mondrian(here: Here) -> Options | None:
    """Cut into small classes."""
    return _classes(
        here, {"partitioning": here.draw.choice(("strict", "relaxed")), "cut": here.draw.choice(("gain", "median"))}
    )


def full_domain_recoding(here: Here) -> Options | None:
    """Choose one level for every attribute."""
    return _classes(
        here, {"suppression": here.draw.choice(("0", "0.1", "0.3")), "suppress": here.draw.choice(("rows", "cells"))}
    )


def _classes(here: Here, options: Options) -> Options | None:
    wanted = {a for c in _grouping(here) for a in c}
    names = [n for n in here.of(here.known) if here.columns[n][0] in wanted]
    if not names or {here.columns[n][0] for n in names} != wanted:
        return None
    here.changed(names)
    return {"attributes": names, **options}


UNGROUPED = (
    "templates",
    "sensitivities",
    "km_anonymity",
    "cumulative_k",
    "interval_disclosure",
    "numeric_linkage",
)
"""Requirements that no classes enforce, or that name what forms theirs otherwise."""


def _grouping(here: Here) -> list[list[str]]:
    """What each requirement that such a step can enforce groups by."""
    found = []
    for kind, clauses in here.privacy.items():
        if kind in UNGROUPED:
            continue
        every = [clauses] if kind in ("k_anonymity", "lkc", "special_uniques") else list(clauses.values())
        found += [c.get("attributes", here.known) for c in every]
    return found


def progressive_disclosure(here: Here) -> Options | None:
    """Suppress values of channels."""
    if not {"templates", "k_anonymity"} & set(here.privacy):
        return None
    channels = {a for t in here.privacy.get("templates", {}).values() for a in t["channel"]}
    here.changed([n for n in here.columns if here.columns[n][0] in (channels or here.known)])
    return {
        "hierarchies": here.draw.choice(("use", "ignore")),
        "disclose": here.draw.choice(("useful", "valid")),
        "search": here.draw.choice(("greedy", "greedy", "beam")),
    }


def fine_grain_perturbation(here: Here) -> Options | None:
    """Randomize a secret that the policy bounds."""
    names = [n for n in here.of(here.secret) if here.columns[n][0] in here.privacy.get("sensitivities", {})]
    if not names:
        return None
    column = here.draw.choice(names)
    here.changed([column])
    return {"attribute": column, "operator": here.draw.choice(("fine_grain", "uniform"))}


def pram(here: Here) -> Options | None:
    """Randomize a secret by a matrix, whether or not the policy bounds it."""
    names = here.of(here.secret)
    if not names:
        return None
    draw, column = here.draw, here.draw.choice(names)
    here.changed([column])
    if here.columns[column][0] in here.privacy.get("sensitivities", {}) and draw.random() < 0.5:
        return {"attribute": column}
    options: Options = {"attribute": column, "retain": draw.choice(("0", "0.2", "0.6", "1"))}
    if draw.random() < 0.3:
        options["spread"] = "frequency"
    return options | ({"invariant": "true"} if draw.random() < 0.3 else {})


def genetic_encode(here: Here) -> Options | None:
    """Exchange bits of numbers with the neighbouring row."""
    names = [n for n in here.of(NUMBERS) if here.columns[n][0] not in here.gaps]
    if not names:
        return None
    column = here.draw.choice(names)
    here.changed([column])
    return {"attribute": column}


def krimp_generator(here: Here) -> Options | None:
    """Make new rows of what the rows have in common."""
    draw = here.draw
    names = here.all_but_people()
    if len(names) < 2:
        return None
    options: Options = {}
    if draw.random() < 0.3:
        options["attributes"] = draw.sample(names, draw.randint(2, len(names)))
        here.columns = {n: c for n, c in here.columns.items() if n in options["attributes"]}
    here.columns = {n: c for n, c in here.columns.items() if c[0] != "person"}
    if draw.random() < 0.6:
        options["min_support"] = {"count": draw.choice("123")}
    slim = draw.random() < 0.2
    options |= {"algorithm": "slim"} if slim else {"candidates": draw.choice(("all", "closed"))}
    options["laplace"] = draw.choice(("0.001", "0.1", "1"))
    options["rows"] = draw.choice(("same", "3", "20", "60"))
    if draw.random() < 0.3 and not here.generated:
        options["holdout"] = draw.choice(("0.2", "0.5"))
    if not slim and draw.random() < 0.2:
        options["remove"] = [draw.sample(list(here.columns), 2)]
    if options.get("min_support", {}).get("count") == "2" and draw.random() < 0.3:
        options["blend"] = "strict"
    here.generated = True
    return options


def lossy_join(here: Here) -> Options | None:
    """Put every row of a class beside every other."""
    draw, names = here.draw, here.all_but_people()
    ids = [n for n in names if not here.columns[n][0]]
    keys = ids or [n for n in names if here.columns[n][0] not in here.gaps]
    if not keys or len(names) < 2 or counts(here.privacy):
        return None
    key = draw.choice(keys)
    rest = [n for n in names if n != key]
    secret = [n for n in here.of(here.secret, plain=False) if n != key]
    here.generated = True
    return {"key": key, "attributes": draw.sample(secret, 1) if secret and draw.random() < 0.6 else here.some(rest)}


def counts(privacy: Mapping[str, Any]) -> bool:
    """Whether some requirement is about numbers of people, which pairs of rows have not."""
    return any(k in privacy for k in ("k_anonymity", "lkc", "k_map", "cumulative_k", "km_anonymity")) or any(
        "min_support" in t for t in privacy.get("templates", {}).values()
    )


def roll_up(here: Here) -> Options | None:
    """Make items coarser."""
    return None if here.sets != "plain" else {}


def apriori_anonymization(here: Here) -> Options | None:
    """Make small combinations of items frequent."""
    draw = here.draw
    if here.sets != "plain":
        return None
    options: Options = {} if "km_anonymity" in here.privacy and draw.random() < 0.8 else {"k": "2", "m": "2"}
    way = draw.choice((None, ["roll_up"], ["leave_out"], ["roll_up", "leave_out"]))
    return options | ({"by": way} if way else {})


def limit_items(here: Here) -> Options | None:
    """Leave items out, or sets."""
    draw = here.draw
    if here.sets != "plain":
        return None
    options: Options = {}
    if draw.random() < 0.5:
        options |= {"max": draw.choice("234"), "longer": draw.choice(("discard", "truncate"))}
    if draw.random() < 0.4:
        options["rarer_than"] = {"count": draw.choice("23")}
    return options or {"min": "1"}


def randomize_transactions(here: Here) -> Options | None:
    """Keep some items, and put others in."""
    draw = here.draw
    if here.sets != "plain":
        return None
    here.sets = "drawn"
    if draw.random() < 0.1:
        return {"operator": "uniform", "keep": "0.6"}
    return {"operator": "cut_and_paste", "cutoff": draw.choice("123"), "insertion": "0.3"}


FURTHER: dict[str, Maker] = {
    "krimp_generator": krimp_generator,
    "lossy_join": lossy_join,
    "apriori_anonymization": apriori_anonymization,
    "roll_up": roll_up,
    "limit_items": limit_items,
    "randomize_transactions": randomize_transactions,
    "pram": pram,
    "add_noise": add_noise,
    "rank_swap": rank_swap,
    "shuffle_values": shuffle_values,
    "swap_records": swap_records,
    "round_values": round_values,
    "top_bottom_code": top_bottom_code,
}
"""Makers of steps that only some policies have."""

WEIGHTS: dict[str, tuple[Maker, int]] = {
    "assign_class_id": (assign_class_id, 5),
    "drop": (drop, 4),
    "rename": (rename, 2),
    "generalize": (generalize, 4),
    "recode": (recode, 3),
    "mask": (mask, 1),
    "truncate_zip_codes": (truncate_zip_codes, 1),
    "suppress": (suppress, 4),
    "microaggregation": (microaggregation, 3),
    "swap": (swap, 2),
    "pseudonymize": (pseudonymize, 2),
    "sample": (sample, 1),
    "shuffle_rows": (shuffle_rows, 1),
    "mondrian": (mondrian, 4),
    "full_domain_recoding": (full_domain_recoding, 4),
    "progressive_disclosure": (progressive_disclosure, 3),
    "fine_grain_perturbation": (fine_grain_perturbation, 3),
    "genetic_encode": (genetic_encode, 1),
}


def step(here: Here, first: tuple[str, ...] = ()) -> tuple[str, Options]:
    """Draw a step that has something to do here: one of ``first`` where one has."""
    for use in here.draw.sample(first, len(first)):
        options = FURTHER[use](here)
        if options is not None:
            return use, options
    while True:
        uses = list(WEIGHTS)
        use = here.draw.choices(uses, [WEIGHTS[u][1] for u in uses])[0]
        options = WEIGHTS[use][0](here)
        if options is not None:
            return use, options
