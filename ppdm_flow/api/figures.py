"""The figures of reports, by the last part of their names, in a sentence each."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.api.concept import Concept

_GROUPS: Mapping[str, Mapping[str, str]] = {
    "Figures of classes and re-identification": {
        "k_own_category": "k where a missing value is a value like any other (`nulls: own_category`)",
        "k_wildcard": "k where a missing value matches every value (`nulls: wildcard`)",
        "k_exclude": "k where rows with a missing value belong to no class (`nulls: exclude`)",
        "classes": "the number of equivalence classes over the quasi-identifiers",
        "uniques": "the rows that are alone in their equivalence class",
        "rows_below": "the rows in classes smaller than the k that is asked for",
        "rows_left_out": "the rows that belong to no class because a quasi-identifier is missing (`nulls: exclude`)",
        "smallest": "the rows of the smallest equivalence class",
        "largest": "the rows of the largest equivalence class",
        "mean": "the mean size of an equivalence class",
        "median": "the size of the middle one of all equivalence classes, by size",
        "mean_of_a_row": "the size of the class that a row drawn at random is in, on average",
        "prosecutor_highest": "the highest risk of one whom an attacker knows to be in the data: 1 / smallest class",
        "prosecutor_average": "the mean of that risk over the rows",
        "prosecutor_at_risk": "the share of rows whose risk is above the audit's `threshold`",
        "prosecutor_at_highest": "the share of rows that have the highest risk",
        "journalist_highest": "the highest risk of one whom an attacker only knows to be in the `population`",
        "journalist_average": "the mean of that risk over the rows",
        "journalist_at_risk": "the share of rows whose journalist risk is above the audit's `threshold`",
        "marketer_average": "the share of rows that a linkage of the whole release is expected to get right",
    },
    "Figures of full-domain recoding": {
        "cost": "what the chosen levels cost by the step's `cost`, suppressed rows included; smaller is better",
        "suppressed_rows": "the rows of classes that break a requirement at the chosen levels",
        "suppressed_rows_share": "their share of all rows",
        "level": "how many levels an attribute was generalized; 0 are its values themselves",
        "lattice_nodes": "the ways to give every attribute a level",
        "nodes_checked": "those of them that were looked at; all others cannot be better, if the optimum is proven",
        "optimum_proven": "1 where no other levels cost less, 0 where the search was ended before that was known",
    },
    "Figures of templates": {
        "confidence_before": "the same confidence in the original data",
        "inferences": "the (group, value) pairs over a channel whose confidence goes beyond the template's",
        "inferences_before": "as many in the original data",
        "violating_groups": "the groups over a channel from which more can be inferred than the template allows",
        "violating_groups_before": "as many in the original data",
        "violating_rows": "the rows in these groups",
        "violating_rows_before": "as many in the original data",
        "suppressed_values": "the distinct values that are suppressed wherever they occur",
        "suppressed_share": "the share of cells that are suppressed, of those that could have been",
        "disclosed_values": "the distinct values that the search could disclose again",
        "disclosures": "the steps of the search, each of which disclosed a value",
        "redundant_templates": "the templates that hold wherever another one does, and so cost nothing more",
    },
    "Figures of perturbation: what an attacker can believe": {
        "worst_upward": "the highest posterior that any prior of at most r1 can come to, over all bounded values",
        "worst_downward": "the lowest posterior that any prior above r2 can fall to, over all bounded values",
        "upward_margin": "how far the worst upward posterior lies beyond r2; at 0 or below it holds",
        "downward_margin": "how far the worst downward posterior lies beyond r1; at 0 or below it holds",
        "highest_at_own_prior": "the highest posterior of one who knows the true frequencies, by the operator",
        "lowest_at_own_prior": "the lowest posterior of one who knows the true frequencies, by the operator",
        "measured_at_own_prior": "the same posterior counted over pairs of original and released rows, with an"
        " interval: it should hold what `highest_at_own_prior` says",
        "values_off_prediction": "the values whose counted posterior has an interval without the predicted one:"
        " a few by chance, many if the bytes do not follow the operator",
        "recovered_from_seed": "the share of rows whose original value the seed in the policy gives back: anything but"
        " `sealed` randomness undoes the perturbation",
        "epsilon": "the local differential privacy of the operator: the logarithm of the highest ratio of two"
        " probabilities of one released value; the lower, the more private",
        "p_value": "how well the released bytes fit the operator: if below one in a million, they are taken for others",
        "outside_cells": "the released cells that the operator cannot have made",
    },
    "Figures of perturbation: what it costs": {
        "expected_record_utility": "the share of rows that are expected to keep their value; `record_utility` is the"
        " share that did",
        "uniform_record_utility": "the share of rows that would keep their value if all values had one probability",
        "general_record_utility": "the most rows that any perturbation at all could keep under the same bounds, found"
        " by linear programming: the ceiling for `expected_record_utility`",
        "restriction_cost": "what the fine-grain form gives away: `general_record_utility` minus its own optimum",
        "shadow_prices": "what each bound costs: how many more rows would keep their value if its r2 were 0.01 higher",
        "expected_reconstruction_error": "how far the frequencies that a recipient reconstructs are expected to lie"
        " from the original ones: the root of the expected squared distance of the shares",
        "uniform_expected_reconstruction_error": "the same error if all values had one probability of being kept",
        "record_expected_reconstruction_error": "the same error of the operator that is best for single records"
        " (`objective: record`)",
        "aggregate_expected_reconstruction_error": "the same error of the operator that is best for frequencies"
        " (`objective: aggregate`)",
        "aggregate_gap": "what the search for that operator may have left to gain, as a share of its squared error:"
        " 0 at a local optimum",
        "inverse_aggregate_utility": "`aggregate_utility` by the operator's inverse instead of maximum likelihood",
        "highest_retention": "the highest probability with which a value is kept rather than drawn anew",
        "lowest_retention": "the lowest such probability",
    },
    "Figures of corruption": {
        "worst_posterior": "the highest belief in a sensitive value of one who sees the release and corrupted nobody",
        "worst_after_corruption": "the highest belief of one who knows the true values of others as well",
        "certain": "the share of rows whose sensitive value is certain without corruption",
        "certain_after_corruption": "the share of rows whose sensitive value is certain to one who knows the others",
        "exposure": "the highest probability with which a release shows a person's own value because it was kept",
        "independence_p": "how well the released value of a row is independent of other rows' values, as it must be"
        " for corruption to tell nothing; small is bad",
    },
    "Figures of generated tables": {
        "candidates": "the itemsets that the search for a code table looks at, beside single values",
        "code_table_itemsets": "the itemsets of two values or more that the code table uses: what its rows are made of",
        "bits_before": "the size of the original and of a code table of single values",
        "bits_after": "the size of the original and of the code table that was found",
        "compression": "the size after, over that of the data alone under the code table of single values (L%): the"
        " lower, the more structure was found, and the more of it is in the generated rows",
        "itemsets_per_row": "how many elements of the code table a generated row is made of, on average: at 1, rows are"
        " copies of itemsets as long as a row",
        "learned_rows": "the rows of the original that the generator learned from",
        "holdout_rows": "the rows that it did not learn from: the control group of attacks",
        "removed_candidates": "the itemsets that `remove` took away before the search",
        "removed_dependence": "the largest association (Cramér's V) that generated rows have between two that `remove`"
        " names together",
        "removed_dependence_before": "the same association in the original",
        "rejected": "the share of drafts that `blend: strict` rejects and draws anew",
        "rejection_distance": "how far that moves the shares of single attributes: the mean total variation distance",
    },
    "Figures of randomized sets": {
        "recovered": "of the itemsets that are frequent in the original, the share that mining the release finds",
        "genuine": "of the itemsets that mining the release finds, the share that is frequent in the original",
        "interval_coverage": "of the frequent itemsets' 95 % intervals, the share that holds the true support",
        "largest_itemset": "the items of the largest itemsets that were looked for in the release",
    },
    "Figures of class ids and of files that they join": {
        "posterior_bound": "the largest share of a sensitive value within a class: how sure one can be of the value"
        " of a person whose class one knows, from both files",
        "joined_tuples": "the rows of the join of two files by their key",
        "spurious_tuples": "the rows of such a join that are of no person",
        "rows_alone": "the rows whose class, or key, nothing else has",
        "homogeneous_rows": "the rows of classes in which all have one value",
        "guessed": "the share of people whose value is guessed right as the likeliest of their class",
        "guessed_without": "the same where the most frequent value of all is guessed, without any release",
        "linked_by_order": "the share of people whose value is guessed right by laying two files side by side",
        "same_order": "the share of places at which two files have the same class: by chance if both are shuffled",
        "recovered_ids": "the share of rows whose id comes back from its code or mask, with the rest of the record",
        "recovered_by_chance": "the share that the same attack gets right by chance",
        "codes": "the distinct codes or masked texts",
        "colliding_rows": "the rows that share their code with a row of another id",
        "tuples": "the rows of a lossy join: the squares of the sizes of the classes, added up",
    },
    "Figures of clusters": {
        "agreement": "the adjusted Rand index of the clusters before and after: 1 the same, 0 as by chance",
        "size_change": "half the sum of the differences of the clusters' shares, by rank of size",
        "explained_original": "the share of the variance that the clusters of the original explain",
        "explained_released": "the same of the released rows",
        "class_frequency_change": "the largest distance of a class's frequencies before and after; 0 is unchanged",
    },
    "Figures of utility": {
        "total_variation": "half the sum of the differences between a column's shares before and after: 0 is unchanged",
        "mean_total_variation": "that distance, on average over the columns",
        "largest_total_variation": "that distance in the column that changed most",
        "mean_association_change": "how much the association (Cramér's V) of two columns changed, on average",
        "largest_association_change": "how much it changed in the pair that changed most",
        "values_before": "the distinct values of an attribute before a step",
        "values_after": "the distinct values of an attribute after a step",
    },
}

FIGURES: Mapping[str, Concept] = {
    name: Concept(group, text) for group, texts in _GROUPS.items() for name, text in texts.items()
}
