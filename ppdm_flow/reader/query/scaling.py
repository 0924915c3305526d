"""Chances that rows of two files belong together, scaled so that each row has one."""

# long lines are SQL; all names in these queries are numbered ones of our own

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ppdm_flow.reader.faults import NotVerifiedError

PASSES, EXACT, NEAR, ENOUGH = 10_000, 1e-12, 1e-6, 1e-3


def scaled_chances(p: Any, q: Any, x: Any, n: Any, m: Any, truth: tuple[Any, Any] | None) -> Any:
    """Return chances between parts of ``n`` and ``m`` rows scaled to sums of 1, or None if no pairing is complete.

    ``truth`` are pairs of parts that belong together, of files that lack no rows.
    """
    if n.sum() > m.sum():
        return scaled_chances(q, p, x, m, n, None if truth is None else (truth[1], truth[0]))
    lacking = m.sum() - n.sum()
    length = len(p)
    if lacking:
        p = np.concatenate([p, np.full(len(m), len(n))])
        q = np.concatenate([q, np.arange(len(m))])
        x = np.concatenate([x, np.ones(len(m))])
        n = np.append(n, lacking)
    if truth is None or lacking:
        truth = _pairing(p, q, n, m)
        if truth is None:
            return None
    size = len(n) + len(m)
    ahead = np.concatenate([p, truth[1] + len(n)])
    back = np.concatenate([q + len(n), truth[0]])
    _, loop = connected_components(
        sparse.coo_array((np.ones(len(ahead)), (ahead, back)), (size, size)).tocsr(), connection="strong"
    )
    x = np.where(loop[p] == loop[q + len(n)], x, 0.0)
    matrix = sparse.csr_array((x, (p, q)), (len(n), len(m)))
    turned = matrix.T.tocsr()
    rows, columns, off = np.ones(len(n)), np.ones(len(m)), np.inf
    for _ in range(PASSES):
        rows = 1 / (matrix @ (columns * m))
        columns = 1 / (turned @ (rows * n))
        last, off = off, np.abs(rows * (matrix @ (columns * m)) - 1).max()
        if off <= EXACT or last <= off <= NEAR:
            break
    if off > ENOUGH:
        raise NotVerifiedError("chances that do not come to 1")
    return (x * rows[p] * columns[q])[:length]


def _pairing(p: Any, q: Any, n: Any, m: Any) -> tuple[Any, Any] | None:
    """Return the pairs of parts that one complete pairing has, or None."""
    graph: nx.DiGraph[Any] = nx.DiGraph()
    graph.add_edges_from((("p", int(a)), ("q", int(b))) for a, b in zip(p, q, strict=True))
    for side, sizes in (("p", n), ("q", m)):
        for i, size in enumerate(sizes):
            edge = ("start", (side, i)) if side == "p" else ((side, i), "end")
            graph.add_edge(*edge, capacity=int(size))
    value, flow = nx.maximum_flow(graph, "start", "end")
    if value < n.sum():
        return None
    pairs = [(a, b) for a in range(len(n)) for (_, b), much in flow[("p", a)].items() if much > 0]
    return np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])
