"""Pages on requirements on inferences, generated tables and randomized sets, and on k-anonymity."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.api.concept import REQUIREMENTS, Concept

REQUIREMENT_CONCEPTS: Mapping[str, Concept] = {
    "k_anonymity": Concept(
        REQUIREMENTS,
        "every combination of quasi-identifier values that occurs belongs to at least `k` released rows",
        "`attributes` names other attributes than all quasi-identifiers. Figure: `privacy.k_anonymity.k`, the size of"
        " the smallest class. `nulls:` says how missing values count. Generated rows belong to nobody: of them, what is"
        " counted in a class is the original rows that have what some row of it had when it was generated; a class that"
        " repeats no original row is reported and not judged. Shares and diversities (`templates`, `alpha_k`, `lkc`,"
        " `l_diversity`, `t_closeness` and their like) are the worse of the generated rows' and of those originals'.",
        "privacy:\n  k_anonymity: {k: 5}",
        why="Whoever knows the quasi-identifiers of somebody finds that person's row among at least k that look alike.",
        formula="min over classes C of |C| >= k, C being the released rows with equal values of all quasi-identifiers.",
        reference="Samarati, Sweeney, Protecting privacy when disclosing information, SRI-CSL-98-04, 1998",
        bad="privacy:\n  k_anonymity: {k: 1}   # every table is 1-anonymous: k starts at 2",
        fix="`full_domain_recoding` or `mondrian` find classes of k rows; coarser `hierarchy` levels and fewer"
        " quasi-identifiers lose less. It says nothing of what the rows of a class have in common: add"
        " `l_diversity` or `t_closeness`.",
    ),
    "templates": Concept(
        REQUIREMENTS,
        "no group over a channel reveals a sensitive value with more than the given confidence",
        "Several values are several templates with one channel and one threshold, never their union (Wang, Fung, Yu,"
        " ICDM 2005). Figure: `privacy.templates.NAME.confidence`, the worst over all groups and values.",
        "privacy:\n  templates:\n    no-discharged:\n      channel: [job, country]\n"
        "      sensitive: {bankruptcy: [Discharged]}\n      confidence: 0.75",
        why="A group of hundreds may still tell a secret of all its members. Not who somebody is counts here, but"
        " what can be inferred of them.",
        formula="conf(IC -> pi) = max over groups g of the channel of |rows of g with pi| / |rows of g| <= h.",
        reference="Wang, Fung, Yu, Template-based privacy preservation in classification problems, ICDM 2005,"
        " definitions 1 and 2",
        bad="privacy:\n"
        "  templates:\n"
        "    t: {channel: [age], sensitive: {disease: [HIV]}, confidence: 1.0}   # bounds nothing",
        fix="Let `progressive_disclosure` suppress values of the channel, coarsen the channel's attributes first,"
        " or accept a higher confidence: `ppdm-flow sweep` shows what each costs.",
    ),
    "sensitivities": Concept(
        REQUIREMENTS,
        "(r1, r2) for each value: a prior of at most r1 must not become a posterior above r2",
        "With `directions: both` (the default) a prior of at least r2 must not fall below r1 either. It is judged from"
        " the operator of a perturbation over all priors, so an attribute that no step perturbs cannot satisfy it."
        " Figure: `privacy.sensitivities.ATTRIBUTE.margin`, which holds at 0 or below.\n\n"
        "`default: {tolerance}` sets r1 to a value's frequency in the data and r2 to so many times that. The operator"
        " is then made from the frequencies, and `operator.json`, which leaves beside the data, gives them away:"
        " whoever has it works out how often each value occurs in the original, exactly, and one person more or less"
        " shows."
        " So it is refused where a release that carries the attribute is `audience: public` (PPF646); the report of any"
        " other says it (PPF647). `default: {r1, r2}` tells no frequency: the same bound for every value makes"
        " the same operator whatever the data.",
        "privacy:\n  sensitivities:\n    disease:\n      default: {tolerance: 5}\n      values:\n"
        "        HIV: {r1: 0.10, r2: 0.25}",
        why="Values differ in what they harm. Each gets bounds of its own, which hold whatever somebody believed"
        " beforehand.",
        formula="for every prior P(v) <= r1 and every released value y: P(v | y) <= r2; it holds for all priors where"
        " P(y | v) / P(y | v') <= r2 (1 - r1) / (r1 (1 - r2)).",
        reference="Chaytor, Wang, Fine grain perturbation for privacy preserving data publishing;"
        " Evfimievski, Gehrke, Srikant, Limiting privacy breaches in privacy preserving data mining, PODS"
        " 2003",
        bad="privacy:\n"
        "  sensitivities:\n"
        "    disease:\n"
        "      values: {HIV: {r1: 0.3, r2: 0.2}}   # the posterior's bound below the prior's",
        fix="Perturb the attribute with `fine_grain_perturbation`, which computes the operator that keeps the"
        " bounds and the most values; no other step may touch the attribute afterwards.",
    ),
    "anonymity_score": Concept(
        REQUIREMENTS,
        "the Normalised Anonymity Score (NAS) of the released rows is at most `max`",
        "AS(p, o) sums, over the supports s that rows have in the original o, 1/s times the share of the rows of"
        " support s that occur in the release p; NAS = AS(p, o) / AS(o, o). 0: no original row is released; 1: every"
        " one is. Rare rows count most: finding a row that only one person has gives that person away"
        " (Vreeken, van Leeuwen, Siebes,"
        " ICDM 2007). Compared are all released attributes that the original has, with renamed ones under their"
        " name in the source; identifiers, subjects, weights and sets are left out, and so are attributes that"
        " generalization or pseudonyms gave other values. A missing value is a value like any other, whatever `nulls`"
        " says. Attributes with an `intervals` hierarchy are compared twice, exactly and by interval, and the"
        " higher score counts. Figure: `privacy.anonymity_score.nas`.",
        "privacy:\n  anonymity_score: {max: 0.5}",
        why="Generated rows are nobody's only as long as they are not the original ones by another way.",
        formula="AS(p, o) = sum over supports s of |{rows of support s in o that occur in p}| / (s |{rows of support"
        " s in o}|); NAS = AS(p, o) / AS(o, o).",
        reference="Vreeken, van Leeuwen, Siebes, Preserving privacy through data generation, ICDM 2007, section 4",
        bad="privacy:\n  anonymity_score: {max: 1}   # a copy of the original keeps it",
        fix="Raise `min_support` or `laplace` of `krimp_generator`, or use `blend: strict`; fewer or coarser"
        " attributes make rows less telling.",
    ),
    "blend": Concept(
        REQUIREMENTS,
        "of the released rows that are rare in the release, at most a share of `max` is rare in the original too",
        "Rare is a support below `min_support`: rows, or a share of the rows of either table. A released row blends in"
        " where at least `min_support` original rows are like it, or none is: minsup in the role of k (Vreeken, van"
        " Leeuwen, Siebes, ICDM 2007). Where no released row is rare the figure is 0. Rows are compared as for"
        " `anonymity_score`. Figure: `privacy.blend.share`.",
        "privacy:\n  blend: {min_support: {count: 20}, max: 0.03}",
        why="A rare row that comes up in the release as rare as it was points to the few people who had it.",
        formula="|{r in release: supp(r, release) < minsup and 0 < supp(r, original) < minsup}| / |{r in release:"
        " supp(r, release) < minsup}| <= max.",
        reference="Vreeken, van Leeuwen, Siebes, Preserving privacy through data generation, ICDM 2007, section 2",
        bad="privacy:\n  blend: {min_support: {count: 1}}   # no row is rarer than one: nothing is bounded",
        fix="`krimp_generator` with `blend: strict` makes no such row; a higher `min_support` of the generator"
        " makes fewer.",
    ),
    "itemset_breach": Concept(
        REQUIREMENTS,
        "no item of an original set is inferred from what was released in its place with more than `level`",
        "For itemsets A of as many items as `sizes` says and every item z, in A or not: the share of the original sets"
        " with z, among those whose randomized version holds all of A, is at most `level` (Evfimievski, Srikant,"
        " Agrawal, Gehrke, KDD 2002). It is judged from the operator and the original's own partial supports, length"
        " by length, and the bytes are tested to come from that operator. `max_supports` are the largest supports of"
        " itemsets of 1, 2, … items that anyone has to reckon with, as shares of the sets of one length; left out,"
        " those of the data. Where the data exceed them the requirement does not hold. Lengths with fewer than `pool`"
        " sets are judged together with the next ones: how often their items occur says more of single people than of"
        " a population. Figure: `privacy.itemset_breach.worst_posterior`.",
        "privacy:\n  itemset_breach: {level: 0.5, sizes: [1, 2, 3]}\n"
        "steps:\n  randomize: {use: randomize_transactions}",
        why="What is seen in a randomized set may make an item of the original all but certain, the more so the"
        " rarer the itemset is by chance.",
        formula="for every itemset A of the sizes and every item z in A or not: P(z in t | A in R(t)) <= level.",
        reference="Evfimievski, Srikant, Agrawal, Gehrke, Privacy preserving mining of association rules, KDD 2002,"
        " definition 4",
        bad="privacy:\n  itemset_breach: {level: 1, sizes: [1]}   # certainty would be allowed",
        fix="Let `randomize_transactions` choose its parameters; `limit_items` and `roll_up` before it make sets"
        " shorter and items fewer, which costs less randomness.",
    ),
}
