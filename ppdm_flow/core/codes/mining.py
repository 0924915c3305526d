"""Pages of the codes that the search for itemsets and code tables uses."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES = (
    CodePage(
        "PPF772",
        "supports cannot be recovered",
        "The transition matrix of the randomization cannot be inverted for itemsets of this size.",
        "Items that a transaction holds must come through more often than others, and so must pairs and triples of"
        " them."
        " A cutoff below the size of the itemset, or an insertion probability near 1, leaves nothing to tell them by.",
        "Raise the cutoff to the size of the itemsets, or lower the insertion probability; or mine smaller itemsets.",
    ),
    CodePage(
        "PPF773",
        "breach level out of reach",
        "No cutoff and insertion probability keep the breach level below the one that is asked for.",
        "A released itemset can tell no less of an item than its support: where an item is in 30 % of all transactions,"
        " it is in a given one with 30 %, whatever is released.",
        "Raise the level above the lowest one that the message names, or leave out or generalize the most frequent"
        " items.",
    ),
    CodePage(
        "PPF774",
        "transaction size without randomization",
        "The operator says nothing of transactions with this number of items.",
        "Cutoff and insertion probability belong to a size: without them a transaction can be neither randomized nor"
        " taken into account in an estimate.",
        "Give the operator parameters for this size, or discard or truncate longer transactions.",
    ),
    CodePage(
        "PPF775",
        "too many itemsets",
        "At this minimum support there are more itemsets than can be held in memory.",
        "Their number grows exponentially with the number of attributes as the minimum support falls.",
        "Raise the minimum support, take closed itemsets only, bound their length, or let SLIM find its candidates"
        " itself.",
    ),
    CodePage(
        "PPF776",
        "too many values for SLIM",
        "The attributes have more than 8,192 values in all, each of them an item.",
        "SLIM finds its candidates among all pairs of codes: their counts alone would fill the memory.",
        "Leave out or generalize the attribute with most values, or use KRIMP with a minimum support.",
    ),
    CodePage(
        "PPF777",
        "transactions that cannot be randomized",
        "A transaction has an item twice or outside of the alphabet, or a size that the operator says nothing of.",
        "The operator gives a law for each transaction size over one alphabet; for anything else it promises nothing.",
        "Fit the operator to this data's sizes and alphabet, and say what happens to transactions that are too long.",
    ),
    CodePage(
        "PPF778",
        "seeds cannot stand for this operator's output",
        "The release asks for seeds in place of randomized transactions, but the operator's output has no such form.",
        "A seed says for each item whether it was put in, with a probability that is a multiple of 1/65,536, over at"
        " most 65,536 items; seeds are exact for itemsets up to a size that was fixed when they were drawn.",
        "Round the insertion probabilities to multiples of 1/65,536, roll items up to categories, write the randomized"
        " transactions themselves, or ask for itemsets of at most the stated size.",
    ),
    CodePage(
        "PPF779",
        "too many candidate itemsets",
        "At this minimum support there are more candidates of one size than can be counted.",
        "Candidates are kept down to one standard error below the minimum support: where the error is as large as the"
        " support itself, nearly everything is kept.",
        "Raise the minimum support, bound the size of the itemsets, or ask for more precision before the search stops.",
    ),
)
