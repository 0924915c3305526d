"""The words of the policy language and of the reports, each with a short page."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.api.concept import REQUIREMENTS as _REQUIREMENTS
from ppdm_flow.api.concept import Concept
from ppdm_flow.api.concepts_classes import CLASS_CONCEPTS
from ppdm_flow.api.concepts_ledger import LEDGER_CONCEPTS

_ROLES = "Roles"
_SECTIONS = "Sections of a policy"
_FIGURES = "Figures"
_USE = "Using a release"


CONCEPTS: Mapping[str, Concept] = {
    "identifier": Concept(
        _ROLES,
        "an attribute that names a person by itself, such as a name or a customer number",
        "It is dropped at the source unless a step replaces it (`pseudonymize`, `generalize`); one that would reach a"
        " release under its own values is an error (PPF550).",
        "attributes:\n  customer_id: {role: identifier}",
    ),
    "quasi_identifier": Concept(
        _ROLES,
        "an attribute that others may know from elsewhere, and by which a person could be found among the rows",
        "`privacy.k_anonymity` counts rows over all of them unless it names its own.",
        "attributes:\n  age: {role: quasi_identifier, type: integer}",
    ),
    "sensitive": Concept(
        _ROLES,
        "an attribute that nobody should be able to conclude about a person",
        "Protect it with `privacy.templates`, `l_diversity`, `t_closeness` or `privacy.sensitivities`: k-anonymity"
        " alone does not (PPF551).",
        "attributes:\n  disease: {role: sensitive}",
    ),
    "target": Concept(_ROLES, "the class that the wanted analysis predicts; class-aware steps and audits look at it"),
    "insensitive": Concept(_ROLES, "an attribute that neither finds nor harms a person; it is published as it is"),
    "weight": Concept(
        _ROLES,
        "the number of equal rows that a row of a collapsed table stands for",
        "Counts and suppression work on the collapsed table. A step that randomizes rows writes them out singly first.",
    ),
    "subject": Concept(
        _ROLES,
        "the person that a row belongs to, where a person has several rows",
        "Requirements count rows, so they are refused where a subject is declared (PPF562).",
    ),
    "items": Concept(_ROLES, "the set-valued column of transaction data"),
    "k_anonymity": Concept(
        _REQUIREMENTS,
        "every combination of quasi-identifier values that occurs belongs to at least `k` released rows",
        "`attributes` names other attributes than all quasi-identifiers. Figure: `privacy.k_anonymity.k`, the size of"
        " the smallest class. `nulls:` says how missing values count.",
        "privacy:\n  k_anonymity: {k: 5}",
    ),
    "templates": Concept(
        _REQUIREMENTS,
        "no group over a channel reveals a sensitive value with more than the given confidence",
        "Several values are several templates with one channel and one threshold, never their union (Wang, Fung, Yu,"
        " ICDM 2005). Figure: `privacy.templates.NAME.confidence`, the worst over all groups and values.",
        "privacy:\n  templates:\n    no-discharged:\n      channel: [job, country]\n"
        "      sensitive: {bankruptcy: [Discharged]}\n      confidence: 0.75",
    ),
    "sensitivities": Concept(
        _REQUIREMENTS,
        "(r1, r2) for each value: a prior of at most r1 must not become a posterior above r2",
        "With `directions: both` (the default) a prior of at least r2 must not fall below r1 either. It is judged from"
        " the operator of a perturbation over all priors, so an attribute that no step perturbs cannot satisfy it."
        " Figure: `privacy.sensitivities.ATTRIBUTE.margin`, which holds at 0 or below.",
        "privacy:\n  sensitivities:\n    disease:\n      default: {tolerance: 5}\n      values:\n"
        "        HIV: {r1: 0.10, r2: 0.25}",
    ),
    "anonymity_score": Concept(
        _REQUIREMENTS,
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
    ),
    "blend": Concept(
        _REQUIREMENTS,
        "of the released rows that are rare in the release, at most a share of `max` is rare in the original too",
        "Rare is a support below `min_support`: rows, or a share of the rows of either table. A released row blends in"
        " where at least `min_support` original rows are like it, or none is: minsup in the role of k (Vreeken, van"
        " Leeuwen, Siebes, ICDM 2007). Where no released row is rare the figure is 0. Rows are compared as for"
        " `anonymity_score`. Figure: `privacy.blend.share`.",
        "privacy:\n  blend: {min_support: {count: 20}, max: 0.03}",
    ),
    "itemset_breach": Concept(
        _REQUIREMENTS,
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
    ),
    **CLASS_CONCEPTS,
    **LEDGER_CONCEPTS,
    "source": Concept(
        _SECTIONS,
        "where the data is and how it is read; `--data` overrides its path",
        "A step or a release that reads `source` reads the data before any step.",
        'source:\n  path: data/bank.csv\n  missing: ["?", ""]\n  incomplete_rows: keep',
    ),
    "attributes": Concept(
        _SECTIONS,
        "what each column is: `role`, `type`, `domain`, `hierarchy`; names may be glob patterns",
        "Its own name goes before patterns; of several patterns the first in the policy holds.",
        'attributes:\n  "addr_*": {role: quasi_identifier}',
    ),
    "undeclared": Concept(
        _SECTIONS, "`error` (the default) or `drop`: what happens to columns that the policy does not declare"
    ),
    "nulls": Concept(
        _SECTIONS,
        "how groups treat missing values: `own_category`, `wildcard` or `exclude`",
        "`own_category`: missing is a value like any other. `wildcard`: it matches every value. `exclude`: rows with a"
        " missing value belong to no group.",
    ),
    "privacy": Concept(
        _SECTIONS,
        "what must hold of every release; each entry is measured on the released bytes and gates the release",
        "A requirement that no step serves is legal: it is measured all the same.",
    ),
    "steps": Concept(
        _SECTIONS,
        "the transformations; each reads the step before it unless `input:` says otherwise",
        "`input:` is `source`, a step's name, or `step.output` where a step has several outputs.",
        "steps:\n  suppress: {use: progressive_disclosure}\n  perturb: {use: fine_grain_perturbation, input: suppress}",
    ),
    "audits": Concept(
        _SECTIONS,
        "what is measured beside the requirements: utility, attacks; on every release, or on the one named",
        "",
        "audits:\n  classifier: {use: classification_error, with: {target: rating}}",
    ),
    "gates": Concept(
        _SECTIONS,
        "bounds on any measured figure, on either side",
        "A metric is `NAME.FIGURE`, NAME being an audit, a step or a requirement; with several releases,"
        " `RELEASE/NAME.FIGURE` means one of them. Where a gate's figure does not exist, the release is withheld.",
        "gates:\n  still-useful: {metric: classifier.error_increase, max: 0.05}",
    ),
    "releases": Concept(
        _SECTIONS,
        "the files that leave the house if everything holds; one DAG may feed several",
        "Rows are shuffled before each release unless `shuffle: false`. `audience` is `internal`, `partner` or"
        " `public`.",
        "releases:\n  study: {from: perturb, path: study.parquet}",
    ),
    "randomness": Concept(
        _SECTIONS,
        "`sealed` (a secret key from the operating system, the default) or `reproducible` (a seed, for tests)",
        "Randomization protects only while the randomness is secret: a seed in a policy undoes the perturbation.",
    ),
    "k": Concept(_FIGURES, "the number of rows in the smallest equivalence class over the quasi-identifiers"),
    "confidence": Concept(
        _FIGURES, "the largest share of one sensitive value in a group over a template's channel: what one could infer"
    ),
    "smallest_group": Concept(
        _FIGURES, "the rows of the smallest group over a template's channel, where the template gives a `min_support`"
    ),
    "information_kept": Concept(
        _FIGURES,
        "what a disclosure keeps: the information of the class and each attribute's cells, summed, in bits a row",
        "Without a target, the entropy of the cells. `search: beam` and `search: lookahead` maximize it, and"
        " `information_gained_by_search` is what they keep beyond the greedy search.",
    ),
    "nas": Concept(
        _FIGURES,
        "the Normalised Anonymity Score: how many original rows occur in the release, the rarer the more they count",
        "0: none; 1: all. See `explain anonymity_score`.",
    ),
    "margin": Concept(
        _FIGURES,
        "how far the worst posterior lies beyond what (r1, r2) allows, upward or downward; at 0 or below it holds",
    ),
    "record_utility": Concept(_FIGURES, "the expected share of records that keep their value under a perturbation"),
    "aggregate_utility": Concept(
        _FIGURES, "how well the original frequencies can be reconstructed from perturbed data; 1 is exactly"
    ),
    "reconstruction": Concept(
        _USE,
        "estimating, from a release alone, how often each value of a perturbed attribute occurred before",
        "`operator.json` beside the data says how likely each value was kept or replaced. `ppdm-flow reconstruct`"
        " turns the released counts back: `--method inverse` by the operator's inverse, without bias, `--method em`"
        " by maximum likelihood (iterative Bayesian reconstruction). Both come with standard errors and intervals"
        " that condition on the fixed original table: they say how far the perturbation alone can have moved the"
        " count of these very rows, and nothing of a population that the rows are a sample of. An interval is for"
        " its value alone; of 20 intervals at 95 % about one misses. Two values that the operator never keeps (p ="
        " 0) cannot be told apart: only their sum is estimated. `--by` and `--where` choose rows by other released"
        " columns; columns that the release generalized or suppressed are taken as they were released.",
        "# ppdm-flow reconstruct RELEASE --by age,sex\n# ppdm-flow reconstruct RELEASE --where sex=female --format csv",
    ),
    "sweep": Concept(
        _USE,
        "measuring one policy at many values of its parameters, to see which are worth having; no data is released",
        "`--over PATH=V1,V2` puts values in a place of the policy (`params.k`, `privacy.k_anonymity.k`,"
        " `steps.NAME.PARAM`), ranges are `2..10` and `0.1..0.9:5`; several make a grid. All points are checked before"
        " any runs, and floors hold for them. `--metrics` names figures or requirements, `:min` or `:max` behind a"
        " name says which side is better. A point is dominated if another one is at least as good in every figure and"
        " better in one; the others are the frontier. Candidates are made, measured and deleted: several releases of"
        " one table would add up. Whoever picks the best of many points has looked at the original many times: of"
        " many values, some look good by chance, so run the chosen policy once more and believe that run.",
        "# ppdm-flow sweep POLICY --over steps.generate.min_support=1,5,20 --metrics anonymity_score.nas",
    ),
    "suppressed_cells": Concept(_FIGURES, "the number of cells that a step replaced by ⊥"),
    "error_increase": Concept(
        _FIGURES, "the error of a classifier trained on the release, minus that of one trained on the original"
    ),
    "base": Concept(_FIGURES, "the error of a classifier trained on the original data (the papers' BE)"),
    "suppressed": Concept(_FIGURES, "the error of a classifier trained on the released data (the papers' SE)"),
    "removed": Concept(_FIGURES, "the error of a classifier trained without the sensitive attributes (the papers' RE)"),
    "prosecutor_risk": Concept(
        _FIGURES, "the highest chance to pick a person's row, for one who knows that the person is in the data"
    ),
    "journalist_risk": Concept(
        _FIGURES, "the highest chance to pick a person's row, for one who does not know whether the person is in it"
    ),
    "marketer_risk": Concept(_FIGURES, "the expected share of rows that a linkage of the whole release gets right"),
}
