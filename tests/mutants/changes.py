"""Changes of steps, gates, params, releases and recipients, one at random by one of many kinds."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from mutants.bases import Policy

ADDED: tuple[dict[str, Any], ...] = (
    {"use": "shuffle_rows"},
    {"use": "sample", "with": {"fraction": "0.8"}},
    {"use": "suppress", "with": {"attributes": ["*"]}},
    {"use": "drop", "with": {"attributes": ["*"]}},
    {"use": "assign_class_id", "with": {"attributes": ["*", "*"], "name": "crowd"}},
    {"use": "microaggregation", "with": {"attributes": ["age"], "k": "2"}},
    {"use": "rename", "with": {"attributes": {"*": "other"}}},
    {"use": "pseudonymize", "with": {"attributes": ["*"], "key_env": "ADVERSARY_KEY"}},
    {"use": "swap", "with": {"attributes": ["*"], "fraction": "0.5"}},
)
FIGURES = ("privacy.k_anonymity.uniques", "privacy.k_anonymity.classes", "sizes.largest", "sizes.nothing")
AUDIENCES = ("internal", "partner", "public")


@dataclass
class Mutant:
    """A changed policy; ``kinds`` are the changes, ``renamed`` the new names of releases, by section and old name."""

    policy: Policy
    kinds: list[str] = field(default_factory=list)
    renamed: dict[str, dict[str, str]] = field(default_factory=lambda: {"releases": {}, "steps": {}})


Change = Callable[[Random, Policy, Mutant], None]


def mutant(draw: Random, base: Policy) -> Mutant:
    """Return the policy with one to three changes. Each change that finds nothing to change is drawn again."""
    made = Mutant(copy.deepcopy(base))
    for _ in range(draw.choice((1, 1, 1, 2, 2, 3))):
        before = copy.deepcopy(made.policy)
        for _ in range(20):
            change = draw.choice(CHANGES)
            try:
                change(draw, made.policy, made)
            except (IndexError, KeyError, ValueError):  # this policy has nothing of the kind
                made.policy = copy.deepcopy(before)
            if made.policy != before:
                made.kinds.append(change.__name__)
                break
    return made


# Steps


def remove_step(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Take a step out; what read it reads what it read."""
    name = draw.choice(list(policy["steps"]))
    _retarget(policy, name, _input(policy, name))
    del policy["steps"][name]


def add_step(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Put a step behind another, or at the end."""
    step = copy.deepcopy(draw.choice(ADDED))
    options, names = step.get("with", {}), list(policy["attributes"])
    given = options.get("attributes")
    if isinstance(given, dict):
        options["attributes"] = {draw.choice(names): "other"}
    elif given:
        options["attributes"] = list(dict.fromkeys(draw.choice(names) if n == "*" else n for n in given))
    at = draw.choice(["source", *policy["steps"]])
    if draw.random() < 0.7:
        _retarget(policy, at, "added")
    policy["steps"]["added"] = {**step, "input": at}


def reorder_steps(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Exchange two steps in the text: those without `input` read another one."""
    names = list(policy["steps"])
    one, other = draw.sample(range(len(names)), 2)
    names[one], names[other] = names[other], names[one]
    policy["steps"] = {n: policy["steps"][n] for n in names}


def change_input(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Let a step read another place."""
    draw.choice(list(policy["steps"].values()))["input"] = draw.choice(["source", *policy["steps"]])


def keep_a_column(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Let a step that drops columns drop one fewer."""
    dropping = [s for s in policy["steps"].values() if s["use"] == "drop" and len(s["with"]["attributes"]) > 1]
    names = draw.choice([s["with"]["attributes"] for s in dropping if isinstance(s["with"]["attributes"], list)])
    names.remove(draw.choice(names))


def change_attributes(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Let a step work on a column more, fewer, or another."""
    steps = [s["with"]["attributes"] for s in policy["steps"].values() if "attributes" in s.get("with", {})]
    names = draw.choice([s for s in steps if isinstance(s, list)])
    other = draw.choice(sorted(set(policy["attributes"]) - set(names)))
    if draw.random() < 0.5:
        names.append(other)
    else:
        names[draw.randrange(len(names))] = other


def change_parameter(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Give a step other parameters."""
    options = draw.choice([s["with"] for s in policy["steps"].values() if s.get("with")])
    name, value = draw.choice(
        (
            ("key_env", "SECOND_KEY"),
            ("key_env", "ADVERSARY_KEY"),
            ("length", "8"),
            ("scope", "shared"),
            ("name", "other"),
            ("fraction", "1.0"),
            ("k", "2"),
            ("apart", "true"),
        )
    )
    if name not in options and name not in ("length", "scope", "apart"):
        raise KeyError(name)
    options[name] = value


def rename_step(draw: Random, policy: Policy, made: Mutant) -> None:
    """Call a step otherwise, everywhere."""
    old = draw.choice(list(policy["steps"]))
    if old not in made.renamed["steps"].values():
        policy["steps"] = {"called" if n == old else n: s for n, s in policy["steps"].items()}
        _retarget(policy, old, "called")
        made.renamed["steps"][old] = "called"


# Releases


def change_from(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Let a release come from another place."""
    draw.choice(list(policy["releases"].values()))["from"] = draw.choice(["source", *policy["steps"]])


def swap_from(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Let two releases exchange what they hold."""
    one, other = draw.sample(list(policy["releases"].values()), 2)
    one["from"], other["from"] = other["from"], one["from"]


def change_audience(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Give a release to others."""
    draw.choice(list(policy["releases"].values()))["audience"] = draw.choice(AUDIENCES)


def swap_audiences(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Give two releases to each other's audience."""
    one, other = draw.sample(list(policy["releases"].values()), 2)
    one["audience"], other["audience"] = other.get("audience", "internal"), one.get("audience", "internal")


def stop_shuffling(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Release rows in the order of the source, or no longer."""
    release = draw.choice(list(policy["releases"].values()))
    release["shuffle"] = "true" if release.get("shuffle") == "false" else "false"


def write_otherwise(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Write a file otherwise."""
    draw.choice(list(policy["releases"].values())).update(
        draw.choice(({"path": "elsewhere.csv"}, {"with": {"formulas": "keep"}}, {"with": {"delimiter": ";"}}))
    )


def add_release(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Release one more file."""
    policy["releases"]["more"] = {
        "from": draw.choice(["source", *policy["steps"]]),
        "path": "more.csv",
        "audience": draw.choice(AUDIENCES),
    }


def remove_release(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Release one file fewer."""
    if len(policy["releases"]) > 1:
        del policy["releases"][draw.choice(list(policy["releases"]))]


def rename_release(draw: Random, policy: Policy, made: Mutant) -> None:
    """Call a release otherwise, where gates name it too."""
    old = draw.choice(list(policy["releases"]))
    if old in made.renamed["releases"].values():
        return
    policy["releases"] = {"anew" if n == old else n: r for n, r in policy["releases"].items()}
    made.renamed["releases"][old] = "anew"
    for name, section in (("gates", policy.get("gates", {})), ("audits", policy.get("audits", {}))):
        for key, clause in section.items():
            section[key] = follow(clause, name, made.renamed)


def change_recipients(_draw: Random, policy: Policy, _made: Mutant) -> None:
    """Say that nobody sees two of the releases, or no longer."""
    policy["recipients"] = "together" if policy.get("recipients") == "apart" else "apart"


# Gates


def remove_gate(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Ask for less."""
    del policy["gates"][draw.choice(list(policy["gates"]))]


def move_bound(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Move a bound of a gate a little."""
    gate = draw.choice(list(policy["gates"].values()))
    side = draw.choice([s for s in ("min", "max") if s in gate])
    gate[side] = str(round(float(gate[side]) + draw.choice((-2, -1, 1, 2)), 3))


def drop_bound(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Let a gate bound one side only, or the other one."""
    gate = draw.choice(list(policy["gates"].values()))
    side = draw.choice([s for s in ("min", "max") if s in gate])
    value = gate.pop(side)
    gate.setdefault("max" if side == "min" else "min", value)


def rename_gate(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Call a gate otherwise: it may lose its waiver."""
    old = draw.choice(list(policy["gates"]))
    policy["gates"] = {"gate" if n == old else n: g for n, g in policy["gates"].items()}


def swap_gates(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Exchange the names of two gates: a waiver is about the other one then."""
    one, other = draw.sample(list(policy["gates"]), 2)
    gates = policy["gates"]
    gates[one], gates[other] = gates[other], gates[one]


def narrow_gate(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Let a gate be about some releases, or all."""
    gate = draw.choice(list(policy["gates"].values()))
    names = list(policy["releases"])
    gate["releases"] = draw.sample(names, draw.randint(1, len(names)))


def widen_interval(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Let estimates be less certain."""
    draw.choice(list(policy["gates"].values()))["max_width"] = draw.choice(("0.1", "0.9", "5"))


def other_figure(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Let a gate bound another figure, also one that nothing measures."""
    draw.choice(list(policy["gates"].values()))["metric"] = draw.choice(FIGURES)


def add_gate(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Ask for more."""
    bound = {"min": str(draw.randint(1, 5))}
    policy.setdefault("gates", {})["added"] = {"metric": "privacy.k_anonymity.k", **bound}


# Params


def set_default(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Give a param another default."""
    param = draw.choice([p for p in policy["params"].values() if "min" in p or "choices" in p])
    param["default"] = draw.choice(param["choices"]) if "choices" in param else draw.choice((param["min"], "3", "8"))


def widen_param(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Let a param take more."""
    param = draw.choice(list(policy["params"].values()))
    end = draw.choice([e for e in ("min", "max", "choices") if e in param])
    if end == "choices":
        param["choices"] = draw.choice(([*param["choices"], "public", "job"], []))
        if not param["choices"]:
            del param["choices"]
    elif draw.random() < 0.5:
        del param[end]
    else:
        param[end] = str(float(param[end]) + (-1 if end == "min" else 2)).removesuffix(".0")


def narrow_param(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Let a param take less."""
    param = draw.choice([p for p in policy["params"].values() if "min" in p])
    param["min" if draw.random() < 0.5 else "max"] = param["default"]


def from_environment(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Let the environment give a param its value."""
    draw.choice(list(policy["params"].values()))["from_env"] = "DIFF_MUTANTS_PARAM"


def introduce_param(draw: Random, policy: Policy, _made: Mutant) -> None:
    """Turn a value into one that the run sets."""
    place, key = draw.choice(list(_scalars({s: policy.get(s, {}) for s in ("steps", "gates", "releases")})))
    value = place[key]
    if str(value).startswith("${"):
        raise ValueError("it is a param")
    name = f"p{len(policy.get('params', {}))}"
    param: dict[str, Any] = {"default": value}
    if isinstance(value, list):
        param["type"] = "list"
    elif _number(value):
        param |= {"type": "float"} | draw.choice(({}, {"min": value}, {"max": value}, {"type": "text"}))
    policy.setdefault("params", {})[name] = param
    place[key] = f"${{params.{name}}}"


def introduce_params(_draw: Random, policy: Policy, _made: Mutant) -> None:
    """Turn the bounds of all gates into values that the run sets."""
    for gate in policy["gates"].values():
        for side in ("min", "max"):
            if side in gate and not gate[side].startswith("${"):
                name = f"p{len(policy.setdefault('params', {}))}"
                policy["params"][name] = {"type": "float", "default": gate[side]}
                gate[side] = f"${{params.{name}}}"


CHANGES: tuple[Change, ...] = (
    *(remove_step, add_step, reorder_steps, change_input, keep_a_column, change_attributes, change_parameter),
    *(add_step, change_attributes, change_parameter, rename_step),
    *(change_from, swap_from, change_audience, swap_audiences, stop_shuffling, write_otherwise),
    *(add_release, remove_release, rename_release, change_recipients),
    *(remove_gate, move_bound, drop_bound, rename_gate, swap_gates, narrow_gate, widen_interval, other_figure),
    *(add_gate, set_default, widen_param, narrow_param, from_environment, introduce_param, introduce_param),
    *(introduce_param, introduce_params),
)


def follow(clause: dict[str, Any], section: str, renamed: dict[str, dict[str, str]]) -> dict[str, Any]:
    """Return a gate or an audit with the new names of releases and steps."""
    found, releases = copy.deepcopy(clause), renamed["releases"]
    if "releases" in found and isinstance(found["releases"], list):
        found["releases"] = [releases.get(n, n) for n in found["releases"]]
    if section == "audits" and "release" in found:
        found["release"] = releases.get(found["release"], found["release"])
    if "metric" in found:
        release, slash, metric = found["metric"].rpartition("/")
        owner, dot, figure = metric.partition(".")
        found["metric"] = f"{releases.get(release, release)}{slash}{renamed['steps'].get(owner, owner)}{dot}{figure}"
    return found


def _input(policy: Policy, name: str) -> str:
    names = ["source", *policy["steps"]]
    given: str = policy["steps"][name].get("input", names[names.index(name) - 1])
    return given


def _retarget(policy: Policy, old: str, new: str) -> None:
    """Let steps and releases that read ``old`` read ``new``."""
    names = list(policy["steps"])
    for name in names:
        if name != new and _input(policy, name) == old:
            policy["steps"][name]["input"] = new
    last = names[-1] if names else "source"
    for release in policy["releases"].values():
        if release.get("from", last) == old:
            release["from"] = new


def _scalars(tree: Any) -> Iterator[tuple[Any, Any]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _scalars(value)
        else:
            yield tree, key


def _number(text: Any) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
