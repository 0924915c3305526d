"""Which values of params ``diff`` tries, and what it says where the policy takes none of them."""

from __future__ import annotations

import json
import random

import pytest

from ppdm_flow import api
from ppdm_flow.api.diff import params as trials
from ppdm_flow.policy import files

HEAD = "version: 1\nname: ward\nsource: {path: ward.csv}\n"
COLUMNS = "attributes:\n" + "".join(f"  {n}: {{role: quasi_identifier}}\n" for n in ("sex", "area", "d1", "d4", "age"))
END = "  stay: {role: insensitive}\nreleases: {r: {path: r.csv}}\n"


def policy(privacy, params="", more=""):
    return f"{HEAD}{f'params: {{{params}}}' if params else ''}\n{COLUMNS}{END}privacy: {privacy}\n{more}"


def by_k(k, attributes):
    return f"{{k_anonymity: {{k: {k}, attributes: {attributes}}}}}"


TWO = policy(by_k(5, "[sex, area]"))
ONE = policy(by_k(5, "[sex, d1]"))
CHOSEN = by_k(5, "'${params.of}'")
NAMED = by_k(5, "[sex, 'd${params.day}']")


@pytest.mark.parametrize(
    ("old", "new", "setting"),
    [
        (TWO, policy(CHOSEN, "of: {type: list, default: [sex, area], choices: [sex, area, age], min: 2}"), "of="),
        (TWO, policy(CHOSEN, "of: {type: list, default: [sex, area], choices: [sex, area], min: 2}"), ""),
        (TWO, policy(CHOSEN, "of: {type: list, default: [sex, area], min: 2}"), "of="),
        (TWO, policy(CHOSEN, "of: {type: list, default: [sex, area], min: 2, max: 2}"), "of="),
        (ONE, policy(NAMED, "day: {type: integer, default: 1, min: 1, max: 9}"), "day=4"),
        (ONE, policy(NAMED, "day: {default: '1'}"), "day=4"),
        (ONE, policy(by_k(5, "[sex, '${params.d}${params.day}']"), "d: {default: d}, day: {default: '1'}"), "=4"),
        (ONE, policy(NAMED, "day: {type: integer, default: 1, min: 1, max: 1}"), ""),
        (ONE, policy(by_k(5, "['${params.first}', d1]"), "first: {default: sex, choices: [sex, age]}"), "=age"),
    ],
)
def test_values_that_the_policy_takes_are_tried(tmp_path, old, new, setting):
    result = compared(tmp_path, old, new)
    (pair,) = result.document["pairs"]
    assert pair["relation"] == "equal"
    worst = [c for c in pair["governance"] if c["verdict"] != "neutral"]
    assert {c["verdict"] for c in worst} == ({"incomparable"} if setting else set())
    assert any("with `--set " in c["why"] and setting in c["why"] for c in worst) is bool(setting)
    assert result.weaker is bool(setting)


def compared(folder, old, new):
    (folder / "old.yaml").write_text(old)
    (folder / "new.yaml").write_text(new)
    return api.diff(str(folder / "old.yaml"), str(folder / "new.yaml"))


FLOOR = "floors: {privacy.k_anonymity.k: '>= 4'}\n"
K = by_k("'${params.k}'", "[sex, area]")


@pytest.mark.parametrize(("least", "weaker"), [(1, True), (4, True), (5, False)])
def test_a_number_as_low_as_a_floor_lets_it_be_is_tried(tmp_path, least, weaker):
    new = policy(K, f"k: {{type: integer, default: 9, min: {least}, max: 99}}", FLOOR)
    result = compared(tmp_path, policy(by_k(5, "[sex, area]"), more=FLOOR), new)
    (change,) = [c for c in result.document["pairs"][0]["governance"] if c["clause"] == "params.k"]
    assert result.weaker is weaker
    assert ("--set k=4" in change["why"]) is weaker


def test_values_that_are_valid_together_only_are_tried(tmp_path):
    gate = "gates: {g: {metric: privacy.k_anonymity.k, min: '${params.low}', max: '${params.high}'}}\n"
    choices = "low: {default: '5', choices: ['5', '3']}, high: {default: '5', choices: ['5', '3']}"
    old = policy(by_k(2, "[sex, area]"), more=gate.replace("'${params.low}'", "5").replace("'${params.high}'", "5"))
    result = compared(tmp_path, old, policy(by_k(2, "[sex, area]"), choices, gate))
    assert result.weaker
    whys = " ".join(c["why"] for c in result.document["pairs"][0]["governance"])
    assert "--set high=3 --set low=3" in whys or "low=3" in whys


@pytest.mark.parametrize(("k", "verdicts"), [(6, ["incomparable"]), (5, [])])
def test_where_no_value_is_taken_nothing_is_proved(tmp_path, k, verdicts):
    """A waiver's code is a text of which nothing that is tried is one; unchanged policies need no trial."""
    waiver = "waivers: {w: {of: '${params.code}', reason: r, owner: o, until: 2999-01-01}}\n"
    old, new = (policy(by_k(each, "[sex, area]"), "code: {default: PPF552}", waiver) for each in (5, k))
    result = compared(tmp_path, old, new + "description: other words\n")
    (pair,) = result.document["pairs"]
    assert [c["verdict"] for c in pair["governance"]] == verdicts
    assert result.weaker is bool(verdicts)


def test_files_are_parsed_once_and_like_files_need_no_trial(tmp_path, monkeypatch):
    parsed = []
    parse = files.parse
    monkeypatch.setattr(files, "parse", lambda text, shown: parsed.append(shown) or parse(text, shown))
    old = policy(K, "k: {type: integer, default: 5, min: 5, max: 9}")
    assert not compared(tmp_path, old, "# a comment\n" + old + "owner: somebody\n").weaker
    first = len(parsed)
    assert not compared(tmp_path, old, old.replace("max: 9", "max: 99")).weaker
    assert len(parsed) - first == first == 4


# Params that stand in entries of their own are tried at once: it is what each alone does.


def random_policy(draw, kinds, *, later):
    """A policy with bounds on three attributes, some of them params, in one or several kinds of requirement."""
    names, params, privacy = ("s0", "s1", "s2"), {}, {"k_anonymity": {"k": 2}}
    for kind, field, bounds in kinds:
        privacy[kind] = {}
        for name in names[: 3 if later else draw.randint(2, 3)]:
            bound = draw.choice(bounds[later:] if draw.random() < 0.9 else bounds)
            param = f"{kind}_{name}" if draw.random() < 0.9 else f"{kind}_s0"
            if draw.random() < 0.7:
                ends = {end: each(bounds) for end, each in (("min", min), ("max", max)) if draw.random() < 0.5}
                typed = {"type": "integer" if field == "l" else "float", **ends}
                params[param] = {"default": bound, **(typed if draw.random() < 0.8 else {})}
            privacy[kind][name] = {field: f"${{params.{param}}}" if param in params else bound}
    gates = {"g": {"metric": f"privacy.{kind}.s0.{field}", "min": 0}} if later and draw.random() < 0.2 else {}
    floors = {f"privacy.{kind}.s1.{field}": f"<= {max(bounds)}"} if draw.random() < 0.3 else {}
    roles = {"q": "quasi_identifier", **dict.fromkeys(names, "sensitive")}
    attributes = {name: {"role": role} for name, role in roles.items()}
    more = {"params": params, "gates": gates, "floors": floors, "releases": {"r": {"path": "r.csv"}}}
    document = {"version": 1, "name": "p", "source": {"path": "d.csv"}, "attributes": attributes, "privacy": privacy}
    return json.dumps({**document, **more})


KINDS = [  # from the weakest to the strictest
    ("l_diversity", "l", (2, 3, 4)),
    ("t_closeness", "t", (0.4, 0.2, 0.1)),
    ("alpha_k", "alpha", (0.9, 0.7, 0.5)),
    ("delta_disclosure", "delta", (4, 2, 1)),
]


@pytest.mark.parametrize("seed", range(24))
def test_params_tried_at_once_do_what_each_does_alone(tmp_path, monkeypatch, seed):
    draw = random.Random(seed)
    kinds = draw.sample(KINDS, draw.randint(1, 2))
    texts = [random_policy(draw, kinds, later=later) for later in (False, True)]
    at_once = compared(tmp_path, *texts).document
    monkeypatch.setattr(trials._WrittenPolicy, "entries", {})
    assert at_once == compared(tmp_path, *texts).document
