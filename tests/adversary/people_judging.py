"""What a release of people with several rows tells, by the definitions, in plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations
from math import comb, exp, inf, log, prod

from ppdm_flow.core.roles import Nulls
from ppdm_flow.requirements.alpha_k.requirement import AlphaK
from ppdm_flow.requirements.beta_likeness.requirement import BetaLikeness
from ppdm_flow.requirements.delta_disclosure.requirement import DeltaDisclosure
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.l_diversity.requirement import Diversity, LDiversity
from ppdm_flow.requirements.t_closeness.requirement import TCloseness
from ppdm_flow.requirements.templates.requirement import InferenceTemplate

SLACK = 1e-9


def crowds(rows, names, nulls, *, sensitive=None):
    """Return the rows that count, and those of each class or crowd; a row is a dict with the key ``person``."""
    if nulls is Nulls.EXCLUDE:
        rows = [r for r in rows if all(r[n] is not None for n in (*names, *([sensitive] if sensitive else [])))]
    combos = {tuple(r[n] for n in names) for r in rows}

    def looks(row, combo):
        if nulls is Nulls.WILDCARD:
            return all(c is None or row[n] == c for n, c in zip(names, combo, strict=True))
        return tuple(row[n] for n in names) == combo

    return rows, [[r for r in rows if looks(r, c)] for c in combos]


def of_people(rows, s):
    people = defaultdict(list)
    for row in rows:
        people[row["person"]].append(row[s])
    return people


def distribution(rows, s):
    people, shares = of_people(rows, s), Counter()
    for values in people.values():
        for value in values:
            shares[value] += Fraction(1, len(values) * len(people))
    return shares


def share_of(rows, s, has):
    """The larger share, of rows and of people, with a value for which ``has`` holds."""
    people = of_people(rows, s)
    by_rows = Fraction(sum(has(r[s]) for r in rows), len(rows))
    return max(by_rows, Fraction(sum(any(map(has, own)) for own in people.values()), len(people)))


def distinct(rows, s):
    people, taken = of_people(rows, s), {}

    def place(person, seen):
        for value in set(people[person]) - seen:
            seen.add(value)
            if value not in taken or place(taken[value], seen):
                taken[value] = person
                return True
        return False

    matched = sum(place(person, set()) for person in people)
    return min(matched, 1 + min(sum(v not in own for own in people.values()) for v in {r[s] for r in rows}))


def largest_chance(rows, names, s, has, known):
    """The largest chance over all people and choices of up to ``known`` of their rows that one of these has a value."""
    size, having, people = Counter(), Counter(), defaultdict(list)
    for row in rows:
        key = tuple(row[n] for n in names)
        size[key] += 1
        having[key] += has(row[s])
        people[row["person"]].append(key)
    best = Fraction(0)
    for own in people.values():
        most = len(own) if known is None else min(known, len(own))
        some = combinations(own, most) if most < len(own) else [own]
        for chosen in {tuple(sorted(c, key=str)) for c in some}:
            escapes = prod(Fraction(comb(size[c] - having[c], m), comb(size[c], m)) for c, m in Counter(chosen).items())
            best = max(best, 1 - escapes)
    return best


def linked(rows, columns, pseudonyms=()):
    """Return which rows are seen to be one person's."""
    out = [any(row[p] not in (None, "⊥") for p in pseudonyms) for row in rows]
    repeating = [c for c in columns if max(Counter(r[c] for r in rows).values(), default=0) > 1]
    several = [c for size in (2, 3, len(columns) - 1, len(columns)) for c in combinations(columns, max(0, size))]
    together = {tuple(c for c in some if c in repeating) for some in several}
    for some in [*((c,) for c in columns), *(t for t in together if t)]:
        cells = defaultdict(list)
        for place, row in enumerate(rows):
            if any(row[c] is not None for c in some):
                cells[tuple(row[c] for c in some)].append(place)
        for places in cells.values():
            if len(places) > 1 and len({rows[i]["person"] for i in places}) == 1:
                for i in places:
                    out[i] = True
    return out


def smallest_crowd(rows, names, columns, known, pseudonyms=()):
    """Return the fewest linked people who have a combination of classes that a linked person has; None for none."""
    profiles = defaultdict(Counter)
    for row, is_linked in zip(rows, linked(rows, columns, pseudonyms), strict=True):
        if is_linked:
            profiles[row["person"]][tuple(row[n] for n in names)] += 1
    fewest = None
    for own in profiles.values():
        every = list(own.elements())
        sizes = [len(every)] if known is None else range(1, min(known, len(every)) + 1)
        for chosen in {tuple(sorted(c, key=str)) for size in sizes for c in combinations(every, size)}:
            wanted = Counter(chosen)
            alike = sum((p == wanted) if known is None else (wanted <= p) for p in profiles.values())
            fewest = alike if fewest is None else min(fewest, alike)
    return fewest


def holds(requirement, rows, nulls, known, whole=None):
    """Whether every class keeps a requirement; ``whole`` is the table that distributions are compared with."""
    match requirement:
        case KAnonymity():
            _, every = crowds(rows, requirement.attributes, nulls)
            return all(len(of_people(c, requirement.attributes[0])) >= requirement.k for c in every)
        case InferenceTemplate():
            return _template(requirement, rows, nulls, known)
    s = requirement.attribute
    counted, every = crowds(rows, requirement.attributes, nulls, sensitive=s)
    base = distribution(counted if whole is None else whole, s)
    match requirement:
        case LDiversity(variant=Diversity.DISTINCT):
            return all(distinct(c, s) >= requirement.l for c in every)
        case LDiversity(variant=Diversity.ENTROPY):
            entropies = (-sum(float(p) * log(p) for p in distribution(c, s).values()) for c in every)
            return all(exp(e) >= requirement.l * (1 - SLACK) for e in entropies)
        case LDiversity():
            return all(_recursive(distribution(c, s), requirement.c, round(requirement.l)) for c in every)
        case TCloseness():
            return all(_distance(distribution(c, s), base) <= requirement.t + SLACK for c in every)
        case DeltaDisclosure():
            return all(
                abs(log(distribution(c, s)[v] / base[v]) if distribution(c, s)[v] else -inf)
                <= requirement.delta + SLACK
                for c in every
                for v in base
            )
        case BetaLikeness():
            return all(
                (p - base[v]) / base[v] <= requirement.beta + SLACK
                for c in every
                for v, p in distribution(c, s).items()
            )
        case AlphaK():
            values = requirement.values or {r[s] for r in counted}
            return all(_confident(counted, every, requirement, v, nulls, known) for v in values)
    raise ValueError(requirement.kind)


def _confident(counted, every, requirement, value, nulls, known):
    names, s, most = requirement.attributes, requirement.attribute, requirement.alpha + SLACK
    alone = all(share_of(c, s, lambda x: x == value) <= most for c in every)
    several = known == 1 or nulls is Nulls.WILDCARD
    return alone and (several or largest_chance(counted, names, s, lambda x: x == value, known) <= most)


def _template(template, rows, nulls, known):
    names, most = template.channel, template.confidence + SLACK
    counted, every = crowds(rows, names, nulls)
    for s, value in template.pairs:
        has = (lambda x, v=value: x != v) if template.negated else (lambda x, v=value: x == v)
        if any(share_of(c, s, has) > most for c in every):
            return False
        if known != 1 and nulls is not Nulls.WILDCARD and largest_chance(counted, names, s, has, known) > most:
            return False
    least = template.smallest_group
    return all(len(of_people(c, template.pairs[0][0])) >= least for c in every)


def _recursive(shares, c, rank):
    falling = sorted(shares.values(), reverse=True)
    return falling[0] < c * sum(falling[rank - 1 :]) - SLACK * 1e-3


def _distance(p, q):
    return sum(abs(p[v] - q[v]) for v in {*p, *q}) / 2
