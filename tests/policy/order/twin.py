"""A plain, slow reading of what policies require, from their raw maps: shares no code with the program.

A world is everything that a policy can be held against: original and released rows (dicts of text, None for missing,
``⊥`` for suppressed), what the operator of a randomized attribute is, what the ledger remembers, and how files left.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations, permutations

ROUND = 1e-9
AUDIENCES = ("internal", "partner", "public")


@dataclass
class World:
    original: list[dict]
    released: list[dict]
    columns: frozenset  # of the original
    clear: frozenset  # released columns with their own values
    retention: dict = field(default_factory=dict)  # of the values of the randomized attribute `r`
    sets: list = field(default_factory=list)
    posteriors: dict = field(default_factory=dict)  # of itemsets, by size
    populations: dict = field(default_factory=dict)
    earlier: list = field(default_factory=list)  # a label for each released row
    drawn: frozenset = frozenset()
    files: tuple = (("internal", True),)
    sealed: bool = True
    shows: bool = False
    remembered: bool = True
    figures: dict = field(default_factory=dict)


def at_most(value, bound):
    return value is not None and value <= bound + ROUND * max(1.0, abs(bound))


def at_least(value, bound):
    return value is not None and value >= bound - ROUND * max(1.0, abs(bound))


def quasi(policy):
    return [n for n, a in policy["attributes"].items() if a["role"] == "quasi_identifier"]


def classes(rows, columns, nulls, besides=()):
    """The rows that each row is among, a list for each class; rows left out are in none."""
    key = [tuple(row.get(c) for c in columns) for row in rows]
    kept = range(len(rows))
    if nulls == "exclude":
        kept = [i for i in kept if None not in key[i] and all(rows[i].get(b) is not None for b in besides)]
    if nulls == "wildcard":
        fits = lambda a, b: all(y is None or y == x for x, y in zip(a, b, strict=True))  # noqa: E731
        return [[rows[i] for i in kept if fits(k, key[i])] for k in dict.fromkeys(key[i] for i in kept)]
    return [[rows[i] for i in kept if key[i] == k] for k in dict.fromkeys(key[i] for i in kept)]


def here(world, names):
    return [n for n in dict.fromkeys(names) if n in world.clear]


def k_anonymity(policy, body, world):
    found = classes(world.released, here(world, body.get("attributes") or quasi(policy)), policy["nulls"])
    return at_least(min(map(len, found), default=0), body["k"])


def template(policy, body, world):
    channel = here(world, body["channel"])
    groups = classes(world.released, channel, policy["nulls"])
    protected = [a for a in body["sensitive"] if a in world.clear]
    for attribute in protected:
        known = {row[attribute] for row in world.original} | set(policy["attributes"][attribute].get("domain", ()))
        new = {row[attribute] for row in world.released} - known - {None, "⊥"}  # may hide any value
        for value in body["sensitive"][attribute]:
            hiding = {value} | (set() if body.get("negated") else new)
            for group in groups:
                having = sum(row[attribute] in hiding for row in group)
                share = (len(group) - having if body.get("negated") else having) / len(group)
                if not at_most(share, body["confidence"]):
                    return False
    if body.get("min_support") and protected:
        return at_least(min(map(len, groups), default=0), body["min_support"])
    return True


def on_sensitive(policy, attribute, body, world, judged):
    """Whether ``judged`` (class, whole) -> bool holds of every class; not of a release without any class."""
    if attribute not in world.clear:
        return True
    grouping = [c for c in here(world, body.get("attributes") or quasi(policy)) if c != attribute]
    nulls = policy["nulls"]
    found = classes(world.released, grouping, nulls, (attribute,))
    whole = [r[attribute] for r in world.released]
    if nulls == "exclude":
        whole = [r[attribute] for r in world.released if all(r[c] is not None for c in (*grouping, attribute))]
    return bool(found) and all(judged([r[attribute] for r in group], whole) for group in found)


def l_diversity(policy, attribute, body, world):
    kind = body.get("kind", "distinct")

    def judged(values, _whole):
        counts = sorted(Counter(values).values(), reverse=True)
        n = sum(counts)
        if kind == "distinct":
            return at_least(len(counts), body["l"])
        if kind == "entropy":
            return at_least(math.exp(-sum(c / n * math.log(c / n) for c in counts)), body["l"])
        return len(counts) >= body["l"] and counts[0] < body["c"] * sum(counts[body["l"] - 1 :]) * (1 - 1e-12)

    return on_sensitive(policy, attribute, body, world, judged)


def shares(values, whole):
    mine, all_ = Counter(values), Counter(whole)
    return {v: (mine[v] / len(values), all_[v] / len(whole)) for v in all_}


def t_closeness(policy, attribute, body, world):
    def judged(values, whole):
        found = shares(values, whole)
        if body.get("distance", "equal") == "equal":
            return at_most(sum(abs(p - q) for p, q in found.values()) / 2, body["t"])
        marks = [v for v in found if v in (None, "⊥")]
        known = [v for v in body["order"] if v in found]
        if len(known) + len(marks) < len(found):
            return False
        gain = max(
            sum(max(found[v][0] - found[v][1], 0) for v in marks), sum(max(found[v][1] - found[v][0], 0) for v in marks)
        )
        s, w = sum(found[v][0] for v in known), sum(found[v][1] for v in known)
        apart = total = 0.0
        if s > 0 and w > 0 and len(known) > 1:
            for v in known:
                total += found[v][0] / s - found[v][1] / w
                apart += abs(total)
            apart /= len(known) - 1
        return at_most(gain + min(s, w) * apart, body["t"])

    return on_sensitive(policy, attribute, body, world, judged)


def alpha_k(policy, attribute, body, world):
    def judged(values, _whole):
        named = body.get("values") or set(values)
        return all(at_most(values.count(v) / len(values), body["alpha"]) for v in named)

    return on_sensitive(policy, attribute, body, world, judged)


def delta_disclosure(policy, attribute, body, world):
    def judged(values, whole):
        return all(p > 0 and at_most(abs(math.log(p / q)), body["delta"]) for p, q in shares(values, whole).values())

    return on_sensitive(policy, attribute, body, world, judged)


def beta_likeness(policy, attribute, body, world):
    def judged(values, whole):
        return all(at_most(max(p / q - 1, 0.0), body["beta"]) for p, q in shares(values, whole).values())

    return on_sensitive(policy, attribute, body, world, judged)


def k_map(policy, body, world):
    columns, nulls = here(world, body.get("attributes") or quasi(policy)), policy["nulls"]
    names = body["population"].get("columns", {})
    people = world.populations[body["population"]["path"]]

    def fits(cell, person):
        if cell == "⊥":
            return True
        if nulls == "wildcard" and cell is None:
            return True
        return cell == person

    rows = {tuple(row[c] for c in columns) for row in world.released}
    if nulls == "exclude":
        rows = {row for row in rows if None not in row}
    found = [
        sum(all(fits(cell, p[names.get(c, c)]) for cell, c in zip(row, columns, strict=True)) for p in people)
        for row in rows
    ]
    return at_least(min(found, default=0), body["k"])


def lkc(policy, body, world):
    secret = set(body.get("sensitive", {}))
    columns = [c for c in here(world, body.get("attributes") or quasi(policy)) if c not in secret]
    nulls = policy["nulls"]
    sizes = range(0 if not columns else 1, min(body["l"], len(columns)) + 1)
    for known in (c for n in sizes for c in combinations(columns, n)):
        if not at_least(min(map(len, classes(world.released, known, nulls)), default=0), body["k"]):
            return False
        for attribute in secret & set(world.clear) if "c" in body else ():
            for group in classes(world.released, known, nulls, (attribute,)):
                values = [r[attribute] for r in group]
                having = sum(value in body["sensitive"][attribute] for value in values)
                if not at_most(having / len(values), body["c"]):
                    return False
    return True


def special_uniques(policy, body, world):
    columns, nulls = here(world, body.get("attributes") or quasi(policy)), policy["nulls"]
    if not columns:
        return True
    found = set()
    for known in (c for n in range(1, body.get("size", 3) + 1) for c in combinations(columns, n)):
        key = [tuple(row.get(c) for c in known) for row in world.released]
        for i, one in enumerate(key):
            if nulls == "exclude" and None in one:
                continue
            alike = [
                all(b == a or (nulls == "wildcard" and b is None) for a, b in zip(one, other, strict=True))
                for other in key
            ]
            if sum(alike) == 1:
                found.add(i)
    return bool(world.released) and at_most(len(found) / len(world.released), body.get("max_share", 0.0))


def km_anonymity(_policy, body, world):
    found = Counter(
        c for items in world.sets for n in range(1, body.get("m", 2) + 1) for c in combinations(sorted(items), n)
    )
    return at_least(min(found.values(), default=0), body["k"])


def sensitivities(_policy, attribute, body, world):
    """Worst posteriors from every entry of the operator, not from any formula of gamma."""
    domain = list(world.retention)
    m = len(domain)
    matrix = {(j, i): world.retention[i] * (i == j) + (1 - world.retention[i]) / m for j in domain for i in domain}
    count = Counter(row[attribute] for row in world.original)
    for i in domain:
        for r1, r2 in _bounds_of(i, body, count[i] / len(world.original)):
            for j, k in ((j, k) for j in domain for k in domain if k != i):
                up = r1 * matrix[j, i] / (r1 * matrix[j, i] + (1 - r1) * matrix[j, k])
                down = r2 * matrix[j, i] / (r2 * matrix[j, i] + (1 - r2) * matrix[j, k])
                if up - r2 > ROUND or (body.get("directions", "both") == "both" and r1 - down > ROUND):
                    return False
    return True


def _bounds_of(value, body, frequency):
    own = []
    for name, bounds in body.get("values", {}).items():
        if name == value:
            own += [(b["r1"], b["r2"]) for b in (bounds if isinstance(bounds, list) else [bounds])]
    own += [(g["r1"], g["r2"]) for g in body.get("groups", {}).values() if value in g["values"]]
    default = body.get("default")
    if own or not default:
        return own
    if "tolerance" in default:
        theta = default["tolerance"]
        return [(frequency, theta * frequency)] if frequency > 0 and theta * frequency < 1 else []
    return [(default["r1"], default["r2"])]


def _compared(policy, world):
    never = ("identifier", "subject", "weight", "items")
    columns = [n for n, a in policy["attributes"].items() if a["role"] not in never and n in world.clear]
    before, after = (Counter(tuple(r[c] for c in columns) for r in rows) for rows in (world.original, world.released))
    return columns, before, after


def anonymity_score(policy, body, world):
    columns, before, after = _compared(policy, world)
    if not columns:
        return False

    def score(release):
        rows, found = Counter(), Counter()
        for row, n in before.items():
            rows[n] += n
            found[n] += n * (release[row] > 0)
        return sum(found[n] / rows[n] / n for n in rows)

    return at_most(score(after) / score(before), body["max"])


def blend(policy, body, world):
    columns, before, after = _compared(policy, world)
    if not columns:
        return False
    support = body["min_support"]
    least = [
        support["count"] if "count" in support else max(1, math.ceil(support["ratio"] * sum(c.values())))
        for c in (before, after)
    ]
    rare = {row: n for row, n in after.items() if n < least[1]}
    both = sum(n for row, n in rare.items() if 0 < before[row] < least[0])
    return at_most(both / sum(rare.values()) if rare else 0.0, body.get("max", 0.0))


def itemset_breach(_policy, body, world):
    return at_most(max(world.posteriors[n] for n in body.get("sizes", [1, 2, 3])), body["level"])


def cumulative_k(policy, body, world):
    columns = here(world, [*quasi(policy), *(body.get("attributes") or ())])
    rows = [(*(r[c] for c in columns), label) for r, label in zip(world.released, world.earlier, strict=True)]
    return at_least(min(Counter(rows).values(), default=0), body["k"])


BY_NAME = {
    "l_diversity": l_diversity,
    "t_closeness": t_closeness,
    "alpha_k": alpha_k,
    "delta_disclosure": delta_disclosure,
    "beta_likeness": beta_likeness,
    "sensitivities": sensitivities,
}
SINGLE = {
    "k_anonymity": k_anonymity,
    "k_map": k_map,
    "lkc": lkc,
    "special_uniques": special_uniques,
    "km_anonymity": km_anonymity,
    "anonymity_score": anonymity_score,
    "blend": blend,
    "itemset_breach": itemset_breach,
}


def requirements(policy):
    """Every requirement as (id, function of a world)."""
    privacy = policy.get("privacy", {})
    for kind, body in privacy.items():
        if kind in SINGLE:
            yield f"privacy.{kind}", lambda w, f=SINGLE[kind], b=body: f(policy, b, w)
        elif kind == "templates":
            for name, each in body.items():
                yield f"privacy.templates.{name}", lambda w, b=each: template(policy, b, w)
        elif kind in BY_NAME:
            for name, each in body.items():
                yield f"privacy.{kind}.{name}", lambda w, f=BY_NAME[kind], n=name, b=each: f(policy, n, b, w)
    ledger = policy.get("ledger")
    if ledger is not None:
        asked = privacy.get("cumulative_k") or (privacy.get("k_anonymity") if "subject" in ledger else None)
        if asked:
            yield "privacy.cumulative_k", lambda w: cumulative_k(policy, asked, w)
        if ledger.get("repeat", "refuse") == "refuse":
            randomized = {*privacy.get("sensitivities", {}), *(["b"] if "itemset_breach" in privacy else [])}
            yield "ledger.repeat", lambda w: not randomized & w.drawn


def conduct(policy, world):
    """Everything beside requirements and gates."""
    declared = policy["attributes"]
    if not set(declared) <= world.columns:
        return False
    if policy.get("undeclared", "error") == "error" and world.columns - set(declared):
        return False
    if world.clear - set(declared) or any(declared[c]["role"] in ("identifier", "subject") for c in world.clear):
        return False
    for name, attribute in declared.items():
        values = {row.get(name) for row in world.original} - {None}
        if "domain" in attribute and not values <= set(attribute["domain"]):
            return False
        if attribute.get("type") == "integer" and not all(v.isdecimal() for v in values):
            return False
    if not world.sealed and policy.get("randomness", {}).get("mode", "sealed") == "sealed":
        return False
    if world.shows and policy.get("report", {}).get("values", "hide") == "hide":
        return False
    if policy.get("ledger") is not None and not world.remembered:
        return False
    return _permitted(policy, world)


def _permitted(policy, world):
    """Whether the files can be told apart as releases of the policy."""
    releases = list(policy["releases"].values())

    def fits(file, release):
        audience = AUDIENCES.index(file[0]) <= AUDIENCES.index(release.get("audience", "internal"))
        return audience and (file[1] or not release.get("shuffle", True))

    return len(world.files) <= len(releases) and any(
        all(fits(f, r) for f, r in zip(world.files, chosen, strict=True))
        for chosen in permutations(releases, len(world.files))
    )


def gates(policy, world):
    """Gates on figures of audits, which the world holds by plugin and parameters."""
    for gate in policy.get("gates", {}).values():
        owner, _, figure = gate["metric"].partition(".")
        audit = policy["audits"][owner]
        value = world.figures.get((audit["use"], str(sorted(audit.get("with", {}).items())), figure))
        if "min" in gate and not at_least(value, gate["min"]):
            return False
        if "max" in gate and not at_most(value, gate["max"]):
            return False
    return True


def satisfied(policy, world):
    """Whether the world is a release that the policy lets go."""
    return conduct(policy, world) and gates(policy, world) and all(f(world) for _, f in requirements(policy))
