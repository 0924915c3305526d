"""The page on what a column comes from, and what a requirement is therefore measured on."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.api.concept import Concept

LINEAGE_CONCEPTS: Mapping[str, Concept] = {
    "lineage": Concept(
        "Risks of re-identification",
        "what the cells of a released column are computed from, and so what a requirement is measured on",
        "A requirement names attributes of the source. It is measured on what the release tells of them, whatever a"
        " column is called and however its values are spelled. `ppdm-flow plan`, the report and `dictionary.json` say"
        " of each column what it is *computed from* (its cells are a function of these attributes) and what only"
        " *chose* it (a step looked at these when it was fitted).\n\n"
        "- A column is a **carrier** of every attribute that it is computed from. A renamed, generalized, recoded or"
        " suppressed column is computed from its own attribute; a class id from all attributes that it is made of. What"
        " a plugin does not say counts as computed from everything that it reads.\n"
        "- **Classes** are formed by the carriers of the attributes that the requirement groups by.\n"
        "- A **mixed** column is computed from grouping and from sensitive attributes (a class id over `age` and"
        " `disease`). Inside of a class the **crowd** of a person is then the rows whose mixed cells occur with someone"
        " of the same quasi-identifiers: sizes, shares and diversities are those of crowds.\n"
        "- A cell that is a map of one value is **decoded**: it counts for a value with the share of that value among"
        " the rows that show the cell. A rare value behind every `⊥` is no secret. Of all other cells (means of"
        " neighbours, exchanged values, class ids) the worse of what is shown and of what is behind them counts.\n"
        "- An attribute that was perturbed is judged by its operator. A column that comes from its true values by"
        " another way is refused (PPF556), and so is what is computed from an identifier without a secret key"
        " (PPF550).\n"
        "- **Together**: releases of one run are joined where they share a pseudonym, rows that occur once, or the"
        " order of rows (`shuffle: false` in both), and for the people of each combination of their classes what is"
        " left of possible values is judged; people whom a step dropped from one of them are one more class."
        " `recipients: apart` takes that back.\n\n"
        "Where only a file is judged (`audit`, a policy test with `released:`), rows cannot be paired with their"
        " originals: cells count as they are, and PPF838 says so.\n\n"
        "`verify RUN --data FILE` carries out the run's steps again, in a private folder that is removed. What draws"
        " nothing, or draws by a seed in the policy, must come out byte for byte; where only the order of rows is"
        " drawn, with the same rows. Then everything is measured as in the run, several releases together too. Where a"
        " step draws anything else, this goes for the columns that were finished before the first draw, as long as no"
        " later step drops or adds rows. A file that is not what the policy makes is a difference (also where a file"
        " that the policy names was changed since), unless other versions made it, which is said. Only the run can"
        " tell, and the reason is listed: what else is drawn, what needs a key or a file that is missing"
        " (`--policy-folder` says where the policy's files are), and what is held against a ledger, which"
        " `verify` does not open.",
        why="Steps are means. If a requirement looked at columns by their names, a class id over a sensitive attribute"
        " would be that attribute under a name that nothing is required of.",
        example="steps:\n"
        "  ids: {use: assign_class_id, with: {attributes: [age, zip], name: class}}    # comes from age and zip\n"
        "  drop: {use: drop, with: {attributes: [age]}}    # class still tells of age",
        bad="steps:    # class is the disease, by another name: l-diversity is measured on it all the same\n"
        "  ids: {use: assign_class_id, with: {attributes: [disease], name: class}}\n"
        "  drop: {use: drop, with: {attributes: [disease]}}",
        fix="Drop the column, or make it of what the requirement may show: `ppdm-flow plan` names what each column is"
        " computed from.",
    ),
}
"""The page, by the name that ``explain`` takes."""
