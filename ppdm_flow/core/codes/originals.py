"""PPF850 to PPF858: what the original's other rows, and its whole rows, tell, and what an attack cannot read."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF850",
        "knowing others makes values certain",
        "Within a class of people who look alike, the released values without those of known people leave only"
        " one: its owner's value is certain.",
        "Classes hide a person among others. Whoever knows the others (a relative, a colleague, a patient of the"
        " same ward) takes them out, and the class shrinks. A perturbed value depends on its own record alone, so"
        " there nothing is to be taken out.",
        "Perturb the attribute (`use: fine_grain_perturbation`), or make classes with many values: a class of n"
        " people, m of whom have the most frequent value, withstands n - m - 1 known others.",
        bad=(
            "privacy: {k_anonymity: {k: 5}}\n"
            "audits:    # who knows four of the five in a class knows the fifth\n"
            "  corrupted: {use: corruption}"
        ),
        good=(
            "attributes: {disease: {role: sensitive, domain: [flu, cold, HIV]}}\n"
            "privacy:\n"
            "  sensitivities: {disease: {default: {tolerance: 3}}}\n"
            "steps:\n"
            "  perturb: {use: fine_grain_perturbation, with: {attribute: disease}}\n"
            "audits:\n"
            "  corrupted: {use: corruption}"
        ),
    ),
    CodePage(
        "PPF851",
        "released values depend on other rows",
        "Whether a row keeps its value, or which one it gets, depends on the row beside it more than chance would"
        " do in one release out of a million.",
        "The bound of an operator holds for rows that are drawn independently. If they share draws, or swap"
        " values, whoever knows the others learns more.",
        "Perturb with a step that draws for each row; do not reuse random numbers.",
        bad="steps:    # a plugin that swaps the values of neighbours\n"
        "  swap: {use: acme_swap, with: {attribute: disease}}",
        good=(
            "privacy: {sensitivities: {disease: {default: {tolerance: 3}}}}\n"
            "steps:\n"
            "  perturb: {use: fine_grain_perturbation, with: {attribute: disease}}"
        ),
    ),
    CodePage(
        "PPF852",
        "rows that only one person has occur in the release",
        "Original rows that are like no other occur in the release, over all attributes that it shares with the"
        " original.",
        "In generated data such a row may have been put together by chance, and nobody can tell from the release"
        " alone; whoever knows the person's row finds it all the same. The fewer there are, the less it means to find"
        " one.",
        "Raise `min_support` of the generator, release fewer attributes or coarser ones, or bound the score with"
        " `privacy.anonymity_score`.",
        bad=(
            "steps:\n"
            "  generate: {use: krimp_generator, with: {min_support: {count: 1}}}\n"
            "privacy: {anonymity_score: {max: 0.5}}"
        ),
        good=(
            "steps:\n"
            "  generate: {use: krimp_generator, with: {min_support: {count: 20}}}\n"
            "privacy: {anonymity_score: {max: 0.5}}"
        ),
    ),
    CodePage(
        "PPF853",
        "rare original rows occur in the release",
        "Rows that fewer than `min_support` people have in the original occur in the release.",
        "A rare row points to few people. Those of them that are rare in the release too are what `blend` bounds;"
        " this counts also those that the release has often.",
        "Raise `min_support` of the generator, or let it reject such rows.",
        bad=(
            "privacy: {blend: {min_support: {count: 20}, max: 0.03}}\n"
            "steps:\n"
            "  generate: {use: krimp_generator, with: {blend: allow}}"
        ),
        good=(
            "privacy: {blend: {min_support: {count: 20}, max: 0.03}}\n"
            "steps:\n"
            "  generate: {use: krimp_generator, with: {blend: strict}}"
        ),
    ),
    CodePage(
        "PPF854",
        "attributes that cannot be compared",
        "A step gave the values of an attribute other names (generalized ones, pseudonyms), so whole rows are"
        " compared without it.",
        "With it no row could match, and the score would look better the more is renamed.",
        "Nothing, if the other attributes are what others may know. Declare `hierarchy: {intervals: …}` for"
        " numbers: names of its intervals are compared with the numbers in them.",
        bad=(
            "attributes: {city: {role: quasi_identifier}}\n"
            "privacy: {anonymity_score: {max: 0.5}}\n"
            "steps:\n"
            "  hide: {use: pseudonymize, with: {attributes: [city], key_env: PPDM_KEY}}"
        ),
        good="attributes:\n  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 18, 65, 120]}}",
    ),
    CodePage(
        "PPF855",
        "suppressed cells match no original row",
        "A step suppressed cells, and a row with one counts as unlike every original row.",
        "Its other cells may still be those of a person: then the score understates what is given away.",
        "Bound what the other cells give away with `privacy.k_anonymity` or `privacy.templates`.",
        bad=(
            "privacy: {anonymity_score: {max: 0.5}}    # and nothing is said of the cells that are left\n"
            "steps:\n"
            "  few: {use: suppress, with: {rare: {job: 20}}}"
        ),
        good=(
            "privacy: {anonymity_score: {max: 0.5}, k_anonymity: {k: 5}}\n"
            "steps:\n"
            "  few: {use: suppress, with: {rare: {job: 20}}}"
        ),
    ),
    CodePage(
        "PPF856",
        "labels that an attack cannot read",
        "An audit that attacks the release met labels, in the release or in the file that the attacker holds, that are"
        " no value of the original, stand in no hierarchy of the policy, and are not written like an interval, a mask,"
        " a set or a part of a date; where it compares cells as they are written, labels that are nobody's value. A"
        " warning: the audit's figures do not exist then, so that a gate on one of them does not hold.",
        "What an attack cannot read it does not find, and a figure of 0 would say that the release is safe. Somebody"
        " else may well know what `30s` stands for.",
        "Declare the attribute's `hierarchy:` with these labels, write them as intervals, or leave the attribute out"
        " with the audit's `attributes:`, which says that the attacker does not use it.",
        bad=(
            "attributes: {age: {role: quasi_identifier, type: integer}}\n"
            "steps:\n"
            "  bands: {use: recode, with: {attributes: {age: {ranges: {20s: [20, 30], 30s: [30, 40]}}}}}\n"
            "audits: {people: {use: linkage}}\n"
            "gates: {nobody: {metric: people.linked, max: 0}}"
        ),
        good=(
            "attributes:\n"
            "  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 20, 30, 40, 120]}}\n"
            "steps:\n"
            "  bands: {use: generalize, with: {attributes: [age]}}\n"
            "audits: {people: {use: linkage}}\n"
            "gates: {nobody: {metric: people.linked, max: 0}}"
        ),
    ),
    CodePage(
        "PPF857",
        "a column repeats like a person's id",
        "An identifier, or a column that is named like an id of people, has values that come again, in one"
        " row of a hundred or more. A warning of `plan --data` and of the report.",
        "Requirements count rows. Where a person has several, k = 5 rows may be those of two people, and what all of"
        " one's rows say is known together.",
        "Release one row a person (aggregate, or keep one), declare it as `role: subject`, or ask for a k that is"
        " larger by the most rows that a person has. An id of something else than people (an order, a device of many)"
        " may repeat: waive the warning.",
        bad=(
            "attributes:    # visits: some patients come often\n"
            "  patient: {role: identifier}\n"
            "privacy: {k_anonymity: {k: 5}}"
        ),
        good=(
            "attributes:    # and nobody has more than three visits in the file\n"
            "  patient: {role: identifier}\n"
            "privacy: {k_anonymity: {k: 15}}"
        ),
    ),
    CodePage(
        "PPF858",
        "sizes of randomized sets are released",
        "Beside each randomized set stands how many items the original had; the text says how many people have a number"
        " that no other has, and one that few have. A warning where there is one alone, else for information.",
        "Nothing unbiased can be estimated without the sizes, and no operator hides them: whoever knows that somebody"
        " bought 212 things finds the one set of 212.",
        "Cut long sets with `limit_items` before they are randomized, so that no size is rare.",
        bad=(
            "attributes: {basket: {role: items}}\n"
            "privacy: {itemset_breach: {level: 0.5}}\n"
            "steps: {randomize: {use: randomize_transactions}}\n"
            "releases: {study: {path: study.parquet}}"
        ),
        good=(
            "attributes: {basket: {role: items}}\n"
            "privacy: {itemset_breach: {level: 0.5}}\n"
            "steps:    # no size is rare then\n"
            "  limit: {use: limit_items, with: {max: 30, longer: truncate}}\n"
            "  randomize: {use: randomize_transactions}\n"
            "releases: {study: {path: study.parquet}}"
        ),
    ),
)
