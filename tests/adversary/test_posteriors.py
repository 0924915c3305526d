"""Exact posteriors: a part computed again, and the page on assumptions held to the figures of the campaign."""

from __future__ import annotations

import json
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ppdm_flow.api.explain.explain import CONCEPTS

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from adversary.kinds import KINDS, SHARE, largest
from adversary.likelihoods import matrix, perturbed, posterior_bound, sampled, swapped
from adversary.worlds import exact, outcomes, policy, worlds

FIGURES: dict[str, dict[str, Any]] = {
    row["id"]: row for row in json.loads(Path(__file__).with_name("posteriors.json").read_text(encoding="utf-8"))
}


class Posterior(NamedTuple):
    """Of one kind of step: the largest exact ``posterior``, how far one ``exceeds`` what is measured, and ``why``."""

    kind: str
    posterior: str
    exceeds: str
    why: str


ROWS = re.findall(r"^\| (.+?) \| ([\d.]+) \| ([\d.]+) \| (.*?) ?\|$", CONCEPTS["assumptions"].text(), re.MULTILINE)
POSTERIORS = tuple(Posterior(*row) for row in ROWS)
"""As the page tells them."""


def test_page_has_the_figures_of_the_campaign() -> None:
    assert list(FIGURES) == list(KINDS) == [p.kind for p in POSTERIORS]
    for told in POSTERIORS:
        figures = FIGURES[told.kind]
        assert (told.posterior, told.exceeds) == (f"{figures['worst']:.4f}", f"{figures['excess']:.4f}")
        assert bool(told.why) == (figures["excess"] > 0)


def test_minimality_is_the_reason_where_labels_at_their_word_tell_no_more_than_is_measured() -> None:
    beyond = [p for p in POSTERIORS if p.why.startswith("minimality")]
    assert {p.kind.partition(",")[0] for p in beyond} == {"full_domain_recoding", "mondrian", "progressive_disclosure"}
    assert all(FIGURES[p.kind]["credulous"] <= 0 < FIGURES[p.kind]["excess"] for p in beyond)


@pytest.mark.parametrize("kind", ["full_domain_recoding, for shares"])
def test_largest_tables_come_to_the_same_again(kind: str) -> None:
    found, told = largest(kind, 5), FIGURES[kind]
    again = [round(f, 4) for f in (found.worst, found.excess, found.credulous, found.exceeding)]
    assert [found.releases, *again] == [told[f] for f in ("releases", "worst", "excess", "credulous", "exceeding")]


@pytest.mark.parametrize("kind", ["suppress, rare secrets", "sample", "swap, of the secret", "mondrian, for k"])
def test_small_tables_keep_what_is_measured(kind: str) -> None:
    found = largest(kind, 3)
    assert found.releases
    assert found.excess <= 1e-9


def test_what_a_release_shows_is_known_and_no_more() -> None:
    """Of two rows with one a, the secrets are known up to their order: one half, if they differ."""
    half = {"alpha_k": {"s": {"alpha": "0.5"}}}
    found = exact(policy(half, [("rename", {"attributes": {"a": "b"}})]), 2)
    assert (found.releases, found.worst, found.excess) == (9, 0.5, 0.0)  # three a, three pairs of different secrets


def test_worlds_are_all_tables_up_to_order() -> None:
    found = dict(worlds(2))
    assert len(found) == 45
    assert sum(found.values()) == 81


def test_likelihoods_add_up_and_operators_keep_their_bound() -> None:
    world = (("1", "10"), ("1", "20"), ("2", "60"))
    operator = matrix(["10", "20", "60"], [0.5, 0.5, 0.5])
    for each in (sampled(world, 2), swapped(world), perturbed(world, operator)):
        assert sum(chance for chance, _ in each) == 1
    assert posterior_bound(operator, Fraction(1, 3)) == Fraction(2, 3)  # 2/3 kept, 1/6 drawn from each other one
    assert all(pair[1] != cells[1] for _, rows in swapped(world) for pair, cells in rows)  # a cycle keeps nobody's own


def test_a_table_whose_share_is_too_large_is_not_released() -> None:
    (found,) = outcomes(policy(SHARE, [("rename", {"attributes": {"a": "b"}})]), (("1", "10"), ("1", "10")))
    assert not found.released
    assert found.measured == 1
