"""A sentence and an example for every key of the language, for editors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.descriptions_privacy import PRIVACY

Described = tuple[str, Any]

DESCRIPTIONS: Mapping[str, Described] = {
    "Policy.version": ("Version of the policy language.", "1"),
    "Policy.name": ("Name of the policy; runs are stored under it.", "bank-credit"),
    "Policy.description": ("What is released, and for whom.", "Credit table for an external study"),
    "Policy.owner": ("Who answers for the release.", "data-governance@bank.example"),
    "Policy.extends": (
        (
            "Templates that this policy inherits from, the later over the earlier: a file beside this one, "
            "`pkg:distribution/name` or `builtin:name`."
        ),
        [{"template": "./templates/organization.yaml", "with": {"k": "5"}}],
    ),
    "Policy.params": ("Parameters, used as `${params.name}`.", {"k": {"type": "integer", "default": "5"}}),
    "Policy.floors": (
        (
            "What nothing that extends this file can take away: `>= 5`, `is WORD`, `one of [A, B]`, `contains [A, B]`,"
            " `only [A, B]`, `keeps all`, `present`, `absent` or `not weaker`, for a place of the policy; `*` is any"
            " name."
        ),
        {"privacy.k_anonymity.k": ">= 5", "attributes.*.role": "not weaker"},
    ),
    "Policy.source": ("Where the data is and how to read it.", {"path": "data/bank.csv", "missing": ["?", ""]}),
    "Policy.attributes": (
        "What the columns are. A name may be a glob pattern, such as `addr_*`; a column's own name goes before.",
        {"job": {"role": "quasi_identifier"}},
    ),
    "Policy.undeclared": ("What to do with a column that no attribute declares: it never passes.", "error"),
    "Policy.nulls": (
        "How groups treat missing values: as a category of their own, as fitting any value, or left out.",
        "own_category",
    ),
    "Policy.privacy": (
        "What must hold. Each requirement is measured on the released bytes; if one fails, the release is withheld.",
        {"k_anonymity": {"k": "5"}},
    ),
    "Policy.steps": (
        "How to get there. Each step reads the one before it, unless `input:` says otherwise.",
        {"suppress": {"use": "progressive_disclosure"}},
    ),
    "Policy.audits": (
        "What is measured beside the requirements: utility and attacks.",
        {"classifier": {"use": "classification_error", "with": {"target": "rating"}}},
    ),
    "Policy.gates": (
        "Bounds on measured figures; if one fails, the release is withheld.",
        {"still-useful": {"metric": "classifier.error_increase", "max": "0.05"}},
    ),
    "Policy.waivers": (
        "What need not hold for a while: each with a reason, an owner and a last day.",
        {
            "old-extract": {
                "of": "gates.still-useful",
                "reason": "agreed with the study until the new extract",
                "owner": "dpo@bank.example",
                "until": "2027-03-31",
            }
        },
    ),
    "Policy.releases": ("The files that leave the house.", {"public": {"from": "suppress", "path": "bank.csv"}}),
    "Policy.recipients": (
        (
            "Who sees the releases of a run: `together` reckons with somebody who has several of them, and judges what"
            " they tell together; `apart` says that nobody ever sees two, which no measurement can show."
        ),
        "together",
    ),
    "Policy.randomness": ("Where randomness comes from.", {"mode": "sealed"}),
    "Policy.ledger": (
        "What was released about whom, as keyed hashes in a file or database; new releases are held against it.",
        {"path": "releases.ledger", "subject": "patient"},
    ),
    "Policy.report": ("What reports may show.", {"values": "hide"}),
    "Extends.template": (
        "A file relative to this one, `pkg:distribution/name@>=1.2,<2` or `builtin:name`.",
        "./templates/organization.yaml",
    ),
    "Extends.with": ("Values for the template's params; a list for one of that type.", {"k": "5"}),
    "Param.type": ("What its values are.", "integer"),
    "Param.default": ("The value, or list, where nothing else gives one. Without it the param is required.", "5"),
    "Param.help": ("What it means.", "smallest group that may be released"),
    "Param.min": ("The least value; of a list, its least length.", "2"),
    "Param.max": ("The greatest value; of a list, its greatest length.", "100"),
    "Param.choices": ("The only values that it, or an item of a list, can have.", ["5", "10"]),
    "Param.from_env": ("An environment variable that gives the value, before the default.", "RELEASE_K"),
    "Source.path": ("The data file, relative to this file; `--data` goes before it.", "data/bank.csv"),
    "Source.format": ("A source plugin; by the file's ending where it is left out.", "csv"),
    "Source.columns": ("Column names, for a file without a header.", ["job", "country", "rating"]),
    "Source.missing": ("Texts that stand for a missing value.", ["?", ""]),
    "Source.incomplete_rows": ("Whether to drop rows with a missing value in a declared attribute.", "keep"),
    "Source.with": ("Parameters of the source plugin.", {"delimiter": ";"}),
    "Attribute.role": (
        (
            "`identifier` is dropped unless a step replaces it; `quasi_identifier` may be known to others; `sensitive` "
            "is what they must not learn; `target` is the class of the wanted analysis; `weight` counts rows of a "
            "collapsed table; `subject` is the person behind several rows; `items` holds sets; `insensitive` is none "
            "of these."
        ),
        "quasi_identifier",
    ),
    "Attribute.type": ("How the text of a value is to be understood.", "integer"),
    "Attribute.domain": ("All values that may occur; any other one fails the run.", ["yes", "no"]),
    "Attribute.hierarchy": ("How values are generalized: exactly one form.", {"intervals": ["0", "18", "65", "120"]}),
    "Attribute.description": ("What the column means; it goes into the data dictionary.", "Age in years"),
    "Hierarchy.csv": (
        "A file with a line for each value: the value, then its ancestors, `*` last. Relative to this file.",
        "hierarchies/country.csv",
    ),
    "Hierarchy.delimiter": ("What separates the cells of that file.", ";"),
    "Hierarchy.intervals": ("Ascending edges of half-open intervals.", ["0", "18", "65", "120"]),
    "Hierarchy.levels": ("The ancestors of each value, nearest first.", {"Paris": ["France", "Europe"]}),
    "Hierarchy.prefix": ("How many characters each level keeps, fewer and fewer.", ["4", "3", "0"]),
    "Hierarchy.mask": ("What is written for a character that is not kept.", "*"),
    "Hierarchy.date": ("What each level cuts a date to, coarser and coarser.", ["month", "year", "decade"]),
    "Hierarchy.format": ("How dates are written (strptime); ISO 8601 if left out.", "%d.%m.%Y"),
    "Hierarchy.order": ("The values from least to most; `then` says how many make a group.", ["low", "mid", "high"]),
    "Hierarchy.then": ("How many neighbours each further level joins, for `intervals` and `order`.", ["2", "2"]),
    "Hierarchy.open_ends": ("On which sides of the `intervals` values may lie outside of them.", "above"),
    **PRIVACY,
    "Step.use": ("An anonymizer; `ppdm-flow list anonymizers` shows them.", "progressive_disclosure"),
    "Step.input": ("The step that it reads, `step.output`, or `source`.", "suppress"),
    "Step.with": ("Parameters of the anonymizer.", {"attribute": "disease"}),
    "Audit.use": ("An audit; `ppdm-flow list audits` shows them.", "classification_error"),
    "Audit.release": ("The one release that it looks at; all where it is left out.", "public"),
    "Audit.with": ("Parameters of the audit.", {"target": "rating"}),
    "Gate.metric": ("The figure: `<audit, step or requirement>.<figure>`.", "classifier.error_increase"),
    "Gate.min": ("The least value that it may have.", "0.9"),
    "Gate.max": ("The greatest value that it may have.", "0.05"),
    "Gate.releases": (
        "The releases that it is about, all where it is left out: on each of them the figure has to be measured.",
        ["public"],
    ),
    "Gate.max_width": (
        (
            "How wide the interval of an estimate may be, for figures above 1 as a share of the figure: the gate does "
            "not hold on a wider one."
        ),
        "0.1",
    ),
    "Waiver.of": (
        "What is waived: a gate, a requirement (where a template allows it), a code, or the hash of a run's finding.",
        "gates.still-useful",
    ),
    "Waiver.at": ("With a code: the place in the policy that it may stand at, and below it.", "attributes.age"),
    "Waiver.reason": ("Why it is waived; every report shows it.", "agreed with the study until the new extract"),
    "Waiver.owner": ("Who answers for it.", "dpo@bank.example"),
    "Waiver.until": ("The last day that it counts on (UTC, YYYY-MM-DD), at most a year from today.", "2027-03-31"),
    "Release.from": ("The step that it comes from; the last one where it is left out.", "suppress"),
    "Release.path": ("The file, relative to `released/<name>/`.", "bank.parquet"),
    "Release.format": ("A sink plugin; by the file's ending where it is left out.", "parquet"),
    "Release.audience": ("Who gets it; `public` allows no reproducible randomness.", "public"),
    "Release.shuffle": ("Whether to put the rows in random order: their order identifies.", "true"),
    "Release.description": ("What a recipient should know of it.", "Ages in intervals"),
    "Release.with": ("Parameters of the sink plugin.", {"compression": "zstd"}),
    "Randomness.mode": (
        "`sealed`: a secret key, new for every run. `reproducible`: from the seed, for tests and papers only.",
        "sealed",
    ),
    "Randomness.seed": ("The seed of `reproducible` mode.", "paper-2026"),
    "ReportOptions.values": ("Whether reports may show data values that the policy does not write itself.", "hide"),
}
"""By model and key; every key of the language has one."""
