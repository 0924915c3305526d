"""The terms of the field, each with the pattern by which a report is found to use it."""

from __future__ import annotations

from ppdm_flow.report.glossary_classes import CLASS_TERMS

TERMS: tuple[tuple[str, str, str], ...] = (
    (
        "Released, withheld",
        "",
        (
            "A release leaves only if every requirement and every gate holds on it, as measured on the"
            " finished file. Otherwise everything is withheld."
        ),
    ),
    (
        "Requirement",
        r"\"privacy\.",
        (
            "What the policy's `privacy` section says must hold. The steps try to reach it; the audit measures it"
            " again on the released file and does not trust the steps."
        ),
    ),
    ("Gate", r"\"gates\.", "A bound that the policy puts on any other measured figure, for example on usefulness."),
    (
        "Quasi-identifier",
        r"k_anonym|l_divers|t_close|quasi|class_sizes|reidentif|prosecutor",
        (
            "An attribute that others may know from elsewhere, such as age or region, and by which a person could"
            " be found among the rows."
        ),
    ),
    (
        "Equivalence class",
        r"k_anonym|l_divers|t_close|alpha_k|delta_disc|beta_like|k_map|equivalence|class_sizes|reidentif|prosecutor",
        "All rows that agree on every quasi-identifier. Nobody can be told apart within a class.",
    ),
    (
        "k-anonymity",
        r"k_anonym",
        "Every equivalence class has at least k rows, so a person is hidden among k or more.",
    ),
    *CLASS_TERMS,
    (
        "Support",
        r"anonymity_score|blend|\.nas\"|min_support",
        "The number of rows of a table that are equal to a row, itself included. A row of support 1 is like no other.",
    ),
    (
        "Anonymity score (AS, NAS)",
        r"anonymity_score|\.nas\"",
        (
            "How many of the original rows occur in the release: the share found among the rows of each support s,"
            " summed with the weight 1/s, since what few people share gives more away. Normalised by the score of the"
            " original itself: 0% is no original row, 100% is every one."
        ),
    ),
    (
        "Blend",
        r"blend",
        (
            "Of the released rows that are rare in the release, the share that is rare in the original too. The others"
            " are equal to many original rows or to none."
        ),
    ),
    (
        "Itemset breach",
        r"itemset_breach",
        (
            "A released set stands for an original one, and was randomized: some items were left out, many others put"
            " in. Whoever sees an itemset in it may conclude that the original has one of these items, or another one."
            " The level is the highest probability with which that is right."
        ),
    ),
    (
        "Lowest discoverable support",
        r"lowest_support|lowest_discoverable|\.lowest\.[0-9]",
        (
            "How often an itemset must occur in the original sets to be told from one that does not occur: its"
            " estimate is then 4 standard errors above zero. It falls with the square root of the number of sets."
        ),
    ),
    (
        "True positive, false drop, false positive",
        r"false_drops",
        (
            "Itemsets that were frequent and are found in the randomized sets; that were frequent and are not found;"
            " that are found and were not frequent. The estimates of the last two lie on the wrong side of the minimum"
            " support, most by little."
        ),
    ),
    (
        "Inference channel, confidence",
        r"templates|confidence",
        (
            "A set of attributes from which a sensitive value could be concluded. The confidence is the share of rows"
            " in a group with equal channel values that have the sensitive value: what an observer could conclude."
            " Of a negated template (≠) it is the share of those without the value."
        ),
    ),
    (
        "Sensitivity (r1, r2)",
        r"sensitivit|posterior|prior",
        (
            "Whoever held a value for at most r1 likely before seeing the release must not come to hold it for more"
            " than r2 likely after, and the other way about. Prior and posterior are these beliefs before and after."
        ),
    ),
    (
        "Margin",
        r"margin",
        "How far the worst posterior lies beyond what is allowed, in percentage points: below zero is inside.",
    ),
    (
        "Suppression (⊥)",
        r"suppress|progressive_disclosure",
        "A value is replaced by ⊥ and is not published. ⊥ is not the same as a missing value.",
    ),
    (
        "Generalization",
        r"generaliz",
        "A value is replaced by a coarser one, such as an age by an interval.",
    ),
    (
        "Perturbation",
        r"perturb",
        (
            "Each value is kept with a known probability and otherwise replaced by a random one. No single row"
            " can be relied on, while frequencies can be estimated from the published probabilities."
        ),
    ),
    (
        "Record utility",
        r"record_utility",
        "The share of rows that are expected to keep their value under a perturbation.",
    ),
    (
        "Aggregate utility",
        r"aggregate|reconstruct|inverse|bayes",
        "How closely the original frequencies can be estimated back from perturbed data; 100% is exact.",
    ),
    (
        "General perturbation, restriction cost",
        r"general_record_utility|restriction_cost",
        (
            "The most rows that any perturbation at all could keep under the same bounds, and how much of that the"
            " simpler form used here gives away."
        ),
    ),
    (
        "Price of a bound (shadow price)",
        r"shadow|ppf770",
        "How many more rows would keep their value if r2 of that value were one percentage point higher.",
    ),
    (
        "Expected reconstruction error, gap",
        r"reconstruction_error|aggregate_gap",
        (
            "How far the frequencies that a recipient reconstructs are expected to lie from the original ones (the"
            " root of the expected squared distance of the shares). The gap is what the search for the operator that"
            " is best at this may have left to gain: 0 is a local optimum."
        ),
    ),
    (
        "Posterior at the data's own prior",
        r"at_own_prior|off_prediction",
        (
            "What someone can believe who knows the true frequencies beforehand: computed from the operator, and"
            " counted over pairs of original and released rows. Both should agree within the interval."
        ),
    ),
    (
        "Epsilon",
        r"\.epsilon",
        (
            "Local differential privacy: the logarithm of the highest ratio between the probabilities of one released"
            " value under two original ones. The lower, the less a release tells of a row."
        ),
    ),
    (
        "Recovered from the seed",
        r"recovered_from_seed|ppf817",
        "The share of rows whose original value the seed in the policy gives back: a seed undoes a perturbation.",
    ),
    (
        "Corruption, exposure",
        r"after_corruption|worst_posterior",
        (
            "What someone can learn about a person who knows the true values of some of the others. A value is certain"
            " where belief comes to 100%; exposure is the chance that a person's own value was kept and is shown."
        ),
    ),
    (
        "Information kept",
        r"information_kept",
        "What the cells that are left tell of the class, summed over attributes, in bits a row.",
    ),
    (
        "Total variation distance",
        r"variation|tvd|total_var",
        "Half the sum of all differences between two distributions: 0% is identical, 100% has nothing in common.",
    ),
    (
        "Association",
        r"associat|cramer",
        "How strongly two attributes go together; a change of it shows what relations the release has lost.",
    ),
    (
        "Classification error (BE, SE, RE)",
        r"error_increase|classif",
        (
            "The share of wrong predictions of a classifier on rows that it has not seen: learnt from the"
            " original data (base), from the release (suppressed), and with the protected attributes left out"
            " altogether (removed)."
        ),
    ),
    (
        "Prosecutor, journalist, marketer risk",
        r"prosecutor|journalist|marketer|reidentif",
        (
            "The chance to re-identify a person known to be in the data, any one person in the data, and the share"
            " of all persons that a mass attack would find."
        ),
    ),
    (
        "Interval, rows looked at",
        r"interval|\"sample\"",
        (
            "A figure that is estimated from part of the data or from repeated trials comes with the range in"
            " which the true figure is expected."
        ),
    ),
    (
        "Dissimilarity of code tables",
        r"\.uncorrelated_ratio|krimp_dissimilarity",
        (
            "How much longer data become when they are written with the patterns of the other table than with their"
            " own: 0% if both have the same patterns. The original against a random half of itself is the yardstick."
        ),
    ),
    (
        "Held-out rows, control group",
        r"closer_to_training|held out|held-out|\.holdout",
        (
            "Rows of the original that a generator did not learn from. What an attack achieves on them it achieves on"
            " anybody; only what it achieves beyond that on others is owed to their data."
        ),
    ),
    (
        "Membership inference, AUC",
        r"\.auc\"|membership_inference",
        (
            "Telling from the release who was in the data. AUC is the share of pairs, one person in the data and one"
            " outside, in which the attack scores the first one higher: 50% is guessing."
        ),
    ),
    (
        "Attribute disclosure",
        r"attribute_disclosure|\.smallest_l|PPF863",
        (
            "Guessing a sensitive value of a person from released rows that look like the person. The risk is the"
            " share of guesses that fail on people outside of the data and succeed because a person is in it."
        ),
    ),
    (
        "Shuffling",
        r"shuffle",
        "The rows are put into a random order, because the order itself can identify people.",
    ),
    (
        "Pseudonym",
        r"pseudonym",
        "A code that stands for an identifier and can be made again only with the secret key.",
    ),
)
"""(term, pattern that shows that a report uses it, explanation)."""
