"""A sentence and an example for every key under ``privacy:``, and for the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ABSENT = (
    (
        "`error`: a value that is named here, and that neither the attribute's `domain` nor the data has, ends the run "
        "before anything is released, since it may be misspelt. `allowed`: it may be missing."
    ),
    "allowed",
)
PRIVACY: Mapping[str, tuple[str, Any]] = {
    "Privacy.k_anonymity": (
        "Every combination of quasi-identifier values occurs in at least k released rows.",
        {"k": "5"},
    ),
    "Privacy.templates": (
        "Inferences that must stay uncertain, <IC -> pi, h>.",
        {"no-discharged": {"channel": ["job"], "sensitive": {"bankruptcy": ["Discharged"]}, "confidence": "0.75"}},
    ),
    "Privacy.sensitivities": (
        "How much may be learned of each value of a sensitive attribute, (r1, r2).",
        {"disease": {"values": {"HIV": {"r1": "0.10", "r2": "0.25"}}}},
    ),
    "Privacy.anonymity_score": (
        "How many of the original rows, the rare ones above all, occur in the release: the Normalised Anonymity Score.",
        {"max": "0.5"},
    ),
    "Privacy.blend": (
        "Rare released rows are not rare original rows: minsup in the role of k.",
        {"min_support": {"count": "20"}, "max": "0.03"},
    ),
    "Privacy.itemset_breach": (
        "What may be inferred of the items of an original set from what is released in its place.",
        {"level": "0.5", "sizes": ["1", "2", "3"]},
    ),
    "Privacy.l_diversity": (
        "Every group has several well-represented values of a sensitive attribute.",
        {"disease": {"l": "3"}},
    ),
    "Privacy.t_closeness": (
        "A sensitive attribute is distributed in every group nearly as in the whole release.",
        {"disease": {"t": "0.2"}},
    ),
    "Privacy.alpha_k": (
        "No value of a sensitive attribute is too frequent in any group: the alpha of (alpha, k)-anonymity.",
        {"disease": {"alpha": "0.5", "values": ["HIV"]}},
    ),
    "Privacy.delta_disclosure": (
        "No value of a sensitive attribute is much more, or much less, frequent in a group than in the release.",
        {"disease": {"delta": "1.5"}},
    ),
    "Privacy.beta_likeness": (
        "No value of a sensitive attribute is much more frequent in a group than in the release.",
        {"disease": {"beta": "2"}},
    ),
    "Privacy.cumulative_k": (
        "This and all earlier releases of the ledger together leave groups of at least k people.",
        {"k": "5"},
    ),
    "Privacy.k_map": (
        "Every group of the release fits at least k people of a population that the policy names.",
        {"k": "5", "population": {"path": "voters.csv", "columns": {"zip": "ZIP"}}},
    ),
    "Privacy.lkc": (
        "Whoever knows at most l attributes of somebody finds at least k rows, and infers no more than c.",
        {"l": "2", "k": "5", "c": "0.5", "sensitive": {"disease": ["HIV"]}},
    ),
    "Privacy.km_anonymity": (
        "Every combination of at most m items that occurs is in at least k sets.",
        {"k": "5", "m": "2"},
    ),
    "LDiversity.l": ("The least number of values, or of equally frequent ones that would be as uncertain.", "3"),
    "LDiversity.kind": (
        (
            "`distinct` counts values; `entropy`: e to the entropy is at least l; `recursive`: the most frequent value "
            "has fewer rows than `c` times all from the l-th most frequent on."
        ),
        "entropy",
    ),
    "LDiversity.c": ("The c of `kind: recursive`.", "3"),
    "LDiversity.attributes": ("What to group by; all quasi-identifiers where it is left out.", ["job", "country"]),
    "TCloseness.t": ("The largest distance, between 0 and 1.", "0.2"),
    "TCloseness.distance": (
        "`equal`: all values are equally far from each other. `ordered`: as far as there are ranks between them.",
        "ordered",
    ),
    "TCloseness.order": (
        (
            "All values from low to high, for `distance: ordered`; of a text its `domain` where it is left out. "
            "Numbers and dates have an order of their own."
        ),
        ["low", "medium", "high"],
    ),
    "TCloseness.attributes": ("What to group by; all quasi-identifiers where it is left out.", ["job", "country"]),
    "TCloseness.values_absent": _ABSENT,
    "AlphaK.alpha": ("The largest share of a value in a group.", "0.5"),
    "AlphaK.values": ("The values that it is about; every value where it is left out.", ["HIV"]),
    "AlphaK.attributes": ("What to group by; all quasi-identifiers where it is left out.", ["job", "country"]),
    "AlphaK.values_absent": _ABSENT,
    "DeltaDisclosure.delta": (
        "The largest |ln(share in the group / share in the release)|; every group then has every value.",
        "1.5",
    ),
    "DeltaDisclosure.attributes": ("What to group by; all quasi-identifiers where it is left out.", ["job"]),
    "BetaLikeness.beta": ("The largest relative gain: (share in the group - share in the release) / the latter.", "2"),
    "BetaLikeness.attributes": ("What to group by; all quasi-identifiers where it is left out.", ["job", "country"]),
    "Ledger.path": (
        "The ledger, an SQLite file, relative to this file; `ppdm-flow ledger FILE --create` makes it.",
        "releases.ledger",
    ),
    "Ledger.url": (
        "The ledger in PostgreSQL, in place of `path`, with a `key`: `postgresql://[user@]host/database`, no password.",
        "postgresql://releases@db.example/ledger",
    ),
    "Ledger.key": (
        "The file with the key of its hashes; beside `path`, as `.key`, if left out. Keep it out of repositories.",
        "/secure/releases.key",
    ),
    "Ledger.subject": ("The attribute that names the person behind a row; that with `role: subject` else.", "patient"),
    "Ledger.ignore": (
        "Spellings of ids that make nobody another person: `case`, `blanks`, `form` (Unicode); all if left out.",
        ["blanks", "form"],
    ),
    "Ledger.repeat": ("What becomes of another release of attributes that are randomized.", "refuse"),
    "CumulativeK.k": ("The least number of people that all releases together leave alike.", "5"),
    "CumulativeK.attributes": ("What else others may know, beside the quasi-identifiers.", ["job"]),
    "KMap.k": ("The least number of people that a group fits.", "5"),
    "KMap.population": ("The population, with a row for each person.", {"path": "voters.csv"}),
    "KMap.attributes": ("What to group by; all quasi-identifiers where it is left out.", ["zip", "age"]),
    "Population.path": ("A CSV file with a header, relative to this file.", "voters.csv"),
    "Population.columns": ("What that file calls the attributes, where its names are others.", {"zip": "ZIP"}),
    "Population.delimiter": ("What separates the cells of that file.", ","),
    "LKC.l": ("How many attributes of a person somebody may know.", "2"),
    "LKC.k": ("The least number of rows that fit what is known.", "5"),
    "LKC.c": ("The largest share of those rows that has one of the `sensitive` values.", "0.5"),
    "LKC.sensitive": ("The values that nobody should infer, by attribute.", {"disease": ["HIV"]}),
    "LKC.attributes": ("What may be known; all quasi-identifiers where it is left out.", ["job", "country", "age"]),
    "LKC.values_absent": _ABSENT,
    "KmAnonymity.k": ("The least number of sets that a combination of items is in, unless in none.", "5"),
    "KmAnonymity.m": ("How many items of a person's set somebody may know, 1 to 4.", "2"),
    "KmAnonymity.attribute": ("The attribute with the sets; the one with `role: items` if left out.", "basket"),
    "ItemsetBreach.level": ("The highest probability with which an item may be inferred.", "0.5"),
    "ItemsetBreach.sizes": ("How many items the itemsets have that somebody may look for, 1 to 4.", ["1", "2", "3"]),
    "ItemsetBreach.attribute": ("The attribute with the sets; the one with `role: items` if left out.", "basket"),
    "ItemsetBreach.max_supports": (
        "Largest supports of itemsets of 1, 2, … items, as shares of the sets of one length; left out: the data's.",
        ["0.05", "0.01", "0.002"],
    ),
    "ItemsetBreach.max_supports_by_length": (
        "Largest supports among sets of that many items, in place of `max_supports`.",
        {"1": ["0.1"], "2": ["0.2", "0.05"]},
    ),
    "ItemsetBreach.pool": (
        "Lengths of which there are fewer sets are judged together with the next ones.",
        "1000",
    ),
    "AnonymityScore.max": ("The highest score; 0 is no original row released, 1 is all of them.", "0.5"),
    "Blend.min_support": (
        "Below this support a row is rare: `{count: ROWS}`, or `{ratio: SHARE}` of each table's rows.",
        {"count": "20"},
    ),
    "Blend.max": ("The largest share of the rare released rows that may be rare original rows.", "0.03"),
    "KAnonymity.k": ("The least number of rows in a group.", "5"),
    "KAnonymity.attributes": ("What to group by; all quasi-identifiers where it is left out.", ["job", "country"]),
    "Template.channel": ("The attributes that an inference starts from (IC).", ["job", "country"]),
    "Template.sensitive": (
        "The values that must not be inferred (pi). Several are several templates, never their union.",
        {"bankruptcy": ["Discharged"]},
    ),
    "Template.confidence": ("The highest share of such a value in any group (h).", "0.75"),
    "Template.negated": (
        (
            "Whether it is the absence of each value that must not be inferred: then at most `confidence` of any "
            "group may be without it, missing cells included."
        ),
        "true",
    ),
    "Template.min_support": (
        (
            "The least number of rows in any group over the channel, beside the confidence: an inference must never "
            "rest on fewer people."
        ),
        "5",
    ),
    "Template.values_absent": _ABSENT,
    "Sensitivity.directions": (
        "`both` also forbids to learn that a value is unlikely; `upward` is the paper's condition.",
        "both",
    ),
    "Sensitivity.default": ("The bound of values without one of their own.", {"tolerance": "5"}),
    "Sensitivity.values": (
        "Bounds of single values: one, or a list of several that must all hold.",
        {"HIV": {"r1": "0.10", "r2": "0.25"}},
    ),
    "Sensitivity.groups": (
        "One bound for each of several values; their union keeps it as well.",
        {"stigma": {"values": ["HIV", "hepatitis"], "r1": "0.02", "r2": "0.10"}},
    ),
    "Sensitivity.values_absent": _ABSENT,
    "ValueBound.r1": ("The highest prior probability that the bound is about.", "0.10"),
    "ValueBound.r2": ("The posterior that must not be exceeded; it lies above r1.", "0.25"),
    "ValueBound.given": ("What else is known of the people whom r1 is about, for readers.", "patients of the clinic"),
    "ValueGroup.values": ("The values, each of which gets the bound.", ["HIV", "hepatitis"]),
    "ValueGroup.r1": ("The highest prior probability that the bound is about.", "0.02"),
    "ValueGroup.r2": ("The posterior that must not be exceeded; it lies above r1.", "0.10"),
    "ValueGroup.given": ("What else is known of the people whom r1 is about, for readers.", "patients of the clinic"),
    "DefaultBound.tolerance": ("r1 is the frequency of a value, r2 this many times it.", "5"),
    "DefaultBound.r1": ("The highest prior probability that the bound is about.", "0.10"),
    "DefaultBound.r2": ("The posterior that must not be exceeded; it lies above r1.", "0.25"),
}
