"""Apriori anonymization and the search for rare combinations, written to be read."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import combinations, product

from ppdm_flow.mining.combinations.cut import LEAVE_OUT, ROLL_UP, ROLL_UP_FIRST


def combinations_of(bag, size, repeated):
    """The combinations of a bag: those of its elements, or of its distinct ones."""
    elements = sorted(bag.elements()) if repeated else sorted(bag)
    return set(combinations(elements, size))


def supports(bags, weights, size, repeated, persons=None):
    """How many own each combination that occurs; owners of one person count once."""
    found, holders = Counter(), defaultdict(set)
    for owner, (bag, weight) in enumerate(zip(bags, weights, strict=True)):
        for codes in combinations_of(bag, size, repeated):
            found[codes] += weight
            holders[codes].add(owner if persons is None else persons[owner])
    return found if persons is None else Counter({codes: len(whose) for codes, whose in holders.items()})


@dataclass
class Twin:
    """``parents`` of nodes, the node of each code in ``leaf``, and how many values a node covers."""

    bags: list
    weights: list
    parents: list
    leaf: list
    values: list
    whole: int
    repeated: bool
    persons: list | None = None

    def price(self, node):
        return 0 if self.values[node] == 1 else self.values[node]

    def above(self, node):
        return [] if node == -1 else [node, *self.above(self.parents[node])]

    def below(self, node):
        """The codes in a node that occur in the data or not."""
        return [c for c, own in enumerate(self.leaf) if node in self.above(own)]

    def chain(self, node, top):
        """A node, and those above it that hold more codes; the lowest of those with the same."""
        found = [node]
        for up in self.above(node)[1:]:
            if len(self.below(up)) > len(self.below(found[-1])):
                found.append(up)
        return [u for i, u in enumerate(found) if i == 0 or top or self.price(u) < self.whole]

    def now(self):
        """The bags of nodes."""
        out = []
        for bag in self.bags:
            new = Counter()
            for code, times in bag.items():
                if self.node[code] != -1:
                    new[self.node[code]] += times
            out.append(new if self.repeated else Counter(set(new)))
        return out

    def occurrences(self, code):
        return sum(
            w * (b[code] if self.repeated else min(1, b[code])) for b, w in zip(self.bags, self.weights, strict=True)
        )

    def owned(self, needs):
        """The weight of those who have of each node as much as they need, each person once."""
        total, whose = 0, set()
        for owner, (bag, weight) in enumerate(zip(self.bags, self.weights, strict=True)):
            have = {u: sum(bag[c] for c in self.below(u) if self.node[c] != -1) for u in needs}
            if all((have[u] if self.repeated else min(1, have[u])) >= n for u, n in needs.items()):
                total += weight
                whose.add(self.persons and self.persons[owner])
        return total if self.persons is None else len(whose)

    def needs(self, choice, of):
        """What becomes of a combination when its nodes become those of ``choice``: the outer node wins."""
        out = Counter()
        for target, node in zip(choice, of, strict=True):
            outer = max(
                (u for u in choice if set(self.below(target)) <= set(self.below(u))), key=lambda u: len(self.below(u))
            )
            out[outer] = out[outer] + of[node] if self.repeated else 1
        return out

    def change(self, of, least, way):
        """What becomes of a rare combination: nodes, or one node that goes."""
        options = []
        if way != LEAVE_OUT:
            chains = [self.chain(u, way != ROLL_UP_FIRST) for u in of]
            for choice in product(*reversed(chains)):
                needs = self.needs(choice[::-1], of)
                if choice[::-1] != tuple(of):
                    options.append((sum(self.more(u) for u in needs), needs))
            options.sort(key=lambda option: option[0])
        kept = next(((p, n) for p, n in options if self.owned(n) >= least), None)
        if way == ROLL_UP or (way == ROLL_UP_FIRST and kept):
            return kept and (list(kept[1]), False)
        price, gone = min(((self.leaving(u), i) for i, u in enumerate(of)))
        if kept and kept[0] <= price:
            return list(kept[1]), False
        return [list(of)[gone]], True

    def more(self, node):
        codes = [c for c in self.below(node) if self.node[c] != -1]
        return sum(self.occurrences(c) * (self.price(node) - self.price(self.node[c])) for c in codes)

    def leaving(self, node):
        codes = [c for c in self.below(node) if self.node[c] != -1]
        return sum(self.occurrences(c) * (self.whole - self.price(node)) for c in codes)

    def sweep(self, size, least, way):
        """One walk over the combinations, rare codes first; whether anything changed, None where nothing will do."""
        bags = self.now()
        cut = sorted({u for u in self.node if u != -1})
        own = {u: sum(w for b, w in zip(bags, self.weights, strict=True) if b[u]) for u in cut}
        rank = {u: i for i, u in enumerate(sorted(cut, key=lambda u: own[u]))}
        copies = {u: min(size, max(b[u] for b in bags)) for u in cut}
        found = supports(bags, self.weights, size, self.repeated, self.persons)
        passed, changed = set(), False
        for codes in sorted((tuple(sorted(c, key=rank.get)) for c in found), key=lambda c: [rank[u] for u in c]):
            if passed & set(codes) or found[tuple(sorted(codes))] >= least:
                continue
            made = self.change(Counter(codes), least, way)
            if made is None:
                return None
            for node in made[0]:
                for c in self.below(node):
                    if self.node[c] not in (-1, node) or (made[1] and self.node[c] == node):
                        passed.add(self.node[c])
                        self.node[c] = -1 if made[1] else node
            changed = True
            if 2 * sum(copies[u] for u in passed if u in rank) > sum(copies.values()):
                break
        return changed

    def run(self, least, most, way):
        """Where each code goes; None where no cut will do."""
        self.node = [u if any(b[c] for b in self.bags) else -1 for c, u in enumerate(self.leaf)]
        for size in range(1, most + 1):
            while more := self.sweep(size, least, way):
                pass
            if more is None:
                return None
        return self.node
