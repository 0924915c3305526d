"""PPF810 to PPF849: audits of requirements, of classifiers and of risks, and those of ``originals``."""

from __future__ import annotations

from ppdm_flow.core.codes.carried import PAGES as CARRIED
from ppdm_flow.core.codes.originals import PAGES as ORIGINALS
from ppdm_flow.core.page import CodePage

_SENSITIVITIES = (
    CodePage(
        "PPF810",
        "no operator is known for a perturbed attribute",
        "A sensitivity is required of an attribute that is released, and nothing says how it was randomized.",
        "What can be learned from a value follows from the operator, not from the data. Without it no bound can"
        " be verified, and what cannot be verified does not hold.",
        "Perturb the attribute in a step (`use: fine_grain_perturbation`), or drop it. When judging a file that"
        " another tool made, hand over the `operator.json` that came with it.",
        bad="$ ppdm-flow audit policy.yaml --original patients.csv --released from-them.csv",
        good=(
            "$ ppdm-flow audit policy.yaml --original patients.csv --released from-them.csv --operator operator.json"
        ),
    ),
    CodePage(
        "PPF811",
        "the released values do not follow the operator",
        "The released values were tested against the operator that the bounds are judged from, and differ from it"
        " more than chance would do in one release out of a million.",
        "The bound holds for the operator. Bytes that do not come from it (values left as they were, another"
        " operator, values sorted or swapped afterwards) are not protected by it.",
        "Use the operator of the very step that made the release, and change the attribute in no later step.",
        bad=(
            "$ cut -d, -f2- patients.csv > released.csv    # the original values, with the operator of"
            " another file\n"
            "$ ppdm-flow audit policy.yaml --original patients.csv --released released.csv --operator"
            " operator.json"
        ),
        good="$ ppdm-flow audit policy.yaml --original patients.csv --released RELEASE/patients.csv"
        " --operator RELEASE/operator.json",
    ),
    CodePage(
        code="PPF812",
        title="cells outside the operator's domain",
        what="The original or the release has cells whose value the operator does not know, rows were released that it"
        " was not given, or released rows cannot be traced to original ones.",
        why="Such a cell was not produced by the operator, so its bound says nothing of it.",
        fix="Declare the whole `domain:` of the attribute; suppress or recode it before it is perturbed, not after.",
        bad="attributes:\n  disease: {role: sensitive, domain: [flu, HIV]}    # the data has cancer too",
        good="attributes:\n  disease: {role: sensitive, domain: [flu, HIV, cancer]}",
    ),
    CodePage(
        "PPF813",
        "a value is known too well beforehand",
        "A value is more frequent in the data than the r2 of its bound.",
        "Whoever knows the frequencies already believes in it more than r2 allows. No release can undo that; the"
        " bound still limits what those learn who believed in it less.",
        "Raise r2 above the frequency, or leave the value without a bound if it is not the secret.",
        bad=(
            "privacy:\n"
            "  sensitivities:    # 40 % of the rows have flu\n"
            "    disease: {values: {flu: {r1: 0.1, r2: 0.2}}}"
        ),
        good="privacy:\n  sensitivities:\n    disease: {values: {flu: {r1: 0.4, r2: 0.6}}}",
    ),
    CodePage(
        "PPF814",
        "too few rows to test the bytes",
        "The release is so small that an unperturbed one would pass the test against the operator as well.",
        "The bound is judged from the operator all the same; only the proof that the bytes follow it is weak.",
        "Nothing, where the release was made in this run. Be careful with a small file that someone else made.",
        bad=(
            "$ wc -l released.csv    # 30 rows\n"
            "$ ppdm-flow audit policy.yaml --original patients.csv --released released.csv --operator"
            " operator.json"
        ),
        good="$ ppdm-flow run policy.yaml    # in one run the step itself says by which operator it perturbed",
    ),
    CodePage(
        "PPF815",
        "a bound on a value that the operator does not know",
        "The policy bounds a value that is not among those that the operator chooses from.",
        "Mostly the spelling differs from the data's, and then the value that was meant has no bound.",
        "Write the value as it stands in the data.",
        bad="privacy:\n  sensitivities:    # the data writes HIV\n    disease: {values: {hiv: {r1: 0.1, r2: 0.25}}}",
        good="privacy:\n  sensitivities:\n    disease: {values: {HIV: {r1: 0.1, r2: 0.25}}}",
    ),
    CodePage(
        "PPF816",
        "the operator does not describe all that happened to the attribute",
        "More than one step randomized the attribute, or what the operator was given is not known.",
        "The bound is judged from one operator; two after each other are another one.",
        "Perturb an attribute once.",
        bad=(
            "$ ppdm-flow run first.yaml --data patients.csv --out first    # perturbs disease\n"
            "$ ppdm-flow run second.yaml --data"
            " first/first/20261121T090000Z-75924a52c386/released/study/study.csv    # again"
        ),
        good="$ ppdm-flow run policy.yaml --data patients.csv    # one policy with one perturbation of disease",
    ),
    CodePage(
        code="PPF817",
        title="the policy's seed undoes the perturbation",
        what="The policy is in reproducible mode. With its seed the audit drew again what the step drew, and so found"
        " for a share of the rows the one original value that can have become the released one. A warning.",
        why="The bound holds for those who do not know the draws. Whoever has the policy knows them.",
        fix="Use `randomness: {mode: sealed}`; keep reproducible releases among those who may see the original.",
        bad="randomness: {mode: reproducible, seed: paper-2026}",
        good="randomness: {mode: sealed}",
    ),
)

_TEMPLATES = (
    CodePage(
        "PPF820",
        "a sensitive attribute has new values",
        "The released sensitive attribute has values that it has not in the original.",
        "A new name does not hide an inference: whoever knows what the name stands for infers the same. A run decodes"
        " it; where rows cannot be paired with their originals, any new value counts as each sensitive one.",
        "Nothing, if the requirement holds. Otherwise suppress channel attributes, or drop the sensitive one.",
        bad=(
            "privacy:\n"
            "  templates: {hiv: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.2}}\n"
            "steps:    # HIV becomes H*, and whoever reads H* knows\n"
            "  hide: {use: generalize, with: {attributes: {disease: {prefix: 1}}}}"
        ),
        good=(
            "privacy:\n"
            "  templates: {hiv: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.2}}\n"
            "steps:\n"
            "  suppress: {use: progressive_disclosure, with: {attributes: [job]}}"
        ),
    ),
    CodePage(
        "PPF821",
        "a template's value never occurs",
        "A sensitive value of a template is not among the values of the original.",
        "A template on a misspelt value holds of every release and protects nothing.",
        "Write the value as it stands in the data.",
        bad=(
            "privacy:\n"
            "  templates:    # the data writes Discharged\n"
            "    t: {channel: [job], sensitive: {bankruptcy: [discharged]}, confidence: 0.5}"
        ),
        good=(
            "privacy:\n  templates:\n    t: {channel: [job], sensitive: {bankruptcy: [Discharged]}, confidence: 0.5}"
        ),
    ),
)

_CLASSIFICATION = (
    CodePage(
        "PPF822",
        "released rows that no group counts",
        "Under `nulls: exclude`, rows with a missing quasi-identifier belong to no equivalence class.",
        "They are released, and k says nothing of them: such a row may be the only one of its kind.",
        "Keep them back with `incomplete_rows: drop`, or count them with `nulls: own_category`.",
        bad="source: {path: table.csv}\nnulls: exclude\nprivacy: {k_anonymity: {k: 5}}",
        good="source: {path: table.csv, incomplete_rows: drop}\nnulls: exclude\nprivacy: {k_anonymity: {k: 5}}",
    ),
    CodePage(
        "PPF830",
        "no classification error on the release",
        "The class attribute is not released, was changed, or has too few rows with a class.",
        "An error on other classes says nothing of the original ones. The figures do not exist, and a gate on them"
        " does not hold.",
        "Release the class attribute unchanged, or name another one with `target:`.",
        bad=(
            "steps:        # nothing can be learned from three rows\n"
            "  few: {use: sample, with: {size: 3}}\n"
            "audits:\n"
            "  classifier: {use: classification_error, with: {target: readmitted}}"
        ),
        good=(
            "steps:\n"
            "  half: {use: sample, with: {fraction: 0.5}}\n"
            "audits:\n"
            "  classifier: {use: classification_error, with: {target: readmitted}}"
        ),
    ),
    CodePage(
        "PPF831",
        "classification errors of a sample",
        "The table has more rows than the audit looks at.",
        "Training dozens of classifiers on all rows takes long, and the error changes little.",
        "Raise `rows:` of the audit if it matters.",
        bad=(
            "audits:    # of two million rows the first 200,000 are looked at\n"
            "  classifier: {use: classification_error, with: {target: readmitted}}"
        ),
        good="audits:\n  classifier: {use: classification_error, with: {target: readmitted, rows: 2000000}}",
    ),
    CodePage(
        "PPF832",
        "no such class attribute",
        "The attribute that the audit should predict is not in the release, or none was named.",
        "There is nothing to learn.",
        "Give an attribute the role `target`, or name it with `target:`.",
        bad="audits:\n  classifier: {use: classification_error, with: {target: readmited}}",
        good="audits:\n  classifier: {use: classification_error, with: {target: readmitted}}",
    ),
    CodePage(
        "PPF833",
        "the class attribute is changed",
        "A step changes the attribute that the audit should predict.",
        "The errors before and after would be those of two different tasks.",
        "Let no step change the class attribute, or name another one with `target:`.",
        bad="attributes: {income: {role: target, type: integer}}\n"
        "steps:\n"
        "  coarsen: {use: generalize, with: {attributes: {income: {round: 1000}}}}\n"
        "audits:\n"
        "  classifier: {use: classification_error, with: {target: income}}",
        good="attributes: {income: {role: target, type: integer}}\n"
        "audits:\n"
        "  classifier: {use: classification_error, with: {target: income}}",
    ),
    CodePage(
        "PPF834",
        "no such classifier",
        "The audit does not know the classifier, or scikit-learn refused to make or teach it with its options.",
        "Only classifiers on a closed list are imported, so that a policy cannot run code by naming it. Those that"
        " are made of other classifiers are not on it.",
        "Use `tree`, `forest`, `naive_bayes`, `logistic`, or a name such as `sklearn.tree.ExtraTreeClassifier`.",
        bad=(
            "attributes: {age: {role: quasi_identifier}, readmitted: {role: target}}\n"
            "audits:\n"
            "  classifier: {use: classification_error, with: {classifier: sklearn.tree.DecisionTree}}"
        ),
        good=(
            "attributes: {age: {role: quasi_identifier}, readmitted: {role: target}}\n"
            "audits:\n"
            "  classifier: {use: classification_error, with: {classifier: sklearn.svm.LinearSVC}}"
        ),
    ),
    CodePage(
        "PPF835",
        "no such option of the classifier",
        "The classifier takes no argument of that name from a policy.",
        "A misspelt option would leave its default in force.",
        "Write it as scikit-learn does. `random_state` comes from `seed:`; objects cannot be given.",
        bad=(
            "audits:\n"
            "  learning:\n"
            "    use: classification_error\n"
            "    with: {target: readmitted, classifier: forest, options: {n_estimator: 100}}"
        ),
        good=(
            "audits:\n"
            "  learning:\n"
            "    use: classification_error\n"
            "    with: {target: readmitted, classifier: forest, options: {n_estimators: 100}}"
        ),
    ),
)

_RISK = (
    CodePage(
        "PPF840",
        "the population lacks released rows",
        "A released equivalence class has more rows than the population file has persons of it.",
        "A release is part of its population. Mostly its values are written in another form, or the file is another"
        " population's; then the journalist's risk is wrong. The released rows are counted in their place.",
        "Write the quasi-identifiers of the population file in their released (generalized) form.",
        bad="$ head -2 registry.csv    # the release has [30, 40) and 750**\nage,zip\n34,75011",
        good='$ head -2 registry.csv\nage,zip\n"[30, 40)",750**',
    ),
    CodePage(
        "PPF842",
        "no such attribute for the equivalence classes",
        "An attribute that should form the classes is not in the release.",
        "The classes would be coarser than meant, and the risk look smaller.",
        "Name attributes of the release, or leave `attributes:` away: then all quasi-identifiers form the classes.",
        bad=(
            "attributes: {age: {role: quasi_identifier}, city: {role: quasi_identifier}}\n"
            "audits:\n"
            "  risk: {use: reidentification_risk, with: {attributes: [agee, city]}}"
        ),
        good=(
            "attributes: {age: {role: quasi_identifier}, city: {role: quasi_identifier}}\n"
            "audits:\n"
            "  risk: {use: reidentification_risk, with: {attributes: [age, city]}}"
        ),
    ),
)

PAGES: tuple[CodePage, ...] = (*ORIGINALS, *CARRIED, *_SENSITIVITIES, *_TEMPLATES, *_CLASSIFICATION, *_RISK)
