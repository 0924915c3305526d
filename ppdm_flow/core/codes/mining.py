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
        bad=(
            "steps:\n"
            "  randomize: {use: randomize_transactions, with: {cutoff: 1, insertion: 0.1}}\n"
            "audits:    # of three items that were there, one comes through at most\n"
            "  triples: {use: itemset_recovery, with: {max_length: 3}}"
        ),
        good=(
            "steps:\n"
            "  randomize: {use: randomize_transactions, with: {cutoff: 3, insertion: 0.1}}\n"
            "audits:\n"
            "  triples: {use: itemset_recovery, with: {max_length: 3}}"
        ),
    ),
    CodePage(
        "PPF773",
        "breach level out of reach",
        "No cutoff and insertion probability keep the breach level below the one that is asked for.",
        "A released itemset can tell no less of an item than its support: where an item is in 30 % of all transactions,"
        " it is in a given one with 30 %, whatever is released.",
        "Raise the level above the lowest one that the message names, or leave out or generalize the most frequent"
        " items.",
        bad="privacy: {itemset_breach: {level: 0.2}}    # and 30 % of all sets have bread",
        good="privacy: {itemset_breach: {level: 0.5}}",
    ),
    CodePage(
        "PPF774",
        "transaction size without randomization",
        "The operator says nothing of transactions with this number of items.",
        "Cutoff and insertion probability belong to a size: without them a transaction can be neither randomized nor"
        " taken into account in an estimate.",
        "Give the operator parameters for this size, or discard or truncate longer transactions.",
        bad=(
            "steps:    # sets of four items occur, and nothing is said of them\n"
            "  randomize: {use: randomize_transactions, with: {cutoff: {1: 1, 2: 2, 3: 3}, insertion:"
            " {1: 0.1, 2: 0.1, 3: 0.1}}}"
        ),
        good=(
            "steps:\n"
            "  short: {use: limit_items, with: {max: 3}}\n"
            "  randomize: {use: randomize_transactions, with: {cutoff: {1: 1, 2: 2, 3: 3}, insertion:"
            " {1: 0.1, 2: 0.1, 3: 0.1}}}"
        ),
    ),
    CodePage(
        "PPF775",
        "too many itemsets",
        "At this minimum support there are more itemsets than can be held in memory.",
        "Their number grows exponentially with the number of attributes as the minimum support falls.",
        "Raise the minimum support, take closed itemsets only, bound their length, or let SLIM find its candidates"
        " itself.",
        bad="steps:\n  generate: {use: krimp_generator, with: {min_support: {count: 1}, candidates: all}}",
        good="steps:\n  generate: {use: krimp_generator, with: {min_support: {count: 20}, candidates: closed}}",
    ),
    CodePage(
        "PPF776",
        "too many values for SLIM",
        "The attributes have more than 8,192 values in all, each of them an item.",
        "SLIM finds its candidates among all pairs of codes: their counts alone would fill the memory.",
        "Leave out or generalize the attribute with most values, or use KRIMP with a minimum support.",
        bad=(
            "steps:    # and `zip` has 30,000 values\n"
            "  generate: {use: krimp_generator, with: {attributes: [zip, age, disease], algorithm: slim}}"
        ),
        good="steps:\n  generate: {use: krimp_generator, with: {attributes: [age, disease], algorithm: slim}}",
    ),
    CodePage(
        "PPF777",
        "transactions that cannot be randomized",
        "A transaction has an item twice or outside of the alphabet, or a size that the operator says nothing of.",
        "The operator gives a law for each transaction size over one alphabet; for anything else it promises nothing.",
        "Fit the operator to this data's sizes and alphabet, and say what happens to transactions that are too long.",
        bad=(
            "attributes: {basket: {role: items, domain: [bread, butter]}}    # a set has milk in it\n"
            "privacy: {itemset_breach: {level: 0.5}}\n"
            "steps: {randomize: {use: randomize_transactions}}"
        ),
        good=(
            "attributes: {basket: {role: items, domain: [bread, butter, milk]}}\n"
            "privacy: {itemset_breach: {level: 0.5}}\n"
            "steps: {randomize: {use: randomize_transactions}}"
        ),
    ),
    CodePage(
        "PPF778",
        "seeds cannot stand for this operator's output",
        "The release asks for seeds in place of randomized transactions, but the operator's output has no such form.",
        "A seed says for each item whether it was put in, with a probability that is a multiple of 1/65,536, over at"
        " most 65,536 items; seeds are exact for itemsets up to a size that was fixed when they were drawn.",
        "Round the insertion probabilities to multiples of 1/65,536, roll items up to categories, write the randomized"
        " transactions themselves, or ask for itemsets of at most the stated size.",
        bad=(
            "steps:    # 0.1 is no multiple of 1/65536\n"
            "  randomize: {use: randomize_transactions, with: {cutoff: 3, insertion: 0.1, form: seeded}}"
        ),
        good="steps:\n  randomize: {use: randomize_transactions, with: {cutoff: 3, insertion: 0.125, form: seeded}}",
    ),
    CodePage(
        "PPF779",
        "too many candidate itemsets",
        "At this minimum support there are more candidates of one size than can be counted.",
        "Candidates are kept down to one standard error below the minimum support: where the error is as large as the"
        " support itself, nearly everything is kept.",
        "Raise the minimum support, bound the size of the itemsets, or ask for more precision before the search stops.",
        bad="$ ppdm-flow mine RELEASE --min-support 0.00001",
        good="$ ppdm-flow mine RELEASE --min-support 0.005 --max-length 3",
    ),
)
