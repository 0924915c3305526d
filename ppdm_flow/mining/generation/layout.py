"""The elements of a code table, laid out for drawing.

Elements that define the same domains fit, or do not fit, together: they are one group. A row asks which groups of a
domain fit, and only then for an element of one of them, by bisection. So a domain of 50,000 values costs no more than
one of two.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.bits import WORD, Words, words_for

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Items = npt.NDArray[np.int32]


class DomainLayout(NamedTuple):
    """Entries ``begin[d]:begin[d + 1]`` are the groups that define domain d.

    ``mask`` (entries, words): the domains that the entry's group defines, as bits; ``weight`` and ``size`` (entries,):
    its summed weights and its number of elements; ``reach`` (entries,): the running sum of weights within the domain;
    ``group`` (entries,): which it is. Elements ``member[first[g]:first[g + 1]]`` are group g, with ``running`` sums of
    weights within it; element e has the items ``items[offsets[e]:offsets[e + 1]]``. ``place`` (items,): their domains.
    """

    begin: Counts
    mask: Words
    weight: Floats
    size: Counts
    reach: Floats
    group: Counts
    first: Counts
    member: Counts
    running: Floats
    offsets: Counts
    items: Items
    place: Items


def lay_out(offsets: Counts, items: Items, place: Items, weights: Floats, domains: int) -> DomainLayout:
    """Group elements, given as flat itemsets with ``weights``, over ``domains``; the order of elements decides."""
    masks = _masks(offsets, place[items], domains)
    distinct, group = np.unique(masks, axis=0, return_inverse=True)
    group = group.ravel()
    member = np.argsort(group, kind="stable")
    size = np.bincount(group, minlength=len(distinct))
    first = np.concatenate([[0], np.cumsum(size)])
    running = _sums_within(weights[member], first)
    defined, of_group = _entries(distinct, domains)
    total = running[first[1:] - 1]
    begin = np.searchsorted(defined, np.arange(domains + 1))
    weight = total[of_group]
    return DomainLayout(
        begin.astype(np.int64),
        np.ascontiguousarray(distinct[of_group]),
        weight,
        size[of_group],
        _sums_within(weight, begin),
        of_group,
        first,
        member,
        running,
        offsets,
        items,
        place,
    )


def _masks(offsets: Counts, domain: Items, domains: int) -> Words:
    masks = np.zeros((len(offsets) - 1, words_for(domains)), dtype=np.uint64)
    element = np.repeat(np.arange(len(masks)), np.diff(offsets))
    np.bitwise_or.at(masks, (element, domain // WORD), np.uint64(1) << (domain % WORD).astype(np.uint64))
    return masks


def _entries(masks: Words, domains: int) -> tuple[Counts, Counts]:
    """Return (domain, group) of every group under every domain that it defines, by domain."""
    bits = np.unpackbits(masks.view(np.uint8), axis=1, count=domains, bitorder="little")
    domain, group = np.nonzero(bits.T)
    return domain, group


def _sums_within(values: Floats, begin: Counts) -> Floats:
    """Return running sums that start anew at each of ``begin``: no sum bears the rounding of another."""
    out = np.empty(len(values))
    for start, end in zip(begin[:-1].tolist(), begin[1:].tolist(), strict=True):  # over domains or groups
        np.cumsum(values[start:end], out=out[start:end])
    return out
