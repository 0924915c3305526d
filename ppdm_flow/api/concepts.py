"""The words of the policy language and of the reports, each with a short page."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.api.concept import Concept
from ppdm_flow.api.concepts_assumptions import ASSUMPTION_CONCEPTS
from ppdm_flow.api.concepts_classes import CLASS_CONCEPTS
from ppdm_flow.api.concepts_diff import DIFF_CONCEPTS
from ppdm_flow.api.concepts_inheritance import INHERITANCE_CONCEPTS
from ppdm_flow.api.concepts_ledger import LEDGER_CONCEPTS
from ppdm_flow.api.concepts_lineage import LINEAGE_CONCEPTS
from ppdm_flow.api.concepts_lock import LOCK_CONCEPTS
from ppdm_flow.api.concepts_outputs import OUTPUT_CONCEPTS
from ppdm_flow.api.concepts_requirements import REQUIREMENT_CONCEPTS
from ppdm_flow.api.concepts_roles import ROLE_CONCEPTS
from ppdm_flow.api.concepts_tests import TEST_CONCEPTS
from ppdm_flow.api.concepts_trust import TRUST_CONCEPTS
from ppdm_flow.api.concepts_waivers import WAIVER_CONCEPTS
from ppdm_flow.core.requirements import MAX_WIDTH

_SECTIONS = "Sections of a policy"
_RISKS = "Risks of re-identification"
_USE = "Using a release"


CONCEPTS: Mapping[str, Concept] = {
    **ASSUMPTION_CONCEPTS,
    **INHERITANCE_CONCEPTS,
    **ROLE_CONCEPTS,
    **REQUIREMENT_CONCEPTS,
    **CLASS_CONCEPTS,
    **LEDGER_CONCEPTS,
    **LOCK_CONCEPTS,
    **DIFF_CONCEPTS,
    **OUTPUT_CONCEPTS,
    **TEST_CONCEPTS,
    **WAIVER_CONCEPTS,
    **LINEAGE_CONCEPTS,
    **TRUST_CONCEPTS,
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
        "`own_category`: missing is a value like any other. `wildcard`: a row with a missing value fits whatever is"
        " known of somebody in its place; their own missing value may be one that no other row has, so the crowd of"
        " a row is the rows that contradict it nowhere and are missing wherever it is. `exclude`: rows with a missing"
        " value belong to no group, and nothing covers them. A crowd under `wildcard` is made of whole groups of"
        " `own_category`: what holds under `own_category` holds under `wildcard`, and not the other way round.",
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
        " `RELEASE/NAME.FIGURE` means one of them. A gate is about every release, unless its `releases:` name some, or"
        " its audit is on one: there its figure has to be measured. Where that cannot be, the policy is refused"
        " (PPF644); where the figure does not exist after all, the release is withheld. The"
        " figure itself is held against the bounds; where it is an estimate, its interval may be at most `max_width`"
        f" wide ({MAX_WIDTH:g} if not said, for figures above 1 as a share of the figure), or the gate does not hold.",
        "gates:\n  still-useful: {metric: classifier.error_increase, max: 0.05, releases: [study]}",
    ),
    "releases": Concept(
        _SECTIONS,
        "the files that leave the house if everything holds; one DAG may feed several",
        "Rows are shuffled before each release unless `shuffle: false`. `audience` is `internal`, `partner` or"
        " `public`.",
        "releases:\n  study: {from: perturb, path: study.parquet}",
    ),
    "recipients": Concept(
        _SECTIONS,
        "`together` (the default) or `apart`: whether somebody may see two releases of a run",
        "`together`: the releases are joined where they share a pseudonym under one key, or the cells that they have in"
        " common occur once in each; requirements on groups are judged on the joined table as well, which the report"
        " calls `A + B`. `apart` takes that back: nothing can measure that nobody gets two, the report's first screen"
        " says it, and `diff` calls it weaker. Releases of other runs stay with the `ledger`.",
        "recipients: apart\nreleases:\n  clinic: {path: clinic.csv}\n  insurer: {path: insurer.csv}",
    ),
    "randomness": Concept(
        _SECTIONS,
        "`sealed` (a secret key from the operating system, the default) or `reproducible` (a seed, for tests)",
        "Randomization protects only while the randomness is secret: a seed in a policy undoes the perturbation.",
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
    "prosecutor_risk": Concept(
        _RISKS, "the highest chance to pick a person's row, for one who knows that the person is in the data"
    ),
    "journalist_risk": Concept(
        _RISKS, "the highest chance to pick a person's row, for one who does not know whether the person is in it"
    ),
    "marketer_risk": Concept(_RISKS, "the expected share of rows that a linkage of the whole release gets right"),
}
