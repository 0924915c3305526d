"""PPF500 to PPF549, of requirements, gates and releases."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF500",
        "an attribute that is not declared",
        "A requirement names an attribute that `attributes:` does not declare, by its name or by a pattern.",
        "A requirement on a column that does not exist holds of any data.",
        "Correct the name, or declare it.",
        bad="attributes: {job: {role: quasi_identifier}}\nprivacy: {k_anonymity: {k: 5, attributes: [jobs]}}",
        good="attributes: {job: {role: quasi_identifier}}\nprivacy: {k_anonymity: {k: 5, attributes: [job]}}",
    ),
    CodePage(
        "PPF501",
        "a channel that holds what it must not reveal",
        "The sensitive attribute of a template is part of the template's own channel.",
        "Within a group every row has the same value of it: the confidence is 0 or 1 whatever is released.",
        "Take it out of the channel.",
        bad="privacy:\n  templates:\n    t: {channel: [job, disease], sensitive: {disease: [HIV]}, confidence: 0.5}",
        good="privacy:\n  templates:\n    t: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.5}",
    ),
    CodePage(
        "PPF502",
        "an attribute of an unfit role",
        "Identifiers, weights and sets of items can neither be grouped by nor be protected as a sensitive value.",
        "Identifiers do not reach a release, weights are counts, and sets have requirements of their own.",
        "Name another attribute, or correct its role.",
        bad="attributes: {id: {role: identifier}}\nprivacy: {k_anonymity: {k: 5, attributes: [id]}}",
        good="attributes: {age: {role: quasi_identifier}}\nprivacy: {k_anonymity: {k: 5, attributes: [age]}}",
    ),
    CodePage(
        "PPF503",
        "a protected attribute that is not called sensitive",
        "A requirement protects an attribute whose role is not `sensitive`. A warning.",
        "Steps and audits that look for sensitive attributes pass it over.",
        "Give it `role: sensitive`, if it is.",
        bad=(
            "attributes: {job: {role: quasi_identifier}, disease: {role: insensitive}}\n"
            "privacy:\n"
            "  templates: {t: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.5}}"
        ),
        good=(
            "attributes: {job: {role: quasi_identifier}, disease: {role: sensitive}}\n"
            "privacy:\n"
            "  templates: {t: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.5}}"
        ),
    ),
    CodePage(
        "PPF504",
        "r1 does not lie below r2",
        "A bound (r1, r2) says that a prior of at most r1 must not become a posterior above r2.",
        "With r1 >= r2 the release would have to teach less than nothing; the amplification"
        " gamma = r2 (1 - r1) / (r1 (1 - r2)) is at most 1, and no operator satisfies it.",
        "Raise r2 or lower r1.",
        bad="privacy:\n  sensitivities: {disease: {values: {HIV: {r1: 0.25, r2: 0.10}}}}",
        good="privacy:\n  sensitivities: {disease: {values: {HIV: {r1: 0.10, r2: 0.25}}}}",
    ),
    CodePage(
        "PPF505",
        "a bound that is not complete",
        "A default bound is `tolerance`, or `r1` and `r2`, never both; and sensitivities bound something.",
        "Half a bound protects nothing, and two bounds leave open which one holds.",
        "Give one of the two forms.",
        bad="privacy:\n  sensitivities: {disease: {default: {r1: 0.1}}}",
        good="privacy:\n  sensitivities: {disease: {default: {tolerance: 5}}}",
    ),
    CodePage(
        "PPF506",
        "a value outside of the declared domain",
        "A requirement or a hierarchy names a value that the attribute's `domain` does not have.",
        "A misspelt value never occurs, so the requirement holds of any data and the real value is not protected.",
        "Correct the value, or add it to the domain.",
        bad=(
            "attributes:\n"
            "  job: {role: quasi_identifier}\n"
            "  disease: {role: sensitive, domain: [HIV, flu]}\n"
            "privacy:\n"
            "  templates: {t: {channel: [job], sensitive: {disease: [Hiv]}, confidence: 0.5}}"
        ),
        good=(
            "attributes:\n"
            "  job: {role: quasi_identifier}\n"
            "  disease: {role: sensitive, domain: [HIV, flu]}\n"
            "privacy:\n"
            "  templates: {t: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.5}}"
        ),
    ),
    CodePage(
        "PPF507",
        "a value twice",
        "A list names the same value twice. An error in `source.columns`, elsewhere a warning.",
        "Two columns of one name cannot be told apart; elsewhere one of the two was probably meant to be another.",
        "Remove one of the two, or write the value that was meant in its place.",
        bad="privacy:\n"
        "  templates:\n"
        "    t: {channel: [job, country, job], sensitive: {disease: [HIV]}, confidence: 0.5}",
        good="privacy:\n  templates:\n    t: {channel: [job, country], sensitive: {disease: [HIV]}, confidence: 0.5}",
    ),
    CodePage(
        "PPF508",
        "a redundant template",
        "Other templates already imply this one: their channel has all of its attributes, their threshold is at most"
        " as high, and they protect the same values (Lemma 3.1 of Wang, Fung, Yu, ICDM 2005). A warning.",
        "It costs time and says nothing. Perhaps another channel was meant.",
        "Remove it. Under `nulls: wildcard` and `nulls: exclude` the lemma does not hold, so nothing is reported.",
        bad=(
            "privacy:\n"
            "  templates:\n"
            "    a: {channel: [job, city], sensitive: {disease: [HIV]}, confidence: 0.5}\n"
            "    b: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.6}"
        ),
        good="privacy:\n  templates:\n    a: {channel: [job, city], sensitive: {disease: [HIV]}, confidence: 0.5}",
    ),
    CodePage(
        "PPF509",
        "the mark of a suppressed cell as a value",
        "`⊥` stands for a suppressed cell in every release.",
        "A real value of that spelling could not be told from a suppressed one.",
        "Rename the value in the data before it comes here.",
        bad='attributes: {smoker: {role: sensitive, domain: ["yes", "no", ⊥]}}',
        good='attributes: {smoker: {role: sensitive, domain: ["yes", "no", unknown]}}',
    ),
    CodePage(
        "PPF510",
        "a gate without a bound that can hold",
        "The gate has neither `min` nor `max`, or its `min` lies above its `max`.",
        "The first would hold always, the second never.",
        "Give `min`, `max`, or both in order.",
        bad=(
            "audits: {classifier: {use: classification_error, with: {target: readmitted}}}\n"
            "gates:\n"
            "  still-useful: {metric: classifier.error_increase}"
        ),
        good=(
            "audits: {classifier: {use: classification_error, with: {target: readmitted}}}\n"
            "gates:\n"
            "  still-useful: {metric: classifier.error_increase, max: 0.05}"
        ),
    ),
    CodePage(
        "PPF512",
        "a public release with reproducible randomness",
        "A release with `audience: public` comes from a policy in `reproducible` mode.",
        "Whoever has the policy has the seed, and whoever has the seed can undo the randomization.",
        "Use `randomness: {mode: sealed}`.",
        bad="randomness: {mode: reproducible, seed: a}\nreleases: {open: {path: x.csv, audience: public}}",
        good="randomness: {mode: sealed}\nreleases: {open: {path: x.csv, audience: public}}",
    ),
    CodePage(
        "PPF513",
        "reproducible randomness",
        "The policy draws from a seed. A warning.",
        "Randomization protects only while its randomness is secret; the seed stands in a file that people read.",
        "Use `mode: sealed` for anything but tests and papers.",
        bad="randomness: {mode: reproducible, seed: paper-2026}",
        good="randomness: {mode: sealed}",
    ),
    CodePage(
        "PPF514",
        "a seed missing, or one without use",
        "`reproducible` mode needs a seed; `sealed` mode has a secret key in its place.",
        "A seed beside `mode: sealed` looks as if runs could be repeated, and they cannot.",
        "Give `seed:` with `mode: reproducible`, and only there.",
        bad="randomness: {mode: reproducible}",
        good="randomness: {mode: reproducible, seed: paper-2026}",
    ),
    CodePage(
        "PPF516",
        "a release that would be written elsewhere",
        "The path of a release is relative to the release's own folder, and must stay in it.",
        "Files outside of the run's folder would be there before the verdict, and would not be in the manifest.",
        "Write a file name, with folders if wanted: `tables/patients.csv`.",
        bad="releases: {study: {path: ../patients.csv}}",
        good="releases: {study: {path: patients.csv}}",
    ),
    CodePage(
        "PPF525",
        "k-anonymity without quasi-identifiers",
        "No attribute is a quasi-identifier, and the requirement names no attributes of its own.",
        "Over no attributes all rows are one group: the requirement would hold of any data.",
        "Give the attributes that others may know `role: quasi_identifier`.",
        bad="attributes: {age: {role: insensitive}}\nprivacy: {k_anonymity: {k: 5}}",
        good="attributes: {age: {role: quasi_identifier}}\nprivacy: {k_anonymity: {k: 5}}",
    ),
    CodePage(
        "PPF526",
        "nothing required",
        "`privacy:` is empty. A warning.",
        "Every release would pass, whatever is in it.",
        "State what must hold: `k_anonymity`, `templates`, `sensitivities`, `anonymity_score`, `blend`.",
        bad="privacy: {}",
        good="privacy: {k_anonymity: {k: 5}}",
    ),
    CodePage(
        "PPF527",
        "a value bounded in two places",
        "A value is in two groups, or in a group and under `values:`, and both bounds are about the same people.",
        "Both would hold, and the stricter one decide: most likely one of them was meant to be another value's, or to"
        " replace the other.",
        "Leave the value in one place. Several bounds of one value that are all meant stand in a list under `values:`;"
        " bounds about different people say so with `given:`.",
        bad=(
            "privacy:\n"
            "  sensitivities:\n"
            "    disease:\n"
            "      groups: {stigma: {values: [HIV, hepatitis], r1: 0.02, r2: 0.1}}\n"
            "      values: {HIV: {r1: 0.1, r2: 0.25}}"
        ),
        good=(
            "privacy:\n"
            "  sensitivities:\n"
            "    disease:\n"
            "      groups: {stigma: {values: [hepatitis, syphilis], r1: 0.02, r2: 0.1}}\n"
            "      values:\n"
            "        HIV: [{r1: 0.02, r2: 0.1}, {r1: 0.05, r2: 0.2, given: patients of the clinic}]"
        ),
    ),
    CodePage(
        "PPF529",
        "a support without a clear unit",
        "A support is `{count: ROWS}`, at least 1, or `{ratio: SHARE}`, above 0 and at most 1, and never both. A bare"
        " whole number is a count, a bare decimal a ratio.",
        "20 rows and 2 % of the rows differ by orders of magnitude; which one is meant must not be guessed.",
        "Give one of the two. Where a template gives the other one, take that back with `null`.",
        bad="privacy: {blend: {min_support: {count: 20, ratio: 0.02}, max: 0.03}}",
        good="privacy: {blend: {min_support: {count: 20}, max: 0.03}}",
    ),
    CodePage(
        "PPF530",
        "a requirement that nothing can break",
        "`anonymity_score` or `blend` has `max: 1`, or the support of `blend` is one row.",
        "Both figures are shares: none exceeds 1. No row occurs less than once, so below a support of one row there"
        " is nothing to measure. Such a requirement holds of any data, the original included.",
        "Give a bound below 1, and a support of at least 2 rows. To measure without a bound, name the audit under"
        " `audits:`.",
        bad="privacy:\n  blend: {min_support: {count: 1}}",
        good="privacy:\n  blend: {min_support: {count: 20}, max: 0.03}",
    ),
)
