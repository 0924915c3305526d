"""Linear programs, solved by HiGHS. Its own package loads in a tenth of the time that ``scipy.optimize`` takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows a of constraints low <= a x <= high, as the entries of a sparse matrix, row by row.

    Attributes
    ----------
    lengths : entries of each row, shape (r,)
    columns, values : column and value of each entry, shape (sum of lengths,)
    low, high : bounds, inf where there is none, shape (r,)
    """

    lengths: Places
    columns: Places
    values: Floats
    low: Floats
    high: Floats

    @classmethod
    def dense(cls, matrix: Floats, low: float, high: float) -> Rows:
        """Return the rows of a matrix of shape (r, x), all within the same bounds."""
        number, unknowns = matrix.shape
        lengths, columns = np.full(number, unknowns, dtype=np.intp), np.tile(np.arange(unknowns), number)
        return cls(lengths, columns, matrix.ravel(), np.full(number, low), np.full(number, high))

    @classmethod
    def joined(cls, *parts: Rows) -> Rows:
        """Return the rows of all parts, one after the other."""
        fields = ("lengths", "columns", "values", "low", "high")
        return cls(*(np.concatenate([getattr(part, field) for part in parts]) for field in fields))


def minimum(
    cost: Floats, rows: Rows, upper: float = np.inf, *, seconds: float = np.inf, tolerance: float = 1e-7
) -> Floats | None:
    """Return the x, 0 <= x <= ``upper``, of least ``cost`` x within the bounds of all rows.

    Returns None where there is none, it has no least cost, or ``seconds`` do not suffice. ``tolerance`` is how far a
    bound, or a reduced cost, may be missed. One thread works, so that the same program has the same solution.

    Parameters
    ----------
    cost : shape (x,)
    """
    import highspy  # noqa: PLC0415  # few runs have a program to solve

    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = len(cost), len(rows.lengths)
    program.col_cost_ = np.asarray(cost, dtype=np.float64)
    program.col_lower_, program.col_upper_ = np.zeros(len(cost)), np.full(len(cost), upper)
    program.row_lower_, program.row_upper_ = rows.low, rows.high
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.concatenate([[0], np.cumsum(rows.lengths)]).astype(np.int32)
    program.a_matrix_.index_ = rows.columns.astype(np.int32)
    program.a_matrix_.value_ = rows.values
    solver = highspy.Highs()  # type: ignore[no-untyped-call]  # the class says no types
    for option, value in {
        "output_flag": False,
        "threads": 1,
        "time_limit": float(seconds),
        "primal_feasibility_tolerance": tolerance,
        "dual_feasibility_tolerance": tolerance,
    }.items():
        solver.setOptionValue(option, value)
    solver.passModel(program)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return np.array(solver.getSolution().col_value, dtype=np.float64)
