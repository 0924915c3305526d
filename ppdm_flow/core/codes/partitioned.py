"""PPF587 to PPF589, PPF819, PPF823 to PPF829, PPF886 to PPF889: ids, class ids, and tables that these join."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

_SPLIT = (
    "steps:\n"
    "  classes: {use: assign_class_id, with: {attributes: [age]}}\n"
    "  split: {use: vertical_partition, with: {tables: {people: [age], illness: [disease]}}}\n"
    "releases:\n"
    "  people: {from: split.people, path: people.csv}\n"
)
"""Two files that a class id joins, and the first of them released."""

_JOINED = (
    _SPLIT + "  illness: {from: split.illness, path: illness.csv}\n"
    "audits:\n"
    "  together: {use: rejoin, release: people, with: {other: illness}}\n"
)
"""Both parts, and the attack that joins them again."""
_GATED = _JOINED + "gates:\n  bounded: {metric: together.posterior_bound, max: 0.5}\n"
"""What it may find at most."""

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF819",
        "codes that anyone can turn back",
        "Genetic encoding gives an id the bits of its neighbour. There is no key: whoever knows the order of the rows"
        " gets every id back, and different ids can get the same code.",
        "A code that looks unlike the id is easily taken for protection. It counts as none: an identifier stays an"
        " identifier, and every requirement is measured on the codes as on any other values.",
        "Use `pseudonymize` where records have to stay linkable. Where the encoding is wanted all the same, shuffle"
        " the rows, and let the audit `id_recovery` tell how many ids come back.",
        bad=(
            "attributes: {roll: {role: quasi_identifier}}\n"
            "steps:\n"
            "  encode: {use: genetic_encode, with: {attribute: roll}}"
        ),
        good="steps:\n  codes: {use: pseudonymize, with: {attributes: [roll], key_env: STUDY_KEY}}",
    ),
    CodePage(
        "PPF823",
        "an id does not fit the encoding",
        "A cell is missing, is no whole number, or has more bits than `width`.",
        "Cut off bits would make different ids equal without anybody noticing.",
        "Raise `width`, or clean the column. `width: 12` takes 0 to 4095.",
        "steps:\n  encode: {use: genetic_encode, with: {attribute: roll}}    # rolls above 4095",
        "steps:\n  encode: {use: genetic_encode, with: {attribute: roll, width: 27}}",
    ),
    CodePage(
        "PPF824",
        "a value would leave the mask as it came",
        "It has no more letters and digits than the rule keeps.",
        "A value that nothing covers is released as it is, among others that look protected.",
        "Keep fewer characters with `first` and `last`.",
        "steps:\n  cover: {use: mask, with: {attributes: {postal_code: {first: 5}}}}",
        "steps:\n  cover: {use: mask, with: {attributes: {postal_code: {first: 3}}}}",
    ),
    CodePage(
        "PPF825",
        "a row that no rule covers",
        "A value is in no range and no list of a recoding, or a row fulfils none of the criteria of a class.",
        "Left as it is, it would stand out among all others; a default that nobody wrote down would be a guess.",
        "Add a rule that covers it, or say `other:`.",
        bad=(
            "steps:    # and who is 31?\n"
            "  by-age: {use: assign_class_id, with: {criteria: [{id: young, when: {age: [20, 29]}}]}}"
        ),
        good=(
            "steps:\n"
            "  by-age: {use: assign_class_id, with: {criteria: [{id: young, when: {age: [20, 29]}}],"
            " other: rest}}"
        ),
    ),
    CodePage(
        "PPF826",
        "a recoding that cannot be meant",
        "Two ranges have numbers in common, a range is empty, or the attribute identifies people.",
        "A value with two new values has none; an identifier recoded value by value still identifies.",
        "Let each range end where the next one begins: [0, 50] and [50, 101] have no number in common, since the upper"
        " end is left out. For identifiers use `pseudonymize`, `mask` or `drop`.",
        bad=(
            "steps:\n  grades: {use: recode, with: {attributes: {score: {ranges: {fail: [0, 50], pass: [40, 101]}}}}}"
        ),
        good=(
            "steps:\n  grades: {use: recode, with: {attributes: {score: {ranges: {fail: [0, 50], pass: [50, 101]}}}}}"
        ),
    ),
    CodePage(
        "PPF827",
        "tables that more than the key would join",
        "An attribute is in two tables of a vertical partition, a row has no value of the key, or rows stand for"
        " several people each.",
        "The partition protects only as far as nothing but the class id connects the tables.",
        "Put each attribute into one table; let `assign_class_id` give every row a class.",
        bad=(
            "steps:\n"
            "  classes: {use: assign_class_id, with: {attributes: [age, town]}}\n"
            "  split: {use: vertical_partition, with: {tables: {people: [age, town], illness: [town,"
            " disease]}}}\n"
            "releases: {people: {from: split.people, path: people.csv}}"
        ),
        good=(
            "steps:\n"
            "  classes: {use: assign_class_id, with: {attributes: [age, town]}}\n"
            "  split: {use: vertical_partition, with: {tables: {people: [age, town], illness: [disease]}}}\n"
            "releases: {people: {from: split.people, path: people.csv}}"
        ),
    ),
    CodePage(
        "PPF829",
        "nothing to swap with",
        "Every row is alone in its class, or a rank is asked for of values that are no numbers.",
        "The step would change nothing and look like protection.",
        "Name fewer or coarser attributes in `within`, or say `method: random`.",
        bad=(
            "steps:        # every patient is a class of one\n"
            "  exchange: {use: swap, with: {attributes: [disease], within: [patient]}}"
        ),
        good="steps:\n  exchange: {use: swap, with: {attributes: [disease], within: [town]}}",
    ),
    CodePage(
        "PPF828",
        "a join that grows too large",
        "A lossy join writes every pair of rows of a class, so the squares of the classes' sizes add up.",
        "Large classes square to more than a disk holds, and nobody needs the pairs: the class id says the same.",
        "Make smaller classes, release the two tables of a `vertical_partition` instead, or raise `most_rows`.",
        bad=(
            "privacy: {templates: {t: {channel: [age], sensitive: {disease: [HIV]}, confidence: 0.5}}}\n"
            "steps:        # all people of a town are one class: each with the diseases of all others\n"
            "  join: {use: lossy_join, with: {key: town, attributes: [disease]}}"
        ),
        good=(
            "privacy: {templates: {t: {channel: [age], sensitive: {disease: [HIV]}, confidence: 0.5}}}\n"
            "steps:\n"
            "  classes: {use: assign_class_id, with: {attributes: [age, job, town]}}\n"
            "  join: {use: lossy_join, with: {key: class_id, attributes: [disease]}}"
        ),
    ),
    CodePage(
        "PPF886",
        "an attack without its attributes",
        "The audit names a release or an attribute that is not there, or a split of bits that is none.",
        "The attack would find nothing, which looks like safety.",
        "Name attributes of the release that the audit is on (`release:` says which), and another one of its releases.",
        bad=(
            _SPLIT + "  illness: {from: split.illness, path: illness.csv}\n"
            "audits:\n"
            "  together: {use: rejoin, release: people, with: {other: illness, key: klass}}"
        ),
        good=(
            _SPLIT + "  illness: {from: split.illness, path: illness.csv}\n"
            "audits:\n"
            "  together: {use: rejoin, release: people, with: {other: illness, key: class_id}}"
        ),
    ),
    CodePage(
        "PPF887",
        "two files with their rows in one order",
        "The classes of two releases agree place by place far more often than chance does it.",
        "Laid side by side, the files join without any key: row by row instead of class by class.",
        "Leave `shuffle: true`, which gives each release an order of its own.",
        bad=(
            "steps:\n"
            "  classes: {use: assign_class_id, with: {attributes: [age]}}\n"
            "  split: {use: vertical_partition, with: {tables: {people: [age], illness: [disease]}}}\n"
            "releases:\n"
            "  people: {from: split.people, path: people.csv, shuffle: false}\n"
            "  illness: {from: split.illness, path: illness.csv, shuffle: false}\n"
            "audits:\n"
            "  together: {use: rejoin, release: people, with: {other: illness}}"
        ),
        good=_JOINED,
    ),
    CodePage(
        "PPF888",
        "ids that come back from their codes",
        "Turning the encoding back in the order of the file, or looking masked texts up in a list of ids, gives the ids"
        " of more rows than chance.",
        "Whoever has the file has the ids, and with them the people.",
        "Shuffle the release, or better: use `pseudonymize`, or drop the ids. Mask more characters.",
        "releases:\n  study: {path: study.csv, shuffle: false}",
        "steps:\n  codes: {use: pseudonymize, with: {attributes: [roll], key_env: STUDY_KEY}}",
    ),
    CodePage(
        "PPF889",
        "classes that have one value only",
        "All rows of a class have the same sensitive value in the other release.",
        "Joining the files gives that value of everybody in the class: the homogeneity attack.",
        "Make the classes larger or mix them otherwise, so that each has several values; gate on"
        " `rejoin`'s `posterior_bound`.",
        bad=_JOINED,
        good=_GATED,
    ),
    CodePage(
        "PPF587",
        "tuples counted as people",
        "After a lossy join a row is a pair within a class: a class of 3 people has 9 rows.",
        "k-anonymity and every other requirement that counts rows would find far more people than there are.",
        "Release the tables of a `vertical_partition` and let the audit `rejoin` measure the join; or require what"
        " looks at shares only.",
        bad=(
            "privacy: {k_anonymity: {k: 5}}\n"
            "steps:\n"
            "  classes: {use: assign_class_id, with: {attributes: [age]}}\n"
            "  join: {use: lossy_join, with: {attributes: [disease]}}"
        ),
        good=(
            "privacy: {k_anonymity: {k: 5}}\n"
            "steps:\n"
            "  classes: {use: assign_class_id, with: {attributes: [age]}}\n"
            "  split: {use: vertical_partition, with: {tables: {a: [age], b: [disease]}}}\n"
            "releases:\n"
            "  people: {from: split.a, path: people.csv}"
        ),
    ),
    CodePage(
        "PPF588",
        "two parts of one table that nobody measures together",
        "Several releases come from one `vertical_partition`, and no `rejoin` audit on one of them names the other.",
        "Requirements are measured on each file alone, and count the class id only where they count all that it was"
        " made of. What the join tells, and whether the order of rows joins the files as well, nothing else measures.",
        "Add a `rejoin` audit, and a gate on its `posterior_bound`.",
        bad=(_SPLIT + "  illness: {from: split.illness, path: illness.csv}"),
        good=_GATED,
    ),
    CodePage(
        "PPF589",
        "a join that is measured and bounds nothing",
        "A `rejoin` audit is there, and no gate is on its `posterior_bound`.",
        "The files are released whatever comes out, also where a class has one value only.",
        "Add a gate: how sure may anybody be who knows a person's class?",
        bad=_JOINED,
        good=_GATED,
    ),
)
