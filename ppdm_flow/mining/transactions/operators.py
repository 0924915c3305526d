"""Randomization operators: per transaction, and the same for every item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, PluginError
from ppdm_flow.mining.transactions.laws import Floats, binomial_law, identity_law, log_choose, pasted_law

SELECT_A_SIZE, CUT_AND_PASTE, UNIFORM, NONE = "select_a_size", "cut_and_paste", "uniform", "none"

LARGEST = 10_000
"""Items of the largest transaction: its law is held as an array, and a document may say anything."""
LARGEST_CUTOFF = 100_000
"""The largest K: above, hardly a set loses an item."""
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class TransactionOperator:
    """How a transaction t of m items becomes t', given for each m that occurs.

    1. Draw j from ``retained[m]`` and keep j items of t, each set of j as likely: ``retained[m]`` of shape (m + 1,) is
       the law of |t ∩ t'|, which includes items of t that come back in other ways.
    2. Put items from outside t in. For ``uniform`` exactly m - j + ``inserted`` distinct ones, each set as likely (t'
       has m + ``inserted`` items); for all others every item on its own with probability ``insertion[m]`` (rho_m).

    Build it with one of the named constructors. Source: Evfimievski et al. (KDD 2002), definitions 3 to 5.

    Attributes
    ----------
    family : ``select_a_size``, ``cut_and_paste``, ``uniform`` or ``none``
    alphabet : number n of items there are; no m is above it
    retained : m -> law of |t ∩ t'|, read-only
    insertion : m -> rho_m; empty for ``uniform``
    cutoffs : m -> K_m; only for ``cut_and_paste``
    keep : probability to keep an item; only for ``uniform``
    inserted : items that come in besides those that take the place of others; only for ``uniform``
    """

    family: str
    alphabet: int
    retained: Mapping[int, Floats]
    insertion: Mapping[int, float] = field(default_factory=dict)
    cutoffs: Mapping[int, int] = field(default_factory=dict)
    keep: float | None = None
    inserted: int = 0

    def __post_init__(self) -> None:
        _check_sizes(self.retained, self.alphabet)
        laws = {int(m): _law(m, self.retained[m]) for m in sorted(self.retained)}
        object.__setattr__(self, "retained", MappingProxyType(laws))
        object.__setattr__(self, "insertion", MappingProxyType({int(m): float(r) for m, r in self.insertion.items()}))
        object.__setattr__(self, "cutoffs", MappingProxyType({int(m): int(k) for m, k in self.cutoffs.items()}))

    @classmethod
    def select_a_size(
        cls, retained: Mapping[int, npt.ArrayLike], insertion: Mapping[int, float], alphabet: int
    ) -> Self:
        """Build it from m -> law of |t ∩ t'| and m -> rho_m in (0, 1). Raises ValueError for anything else."""
        _check_pairs(retained, insertion)
        _check_insertion(insertion)
        laws = {m: np.asarray(law, dtype=np.float64) for m, law in retained.items()}
        return cls(SELECT_A_SIZE, alphabet, laws, insertion)

    @classmethod
    def cut_and_paste(cls, cutoffs: Mapping[int, int], insertion: Mapping[int, float], alphabet: int) -> Self:
        """Build it from m -> K_m >= 0 and m -> rho_m in (0, 1); the rest of t comes back with rho_m too."""
        _check_pairs(cutoffs, insertion)
        _check_insertion(insertion)
        for m, cutoff in cutoffs.items():
            if not is_whole(cutoff) or not 0 <= cutoff <= LARGEST_CUTOFF:
                raise ValueError(f"the cutoff K of size {m} is not a whole number from 0 to {LARGEST_CUTOFF}")
        _check_sizes(cutoffs, alphabet)
        laws = {m: pasted_law(m, cutoff, insertion[m]) for m, cutoff in cutoffs.items()}
        return cls(CUT_AND_PASTE, alphabet, laws, insertion, cutoffs)

    @classmethod
    def uniform(cls, sizes: Iterable[int], keep: float, alphabet: int, inserted: int = 0) -> Self:
        """Build the operator that keeps each item with probability ``keep``, else puts a new one in its place.

        ``inserted`` more new ones come in for every t. New ones are not in t and distinct, so 2 m + ``inserted`` items
        are needed. ``keep`` in (0, 1).
        """
        if not is_real(keep) or not 0.0 < keep < 1.0:
            raise ValueError("the probability to keep an item is not between 0 and 1")
        if not is_whole(inserted) or not 0 <= inserted <= LARGEST:
            raise ValueError(f"the number of inserted items is not a whole number from 0 to {LARGEST}")
        wanted = tuple(sizes)
        _check_sizes(wanted, alphabet)
        for m in wanted:
            if 2 * m + inserted > alphabet:
                needed = 2 * m + inserted
                raise ValueError(f"transactions of {m} items need an alphabet of {needed} for all new ones")
        laws = {m: binomial_law(m, keep) for m in wanted}
        return cls(UNIFORM, alphabet, laws, keep=float(keep), inserted=int(inserted))

    @classmethod
    def none(cls, sizes: Iterable[int], alphabet: int) -> Self:
        """Build the identity, a yardstick without any privacy: t' = t."""
        wanted = tuple(sizes)
        _check_sizes(wanted, alphabet)
        return cls(NONE, alphabet, {m: identity_law(m) for m in wanted}, dict.fromkeys(wanted, 0.0))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The transaction sizes m it knows, ascending."""
        return tuple(self.retained)

    @property
    def refills(self) -> bool:
        """Whether a fixed number of new items comes in for those that fell out, not each with probability rho_m."""
        return self.family == UNIFORM

    def staying(self, size: int) -> float:
        """Return the probability that a transaction of ``size`` items becomes itself."""
        kept = float(self.law(size)[size])
        if self.refills:
            return kept if self.inserted == 0 else 0.0
        return kept * (1.0 - self.rho(size)) ** (self.alphabet - size)

    def adding_nothing(self, size: int) -> float:
        """Return the probability that no new item comes into a transaction of ``size`` items: all in it are its own."""
        if self.refills or size == self.alphabet:
            return self.staying(size)
        return float((1.0 - self.rho(size)) ** (self.alphabet - size))

    def law(self, size: int) -> Floats:
        """Return the law of |t ∩ t'| for |t| = ``size``. Raises DataError PPF777 for a size it does not know."""
        self._require(size)
        return self.retained[size]

    def rho(self, size: int) -> float:
        """Return rho_m. Raises DataError PPF777 for an unknown size, ValueError for ``uniform``."""
        self._require(size)
        if self.refills:
            raise ValueError("uniform randomization has no insertion probability")
        return self.insertion[size]

    def _require(self, size: int) -> None:
        if size not in self.retained:
            text = f"the operator says nothing of transactions of {size} items"
            raise DataError(Diagnostic("PPF777", text, hint=f"it knows sizes {self.sizes[0]} to {self.sizes[-1]}"))


def is_whole(value: object) -> bool:
    """Whether it is an integer, not a truth value."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_real(value: object) -> bool:
    """Whether it is a number, not a truth value."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _check_sizes(sizes: Iterable[int], alphabet: int) -> None:
    wanted = list(sizes)
    if not is_whole(alphabet) or alphabet < 1:
        raise ValueError("the size of the alphabet is not a whole number from 1")
    if not wanted:
        raise ValueError("an operator needs one transaction size at least")
    if len(set(wanted)) < len(wanted):
        raise ValueError("a transaction size is given twice")
    for m in wanted:
        if not is_whole(m) or m < 0:
            raise ValueError("a transaction size is not a whole number from 0")
        if m > LARGEST:
            raise ValueError(f"transactions of more than {LARGEST} items are not supported")
        if m > alphabet:
            raise ValueError(f"transactions of {m} items do not fit an alphabet of {alphabet}")


def _check_pairs(first: Mapping[int, object], second: Mapping[int, object]) -> None:
    if set(first) != set(second):
        raise ValueError("every transaction size needs both its retained law or cutoff and its insertion probability")


def _check_insertion(insertion: Mapping[int, float]) -> None:
    for m, rho in insertion.items():
        if not is_real(rho) or not 0.0 < rho < 1.0:
            raise ValueError(
                f"the insertion probability of size {m} is not between 0 and 1: with 0 every released item is a true"
                " one, with 1 every item is released"
            )


def _law(size: int, law: Floats) -> Floats:
    if law.shape != (size + 1,):
        raise ValueError(f"the retained law of size {size} needs {size + 1} probabilities, for 0 to {size} items")
    if not np.all(np.isfinite(law)) or not np.all(law >= 0.0) or abs(law.sum() - 1.0) > 1e-9:
        raise ValueError(f"the retained law of size {size} is not a list of probabilities that sum to 1")
    fixed = np.array(law, dtype=np.float64)
    fixed.setflags(write=False)
    return fixed


# An operator as JSON: what `operator.json` holds.


_INSERTING = "uniform_inserting"
"""A family of its own in documents: what does not know of inserted items must not read it as `uniform`."""


def document(operator: TransactionOperator) -> dict[str, Any]:
    """Return what rebuilds the operator, in JSON values only."""
    entries: dict[str, Any] = {"family": operator.family, "alphabet": int(operator.alphabet)}
    if operator.keep is not None:
        entries["keep"] = operator.keep
    if operator.inserted:
        entries |= {"family": _INSERTING, "insert": operator.inserted}
    entries["sizes"] = [_entry(operator, m) for m in operator.sizes]
    return entries


def from_document(read: Any) -> TransactionOperator:
    """Rebuild an operator from its document. Raises ValueError, with no value of it, for anything that is none."""
    entries = read.get("sizes") if isinstance(read, Mapping) else None
    if not isinstance(read, Mapping) or not isinstance(entries, list):
        raise ValueError("this is no document of an operator: an object with a list `sizes` is expected")  # noqa: TRY004 - one error for all that is wrong with a document
    alphabet: Any = read.get("alphabet")
    match read.get("family"):
        case "select_a_size":
            laws = {m: _numbers(law) for m, law in _field(entries, "retained").items()}
            return TransactionOperator.select_a_size(laws, _field(entries, "rho"), alphabet)
        case "cut_and_paste":
            return TransactionOperator.cut_and_paste(_field(entries, "cutoff"), _field(entries, "rho"), alphabet)
        case "uniform" | "uniform_inserting" as family:
            keep: Any = read.get("keep")
            inserted: Any = read.get("insert") if family == _INSERTING else 0
            return TransactionOperator.uniform(_field(entries, "size"), keep, alphabet, inserted)
        case "none":
            return TransactionOperator.none(_field(entries, "size"), alphabet)
    raise ValueError("the document names no known family of operators")


def _entry(operator: TransactionOperator, size: int) -> dict[str, Any]:
    entry: dict[str, Any] = {"size": size}
    if operator.family == SELECT_A_SIZE:
        entry["retained"] = [float(p) for p in operator.retained[size]]
    if operator.family == CUT_AND_PASTE:
        entry["cutoff"] = operator.cutoffs[size]
    if operator.family not in (UNIFORM, NONE):
        entry["rho"] = operator.insertion[size]
    return entry


def _numbers(values: Any) -> list[float]:
    if not isinstance(values, list) or not all(is_real(v) for v in values):
        raise ValueError("a retained law in the document is not a list of numbers")
    return values


def _field(entries: list[Any], name: str) -> dict[int, Any]:
    """Return size -> ``name`` of a document's entries."""
    by_size: dict[int, Any] = {}
    for entry in entries:
        if not isinstance(entry, Mapping) or not is_whole(entry.get("size")) or name not in entry:
            raise ValueError(f"an entry of `sizes` lacks `size` or `{name}`")
        if entry["size"] in by_size:
            raise ValueError("a transaction size is given twice")
        by_size[entry["size"]] = entry[name]
    return by_size


# What an operator does to the part of a transaction that lies within an itemset, exactly.
#
# An operator treats items alike, so what it does to t ∩ A follows from k = |A|, m = |t| and l = |t ∩ A| alone.


WORST_CONDITION = 1e12
"""A transition matrix with a larger condition number is singular: rounding alone would swamp what it gives back."""


def occurring(operator: TransactionOperator, size: int, length: int) -> Bools:
    """Return which overlaps l = 0..k of an itemset of k = ``length`` items can occur, shape (k + 1,)."""
    overlap = np.arange(length + 1)
    fits = overlap <= size
    if operator.refills:
        fits &= length - overlap <= operator.alphabet - size
    return fits


def joint(operator: TransactionOperator, size: int, length: int) -> Floats:
    """Return the chance g[l, q, i] of one exact outcome within an itemset A of k = ``length`` items.

    Given |t ∩ A| = l: just a given set of q of these l items are in t', and just a given set of i of the k - l others.
    Shape (k + 1, k + 1, k + 1); 0 for what cannot be.
    """
    if length < 1:
        raise ValueError("an itemset needs one item at least")
    law, outside = operator.law(size), operator.alphabet - size
    overlap, stayed, came, kept = np.ogrid[0 : length + 1, 0 : length + 1, 0 : length + 1, 0 : size + 1]
    possible = (stayed <= overlap) & (came <= length - overlap) & (overlap <= size)
    chance = log_choose(size - overlap, kept - stayed) - log_choose(size, kept)
    if operator.refills:
        new, others = size - kept + operator.inserted, outside - (length - overlap)
        refill = log_choose(others, new - came) - log_choose(outside, new)
        return np.asarray(np.where(possible, (np.exp(chance + refill) * law).sum(axis=3, keepdims=True), 0.0)[..., 0])
    rho = operator.rho(size)
    inserted = np.power(rho, came) * np.power(1.0 - rho, np.maximum(length - overlap - came, 0))
    return np.asarray(np.where(possible, (np.exp(chance) * law).sum(axis=3, keepdims=True) * inserted, 0.0)[..., 0])


def transition(operator: TransactionOperator, size: int, length: int) -> Floats:
    """Return P[l', l] = Pr[|t' ∩ A| = l' given |t ∩ A| = l], shape (k + 1, k + 1); section 4.1.

    Columns sum to 1; one for an overlap that cannot occur (l > m) is 0.
    """
    chance = joint(operator, size, length)
    matrix = np.zeros((length + 1, length + 1))
    overlap, stayed = np.ogrid[0 : length + 1, 0 : length + 1]
    ways = np.exp(log_choose(overlap, stayed))
    for came in range(length + 1):
        more = ways * np.exp(log_choose(length - overlap, came)) * chance[:, :, came]
        matrix[came:] += more[:, : length + 1 - came].T
    return matrix


def pattern_transition(operator: TransactionOperator, size: int, length: int) -> Floats:
    """Return Q[u', u] = Pr[t' ∩ A = u' given t ∩ A = u] for all 2^k subsets, as bits of their index; (2^k, 2^k)."""
    after, before = np.ogrid[0 : 1 << length, 0 : 1 << length]
    chance = joint(operator, size, length)
    return np.asarray(chance[members(before), members(after & before), members(after & ~before)])


def members(patterns: npt.ArrayLike) -> npt.NDArray[np.intp]:
    """Return the number of items of each pattern (bits of an index)."""
    return np.asarray(np.bitwise_count(np.asarray(patterns)), dtype=np.intp)


def recovery(operator: TransactionOperator, size: int, length: int) -> Floats:
    """Return L, shape (k + 1, k + 1), with L P = 1 on the overlaps that can occur; rows of the others are 0.

    Raises PluginError PPF869 if the overlaps cannot be told apart.
    """
    matrix, fits = transition(operator, size, length), occurring(operator, size, length)
    columns = matrix[:, fits]
    if np.linalg.cond(columns) > WORST_CONDITION:
        raise _singular(operator, size, length)
    inverse = np.zeros_like(matrix)
    inverse[fits] = np.linalg.inv(columns) if fits.all() else np.linalg.pinv(columns)
    return inverse


def weights(operator: TransactionOperator, size: int, length: int) -> Floats:
    """Return w of shape (k + 1,): the sum of w[|t' ∩ A|] estimates how many t hold A without bias.

    0 for itemsets of more than m items, which no t holds. Raises PluginError PPF869 where there is no such w.
    """
    if length > size:
        operator.law(size)
        return np.zeros(length + 1)
    return np.array(recovery(operator, size, length)[length])


def noise(operator: TransactionOperator, size: int, length: int, applied: Floats | None = None) -> Floats:
    """Return D[l], the variance of w[|t' ∩ A|] given |t ∩ A| = l, shape (k + 1,); 0 for what cannot occur.

    ``applied`` is w, by default ``weights``.
    """
    given = weights(operator, size, length) if applied is None else applied
    matrix = transition(operator, size, length)
    mean = given @ matrix
    return np.asarray(np.maximum((given * given) @ matrix - mean * mean, 0.0))


def _singular(operator: TransactionOperator, size: int, length: int) -> PluginError:
    items = f"{length} items" if length > 1 else "single items"
    text = f"supports of {items} cannot be recovered from randomized transactions of {size}"
    cutoff = operator.cutoffs.get(size)
    if cutoff is not None and cutoff < min(length, size):
        why = f"the cutoff is {cutoff}, so no {items} of a transaction are ever kept on purpose"
    else:
        why = "items that a transaction holds come through hardly more often than others"
    return PluginError(Diagnostic("PPF869", text, notes=(why,), hint="raise the cutoff, or lower the insertion"))
