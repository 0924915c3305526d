"""Apriori anonymization: sizes of combinations in turn, each rare one made frequent by the change that loses least.

Source: Terrovitis, Mamoulis, Kalnis, PVLDB 1(1), 2008, section 4.3 (AA). What differs: the count tree is walked without
being stored, over the generalized codes alone, and again until nothing rare is left; so the last walk of each size is
the proof. Combinations of fewer codes stay frequent, since all owners of a node's parts own the coarser node.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdm_flow.mining.combinations.cut import Cut, Flags, cheapest
from ppdm_flow.mining.combinations.owners import NONE, Codes, CodeTree, Ints, Owners
from ppdm_flow.mining.combinations.search import (
    FOUND,
    MOST_STEPS,
    TIRED,
    CodeIndex,
    CombinationSearch,
    TooManyCombinationsError,
    following,
    indexed,
    search_of,
)
from ppdm_flow.sdk.compiled import compiled, wide

STUCK = -2
"""No change that is allowed makes a combination frequent."""


class NoCutError(Exception):
    """Not even the coarsest cut makes all combinations frequent."""


@dataclass(frozen=True, slots=True, eq=False)
class Generalization:
    """``node`` of each code, NONE where it is left out; ``changes`` were made to the cut, by size of combinations."""

    node: Ints
    changes: tuple[int, ...]


def generalized(
    owned: Owners, tree: CodeTree, least: int, most: int, way: int, steps: int = MOST_STEPS
) -> Generalization:
    """Return where codes go, so that every combination of at most ``most`` that occurs has ``least`` owners or more.

    ``way`` is one of the constants of :mod:`cut`. Raises NoCutError, and TooManyCombinationsError.
    """
    cut = _cut_of(owned, tree)
    repeated = owned.repeated
    placed = Owners(cut.begins, cut.places, cut.times, cut.weights, owned.width, repeated, owned.persons)
    changes = []
    for size in range(1, most + 1):
        made = more = 0
        while True:
            nodes, code_map = _codes_of(cut)
            index = indexed(placed.mapped(code_map, len(nodes)), size)
            code_of = np.full(len(tree.low), -1, dtype=np.int64)
            code_of[nodes] = np.arange(len(nodes))
            more, state = _swept(index, search_of(index, size), cut, tree, nodes, code_of, least, way, repeated, steps)
            if state == STUCK:
                raise NoCutError
            if state == TIRED:
                raise TooManyCombinationsError
            if not more:
                break
            made += more
        changes.append(made)
    return Generalization(cut.node[tree.place], tuple(changes))


def _cut_of(owned: Owners, tree: CodeTree) -> Cut:
    """Return the cut at the codes themselves, over the places of the tree's order."""
    placed = owned.mapped(tree.place, owned.width)
    order = np.argsort(placed.codes, kind="stable")
    at = np.zeros(owned.width + 1, dtype=np.int64)
    np.cumsum(np.bincount(placed.codes, minlength=owned.width), out=at[1:])
    node = np.full(owned.width, NONE, dtype=np.int64)
    node[tree.place] = tree.leaf
    node[at[1:] == at[:-1]] = NONE  # nobody has it
    persons = owned.counted_as
    return Cut(
        node=node,
        occurs=placed.occurrences(),
        at=at,
        owners=placed.rows()[order].astype(np.int32),
        begins=placed.begins,
        places=placed.codes,
        times=placed.times,
        weights=placed.weights,
        persons=persons,
        mark=np.zeros(len(placed) + 1, dtype=np.int64),
        counted=np.zeros(int(persons.max(initial=-1)) + 1, dtype=np.int64),
    )


def _codes_of(cut: Cut) -> tuple[Ints, Codes]:
    """Return the nodes of the cut, and the number among them of each place, -1 where it is left out."""
    stays = cut.node != NONE
    nodes, number = np.unique(cut.node[stays], return_inverse=True)
    code_map = np.full(len(cut.node), -1, dtype=np.int32)
    code_map[stays] = number
    return nodes, code_map


@compiled
def _swept(
    index: CodeIndex, search: CombinationSearch, cut: Cut, tree: CodeTree, nodes: Ints, code_of: Ints, least: int,
    way: int, repeated: bool, most_steps: int,
) -> tuple[int, int]:  # fmt: skip
    """Change the cut for each rare combination of codes that have not changed since the index was made.

    It ends early where half of the codes have changed: a new index has fewer of them.
    """
    entries, size = len(index.code), len(search.chosen)
    passed = np.zeros(entries, dtype=np.bool_)
    first = np.zeros(len(nodes) + 1, dtype=np.int64)
    for e in range(entries):
        if index.before[e] < 0:
            first[index.code[e]] = e
    changed, gone = 0, 0
    own, needs, out = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
    while True:
        state = following(index, search, passed, least, most_steps)
        if state != FOUND:
            return changed, state
        many = wide(0)
        for d in range(size):
            node = nodes[index.code[search.chosen[d]]]
            if many and own[many - 1] == node:
                needs[many - 1] += 1
            else:
                own[many], needs[many] = node, 1
                many += 1
        made = cheapest(cut, tree, own, needs, many, least, way, repeated, out)
        if made == 0:
            return changed, STUCK
        for i in range(max(1, made)):
            gone += _lifted(index, cut, tree, out[i], made > 0, code_of, first, passed)
        changed += 1
        if 2 * gone > entries:
            return changed, FOUND


@compiled
def _lifted(
    index: CodeIndex, cut: Cut, tree: CodeTree, node: int, stays: bool, code_of: Ints, first: Ints, passed: Flags
) -> int:
    """Let all below a node become it, or go; return how many entries of the index that ends."""
    gone = 0
    for t in range(tree.low[node], tree.high[node]):
        old = cut.node[t]
        if old == NONE or (stays and old == node):
            continue
        cut.node[t] = node if stays else NONE
        code = code_of[old]
        if code < 0:
            continue
        e = first[code]
        while e < len(passed) and index.code[e] == code and not passed[e]:
            passed[e] = True
            gone += 1
            e += 1
    return gone
