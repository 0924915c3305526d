"""PPF8xx."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

_SENSITIVITIES = (
    CodePage(
        code="PPF810",
        title="no operator is known for a perturbed attribute",
        what="A sensitivity is required of an attribute that is released, and nothing says how it was randomized.",
        why="What can be learned from a value follows from the operator, not from the data. Without it no bound can"
        " be verified, and what cannot be verified does not hold.",
        fix="Perturb the attribute in a step (`use: fine_grain_perturbation`), or drop it. When judging a file that"
        " another tool made, hand over the `operator.json` that came with it.",
        bad="steps:\n  keep: {use: sample, with: {share: 0.5}}",
        good="steps:\n  perturb: {use: fine_grain_perturbation, with: {attribute: disease}}",
    ),
    CodePage(
        code="PPF811",
        title="the released values do not follow the operator",
        what="The released values were tested against the operator that the bounds are judged from, and differ from it"
        " more than chance would do in one release out of a million.",
        why="The bound holds for the operator. Bytes that do not come from it (values left as they were, another"
        " operator, values sorted or swapped afterwards) are not protected by it.",
        fix="Use the operator of the very step that made the release, and change the attribute in no later step.",
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
        code="PPF813",
        title="a value is known too well beforehand",
        what="A value is more frequent in the data than the r2 of its bound.",
        why="Whoever knows the frequencies already believes in it more than r2 allows. No release can undo that; the"
        " bound still limits what those learn who believed in it less.",
        fix="Raise r2 above the frequency, or leave the value without a bound if it is not the secret.",
        bad="values: {flu: {r1: 0.1, r2: 0.2}}    # 40 % of the rows have it",
        good="values: {flu: {r1: 0.4, r2: 0.6}}",
    ),
    CodePage(
        code="PPF814",
        title="too few rows to test the bytes",
        what="The release is so small that an unperturbed one would pass the test against the operator as well.",
        why="The bound is judged from the operator all the same; only the proof that the bytes follow it is weak.",
        fix="Nothing, where the release was made in this run. Be careful with a small file that someone else made.",
    ),
    CodePage(
        code="PPF815",
        title="a bound on a value that the operator does not know",
        what="The policy bounds a value that is not among those that the operator chooses from.",
        why="Mostly the spelling differs from the data's, and then the value that was meant has no bound.",
        fix="Write the value as it stands in the data.",
        bad="values: {hiv: {r1: 0.1, r2: 0.25}}    # the data writes HIV",
        good="values: {HIV: {r1: 0.1, r2: 0.25}}",
    ),
    CodePage(
        code="PPF816",
        title="the operator does not describe all that happened to the attribute",
        what="More than one step randomized the attribute, or what the operator was given is not known.",
        why="The bound is judged from one operator; two after each other are another one.",
        fix="Perturb an attribute once.",
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
        code="PPF820",
        title="a sensitive attribute has new values",
        what="The released sensitive attribute has values that it has not in the original.",
        why="A new name does not hide an inference: whoever knows what the name stands for infers the same. So the"
        " values that a sensitive one was turned into count as that one; where rows cannot be paired, any new one.",
        fix="Nothing, if the requirement holds. Otherwise suppress channel attributes, or drop the sensitive one.",
    ),
    CodePage(
        code="PPF821",
        title="a template's value never occurs",
        what="A sensitive value of a template is not among the values of the original.",
        why="A template on a misspelt value holds of every release and protects nothing.",
        fix="Write the value as it stands in the data.",
        bad="sensitive: {bankruptcy: [discharged]}    # the data writes Discharged",
        good="sensitive: {bankruptcy: [Discharged]}",
    ),
)

_CLASSIFICATION = (
    CodePage(
        code="PPF822",
        title="released rows that no group counts",
        what="Under `nulls: exclude`, rows with a missing quasi-identifier belong to no equivalence class.",
        why="They are released, and k says nothing of them: such a row may be the only one of its kind.",
        fix="Keep them back with `incomplete_rows: drop`, or count them with `nulls: own_category`.",
        good="source: {path: table.csv, incomplete_rows: drop}",
    ),
    CodePage(
        code="PPF830",
        title="no classification error on the release",
        what="The class attribute is not released, was changed, or has too few rows with a class.",
        why="An error on other classes says nothing of the original ones. The figures do not exist, and a gate on them"
        " does not hold.",
        fix="Release the class attribute unchanged, or name another one with `target:`.",
    ),
    CodePage(
        code="PPF831",
        title="classification errors of a sample",
        what="The table has more rows than the audit looks at.",
        why="Training dozens of classifiers on all rows takes long, and the error changes little.",
        fix="Raise `rows:` of the audit if it matters.",
        good="audits:\n  classifier: {use: classification_error, with: {target: rating, rows: 1000000}}",
    ),
    CodePage(
        code="PPF832",
        title="no such class attribute",
        what="The attribute that the audit should predict is not in the release, or none was named.",
        why="There is nothing to learn.",
        fix="Give an attribute the role `target`, or name it with `target:`.",
        bad="audits:\n  classifier: {use: classification_error, with: {target: raiting}}",
        good="audits:\n  classifier: {use: classification_error, with: {target: rating}}",
    ),
    CodePage(
        code="PPF833",
        title="the class attribute is changed",
        what="A step changes the attribute that the audit should predict.",
        why="The errors before and after would be those of two different tasks.",
        fix="Leave the class attribute as it is, or predict another one.",
    ),
    CodePage(
        code="PPF834",
        title="no such classifier",
        what="The audit does not know the classifier, or scikit-learn refused to make or teach it with its options.",
        why="Only classifiers on a closed list are imported, so that a policy cannot run code by naming it. Those that"
        " are made of other classifiers are not on it.",
        fix="Use `tree`, `forest`, `naive_bayes`, `logistic`, or a name such as `sklearn.tree.ExtraTreeClassifier`.",
        bad="audits:\n  classifier: {use: classification_error, with: {classifier: sklearn.tree.DecisionTree}}",
        good="audits:\n  classifier: {use: classification_error, with: {classifier: sklearn.svm.LinearSVC}}",
    ),
    CodePage(
        code="PPF835",
        title="no such option of the classifier",
        what="The classifier takes no argument of that name from a policy.",
        why="A misspelt option would leave its default in force.",
        fix="Write it as scikit-learn does. `random_state` comes from `seed:`; objects cannot be given.",
        bad="with: {classifier: forest, options: {n_estimator: 100}}",
        good="with: {classifier: forest, options: {n_estimators: 100}}",
    ),
)

_RISK = (
    CodePage(
        code="PPF840",
        title="the population lacks released rows",
        what="A released equivalence class has more rows than the population file has persons of it.",
        why="A release is part of its population. Mostly its values are written in another form, or the file is another"
        " population's; then the journalist's risk is wrong. The released rows are counted in their place.",
        fix="Write the quasi-identifiers of the population file in their released (generalized) form.",
    ),
    CodePage(
        code="PPF841",
        title="the population file cannot be used",
        what="The file that `population:` names is missing, is no CSV file, or lacks a released quasi-identifier.",
        why="The journalist's risk is a count in that file.",
        fix="Give a CSV file with a header and one row a person; its path is relative to the policy.",
        good="audits:\n  risk: {use: reidentification_risk, with: {population: data/registry.csv}}",
    ),
    CodePage(
        code="PPF842",
        title="no such attribute for the equivalence classes",
        what="An attribute that should form the classes is not in the release.",
        why="The classes would be coarser than meant, and the risk look smaller.",
        fix="Name attributes of the release, or leave `attributes:` away: then all quasi-identifiers form the classes.",
    ),
)

_CORRUPTION = (
    CodePage(
        code="PPF850",
        title="knowing others makes values certain",
        what="Within a class of people who look alike, the released values without those of known people leave only"
        " one: its owner's value is certain.",
        why="Classes hide a person among others. Whoever knows the others (a relative, a colleague, a patient of the"
        " same ward) takes them out, and the class shrinks. A perturbed value depends on its own record alone, so"
        " there nothing is to be taken out.",
        fix="Perturb the attribute (`use: fine_grain_perturbation`), or make classes with many values: a class of n"
        " people, m of whom have the most frequent value, withstands n - m - 1 known others.",
        good="steps:\n  perturb: {use: fine_grain_perturbation, with: {attribute: disease}}",
    ),
    CodePage(
        code="PPF851",
        title="released values depend on other rows",
        what="Whether a row keeps its value, or which one it gets, depends on the row beside it more than chance would"
        " do in one release out of a million.",
        why="The bound of an operator holds for rows that are drawn independently. If they share draws, or swap"
        " values, whoever knows the others learns more.",
        fix="Perturb with a step that draws for each row; do not reuse random numbers.",
    ),
)

_ORIGINALS = (
    CodePage(
        code="PPF852",
        title="rows that only one person has occur in the release",
        what="Original rows that are like no other occur in the release, over all attributes that it shares with the"
        " original.",
        why="In generated data such a row may have been put together by chance, and nobody can tell from the release"
        " alone; whoever knows the person's row finds it all the same. The fewer there are, the less it means to find"
        " one.",
        fix="Raise `min_support` of the generator, release fewer attributes or coarser ones, or bound the score with"
        " `privacy.anonymity_score`.",
        good="privacy:\n  anonymity_score: {max: 0.5}\n  blend: {min_support: {count: 20}, max: 0.03}",
    ),
    CodePage(
        code="PPF853",
        title="rare original rows occur in the release",
        what="Rows that fewer than `min_support` people have in the original occur in the release.",
        why="A rare row points to few people. Those of them that are rare in the release too are what `blend` bounds;"
        " this counts also those that the release has often.",
        fix="Raise `min_support` of the generator, or let it reject such rows.",
    ),
    CodePage(
        code="PPF854",
        title="attributes that cannot be compared",
        what="A step gave the values of an attribute other names (generalized ones, pseudonyms), so whole rows are"
        " compared without it.",
        why="With it no row could match, and the score would look better the more is renamed.",
        fix="Nothing, if the other attributes are what others may know. Declare `hierarchy: {intervals: …}` for"
        " numbers: names of its intervals are compared with the numbers in them.",
        good="attributes:\n  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 18, 65, 120]}}",
    ),
    CodePage(
        code="PPF855",
        title="suppressed cells match no original row",
        what="A step suppressed cells, and a row with one counts as unlike every original row.",
        why="Its other cells may still be those of a person: then the score understates what is given away.",
        fix="Bound what the other cells give away with `privacy.k_anonymity` or `privacy.templates`.",
    ),
)

PAGES: tuple[CodePage, ...] = (*_ORIGINALS, *_CORRUPTION, *_SENSITIVITIES, *_TEMPLATES, *_CLASSIFICATION, *_RISK)
