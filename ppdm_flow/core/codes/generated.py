"""Pages of the codes of attacks on, and comparisons of, generated data."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

_HOLDOUT = "steps:\n  generate: {use: krimp_generator, with: {holdout: 0.2}}"

PAGES = (
    CodePage(
        "PPF860",
        "released rows are closer to the rows that they were learned from",
        "More released rows have their closest record among the rows that the generator learned from than among as"
        " many rows that it never saw, so many more that chance does it in one of a thousand releases at most.",
        "Nothing but memory tells the two groups apart: both are drawn from one population. What a generator"
        " remembers of its training rows is released of real people.",
        "Raise the minimum support or the Laplace correction of the generator, generate fewer rows, or remove rows"
        " that occur in the original fewer than `minsup` times.",
        bad=(
            "steps:\n"
            "  generate: {use: krimp_generator, with: {min_support: {count: 1}, holdout: 0.5}}\n"
            "audits:\n"
            "  copies: {use: closest_record}"
        ),
        good=(
            "steps:\n"
            "  generate: {use: krimp_generator, with: {min_support: {count: 20}, laplace: 1, holdout: 0.5}}\n"
            "audits:\n"
            "  copies: {use: closest_record}\n"
            "gates:\n"
            "  no-copies: {metric: copies.closer_to_training, max: 0.52}"
        ),
    ),
    CodePage(
        code="PPF861",
        title="no such attribute to compare",
        what="An audit's parameters name an attribute that the release does not have.",
        why="The audit would compare, or attack, other attributes than meant.",
        fix="Name attributes of the release, or leave the parameter away.",
        bad="audits:\n  copies: {use: closest_record, with: {attributes: [agee]}}",
        good="audits:\n  copies: {use: closest_record, with: {attributes: [age]}}",
    ),
    CodePage(
        "PPF862",
        "the release tells who was in the data",
        "An attacker who holds a person's record tells better than by chance whether it was among the rows that"
        " the generator learned from.",
        "To have been in the data can be the secret itself: a register of patients, of debtors, of convicts. And"
        " where membership shows, the release depends on single persons.",
        "Raise the minimum support or the Laplace correction of the generator; generate from more rows.",
        bad=(
            "steps:\n"
            "  generate: {use: krimp_generator, with: {min_support: {count: 1}, holdout: 0.2}}\n"
            "audits:\n"
            "  members: {use: membership_inference}"
        ),
        good=(
            "steps:\n"
            "  generate: {use: krimp_generator, with: {min_support: {count: 20}, laplace: 1, holdout: 0.2}}\n"
            "audits:\n"
            "  members: {use: membership_inference}\n"
            "gates:\n"
            "  no-members: {metric: members.auc, max: 0.52}"
        ),
    ),
    CodePage(
        "PPF863",
        "the release discloses a sensitive attribute",
        "An attacker who looks up what he knows of a person in the release guesses the person's sensitive value"
        " better for people in the data than for people who are not.",
        "What the release teaches of people in general is its purpose, and hurts those outside of the data as much;"
        " what it teaches of its own people beyond that is a breach of their privacy.",
        "Raise the minimum support or the Laplace correction of the generator; release fewer quasi-identifiers.",
        bad=(
            "steps:\n"
            "  generate: {use: krimp_generator, with: {min_support: {count: 1}, holdout: 0.2}}\n"
            "audits:\n"
            "  disclosure: {use: attribute_disclosure}"
        ),
        good=(
            "steps:\n"
            "  generate: {use: krimp_generator, with: {min_support: {count: 20}, laplace: 1, holdout: 0.2}}\n"
            "audits:\n"
            "  disclosure: {use: attribute_disclosure}\n"
            "gates:\n"
            "  no-disclosure: {metric: disclosure.risk, max: 0.02}"
        ),
    ),
    CodePage(
        "PPF864",
        "an attack without a control group",
        "No rows were held out of the generator, so an attack on the release has nobody to compare its success with.",
        "An attack may succeed because the release is useful: whoever knows that smokers fall ill guesses right for"
        " anybody. Only success beyond that on people outside of the data is owed to the data of single people.",
        "Let the generator hold out a part of the rows; it costs that part of the data.",
        bad="steps:\n  generate: {use: krimp_generator}\naudits:\n  members: {use: membership_inference}",
        good=(
            "steps:\n"
            "  generate: {use: krimp_generator, with: {holdout: 0.2}}\n"
            "audits:\n"
            "  members: {use: membership_inference}"
        ),
    ),
    CodePage(
        code="PPF865",
        title="no sensitive attribute to disclose",
        what="The release has no attribute with the role `sensitive`, and the audit's parameters name none.",
        why="Without a secret there is nothing to guess: the audit would measure nothing.",
        fix="Give an attribute the role `sensitive`, or name it in the parameter `sensitive`.",
        bad="audits:\n  disclosure: {use: attribute_disclosure}",
        good="audits:\n  disclosure: {use: attribute_disclosure, with: {sensitive: [disease]}}",
    ),
    CodePage(
        "PPF866",
        "nothing could be learned from the release",
        "The class attribute is not among the released attributes, or too few rows of a side have a class.",
        "An error of a classifier that could not learn says nothing of the release.",
        "Release the class attribute; generate more rows.",
        bad=(
            "attributes: {readmitted: {role: target}}\n"
            "steps:    # of five rows nothing can be learned\n"
            "  generate: {use: krimp_generator, with: {rows: 5}}\n"
            "audits:\n"
            "  learning: {use: synthetic_training}"
        ),
        good=(
            "attributes: {readmitted: {role: target}}\n"
            "steps:\n"
            "  generate: {use: krimp_generator, with: {rows: 5000}}\n"
            "audits:\n"
            "  learning: {use: synthetic_training}"
        ),
    ),
    CodePage(
        "PPF867",
        "nobody can say whose rows generated ones repeat",
        "Requirements on groups count the original rows that generated ones repeat. Here a generator learned from rows"
        " that were generated themselves, or made a column that what it learned from does not have.",
        "Generated rows belong to nobody: how many of them look alike says nothing of the people whose rows come up"
        " again among them. What cannot be counted does not hold.",
        "Let one generator learn from rows of the source, in the columns that it makes.",
        bad=(
            "steps:\n"
            "  first: {use: krimp_generator, with: {attributes: [age, disease]}}\n"
            "  second: {use: krimp_generator, with: {rows: 5000}}\n"
            "privacy:\n"
            "  k_anonymity: {k: 5}"
        ),
        good=(
            "steps:\n"
            "  generate: {use: krimp_generator, with: {attributes: [age, disease], rows: 5000}}\n"
            "privacy:\n"
            "  k_anonymity: {k: 5}"
        ),
    ),
)
