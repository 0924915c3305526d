"""A cut through the hierarchy, and its cheapest change that makes a rare combination frequent.

Source: Terrovitis, Mamoulis, Kalnis, PVLDB 1(1), 2008, sections 3.2 and 4: the lattice of cuts above one combination.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.combinations.owners import NONE, Codes, CodeTree, Ints
from ppdm_flow.sdk.compiled import compiled

Flags = npt.NDArray[np.bool_]

ROLL_UP, LEAVE_OUT, CHEAPER, ROLL_UP_FIRST = 0, 1, 2, 3
"""What a change may be: a coarser node; nothing at all; the one of both that loses less; a coarser node as long as one
below the root will do, and else nothing."""


class Cut(NamedTuple):
    """The cut at each place of the tree's order: its ``node``, NONE where it is left out, which ``occurs`` so often.

    The owners of place t are ``owners[at[t]:at[t + 1]]``; owner o has ``places[begins[o]:begins[o + 1]]``, ascending,
    each so many ``times``. Owners of one number of ``persons`` count once. ``mark`` and ``counted`` are room for work,
    one number for each owner and for each person.
    """

    node: Ints
    occurs: Ints
    at: Ints
    owners: Codes
    begins: Ints
    places: Codes
    times: Codes
    weights: Ints
    persons: Ints
    mark: Ints
    counted: Ints


@compiled
def price_of(cut: Cut, tree: CodeTree, node: int) -> int:
    """Return what is lost more when all below a node becomes that node."""
    lost = 0
    for t in range(tree.low[node], tree.high[node]):
        if cut.node[t] != NONE:
            lost += cut.occurs[t] * (tree.price[node] - tree.price[cut.node[t]])
    return lost


@compiled
def _price_of_leaving(cut: Cut, tree: CodeTree, node: int) -> int:
    lost = 0
    for t in range(tree.low[node], tree.high[node]):
        if cut.node[t] != NONE:
            lost += cut.occurs[t] * (tree.full_price - tree.price[node])
    return lost


@compiled
def _has(cut: Cut, owner: int, low: int, high: int, need: int) -> bool:
    """Whether an owner has so much from one place up to another."""
    i, j = cut.begins[owner], cut.begins[owner + 1]
    end = j
    while i < j:
        middle = (i + j) // 2
        if cut.places[middle] < low:
            i = middle + 1
        else:
            j = middle
    while i < end and cut.places[i] < high:
        if cut.node[cut.places[i]] != NONE:
            need -= cut.times[i]
            if need <= 0:
                return True
        i += 1
    return False


@compiled
def frequent(cut: Cut, tree: CodeTree, targets: Ints, needs: Ints, many: int, least: int) -> bool:
    """Whether at least ``least`` own all of the first ``many`` targets, each as often as ``needs`` says."""
    best, entries = 0, -1
    for i in range(many):
        own = cut.at[tree.high[targets[i]]] - cut.at[tree.low[targets[i]]]
        if entries < 0 or own < entries:
            best, entries = i, int(own)
    cut.mark[0] += 1  # the number of this call; an owner with it was counted
    total = 0
    for t in range(tree.low[targets[best]], tree.high[targets[best]]):
        if cut.node[t] == NONE:
            continue
        for place in range(cut.at[t], cut.at[t + 1]):
            o = cut.owners[place]
            if cut.mark[o + 1] == cut.mark[0]:
                continue
            cut.mark[o + 1] = cut.mark[0]
            person = cut.persons[o]
            if cut.counted[person] == cut.mark[0]:
                continue
            owned = True
            for i in range(many):
                if not _has(cut, o, tree.low[targets[i]], tree.high[targets[i]], needs[i]):
                    owned = False
                    break
            if owned:
                cut.counted[person] = cut.mark[0]
                total += cut.weights[o]
                if total >= least:
                    return True
    return False


@compiled
def _joined(tree: CodeTree, options: Ints, needs: Ints, many: int, repeated: bool, out: Ints, out_needs: Ints) -> int:
    """Put nodes below others into those: return how many are left, in ``out``."""
    left = 0
    for i in range(many):
        outer = options[i]
        for j in range(many):
            u = options[j]
            if tree.low[u] <= tree.low[outer] and tree.high[u] >= tree.high[outer]:
                wider = tree.high[u] - tree.low[u] > tree.high[outer] - tree.low[outer]
                if wider:
                    outer = u
        at = -1
        for j in range(left):
            if out[j] == outer:
                at = j
        if at < 0:
            out[left], out_needs[left] = outer, needs[i]
            left += 1
        elif repeated:
            out_needs[at] += needs[i]
    return left


@compiled
def _above(tree: CodeTree, node: int, top: bool, out: Ints) -> int:
    """Fill ``out`` with a node and those above it, without one that covers everything unless ``top``."""
    out[0] = node
    many = 1
    while True:
        node = tree.up[node]
        if node == NONE or (not top and tree.price[node] >= tree.full_price) or many == len(out):
            return many
        out[many] = node
        many += 1


@compiled
def cheapest(
    cut: Cut, tree: CodeTree, nodes: Ints, needs: Ints, many: int, least: int, way: int, repeated: bool, out: Ints
) -> int:
    """Choose the change for a rare combination, of ``nodes`` with ``needs``.

    Returns how many nodes of ``out`` everything below becomes them; 0 where none will do, and -1 where ``out[0]`` is
    to be left out.
    """
    chosen, price = 0, -1
    if way != LEAVE_OUT:
        chosen, price = _cheapest_above(cut, tree, nodes, needs, many, least, way != ROLL_UP_FIRST, repeated, out)
    if way == ROLL_UP or (way == ROLL_UP_FIRST and chosen > 0):
        return chosen
    gone = -1
    for i in range(many):
        own = _price_of_leaving(cut, tree, nodes[i])
        if price < 0 or own < price:
            gone, price = i, own
    if gone < 0:
        return chosen
    out[0] = nodes[gone]
    return -1


@compiled
def _cheapest_above(
    cut: Cut, tree: CodeTree, nodes: Ints, needs: Ints, many: int, least: int, top: bool, repeated: bool, out: Ints
) -> tuple[int, int]:
    """Go through the lattice of cuts from the cheapest one on, until one makes the combination frequent."""
    chains = np.zeros((many, 64), dtype=np.int64)
    lengths = np.zeros(many, dtype=np.int64)
    prices = np.zeros((many, 64), dtype=np.int64)
    total = 1
    for i in range(many):
        lengths[i] = _above(tree, nodes[i], top, chains[i])
        total *= lengths[i]
        for j in range(1, lengths[i]):
            prices[i, j] = price_of(cut, tree, chains[i, j])
    options, joined, joined_needs = np.zeros(many, np.int64), np.zeros(many, np.int64), np.zeros(many, np.int64)
    every = np.zeros(total, dtype=np.int64)
    for number in range(1, total):
        left = _option(tree, chains, lengths, number, needs, many, repeated, options, joined, joined_needs)
        for i in range(left):
            for c in range(many):
                for j in range(1, lengths[c]):
                    if chains[c, j] == joined[i]:
                        every[number] += prices[c, j]
                        break
                else:
                    continue
                break
    for number in np.argsort(every, kind="mergesort"):
        if number == 0:
            continue
        left = _option(tree, chains, lengths, number, needs, many, repeated, options, joined, joined_needs)
        if frequent(cut, tree, joined, joined_needs, left, least):
            out[:left] = joined[:left]
            return left, int(every[number])
    return 0, -1


@compiled
def _option(
    tree: CodeTree, chains: Ints, lengths: Ints, number: int, needs: Ints, many: int, repeated: bool,
    options: Ints, joined: Ints, joined_needs: Ints,
) -> int:  # fmt: skip
    """Return the nodes of one cut of the lattice, by its number."""
    for i in range(many):
        options[i] = chains[i, number % lengths[i]]
        number //= lengths[i]
    return _joined(tree, options, needs, many, repeated, joined, joined_needs)
