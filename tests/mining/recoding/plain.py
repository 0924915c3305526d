"""The lattice, its models and costs once more: records one by one, every node, nothing remembered."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict

WAGES = (1.0, 2.5, 6.0, 10.0)
"""The number of each sensitive code, where totals are judged."""


class Table:
    """``rows`` of (leaf codes, sensitive code, 0), one a record; ``maps[attribute][level][leaf]`` is a code.

    ``population`` are the leaf codes of people, one each.
    """

    def __init__(self, rows, maps, values, population=()):
        self.rows = rows
        self.maps = maps
        self.values = values
        self.population = population

    def key(self, node, leaves):
        return tuple(self.maps[j][level][leaf] for j, (level, leaf) in enumerate(zip(node, leaves, strict=True)))

    def classes(self, node):
        found = defaultdict(list)
        for row in self.rows:
            found[self.key(node, row[0])].append(row)
        return found

    def people(self, node):
        return Counter(self.key(node, leaves) for leaves in self.population)

    def nodes(self):
        return itertools.product(*(range(len(m)) for m in self.maps))


def shares(rows, values):
    count = Counter(r[1] for r in rows)
    return [count[v] / len(rows) for v in range(values)]


def equal(p, q):
    return sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2


def ordered(p, q):
    total = out = 0.0
    for a, b in zip(p[:-1], q[:-1], strict=True):
        total += a - b
        out += abs(total)
    return out / (len(p) - 1) if len(p) > 1 else 0.0


def keeps(model, rows, base, values, people=0):
    kind, *numbers = model
    p = shares(rows, values)
    count = sorted(Counter(r[1] for r in rows).values(), reverse=True)
    match kind:
        case "k" | "k_map":
            return {"k": len(rows), "k_map": people}[kind] >= numbers[0]
        case "alpha_of" | "union":
            together = sum if kind == "union" else max
            return together(p[v] for v in numbers[1]) <= numbers[0] + 1e-12
        case "distinct":
            return len(count) >= numbers[0]
        case "entropy":
            return -sum(x * math.log(x) for x in p if x) >= math.log(numbers[0]) - 1e-12
        case "recursive":
            c, rank = numbers
            return count[0] < c * sum(count[rank - 1 :]) - 1e-12
        case "equal":
            return equal(p, base) <= numbers[0] + 1e-12
        case "ordered":
            return ordered(p, base) <= numbers[0] + 1e-12
        case "dominance":
            n, share = numbers
            paid = sorted((WAGES[r[1]] for r in rows), reverse=True)
            return sum(paid[:n]) <= share * sum(paid) + 1e-12
        case "alpha":
            return max(p) <= numbers[0] + 1e-12
        case "delta":
            return all(x > 0 and abs(math.log(x / q)) <= numbers[0] + 1e-12 for x, q in zip(p, base, strict=True) if q)
        case "beta":
            return all((x - q) / q <= numbers[0] + 1e-12 for x, q in zip(p, base, strict=True) if x and q) and not any(
                x and not q for x, q in zip(p, base, strict=True)
            )
    raise AssertionError(kind)


def kept_classes(table, classes, models, at_released, people=None):
    kept, crowd = dict(classes), people or {}
    while kept:
        rows = [r for c in (kept if at_released else classes).values() for r in c]
        base = shares(rows, table.values)
        now = {k: c for k, c in kept.items() if all(keeps(m, c, base, table.values, crowd.get(k, 0)) for m in models)}
        if now == kept or not at_released:
            return now
        kept = now
    return kept


def leaf_share(table, j, level, leaf):
    codes = table.maps[j][level]
    return codes.count(codes[leaf]) / len(codes)


def scaled(share, domain):
    return (share - 1 / domain) / (1 - 1 / domain) if domain > 1 else 0.0


def cost_of(cost, table, node, classes, kept, importance=()):
    n, weight = len(table.rows), importance or [1.0] * len(node)
    lost = [r for k, c in classes.items() if k not in kept for r in c]
    inside = [r for c in kept.values() for r in c]
    match cost:
        case "loss" | "ncp":
            parts = []
            for j, level in enumerate(node):
                total = sum(leaf_share(table, j, level, r[0][j]) for r in inside) + len(lost)
                parts.append(scaled(total / n, len(table.maps[j][0])))
            if cost == "loss":
                return math.prod((1 + p) ** (w / sum(weight)) for p, w in zip(parts, weight, strict=True)) - 1
            return sum(p * w for p, w in zip(parts, weight, strict=True)) / sum(weight)
        case "precision":
            heights = [level / max(1, len(m) - 1) for level, m in zip(node, table.maps, strict=True)]
            own = sum(h * w for h, w in zip(heights, weight, strict=True)) / sum(weight)
            return (own * len(inside) + len(lost)) / n
        case "discernibility":
            return sum(len(c) ** 2 for c in kept.values()) + len(lost) * n
        case "average_class_size":
            return n / max(1, len(kept) + bool(lost))
        case "entropy":
            bits = whole = 0.0
            for j, level in enumerate(node):
                original = Counter(r[0][j] for r in table.rows)
                general = Counter(table.maps[j][level][r[0][j]] for r in table.rows)
                whole += weight[j] * sum(math.log2(n / original[r[0][j]]) for r in table.rows)
                own = sum(math.log2(general[table.maps[j][level][r[0][j]]] / original[r[0][j]]) for r in inside)
                bits += weight[j] * (own + sum(math.log2(n / original[r[0][j]]) for r in lost))
            return bits / whole if whole else 0.0
        case "classification":
            minority = sum(len(c) - max(Counter(r[1] for r in c).values()) for c in kept.values())
            return (minority + len(lost)) / n
    raise AssertionError(cost)


def optimum(table, models, cost, limit, at_released, importance=()):
    best = None
    for node in table.nodes():
        classes = table.classes(node)
        kept = kept_classes(table, classes, models, at_released, table.people(node))
        lost = len(table.rows) - sum(map(len, kept.values()))
        if lost <= limit:
            price = cost_of(cost, table, node, classes, kept, importance)
            if best is None or price < best:
                best = price
    return best
