"""PPF800 to PPF805 and PPF870 to PPF875: randomized transactions, and what may be inferred from them."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

_STEP = (
    CodePage(
        "PPF800",
        "sets that cannot be randomized",
        "`randomize_transactions` is given sets of more items than its `longest`, no items at all, or items that it did"
        " not see when it looked at the data.",
        "The operator has parameters for each length. There are few long sets, and what they hold is hidden only among"
        " very many other items.",
        "Put `limit_items` before it, or raise `longest`.",
        bad=(
            "attributes: {basket: {role: items}}\n"
            "privacy: {itemset_breach: {level: 0.5}}\n"
            "steps:\n"
            "  randomize: {use: randomize_transactions, with: {longest: 10}}    # and a set has 40 items"
        ),
        good=(
            "attributes: {basket: {role: items}}\n"
            "privacy: {itemset_breach: {level: 0.5}}\n"
            "steps:\n"
            "  short: {use: limit_items, with: {max: 10}}\n"
            "  randomize: {use: randomize_transactions}"
        ),
    ),
    CodePage(
        "PPF801",
        "nothing says how to randomize",
        "A `randomize_transactions` step has neither a requirement on its sets nor parameters of its own.",
        "How many items must be hidden among how many others follows from what may be inferred at most.",
        "Add `privacy.itemset_breach`, or give `cutoff` and `insertion`.",
        bad="steps:\n  randomize: {use: randomize_transactions}",
        good="privacy:\n  itemset_breach: {level: 0.5}\nsteps:\n  randomize: {use: randomize_transactions}",
    ),
    CodePage(
        "PPF802",
        "parameters that do not make an operator",
        "Parameters of `randomize_transactions` belong to another operator than the named one, some are missing, or a"
        " length that occurs has none.",
        "Half an operator is none, and parameters without a meaning are mistakes.",
        "Give `cutoff` and `insertion` for `cut_and_paste`, `retained` and `insertion` for `select_a_size`, `keep` for"
        " `uniform`; or none of them, to have them chosen.",
        bad="steps:\n  randomize: {use: randomize_transactions, with: {operator: uniform, insertion: 0.2}}",
        good="steps:\n  randomize: {use: randomize_transactions, with: {operator: uniform, keep: 0.2}}",
    ),
    CodePage(
        "PPF803",
        "sets that are released as they are",
        "`operator: none` leaves every set as it is.",
        "It is a yardstick for what randomization costs: whoever gets the file reads every set.",
        "Use another operator for whatever leaves the house.",
        bad=(
            "attributes: {basket: {role: items}}\n"
            "privacy: {itemset_breach: {level: 0.5}}\n"
            "steps:\n"
            "  randomize: {use: randomize_transactions, with: {operator: none}}"
        ),
        good=(
            "attributes: {basket: {role: items}}\n"
            "privacy: {itemset_breach: {level: 0.5}}\n"
            "steps:\n"
            "  randomize: {use: randomize_transactions, with: {operator: cut_and_paste}}"
        ),
    ),
    CodePage(
        "PPF804",
        "what the operator says of the data",
        "The maximal supports that the operator was chosen for, or its alphabet, were taken from the data.",
        "Both are published with the release: the parameters tell how frequent the most frequent itemsets are, and"
        " the alphabet tells which items exist.",
        "Give `max_supports` in `privacy.itemset_breach`, and a `domain` for the sets.",
        bad=(
            "attributes: {basket: {role: items}}\n"
            "privacy: {itemset_breach: {level: 0.5}}\n"
            "steps:\n"
            "  randomize: {use: randomize_transactions}"
        ),
        good="attributes:\n  basket: {role: items, domain: [bread, butter, milk]}\n"
        "privacy:\n  itemset_breach: {level: 0.5, max_supports: [0.05, 0.01, 0.002]}",
    ),
    CodePage(
        "PPF805",
        "nothing can be discovered",
        "The standard error of estimated supports is so large that not even an itemset in all sets would be told from"
        " one in none.",
        "The release protects, and is of no use for itemsets of that size.",
        "Release more sets, shorter ones (`limit_items`), fewer items (`roll_up`), or ask for a higher level.",
        bad=(
            "privacy: {itemset_breach: {level: 0.05, sizes: [1, 2, 3]}}\n"
            "steps:    # of sets with up to 40 items\n"
            "  randomize: {use: randomize_transactions}"
        ),
        good=(
            "privacy: {itemset_breach: {level: 0.5, sizes: [1, 2]}}\n"
            "steps:\n"
            "  short: {use: limit_items, with: {max: 6}}\n"
            "  randomize: {use: randomize_transactions}"
        ),
    ),
)

_AUDIT = (
    CodePage(
        "PPF870",
        "items that may be inferred",
        "An item is in the original sets with more than the `level`, where the released ones hold an itemset.",
        "Whoever knows how frequent items are in general reads that much from a released set.",
        "Let `randomize_transactions` choose its parameters; raise the level, drop the most frequent items or roll them"
        " up to categories.",
        bad=(
            "privacy: {itemset_breach: {level: 0.5}}\n"
            "steps:\n"
            "  randomize: {use: randomize_transactions, with: {cutoff: 7, insertion: 0.001}}"
        ),
        good="privacy: {itemset_breach: {level: 0.5}}\nsteps:\n  randomize: {use: randomize_transactions}",
    ),
    CodePage(
        "PPF871",
        "released sets that do not follow their operator",
        "What was released is not what the operator would have made of the original sets: a test at an error"
        " probability of one in a million fails.",
        "All that is promised follows from the operator. Sets that it did not make may be the original ones.",
        "Release what the step has made, untouched, and with its own `operator.json`.",
        bad=(
            "$ cp orders.txt released.txt    # the original sets, with an operator that did not make them\n"
            "$ ppdm-flow audit policy.yaml --original orders.txt --released released.txt --operator"
            " operator.json"
        ),
        good=(
            "$ ppdm-flow audit policy.yaml --original orders.txt --released RELEASE/orders.parquet"
            " --operator RELEASE/operator.json"
        ),
    ),
    CodePage(
        "PPF872",
        "sets without a known operator",
        "No operator is known for the sets of a release, so what may be inferred from them cannot be computed.",
        "What is not randomized, or nobody knows how, protects nobody that one could tell of.",
        "Put a `randomize_transactions` step before the release, and none after it that changes the sets; give"
        " `--operator` to audit a file from elsewhere.",
        bad="$ ppdm-flow audit policy.yaml --original orders.txt --released from-them.parquet",
        good=(
            "$ ppdm-flow audit policy.yaml --original orders.txt --released from-them.parquet --operator operator.json"
        ),
    ),
    CodePage(
        "PPF873",
        "itemsets more frequent than the policy expects",
        "An itemset is more frequent among the sets of some length than `max_supports` says.",
        "The parameters hold up to these supports; the requirement is a promise about data that these are not.",
        "Raise `max_supports`, leave it out (then those of the data are taken), drop or roll up the most frequent"
        " items.",
        bad=(
            "privacy: {itemset_breach: {level: 0.5, max_supports: [0.05, 0.01, 0.002]}}    # 8 % of all sets have bread"
        ),
        good="privacy: {itemset_breach: {level: 0.5, max_supports: [0.1, 0.01, 0.002]}}",
    ),
    CodePage(
        "PPF874",
        "how itemsets were judged",
        "Not all itemsets are looked at one by one: the rarer ones are judged by the worst that their supports allow."
        " Lengths with few sets are judged together.",
        "There are more itemsets than anyone could count. Supports among a handful of sets tell of people.",
        "Nothing, where the requirement holds. `pool` says how many sets are few.",
        bad=(
            "privacy: {itemset_breach: {level: 0.5}}    # sets of 30 and more items: four in all\n"
            "steps:\n"
            "  randomize: {use: randomize_transactions}"
        ),
        good=(
            "privacy: {itemset_breach: {level: 0.5}}\n"
            "steps:\n"
            "  short: {use: limit_items, with: {max: 6}}\n"
            "  randomize: {use: randomize_transactions}"
        ),
    ),
    CodePage(
        "PPF875",
        "sets that other steps had changed",
        "A step rolled items up or cut sets short before they were randomized, and what may be inferred was measured"
        " for the sets as they were then.",
        "An item that was cut away is not in what was randomized; how sure one can be of it is not measured.",
        "Nothing, if categories, or the first items, are all that is to be protected; discard long sets instead of"
        " truncating them.",
        bad=(
            "privacy: {itemset_breach: {level: 0.5}}\n"
            "steps:    # the items that are cut away are not measured\n"
            "  short: {use: limit_items, with: {max: 6, longer: truncate}}\n"
            "  randomize: {use: randomize_transactions}"
        ),
        good=(
            "privacy: {itemset_breach: {level: 0.5}}\n"
            "steps:\n"
            "  short: {use: limit_items, with: {max: 6, longer: discard}}\n"
            "  randomize: {use: randomize_transactions}"
        ),
    ),
)

PAGES: tuple[CodePage, ...] = (*_STEP, *_AUDIT)
