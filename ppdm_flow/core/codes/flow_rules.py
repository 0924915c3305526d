"""PPF550 to PPF599: rules on what reaches a release."""

from __future__ import annotations

from ppdm_flow.core.codes.flow_itemsets import PAGES as ITEMSETS
from ppdm_flow.core.codes.flow_perturbed import PAGES as PERTURBED
from ppdm_flow.core.codes.flow_sets import PAGES as SETS
from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF550",
        "an identifier reaches a release",
        "An attribute with `role: identifier` or `subject` went through a step and is released, or a released column is"
        " computed from it (a class id, a mask), and no secret key stands between.",
        "It names people, and so does whatever is made of it one by one: ranks, first letters, hashes. Identifiers that"
        " no step asks for are dropped at the source; this one was taken along.",
        "Drop it, or use `pseudonymize`. Where only a part of it is to be released (the year of a date, a region of a"
        " code), declare the attribute as a quasi-identifier: then it is counted.",
        bad="attributes:\n  name: {role: identifier}\nsteps:\n  r: {use: rename, with: {attributes: {name: person}}}",
        good="attributes:\n  name: {role: identifier}\nsteps:\n  p:\n    use: pseudonymize\n"
        "    with: {attributes: [name], key_env: PSEUDONYM_KEY}",
    ),
    CodePage(
        "PPF551",
        "a sensitive attribute that nothing protects",
        "A sensitive attribute is released, and no template and no sensitivity is about it. A warning.",
        "k-anonymity hides which row is whose. Where all rows of a group share a value, everybody learns it all the"
        " same.",
        "Add a template or a sensitivity, drop the attribute, or give it another role.",
        bad="attributes:\n  disease: {role: sensitive}\nprivacy:\n  k_anonymity: {k: 5}",
        good="attributes:\n  disease: {role: sensitive}\nprivacy:\n  sensitivities:\n"
        "    disease: {default: {tolerance: 5}}",
    ),
    CodePage(
        "PPF552",
        "a quasi-identifier that no requirement counts",
        "A quasi-identifier is released, and it is in no `k_anonymity` and in no template's channel. A warning.",
        "Combinations with it may be unique, and nothing would notice.",
        "Name it in `privacy.k_anonymity` or in a channel, or give it another role.",
        bad="privacy:\n  k_anonymity: {k: 5, attributes: [age]}    # and region is released too",
        good="privacy:\n  k_anonymity: {k: 5}",
    ),
    *PERTURBED,
    CodePage(
        "PPF559",
        "the order of rows is kept",
        "`shuffle: false` releases the rows in the order of the source. A warning.",
        "Whoever knows that order, from an earlier release or a list, knows whose row is whose. Two releases of a run"
        " in one order are joined row by row, and judged as one table.",
        "Leave `shuffle:` out.",
        bad="releases:\n  study: {path: study.csv, shuffle: false}",
        good="releases:\n  study: {path: study.csv}",
    ),
    CodePage(
        "PPF560",
        "a public release whose report shows values",
        "`report: {values: show}` stands beside a release with `audience: public`. A warning.",
        "The report would show values and counts of the original that the release itself hides.",
        "Leave `report:` out, or keep the report inside the house.",
        bad="report: {values: show}\nreleases:\n  open: {path: open.csv, audience: public}",
        good="releases:\n  open: {path: open.csv, audience: public}",
    ),
    CodePage(
        "PPF562",
        "people with several rows",
        "An attribute has `role: subject`, and a requirement counts rows.",
        "A group of five rows may be one person: k, confidences and posteriors would be measured too well.",
        "Aggregate to one row a person before; then `role: identifier` is right for the attribute.",
        bad=(
            "attributes:\n"
            "  patient: {role: subject}    # and every visit is a row\n"
            "  age: {role: quasi_identifier}\n"
            "privacy: {k_anonymity: {k: 5}}"
        ),
        good=(
            "attributes:\n"
            "  patient: {role: identifier}    # and the file has one row for each patient\n"
            "  age: {role: quasi_identifier}\n"
            "privacy: {k_anonymity: {k: 5}}"
        ),
    ),
    CodePage(
        "PPF563",
        "a step changes the weights of rows",
        "An attribute has `role: weight`, and a step generalizes, suppresses, perturbs or pseudonymizes it.",
        "Groups are measured by the weights that are released: one person rounded to five would count as five.",
        "Take the weight out of the step, or drop the attribute: then each row counts as one.",
        bad=(
            "attributes: {age: {role: quasi_identifier}, count: {role: weight}}\n"
            "steps: {round: {use: generalize, with: {attributes: {count: {round: 5}}}}}"
        ),
        good=(
            "attributes: {age: {role: quasi_identifier}, count: {role: weight}}\n"
            "steps: {round: {use: generalize, with: {attributes: {age: {round: 5}}}}}"
        ),
    ),
    CodePage(
        "PPF564",
        "items as they are",
        "An attribute has `role: items` (the set of things in a basket, the pages of a visit), and a release has it"
        " neither rolled up to categories nor randomized. A warning.",
        "A few items that somebody knows of find one basket among millions, and show all the rest of it.",
        "Use `roll_up` or a step that randomizes sets, or drop the attribute.",
        bad=(
            "attributes: {basket: {role: items}}\nprivacy: {km_anonymity: {k: 5, m: 2}}    # and no step that keeps it"
        ),
        good=(
            "attributes: {basket: {role: items}}\n"
            "privacy: {itemset_breach: {level: 0.5}}\n"
            "steps: {randomize: {use: randomize_transactions}}"
        ),
    ),
    CodePage(
        "PPF565",
        "rows that no group counts",
        "`nulls: exclude` leaves rows with a missing value out of all groups, and they are released. A warning.",
        "A row that is alone in its group is not seen if one of its cells is missing.",
        "Keep such rows back with `incomplete_rows: drop`, or count what a reader sees with `own_category`.",
        bad="nulls: exclude",
        good="nulls: exclude\nsource: {path: table.csv, incomplete_rows: drop}",
    ),
    CodePage(
        "PPF566",
        "templates that contradict each other",
        "A template wants at most h of the rows to have a value, and a negated one at least 1 - h of them; or the"
        " values that negated templates want present would need more than all rows together. What holds of every group"
        " holds of the whole table, so no table can satisfy them at once. The smallest such set is named; every other"
        " failure depends on the data, and each template then fails or holds by itself (`plan --data` shows it). Of an"
        " attribute that no release has, every template holds.",
        "Nothing could ever be released.",
        "Raise a confidence: those of a value and of not having it must add up to at least 1.",
        bad=(
            "privacy:\n"
            "  templates:\n"
            "    rare: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.2}\n"
            "    not-too-rare: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.7, negated: true}"
        ),
        good=(
            "privacy:\n"
            "  templates:\n"
            "    rare: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.2}\n"
            "    not-too-rare: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.95, negated: true}"
        ),
    ),
    CodePage(
        "PPF567",
        "a release without columns",
        "Every attribute is an identifier or a subject that no step replaces, or is dropped on the way to the release.",
        "A file without columns tells nobody anything; most likely a role or a `drop` is not what was meant.",
        "Give a column another role, or replace identifiers with `pseudonymize` or `generalize` before the release.",
        bad="attributes:\n  name: {role: identifier}\nreleases:\n  study: {path: study.csv}",
        good="attributes:\n  name: {role: identifier}\n  outcome: {role: insensitive}\n"
        "releases:\n  study: {path: study.csv}",
    ),
    CodePage(
        "PPF568",
        "variety that is asked of randomized values",
        "A requirement on the values of classes (`l_diversity`, `t_closeness`, `alpha_k`, `delta_disclosure`,"
        " `beta_likeness`, `lkc`) or on combinations of items (`km_anonymity`) is about an attribute that a step"
        " randomizes. A warning: it cannot be verified, so the release will be withheld (PPF880).",
        "Values that were drawn at random vary, whether the people's own values do or not; whoever knows the operator"
        " sees through it. Counting them would promise a protection that is none.",
        "Require `sensitivities` of a perturbed attribute, `itemset_breach` of randomized sets, or do not randomize.",
        bad=(
            "attributes: {age: {role: quasi_identifier}, disease: {role: sensitive, domain: [flu, cold,"
            " HIV]}}\n"
            "privacy: {l_diversity: {disease: {l: 3}}, sensitivities: {disease: {default: {tolerance: 3}}}}\n"
            "steps:\n"
            "  perturb: {use: fine_grain_perturbation}"
        ),
        good=(
            "attributes: {age: {role: quasi_identifier}, disease: {role: sensitive, domain: [flu, cold,"
            " HIV]}}\n"
            "privacy: {sensitivities: {disease: {default: {tolerance: 3}}}}\n"
            "steps:\n"
            "  perturb: {use: fine_grain_perturbation}"
        ),
    ),
    *SETS,
    *ITEMSETS,
)
