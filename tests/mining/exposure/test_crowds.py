"""Classes, crowds and decoded values by both routes, against plain Python from the definitions, on random tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import Lineage
from ppdm_flow.requirements.alpha_k.requirement import AlphaK
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.l_diversity.requirement import LDiversity
from ppdm_flow.sdk.registry import load

ROWS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from("123"), st.sampled_from("mn⊥")),
    min_size=1,
    max_size=12,
)
"""Of each row: p (grouping), q (grouping, behind the mixed column), s (sensitive), and the cell of the mixed column."""
K, L, ALPHA = (
    KAnonymity.of("k", k=1, attributes=("p", "q")),
    LDiversity.of("l", "s", l=1, attributes=("p", "q")),
    AlphaK.of("a", "s", alpha=1.0, attributes=("p", "q")),
)


def audit(requirement):
    spec = load("audits", requirement.kind)
    return spec.load()(spec.params())


def crowds(rows):
    """Yield (the crowd, how often rows of its q show each cell), for each class and q."""
    for p in {r[0] for r in rows}:
        members = [r for r in rows if r[0] == p]
        for q in {r[1] for r in members}:
            shown = Counter(r[3] for r in members if r[1] == q)
            yield members, [r for r in members if r[3] in shown], shown


def share(rows, value):
    return Fraction(sum(r[2] == value for r in rows), len(rows))


@pytest.mark.slow
@examples(25)
@given(rows=ROWS)
def test_mixed_columns(build, agree, rows):
    before = {"p": [r[0] for r in rows], "q": [r[1] for r in rows], "s": [r[2] for r in rows]}
    after = {"p": before["p"], "mix": [r[3] for r in rows]}
    example = build.case(before, after, "qqs", sources={"mix": "q"}, requirements=(K, L, ALPHA))
    mix = replace(
        example.ctx.attributes["mix"],
        changes=(("ids", Change.OTHER),),
        derived=Lineage(frozenset(("q", "s")), value_map=False),
    )
    example = example.but(attributes=example.ctx.attributes | {"mix": mix})
    every = list(crowds(rows))
    figures = agree(audit(K), example)
    assert figures["k.k"] == min(len(crowd) for _, crowd, _ in every)
    figures = agree(audit(L), example)
    assert figures["l.l"] == min(min(len({r[2] for r in c}), len({r[3] for r in c})) for _, c, _ in every)
    figures = agree(audit(ALPHA), example)
    worst = Fraction(0)
    for members, crowd, shown in every:
        total = sum(shown.values())
        for value in "123":
            mean = sum(
                Fraction(n, total) * share([r for r in members if r[3] == cell], value) for cell, n in shown.items()
            )
            worst = max(worst, share(crowd, value), mean)
        for n in Counter(r[3] for r in crowd).values():
            worst = max(worst, Fraction(n, len(crowd)))
        worst = max(worst, *(Fraction(n, total) for n in shown.values()))
    assert figures["a.alpha"] == pytest.approx(float(worst), abs=1e-12)


@examples(25)
@given(rows=ROWS)
def test_decoded_values(build, agree, rows):
    """The sensitive attribute leaves as labels and suppressed cells: each counts by what is behind it."""
    label = {"1": "low", "2": "low", "3": "high"}
    shown = [label[r[2]] if r[3] != "⊥" else "⊥" for r in rows]
    before = {"p": [r[0] for r in rows], "s": [r[2] for r in rows]}
    example = build.case(
        before,
        {"p": before["p"], "s": shown},
        "qs",
        changes={"s": (("coarse", Change.GENERALIZED),)},
        requirements=(L.changed(attributes=("p",)), ALPHA.changed(attributes=("p",))),
    )
    behind = defaultdict(Counter)
    for cell, row in zip(shown, rows, strict=True):
        behind[cell][row[2]] += 1
    worst, least = Fraction(0), 99
    for p in {r[0] for r in rows}:
        cells = [cell for cell, r in zip(shown, rows, strict=True) if r[0] == p]
        for value in "123":
            weight = sum(Fraction(behind[c][value], sum(behind[c].values())) for c in cells)
            worst = max(worst, weight / len(cells))
        least = min(least, matching([set(behind[c]) for c in cells]))
    assert agree(audit(ALPHA), example)["a.alpha"] == pytest.approx(float(worst), abs=1e-12)
    assert agree(audit(L), example)["l.l"] == least


def matching(rows: list[set[str]]) -> int:
    """Return the largest matching of rows and values, by augmenting paths over a dictionary."""
    taken: dict[str, int] = {}

    def place(row: int, seen: set[str]) -> bool:
        for value in rows[row] - seen:
            seen.add(value)
            if value not in taken or place(taken[value], seen):
                taken[value] = row
                return True
        return False

    return sum(place(row, set()) for row in range(len(rows)))
