"""The fields of ``ppdm-flow mine --format json``."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import NonNegativeInt
from typing_extensions import TypedDict

from ppdm_flow.core.documents import Version, about, one_of

Items = Annotated[list[str], about("Items by the names of the release's alphabet.")]


class OperatorSize(TypedDict):
    """The operator's parameters for transactions of one size."""

    size: Annotated[NonNegativeInt, about("Items of the original transaction.")]
    insertion: Annotated[float | None, about("Probability to put in any other item.")]
    cutoff: Annotated[int | None, about("Items kept at most by the cut.")]


class MinedOperator(TypedDict):
    """What randomized the sets."""

    family: Annotated[str, about("select_a_size, cut_and_paste or uniform.")]
    alphabet: Annotated[NonNegativeInt, about("Number of items that it chooses from.")]
    sizes: Annotated[list[OperatorSize], about("Its parameters by the size of the original transaction.")]


class MinSupport(TypedDict):
    """The least support of the itemsets."""

    asked: dict[str, Any]
    share: Annotated[float, about("As a share of all transactions.")]


class SearchEnd(TypedDict):
    """Where the search ended."""

    after: Annotated[NonNegativeInt, about("Items of the largest itemsets that were looked at.")]
    why: Annotated[
        str,
        one_of(("no candidates", "length", "precision", "seeds", "lost")),
        about(
            "Nothing left to try, the length asked for, errors too large, seeds that say no more, or an operator that"
            " keeps too few items."
        ),
    ]
    next_sigma: Annotated[
        float | None, about("The error of the next size at the minimum support, where precision ended it.")
    ]


class MinedSize(TypedDict):
    """What was looked at of one number of items."""

    size: Annotated[NonNegativeInt, about("Number of items k.")]
    candidates: Annotated[int | None, about("Itemsets that were counted.")]
    found: Annotated[NonNegativeInt, about("Itemsets with at least the minimum support.")]
    sigma: Annotated[
        float | None,
        about("Standard error of an itemset of minimum support whose items are otherwise not in the data."),
    ]
    lowest_discoverable_support: Annotated[float | None, about("The support that is 4 standard errors above 0.")]
    expected_false_positives: Annotated[
        float | None, about("Found ones that are expected to have less than the minimum support.")
    ]
    expected_false_drops: Annotated[float | None, about("Candidates that are expected to have it, and were not found.")]


class MinedItemset(TypedDict):
    """An itemset with its support."""

    items: Items
    support: Annotated[float, about("Unbiased estimate, or exact support, as a share of all transactions.")]
    transactions: Annotated[float, about("The same as a number of transactions.")]
    sigma: Annotated[float | None, about("Standard error; null for exact supports.")]
    low: Annotated[float | None, about("Lower end of the interval.")]
    high: Annotated[float | None, about("Upper end of the interval.")]
    discoverable: Annotated[bool, about("Whether the estimate is 4 standard errors above 0.")]
    partial_supports: Annotated[
        list[float] | None,
        about("Shares of the transactions that hold just 0, 1, .. of the items; null where there are too many items."),
    ]


class MinedRatio(TypedDict):
    """A ratio of supports."""

    value: Annotated[float | None, about("The ratio; null where a support below it is not told from 0.")]
    sigma: Annotated[float | None, about("Standard error by the delta method.")]
    low: Annotated[float | None, about("Lower end of the interval.")]
    high: Annotated[float | None, about("Upper end; null where there is none.")]


class MinedRule(TypedDict):
    """An association rule."""

    antecedent: Items
    consequent: Items
    support: Annotated[float, about("Of both together.")]
    sigma: Annotated[float | None, about("Its standard error.")]
    confidence: MinedRatio
    lift: MinedRatio


class MinedDocument(TypedDict):
    """Itemsets and rules that were mined in a release.

    Supports of itemsets in the transactions before they were randomized, with their errors.
    """

    version: Version
    file: Annotated[str, about("Name of the released file.")]
    attribute: Annotated[str, about("The column with the sets.")]
    transactions: Annotated[NonNegativeInt, about("How many there are.")]
    items: Annotated[NonNegativeInt, about("Size of the alphabet.")]
    operator: Annotated[
        MinedOperator | None, about("What randomized the sets; null where nothing did, and supports are exact.")
    ]
    min_support: MinSupport
    precision: Annotated[
        float | None, about("The search stops where an itemset of minimum support has an estimate of fewer errors.")
    ]
    level: Annotated[float | None, about("Of the intervals.")]
    basis: Annotated[str, about("What is fixed and what is random.")]
    stopped: SearchEnd
    sizes: Annotated[list[MinedSize], about("What was looked at, by the number of items from 1.")]
    itemsets: Annotated[list[MinedItemset], about("By size, highest support first.")]
    rules: Annotated[
        list[MinedRule] | None, about("Association rules, most confident first; null where they were not asked for.")
    ]
