"""What may be randomized: baskets that fit the operator, and operators that fit a form."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.mining.transactions.operators import NONE, UNIFORM, Operator
from ppdm_flow.tables.sets import Baskets
from ppdm_flow.tables.sets.seeded import LEVELS


def checked(baskets: Baskets, operator: Operator) -> npt.NDArray[np.int32]:
    """Return the sizes of baskets that ``operator`` can randomize. Raises DataError PPF777 for any other."""
    if len(baskets.categories) != operator.alphabet:
        raise _unfit(f"the operator is for {operator.alphabet} items, the data have {len(baskets.categories)}")
    if not baskets.valid():
        raise _unfit("a transaction has an item twice, out of order, or outside of the alphabet")
    sizes = baskets.sizes
    strange = ~np.isin(sizes, np.array(operator.sizes))
    if strange.any():
        raise _unfit(f"{int(strange.sum())} transactions have a size that the operator says nothing of")
    return sizes


def refuse_seeds(operator: Operator) -> None:
    """Raise DataError PPF778 for an operator of which the output cannot be given by seeds."""
    if operator.family in (UNIFORM, NONE):
        raise _seedless(f"`{operator.family}` does not put every item in with one probability")
    if operator.alphabet > LEVELS:
        raise _seedless(f"an alphabet of {operator.alphabet} items is larger than {LEVELS}")
    for size in operator.sizes:
        rho = operator.rho(size)
        if not (rho * LEVELS).is_integer() or not 0.0 < rho < 1.0:
            raise _seedless(f"the insertion probability of size {size} is not a multiple of 1/{LEVELS} within (0, 1)")


def _unfit(text: str) -> DataError:
    return DataError(Diagnostic("PPF777", f"these transactions cannot be randomized: {text}"))


def _seedless(text: str) -> DataError:
    hint = "write the randomized transactions themselves, or change the operator"
    return DataError(Diagnostic("PPF778", f"seeds cannot stand for what this operator makes: {text}", help=hint))
