"""Whether a changed policy lets more out, by running it and the old one; and what `diff` says of it.

It lets more out where something that it releases of some table

- is withheld, or cannot be judged, by the gates, params and recipients of the old policy,
- has an attribute of the source that no release of the old policy gave to such an audience, or not around a secret key,
- is one more file for such an audience, or one more in the order of the source.

Steps are means: rows and labels that the old policy's clauses let go are no more than it allowed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import yaml
from adversary.lineage import released
from adversary.policies import Case
from adversary.trial import write

from mutants.bases import Base, Policy, bases
from mutants.changes import AUDIENCES, Mutant, follow, mutant
from mutants.settings import Settings, grid, resolved, settings
from ppdm_flow.api.diff.diff import diff
from ppdm_flow.api.loading.bindings import plan_for_data
from ppdm_flow.core.draws import RunKey
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.engine.options import RunContext, RunOptions
from ppdm_flow.engine.reading.original import Opening
from ppdm_flow.engine.run.scratch_run import measure

TABLES = 2
REFUSED, RELEASED = "refused", "released"
KEYS = {"ADVERSARY_KEY": "a key of at least sixteen bytes", "SECOND_KEY": "another key of at least sixteen bytes"}


@dataclass(frozen=True)
class Judged:
    """What a mutant lets out that the old policy does not, empty if nothing; and whether `diff` forbids it."""

    number: int
    base: str
    kinds: tuple[str, ...]
    more: str
    relation: str
    forbidden: bool
    valid: bool = True

    @property
    def fault(self) -> bool:
        """Whether it lets more out, and nobody is told."""
        return bool(self.more) and not self.forbidden


@dataclass
class Runs:
    """Runs policies on the tables of a base, each once."""

    base: Base
    tables: int = TABLES
    known: dict[tuple[str, int], str] = field(default_factory=dict)

    def verdict(self, policy: Policy, table: int) -> str:
        """Return ``released``, ``withheld``, or ``refused``."""
        plain = {name: policy[name] for name in sorted(policy) if policy[name]}
        key = (yaml.safe_dump(plain, sort_keys=False), table)
        if key not in self.known:
            self.known[key] = self._run(policy, table)
        return self.known[key]

    def _run(self, policy: Policy, table: int) -> str:
        with TemporaryDirectory(prefix="mutant-") as folder:
            home = Path(folder)
            try:
                write(Case(table, policy, self.base.table(table)), home)
                found = plan_for_data(home / "policy.yaml", {}, None)
                context = RunContext(found.plan, RunOptions(workers=1, key=RunKey.from_seed("mutants")))
                return measure(context, Opening(context, None).open(), home).verdict
            except PpdmError:
                return REFUSED

    def released(self, policy: Policy) -> list[int]:
        """Return the tables of which it releases something."""
        return [t for t in range(self.tables) if self.verdict(policy, t) == RELEASED]

    def valid(self, policy: Policy) -> bool:
        """Whether it can be run at all."""
        return self.verdict(policy, 0) != REFUSED


@dataclass(frozen=True)
class Out:
    """What a policy gives to whom."""

    policy: Policy

    def to(self, audience: str) -> list[str]:
        """Return the releases that an audience, or a wider one, gets."""
        wide = AUDIENCES[AUDIENCES.index(audience) :]
        return [n for n, r in self.policy["releases"].items() if r.get("audience", "internal") in wide]

    @cached_property
    def columns(self) -> Mapping[str, set[str]]:
        """The attributes of the source that are in each release, and how."""
        found = {}
        for name, columns in released(_in_order(self.policy)).items():
            found[name] = {f"{a} under a key" for c in columns.values() for a in c.computed}
            found[name] |= {a for c in columns.values() for a in c.bare}
        return found

    def beyond(self, other: Out) -> str:
        """Return what it gives that the other does not; the first such thing."""
        for audience in AUDIENCES:
            names, before = self.to(audience), other.to(audience)
            carried = [set().union(*(o.columns[n] for n in some)) for o, some in ((self, names), (other, before))]
            if carried[0] - carried[1]:
                return f"{min(carried[0] - carried[1])} for {audience}"
            if len(names) > len(before):
                return f"a file for {audience}"
            if self._ordered(names) > other._ordered(before):
                return f"the order of rows for {audience}"
        return ""

    def _ordered(self, names: list[str]) -> int:
        return sum(self.policy["releases"][n].get("shuffle") == "false" for n in names)


def _in_order(policy: Policy) -> Policy:
    """Return the policy with its steps after what they read, and every input and origin written out."""
    names, rest, steps = ["source", *policy["steps"]], {}, {}
    for before, (name, step) in zip(names, policy["steps"].items(), strict=False):
        rest[name] = {"input": before} | step
    while rest:
        name = next(n for n, s in rest.items() if s["input"].partition(".")[0] in ("source", *steps))
        steps[name] = rest.pop(name)
    return {**policy, "steps": steps, "releases": {n: {"from": names[-1]} | r for n, r in policy["releases"].items()}}


def more(runs: Runs, old: Policy, changed: Mutant, *, as_it_is: bool) -> str:
    """Return what a mutant lets out that the old policy, with the same params or any that it takes, does not.

    ``as_it_is``: no param is given another value.
    """
    for values in [{}] if as_it_is else settings(changed.policy):
        new = _set(changed.policy, values)
        tables = runs.released(new) if new is not None else []
        if not tables:
            continue
        reasons = [_beyond(runs, before, new, tables, changed) for before in _alike(runs, old, values)]
        if reasons and all(reasons):
            return f"{reasons[0]}{f' with {values}' if values else ''}"
    return ""


def _beyond(runs: Runs, before: Policy, new: Policy, tables: list[int], changed: Mutant) -> str:
    if not runs.valid(before):
        return ""
    judged = asked_by(before, new, changed)
    for table in tables:
        verdict = runs.verdict(judged, table)
        if verdict != RELEASED:
            return f"what the old clauses find {verdict}"
    return Out(new).beyond(Out(before))


def _alike(runs: Runs, old: Policy, values: Settings) -> list[Policy]:
    """Return the old policy with the same values; where it refuses one of them, with each that it takes."""
    own = {n: v for n, v in values.items() if n in old.get("params", {})}
    same = _set(old, own)
    if same is not None and runs.valid(same):
        return [same]
    name = next(iter(own))
    rest = {n: v for n, v in own.items() if n != name}
    return (
        [p for v in grid(old["params"][name], old) for p in _alike(runs, old, rest | {name: v}) if p is not None]
        if (not rest)
        else [resolved(old, {})]
    )


def _set(policy: Policy, values: Settings) -> Policy | None:
    """Return the policy with these values in place of its params; None where it takes no such values."""
    for name, value in values.items():
        param = policy["params"][name]
        if param.get("choices") and value not in param["choices"]:
            return None
        if param.get("type") in ("integer", "float"):
            low, high = float(param.get("min", "-inf")), float(param.get("max", "inf"))
            if not low <= float(value) <= high or (param["type"] == "integer" and not float(value).is_integer()):
                return None
    return resolved(policy, values)


def asked_by(before: Policy, new: Policy, changed: Mutant) -> Policy:
    """Return the new policy's steps and releases under everything that the old one asks for."""
    found = {**before, "steps": new["steps"], "releases": new["releases"]}
    audits = {n: follow(a, "audits", changed.renamed) for n, a in before.get("audits", {}).items()}
    found["audits"] = {n: a for n, a in audits.items() if a.get("release") in (None, *new["releases"])}
    gates = {n: follow(g, "gates", changed.renamed) for n, g in before.get("gates", {}).items()}
    found["gates"] = {n: g for n, g in ((n, _there(g, found)) for n, g in gates.items()) if g is not None}
    gone = [f"gates.{n}" for n in gates if n not in found["gates"]]
    found["waivers"] = {n: w for n, w in before.get("waivers", {}).items() if w["of"] not in gone}
    return found


def _there(gate: Policy, policy: Policy) -> Policy | None:
    """Return the gate for the releases that are left; None where it was about others only."""
    names = policy["releases"]
    release, slash, metric = gate["metric"].rpartition("/")
    owner = metric.partition(".")[0]
    if (slash and release not in names) or (owner == "classifier" and owner not in policy["audits"]):
        return None
    if "releases" in gate:
        left = [n for n in gate["releases"] if n in names]
        return {**gate, "releases": left} if left else None
    return gate


def judge(number: int, runs_of: Callable[[Base], Runs]) -> Judged:
    """Return what comes of the mutant of that number, always the same."""
    os.environ.update(KEYS)
    base = _BASES[number % len(_BASES)]
    runs, changed = runs_of(base), mutant(Random(f"mutant {number}"), base.policy)
    kinds = tuple(changed.kinds)
    with TemporaryDirectory(prefix="mutant-") as folder:
        files = Path(folder) / "old.yaml", Path(folder) / "new.yaml"
        for file, policy in zip(files, (base.policy, changed.policy), strict=True):
            file.write_text(yaml.safe_dump(policy, sort_keys=False), encoding="utf-8")
        try:
            found = diff(str(files[0]), str(files[1]))
        except PpdmError:
            return Judged(number, base.name, kinds, "", "", forbidden=True, valid=False)
    (pair,) = found.document["pairs"]
    out = more(runs, base.policy, changed, as_it_is=found.weaker)
    return Judged(number, base.name, kinds, out, pair["relation"], found.weaker)


def remembering(tables: int = TABLES) -> Callable[[Base], Runs]:
    """Return what keeps the runs of each base on so many tables."""
    every: dict[str, Runs] = {}
    return lambda base: every.setdefault(base.name, Runs(base, tables))


_BASES = bases()
