"""Seeded random policies as raw maps, ways to change them, and random worlds to hold them against."""

from __future__ import annotations

import copy

QI = ("q1", "q2", "q3")
NULLS = ("own_category", "wildcard", "exclude")
POPULATIONS = {
    "people.csv": [
        {"q1": a, "q2": b, "q3": c, "Q3": c}
        for a in ("x", "y")
        for b in ("x", "y", None)
        for c in ("1", "2")
        for _ in "12"
    ],
    "others.csv": [{"q1": "x", "q2": "y", "q3": "1", "Q3": "2"}] * 3,
}


class Maker:
    """Everything random comes from ``rng`` (numpy)."""

    def __init__(self, rng):
        self.rng = rng

    def one(self, *options):
        return options[int(self.rng.integers(len(options)))]

    def chance(self, p):
        return self.rng.random() < p

    def some(self, names, least=1):
        size = int(self.rng.integers(least, len(names) + 1))
        return sorted(self.rng.choice(names, size=size, replace=False).tolist())

    def grouped(self, body):
        return body | ({"attributes": self.some(QI)} if self.chance(0.5) else {})

    def pair(self):
        r1 = self.one(0.1, 0.2, 0.25, 0.4)
        return {"r1": r1, "r2": self.one(*(r for r in (0.25, 0.3, 0.5, 0.6, 0.8, 0.9) if r > r1))}

    def clause(self, kind):  # noqa: C901  # a flat list of kinds
        one = self.one
        match kind:
            case "k_anonymity":
                return self.grouped({"k": one(2, 2, 3, 4)})
            case "l_diversity":
                variant = one("distinct", "entropy", "recursive")
                body = {"l": one(1.5, 2, 2.5) if variant == "entropy" else 2 if self.chance(0.7) else 3}
                body |= {"kind": variant} if variant != "distinct" or self.chance(0.5) else {}
                return {"s": self.grouped(body | ({"c": one(1, 1.5, 2, 3)} if variant == "recursive" else {}))}
            case "t_closeness":
                body = {"t": one(0.1, 0.2, 0.3, 0.45, 0.6)}
                ranked = {"distance": "ordered", "order": one(["a", "b", "c"], ["b", "a", "c"])}
                return {"s": self.grouped(body | (ranked if self.chance(0.4) else {}))}
            case "alpha_k":
                named = {"values": self.some(["a", "b", "c"])} if self.chance(0.6) else {}
                return {"s": self.grouped({"alpha": one(0.4, 0.5, 0.67, 0.8), **named})}
            case "delta_disclosure":
                return {"s": self.grouped({"delta": one(0.2, 0.5, 1.0, 1.5)})}
            case "beta_likeness":
                return {"s": self.grouped({"beta": one(0.2, 0.5, 0.7, 1.0, 2.0, 4.0)})}
            case "templates":
                return {f"t{i}": self.template() for i in range(one(1, 1, 2, 3))}
            case "k_map":
                population = {"path": one("people.csv", "people.csv", "others.csv")}
                population |= {"columns": {"q3": "Q3"}} if self.chance(0.3) else {}
                return self.grouped({"k": one(2, 3, 4), "population": population})
            case "lkc":
                body = self.grouped({"l": one(1, 2, 3), "k": one(2, 3)})
                named = {"c": one(0.4, 0.5, 0.7), "sensitive": {"s": self.some(["a", "b", "c"])}}
                return body | (named if self.chance(0.6) else {})
            case "special_uniques":
                return self.grouped({"size": one(1, 2, 3), "max_share": one(0, 0.2, 0.4)})
            case "km_anonymity":
                return {"k": one(2, 3), "m": one(1, 2, 3)}
            case "sensitivities":
                return {"r": self.sensitivity()}
            case "anonymity_score":
                return {"max": one(0.0, 0.2, 0.5, 0.8)}
            case "blend":
                return {"min_support": one({"count": 2}, {"count": 3}, {"ratio": 0.3}), "max": one(0.0, 0.3, 0.6)}
            case "itemset_breach":
                return {"level": one(0.3, 0.5, 0.7), "sizes": self.some([1, 2, 3])}
            case "cumulative_k":
                return self.grouped({"k": one(2, 3)})
        raise AssertionError(kind)

    def template(self):
        body = {
            "channel": self.some(QI),
            "sensitive": {"s": self.some(["a", "b", "c"])},
            "confidence": self.one(0.3, 0.5, 0.67, 0.8),
        }
        body |= {"negated": True} if self.chance(0.25) else {}
        return body | ({"min_support": self.one(2, 3)} if self.chance(0.25) else {})

    def sensitivity(self):
        body = {}
        if self.chance(0.7):
            body["default"] = {"tolerance": self.one(1.5, 2, 3, 5)} if self.chance(0.6) else self.pair()
        if self.chance(0.6) or not body:
            body["values"] = {v: self.pair() for v in self.some(["u", "v", "w"])}
            if self.chance(0.3):
                body["values"]["u"] = [{"r1": 0.1, "r2": 0.3}, {"r1": 0.2, "r2": 0.6, "given": "men"}]
        if self.chance(0.2):
            body["groups"] = {"g": {"values": ["v", "w"], **self.pair()}}
        return body | ({"directions": "upward"} if self.chance(0.3) else {})

    KINDS = (
        "k_anonymity",
        "l_diversity",
        "t_closeness",
        "alpha_k",
        "delta_disclosure",
        "beta_likeness",
        "templates",
        "k_map",
        "lkc",
        "special_uniques",
        "km_anonymity",
        "sensitivities",
        "anonymity_score",
        "blend",
        "itemset_breach",
    )

    SINGLE = (
        "k_anonymity",
        "k_map",
        "lkc",
        "special_uniques",
        "km_anonymity",
        "blend",
        "itemset_breach",
        "anonymity_score",
        "cumulative_k",
    )

    def policy(self):
        found = {
            "version": 1,
            "name": "p",
            "attributes": {
                "q1": {"role": "quasi_identifier"},
                "q2": {"role": "quasi_identifier"},
                "q3": {"role": self.one("quasi_identifier", "quasi_identifier", "insensitive")},
                "s": {"role": "sensitive"},
                "r": {"role": "sensitive"},
                "b": {"role": "items"},
                "i": {"role": "identifier"},
            },
            "nulls": self.one("own_category", "own_category", *NULLS),
            "privacy": {},
            "steps": {},
            "releases": {"study": {"path": "study.csv"}},
        }
        for kind in self.rng.choice(self.KINDS, size=int(self.rng.integers(1, 4)), replace=False).tolist():
            found["privacy"][kind] = self.clause(kind)
        for change in (self.gate, self.ledger):
            if self.chance(0.15):
                change(found)
        return found

    def changed(self, policy):
        """A copy with one to three random changes, some of them none at all."""
        found = copy.deepcopy(policy)
        for _ in range(self.one(1, 1, 1, 2, 3)):
            self.one(
                *[self.another] * 6, *[self.number] * 8, self.nulls, self.role, self.reading, self.conduct, self.gate
            )(found)
        return found

    def another(self, policy):
        """Add, take out or replace a requirement."""
        kinds = list(policy["privacy"])
        if kinds and self.chance(0.5):
            policy["privacy"].pop(self.one(*kinds))
        if self.chance(0.7):
            kind = self.one(*self.KINDS, *(["cumulative_k"] if "ledger" in policy else []))
            policy["privacy"][kind] = self.clause(kind)

    def number(self, policy):
        """Replace one requirement by another of its kind: near to it in most parts."""
        kinds = list(policy["privacy"])
        if not kinds:
            return
        kind = self.one(*kinds)
        now, new = policy["privacy"][kind], self.clause(kind)
        if kind in self.SINGLE:
            key = self.one(*now)
            if key in new:
                now[key] = new[key]
        else:
            name = self.one(*now)
            other = self.one(*new.values())
            body, key = now[name], self.one(*now[name])
            if key in other:
                body[key] = other[key]
            elif self.chance(0.3):
                now[name] = other

    def nulls(self, policy):
        policy["nulls"] = self.one(*NULLS)

    def role(self, policy):
        name = self.one(*(n for n in ("q1", "q2", "q3", "s", "i") if n in policy["attributes"]))
        roles = ("quasi_identifier", "insensitive", "identifier", "target", "sensitive")
        policy["attributes"][name]["role"] = self.one(*roles)

    def reading(self, policy):
        what = self.one("undeclared", "domain", "type", "missing", "attribute")
        if what == "undeclared":
            policy["undeclared"] = self.one("error", "drop")
        elif what == "domain" and self.chance(0.5):
            policy["attributes"]["s"]["domain"] = self.one(["a", "b", "c"], ["a", "b", "c", "d"])
        elif what == "domain":
            policy["attributes"]["q1"]["domain"] = self.one(["x", "y"], ["x", "y", "z"], ["y", "x"])
        elif what == "type":
            policy["attributes"]["q3"]["type"] = self.one("integer", "text")
        elif what == "attribute":
            if self.chance(0.5) and "ledger" not in policy:
                policy["attributes"].pop("i", None)
            else:
                policy["attributes"]["extra"] = {"role": self.one("insensitive", "identifier")}

    def conduct(self, policy):
        what = self.one("audience", "shuffle", "another", "randomness", "report", "ledger")
        release = policy["releases"]["study"]
        if what == "audience":
            release["audience"] = self.one("internal", "partner")
        elif what == "shuffle":
            release["shuffle"] = self.one(True, False)
        elif what == "another":
            policy["releases"]["second"] = {"path": "second.csv"}
        elif what == "randomness":
            policy["randomness"] = self.one({"mode": "sealed"}, {"mode": "reproducible", "seed": "one"})
        elif what == "report":
            policy["report"] = {"values": self.one("hide", "show")}
        else:
            self.ledger(policy)

    def ledger(self, policy):
        policy["attributes"].setdefault("i", {"role": "identifier"})
        policy["ledger"] = {"path": "ledger", "subject": "i", "repeat": self.one("refuse", "warn")}

    def gate(self, policy):
        name = self.one("one", "two")
        policy.setdefault("audits", {})[name] = {"use": "class_sizes"}
        policy.setdefault("gates", {})["gate"] = {
            "metric": f"{name}.classes",
            self.one("max", "min"): self.one(2, 3, 4),
        }

    # -- worlds

    def world(self, twin):
        """Rows in a few classes, so that requirements hold often enough to tell policies apart."""
        released = self.rows()
        original = copy.deepcopy(released) if self.chance(0.5) else self.rows()
        columns = {"q1", "q2", "q3", "s", "r", "b", "i"}
        clear = {"q1", "q2", "q3", "s", "r"}
        if self.chance(0.25):
            clear -= {self.one("q1", "q2", "q3", "s")}
        if self.chance(0.1):
            columns, clear = (columns | {"extra"}, clear | set(self.some(["extra"], 0)))
        if self.chance(0.05):
            columns -= {"i"}
        if self.chance(0.05):
            clear |= {"i"}
        for rows in (original, released):
            for at, row in enumerate(rows):
                row |= {"i": str(at), "extra": "x"}
        return twin.World(
            original,
            released,
            frozenset(columns),
            frozenset(clear & columns),
            {v: self.one(0.05, 0.1, 0.2, 0.3, 0.4) if self.chance(0.8) else 0.6 for v in ("u", "v", "w")},
            [set(self.some([1, 2, 3], 0)) for _ in range(3)] * self.one(1, 2, 3),
            {n: self.one(0.2, 0.4, 0.6, 0.9) for n in (1, 2, 3)},
            POPULATIONS,
            [0 if self.chance(0.7) else self.one(0, 1) for _ in released],
            frozenset(self.some(["r", "b"], 0)) if self.chance(0.2) else frozenset(),
            self.one(
                *[(("internal", True),)] * 6, (("partner", True),), (("internal", False),), (("internal", True),) * 2
            ),
            self.chance(0.95),
            self.chance(0.05),
            self.chance(0.9),
            {("class_sizes", "[]", "classes"): self.one(2, 3, 4, None)},
        )

    def rows(self):
        keys = [
            {q: self.one("x", "y") if q != "q3" else self.one("1", "2") for q in QI}
            for _ in range(self.one(1, 1, 2, 2, 3))
        ]
        lacking = self.one(0.0, 0.0, 0.1, 0.25)
        values = self.one(["a", "b"], ["a", "b", "c"], ["a", "b", "c"], ["a", "b", "b", "c", "c"])
        found = []
        for key in keys:
            for number in range(self.one(1, 2, 2, 3, 4, 6)):
                value = values[number % len(values)] if self.chance(0.7) else self.one("a", "b", "c", None, "⊥")
                row = key | {"s": value, "r": self.one("u", "v", "w")}
                for q in QI:
                    if self.chance(lacking):
                        row[q] = self.one(None, None, "⊥")
                found.append(row)
        return found
