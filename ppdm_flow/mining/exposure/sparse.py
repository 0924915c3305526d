"""Sparse matrices of counts and shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack
from scipy.sparse.csgraph import maximum_bipartite_matching, maximum_flow

from ppdm_flow.mining.recoding.grouping import ClassCells

Ints = npt.NDArray[np.int64]


def summed(values: npt.NDArray[Any], row: Ints, column: Ints, shape: tuple[int, int]) -> Any:
    """Return the matrix (CSR, float64) of sums by row and column."""
    matrix: Any = csr_array((values.astype(np.float64), (row, column)), shape=shape)
    matrix.sum_duplicates()
    return matrix


def of_cells(cells: ClassCells, columns: int, first: int) -> Any:
    """Return cells as a matrix (classes, columns); ``first`` is the value in column 0."""
    shape = len(cells.begins) - 1, columns
    return csr_array((cells.count.astype(np.float64), cells.value - first, cells.begins), shape=shape)


def as_cells(matrix: Any) -> ClassCells:
    """Return a matrix (classes, values) as cells, values in order, without zeros."""
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return ClassCells(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data)


def scaled(matrix: Any, by: npt.NDArray[np.float64]) -> Any:
    """Return the matrix with each row multiplied by a number of its own."""
    out = matrix.copy()
    out.data = out.data * np.repeat(by, np.diff(out.indptr))
    return out


def indicators(matrix: Any) -> Any:
    """Return the matrix with 1 where there is something."""
    out = matrix.copy()
    out.data = np.ones_like(out.data)
    return out


def largest_flow(source: Ints, target: Ints, capacity: Ints, nodes: int) -> Ints:
    """Return what of a largest flow from the first node to the last leaves the first one, by where it goes (nodes,)."""
    form: Any = csr_array
    graph = form((capacity.astype(np.int32), (source, target)), shape=(nodes, nodes), dtype=np.int32)
    leaving = maximum_flow(graph, 0, nodes - 1).flow[[0]]
    return np.bincount(leaving.indices, leaving.data, nodes).astype(np.int64)


def stacked(matrices: Sequence[Any]) -> Any:
    """Return the rows of matrices of one width, one after another."""
    return vstack(list(matrices), format="csr")


def largest_matching(left: Ints, right: Ints) -> Ints:
    """Return, for each left node, the right one that a largest matching gives it, -1 for none; edges are pairs."""
    form: Any = csr_array
    shape = int(left.max(initial=-1)) + 1, int(right.max(initial=-1)) + 1
    graph = form((np.ones(len(left), dtype=np.int32), (left, right)), shape=shape, dtype=np.int32)
    return np.asarray(maximum_bipartite_matching(graph, perm_type="column"), dtype=np.int64)
