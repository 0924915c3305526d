"""The counts of greatest likelihood: by iterating (expectation and maximization), and directly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.matrix_operator import MatrixOperator

_HALVINGS = 80
_LEAST = 1e-20

TOLERANCE = 1e-6
"""How much log-likelihood may be left to gain; 0.5 is what one standard error changes."""

_ROUNDING = 1e-12
"""Less log-likelihood than this, for each record, cannot be told from rounding."""
Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.intp]


def maximum(channel: AnyChannel, released: Floats, unbiased: Floats) -> Floats:
    """Return n >= 0 with sum N that maximizes sum_j y_j log (P n)_j, up to rounding; shape (..., m).

    Where A y has no negative count it is the maximum. Else, with mu = P n and c = q^T n, the conditions of Karush,
    Kuhn and Tucker read mu_i = max(c, y_i / (1 - b + b/p_i)) for one number b in [0, 1], and n_i = (mu_i - c)/p_i.
    For a given b the sum of mu fixes c, and sum n - N falls from positive to negative as b grows: so bisection, with
    a sort a step. A value with p = 0 has a count only if b = 0, and then has what is left. A whole matrix has no such
    form: for it these are the counts that the iteration begins with.

    Parameters
    ----------
    released : y of shape (..., m), not negative
    unbiased : A y of the same shape
    """
    if isinstance(channel, MatrixChannel):
        return channel.start(unbiased)
    size = channel.size
    estimates = np.array(unbiased, dtype=np.float64).reshape(-1, size)
    counts = np.asarray(released, dtype=np.float64).reshape(-1, size)
    outside = np.flatnonzero((estimates < 0).any(axis=1))
    if len(outside) and not channel.retention[channel.rest].any():
        level = np.zeros((len(outside), 1))
        flat = _at(channel, counts[outside], level)
        left = counts[outside].sum(axis=1) - flat.sum(axis=1)
        flat[:, channel.rest] = (left / len(channel.rest))[:, None]
        good = left >= 0
        estimates[outside[good]] = flat[good]
        outside = outside[~good]
    if len(outside):
        estimates[outside] = _bisected(channel, counts[outside])
    return estimates.reshape(np.shape(unbiased))


def _bisected(channel: RetentionChannel, released: Floats) -> Floats:
    total = released.sum(axis=1)
    low = np.full(len(released), np.log(_LEAST))
    high = np.zeros(len(released))
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        above = _at(channel, released, np.exp(middle)[:, None]).sum(axis=1) > total
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    counts = _at(channel, released, np.exp(0.5 * (low + high))[:, None])
    return np.asarray(counts * (total / np.maximum(counts.sum(axis=1), 1e-300))[:, None])


def _at(channel: RetentionChannel, released: Floats, level: Floats) -> Floats:
    """Return n for b = ``level``; values with p = 0 get none."""
    kept = channel.retention > 0
    inverse = np.divide(1.0, channel.retention, out=np.full(channel.size, np.inf), where=kept)
    weight = np.where(kept, 1.0 - level + level * np.where(kept, inverse, 1.0), np.inf)
    expected = released / weight
    common = _common(expected, released.sum(axis=1))[:, None]
    return np.where(kept, np.maximum(expected - common, 0.0) * np.where(kept, inverse, 0.0), 0.0)


def _common(expected: Floats, total: Floats) -> Floats:
    """Return c with sum_i max(c, b_i) = N, for b = ``expected`` with a sum of at most N."""
    size = expected.shape[1]
    ordered = np.sort(expected, axis=1)
    above = total[:, None] - (ordered.sum(axis=1, keepdims=True) - np.cumsum(ordered, axis=1))
    levels = above / np.arange(1, size + 1)  # with the 1, 2, ... smallest b raised to c
    enough = np.concatenate([levels[:, :-1] <= ordered[:, 1:], np.ones((len(expected), 1), dtype=bool)], axis=1)
    return np.take_along_axis(levels, np.argmax(enough, axis=1)[:, None], axis=1)[:, 0]


@dataclass(frozen=True, slots=True, eq=False)
class IterationResult:
    """Iterative Bayesian reconstruction: maximum likelihood by expectation and maximization.

    ``counts`` (..., m); ``gap`` (...) bounds the log-likelihood left to gain, ``rounds`` are the updates done.
    """

    counts: Floats
    gap: Floats
    rounds: npt.NDArray[np.int64]
    converged: npt.NDArray[np.bool_]


def iterate(
    channel: AnyChannel,
    released: Floats,
    start: Floats | None = None,
    rounds: int = 20_000,
    tolerance: float = TOLERANCE,
    *,
    accelerated: bool = True,
) -> IterationResult:
    """Return the counts of greatest likelihood sum_j y_j log (P f)_j, N f for shares f, in O(m) a round.

    f_i becomes f_i g_i / N with g_i = sum_j y_j P[j, i] / (P f)_j (Agrawal and Aggarwal, PODS 2001, section 4). The
    likelihood is concave and g its gradient, so max_i g_i - N bounds what is left to gain: the iteration stops where
    that is at most ``tolerance``. Two updates in a row are extrapolated where this raises the likelihood
    (SQUAREM; Varadhan and Roland, 2008); ``accelerated=False`` gives the plain iteration.

    Parameters
    ----------
    released : y of shape (..., m), not negative
    start : positive counts of shape (..., m); equal ones if None. Values that cannot be told apart keep its ratios.
    rounds : most updates
    """
    size = channel.size
    flat = np.asarray(released, dtype=np.float64).reshape(-1, size)
    total = flat.sum(axis=1, keepdims=True)
    shares = np.full_like(flat, 1.0 / size) if start is None else _shares(start.reshape(-1, size))
    targets = flat / np.maximum(total, 1.0)
    state = _State(channel, targets, np.maximum(tolerance / np.maximum(total[:, 0], 1.0), _ROUNDING), shares)
    state.run(rounds, accelerated=accelerated)
    outer = released.shape[:-1]
    return IterationResult(
        (state.shares * total).reshape(released.shape),
        (state.gap * total[:, 0]).reshape(outer),
        state.rounds.reshape(outer),
        (state.gap <= state.tolerance).reshape(outer),
    )


def _shares(counts: Floats) -> Floats:
    return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300))


class _State:
    """All groups, of which those that have settled rest."""

    def __init__(self, channel: AnyChannel, targets: Floats, tolerance: Floats, shares: Floats) -> None:
        self.channel = channel
        self.targets = targets
        self.tolerance = tolerance
        self.shares = shares
        self.gap = np.full(len(targets), np.inf)
        self.rounds = np.zeros(len(targets), dtype=np.int64)

    def run(self, most: int, *, accelerated: bool) -> None:
        """Update until every group has settled or has had its rounds."""
        active = np.arange(len(self.targets))
        while len(active):
            targets = self.targets[active]
            before = self.shares[active]
            pull = self._pull(before, targets)
            self.gap[active] = np.maximum(pull.max(axis=1) - targets.sum(axis=1), 0.0)
            going = (self.gap[active] > self.tolerance[active]) & (self.rounds[active] < most)
            active, targets = active[going], targets[going]
            if not len(active):
                break
            after = _normal(before[going] * pull[going])
            if accelerated:
                self.shares[active] = self._leap(before[going], after, targets)
                self.rounds[active] += 3
            else:
                self.shares[active] = after
                self.rounds[active] += 1

    def _pull(self, shares: Floats, targets: Floats) -> Floats:
        """Return g / N."""
        return self.channel.backward(_quotient(targets, self.channel.forward(shares)))

    def _step(self, shares: Floats, targets: Floats) -> Floats:
        return _normal(shares * self._pull(shares, targets))

    def _leap(self, before: Floats, after: Floats, targets: Floats) -> Floats:
        """Go on along the line and bend of two updates; where that loses likelihood, keep the second one."""
        second = self._step(after, targets)
        line = after - before
        bend = second - after - line
        length = np.sqrt((line * line).sum(axis=1) / np.maximum((bend * bend).sum(axis=1), 1e-300))
        length = np.maximum(length, 1.0)[:, None]
        far = before + 2.0 * length * line + length * length * bend
        far = _normal(np.maximum(far, 1e-3 * second))
        worse = self._likelihood(far, targets) < self._likelihood(second, targets)
        far[worse] = second[worse]
        return self._step(far, targets)

    def _likelihood(self, shares: Floats, targets: Floats) -> Floats:
        expected = self.channel.forward(shares)
        logs = np.log(expected, out=np.zeros_like(expected), where=expected > 0)
        return np.asarray((targets * logs).sum(axis=1))


def _quotient(released: Floats, expected: Floats) -> Floats:
    return np.divide(released, expected, out=np.zeros_like(released), where=expected > 0)


def _normal(shares: Floats) -> Floats:
    total = shares.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(shares, total, out=np.zeros_like(shares), where=total > 0))


@dataclass(frozen=True, slots=True, eq=False)
class RetentionChannel:
    """P = diag(p) + 1 q^T with q = (1 - p)/m, and its pseudo-inverse A, both applied in O(m).

    Row j of P n = y says p_j n_j + c = y_j, where c = q^T n is the same for every j, and columns of P sum to 1. So
    c = u^T y, n_j = (y_j - c)/p_j for every value but the least retained one, and that has what is left of the total
    (Sherman and Morrison's inverse, written such that one p = 0 does no harm: det P is then
    (1/m) times the product of the other p). Where several values have p = 0, P is singular: only their sum follows
    from y, and they share it equally, which is the solution of least norm.

    ``rest`` are the positions that get what is left: the values with p = 0, else one value with the smallest p.
    ``blend`` is u of shape (m,); ``gain`` is 1/p_j, and 0 for ``rest``.
    """

    retention: Floats
    leave: Floats
    gain: Floats
    blend: Floats
    rest: Positions

    @classmethod
    def of(cls, retention: npt.ArrayLike) -> RetentionChannel:
        """Build it from p of shape (m,), m >= 1, each in [0, 1]. Raises ValueError for anything else."""
        kept = np.array(retention, dtype=np.float64)
        if kept.ndim != 1 or not len(kept) or not np.all((kept >= 0) & (kept <= 1)):
            raise ValueError("retention probabilities are one or more numbers between 0 and 1")
        lost = kept <= NEGLIGIBLE
        kept[lost] = 0.0
        rest = np.flatnonzero(lost) if lost.any() else np.array([int(np.argmin(kept))])
        solved = np.ones(len(kept), dtype=bool)
        solved[rest] = False
        gain = np.divide(1.0, kept, out=np.zeros(len(kept)), where=solved)
        least = float(kept[rest[0]])
        ratio = least * gain
        ratio[rest] = 1.0
        return cls(kept, (1.0 - kept) / len(kept), gain, (ratio - least) / ratio.sum(), rest)

    @property
    def size(self) -> int:
        """The number m of values."""
        return len(self.retention)

    @property
    def alike(self) -> Positions:
        """The positions of values that no release can tell apart; empty unless two or more have p = 0."""
        return self.rest if len(self.rest) > 1 else self.rest[:0]

    def forward(self, counts: Floats) -> Floats:
        """Return P n, the expected released counts; shape (..., m) as ``counts``."""
        expected: Floats = self.retention * counts + (counts @ self.leave)[..., None]
        return expected

    def backward(self, weights: Floats) -> Floats:
        """Return P^T a for shape (..., m)."""
        pulled: Floats = self.retention * weights + self.leave * weights.sum(axis=-1, keepdims=True)
        return pulled

    def solve(self, released: Floats) -> Floats:
        """Return A y = n, unbiased where the values can be told apart; shape (..., m). May be negative."""
        counts: Floats = (released - (released @ self.blend)[..., None]) * self.gain
        left = released.sum(axis=-1) - counts.sum(axis=-1)
        counts[..., self.rest] = (left / len(self.rest))[..., None]
        return counts


# The linear algebra of an operator that is a whole matrix.


@dataclass(frozen=True, slots=True, eq=False)
class MatrixChannel:
    """P = R^T and its inverse A, for ``transition`` R of shape (m, m) with rows that sum to 1.

    It has the members of :class:`~ppdm_flow.mining.reconstruction.likelihood.RetentionChannel` that estimates use.
    ``inverse`` is R^-1 = A^T. All values can be told apart, so ``alike`` is empty; ``rest`` is one value, whose sum is
    itself.
    """

    transition: Floats
    inverse: Floats

    @classmethod
    def of(cls, transition: npt.ArrayLike) -> MatrixChannel:
        """Build it. Raises SingularMatrixError where R has no inverse to rely on, ValueError for no such R."""
        matrix = np.asarray(transition, dtype=np.float64)
        if matrix.ndim != 2 or not len(matrix) or matrix.shape[0] != matrix.shape[1]:
            raise ValueError("a transition matrix is square, over one or more values")
        if not np.all((matrix >= 0) & (matrix <= 1)) or np.abs(matrix.sum(axis=1) - 1.0).max() > 1e-6:
            raise ValueError("the rows of a transition matrix are probabilities that sum to 1")
        if condition(matrix) > WORST:
            raise SingularMatrixError("the matrix cannot be inverted")
        return cls(matrix, np.asarray(np.linalg.inv(matrix), dtype=np.float64))

    @property
    def size(self) -> int:
        """The number m of values."""
        return len(self.transition)

    @property
    def rest(self) -> Positions:
        """A single position."""
        return np.zeros(1, dtype=np.intp)

    @property
    def alike(self) -> Positions:
        """No position."""
        return np.zeros(0, dtype=np.intp)

    def forward(self, counts: Floats) -> Floats:
        """Return P n, the expected released counts; shape (..., m) as ``counts``."""
        expected: Floats = counts @ self.transition
        return expected

    def backward(self, weights: Floats) -> Floats:
        """Return P^T a for shape (..., m)."""
        pulled: Floats = weights @ self.transition.T
        return pulled

    def solve(self, released: Floats) -> Floats:
        """Return A y = n, unbiased; shape (..., m). May be negative."""
        counts: Floats = released @ self.inverse
        return counts

    def variances(self, counts: Floats) -> Floats:
        """Return the diagonal of A diag(P n) A^T - diag(n), shape (..., m)."""
        spread: Floats = np.maximum(self.forward(counts) @ self.inverse**2 - counts, 0.0)
        return spread

    def along(self, counts: Floats) -> Floats:
        """Return sum_k A_jk^2 (P Cov(., j))_k, shape (..., m).

        As P A = 1, P Cov(., j) = mu A_j - n_j P_j for mu = P n, so it is sum_k A_jk^3 mu_k - n_j sum_k A_jk^2 P_kj.
        """
        own = np.einsum("kj,jk->j", self.inverse**2, self.transition)
        moved: Floats = self.forward(counts) @ self.inverse**3 - counts * own
        return moved

    def start(self, unbiased: Floats) -> Floats:
        """Return where the iteration for the greatest likelihood begins: A y, its negative counts cut off.

        Where none is negative it ends there as well. Else every value gets a little, or it could never get more.
        """
        outside = (unbiased < 0).any(axis=-1, keepdims=True)
        cut = np.maximum(unbiased, 0.0)
        little = 1e-3 * cut.sum(axis=-1, keepdims=True) / self.size
        begun: Floats = np.where(outside, cut + little, unbiased)
        return begun


AnyChannel = RetentionChannel | MatrixChannel


def channel_of(operator: ValueOperator) -> AnyChannel:
    """Return the linear algebra of the operator. Raises SingularMatrixError for a matrix without an inverse."""
    if isinstance(operator, MatrixOperator):
        return MatrixChannel.of(operator.transition)
    return RetentionChannel.of(operator.retention)


NEGLIGIBLE = 1e-12
"""A retention probability below this is zero: no table that could be stored would show it."""

WORST = 1e8
"""The condition number from which a matrix counts as singular: beyond it rounding alone moves the estimates."""


class SingularMatrixError(ValueError):
    """The matrix has no inverse to rely on: some distributions of the original give one and the same release."""


def condition(transition: npt.ArrayLike) -> float:
    """Return the ratio of the largest to the smallest singular value, inf for a singular matrix."""
    values = np.linalg.svd(np.asarray(transition, dtype=np.float64), compute_uv=False)
    return float(values[0] / values[-1]) if values[-1] > 0 else float("inf")
