"""Pages of the codes of attacks on released rows."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES = (
    CodePage(
        "PPF890",
        "people are found in the release",
        "Someone who knows the quasi-identifiers of people finds exactly one released row that fits, or only rows"
        " with one sensitive value.",
        "A single row that fits is the person's own, and everything in it becomes known. Where all rows that fit"
        " have one sensitive value, that value is known although no row is singled out.",
        "Generalize or suppress quasi-identifiers until at least k rows fit everybody (`k_anonymity`), with several"
        " sensitive values among them (`l_diversity`).",
        bad=(
            "audits:    # measured, and released all the same\n  voters: {use: linkage, with: {external: voters.csv}}"
        ),
        good=(
            "audits:\n"
            "  voters: {use: linkage, with: {external: voters.csv}}\n"
            "gates:\n"
            "  nobody-found: {metric: voters.linked, max: 0}"
        ),
    ),
    CodePage(
        "PPF891",
        "a file that an attack needs cannot be used",
        "The file of known people, or the hierarchy of an attacked attribute, cannot be opened, is no CSV file, or"
        " lacks a column.",
        "An attack that was not carried out must not look like one that failed.",
        "Give a CSV file with a header, in UTF-8, with the columns that the parameters name; say with `columns:`"
        " which column tells which attribute, and with `delimiter:` what separates them.",
        bad="audits:    # the list calls the column postcode\n  voters: {use: linkage, with: {external: voters.csv}}",
        good="audits:\n  voters: {use: linkage, with: {external: voters.csv, columns: {zip: postcode}}}",
    ),
    CodePage(
        "PPF892",
        "a sensitive value is certain for people who look alike",
        "All released rows that fit a person have one sensitive value, so that it is the person's (a homogeneity"
        " attack).",
        "k-anonymity hides whose row is whose; it does not hide what all rows of a class have in common.",
        "Require several values in each class (`l_diversity`, `t_closeness`, a template), or suppress the value in"
        " these classes.",
        bad="privacy: {k_anonymity: {k: 5}}\naudits:\n  alike: {use: homogeneity}",
        good="privacy: {k_anonymity: {k: 5}, l_diversity: {disease: {l: 3}}}\naudits:\n  alike: {use: homogeneity}",
    ),
    CodePage(
        "PPF893",
        "a sensitive value becomes certain by what else is known",
        "A class has so few sensitive values that someone who can rule the others out for a person knows the person's.",
        "People know things of their neighbours: that an illness runs in the family, that a man is not pregnant.",
        "Require more values in each class than an attacker can rule out: l-diversity with l at least `excludes` + 2.",
        bad=(
            "privacy: {l_diversity: {disease: {l: 2}}}\n"
            "audits:    # who can rule out one of two values knows the other\n"
            "  informed: {use: background_knowledge, with: {excludes: 1}}"
        ),
        good=(
            "privacy: {l_diversity: {disease: {l: 3}}}\n"
            "audits:\n"
            "  informed: {use: background_knowledge, with: {excludes: 1}}"
        ),
    ),
    CodePage(
        "PPF894",
        "the release has the row order of another table",
        "Released rows fit the rows at the same place of the original, or of another release, far more often than"
        " shuffled rows would; chance does this in one of a thousand releases at most.",
        "Two tables in one order can be put side by side: what one of them hides of a row, the other tells.",
        "Let the release be shuffled, as it is unless `shuffle: false` says otherwise.",
        bad="releases:\n  study: {path: people.csv, shuffle: false}",
        good="releases:\n  study: {path: people.csv}",
    ),
    CodePage(
        "PPF895",
        "what was generalized tells why it was",
        "Someone who knows everybody's quasi-identifiers, and that groups are merged only where a sensitive value"
        " is too frequent in one, gives people a value with a higher probability than the classes show.",
        "A mechanism that does no more than necessary tells by what it does where it was necessary.",
        "Merge groups for other reasons as well: first k-anonymity with groups of at least k, then distort the"
        " sensitive values of the classes that break the bound, or recode the whole domain alike.",
        bad=(
            "privacy:    # groups are merged for this bound alone\n"
            "  templates: {hiv: {channel: [age, zip], sensitive: {disease: [HIV]}, confidence: 0.5}}\n"
            "audits:\n"
            "  undone: {use: minimality, with: {confidence: 0.5, k: 5}}"
        ),
        good=(
            "privacy:\n"
            "  k_anonymity: {k: 5}\n"
            "  templates: {hiv: {channel: [age, zip], sensitive: {disease: [HIV]}, confidence: 0.5}}\n"
            "audits:\n"
            "  undone: {use: minimality, with: {confidence: 0.5, k: 5}}"
        ),
    ),
    CodePage(
        "PPF896",
        "all sensitive values that fit a person are of one kind",
        "The values of a class differ, and all have one label above them in the attribute's hierarchy, below its top.",
        "Whoever has either a gastric ulcer or gastritis has an illness of the stomach: to count the values does"
        " not protect what they have in common.",
        "Require t-closeness over the hierarchy, or l-diversity of the labels; suppress the values of these classes.",
        bad=(
            "privacy: {l_diversity: {disease: {l: 2}}}    # ulcer and gastritis: two values, one stomach\n"
            "audits:\n"
            "  kinds: {use: similarity}"
        ),
        good=(
            "privacy:\n"
            "  l_diversity: {disease: {l: 2}}\n"
            "audits:\n"
            "  kinds: {use: similarity}\n"
            "gates:\n"
            "  nobody-of-a-kind: {metric: kinds.similar, max: 0.01}"
        ),
    ),
    CodePage(
        "PPF897",
        "conditions read off the release single people out",
        "Conditions that an attacker reads off the release fit exactly one person of the original, more often than"
        " they do among people outside of the data, or than conditions made up without the release.",
        "Who can say of a condition that one person of the data meets it and no other has isolated that person,"
        " named or not; the rest is a matter of who looks.",
        "Generalize or suppress what occurs once; of a generator raise the minimum support.",
        bad="audits:\n  alone: {use: singling_out}",
        good="audits:\n  alone: {use: singling_out}\ngates:\n  nobody-alone: {metric: alone.risk, max: 0.05}",
    ),
    CodePage(
        code="PPF898",
        title="a parameter of an attack without the one that it is about",
        what="A parameter describes the file of known people, or who they are, and the parameter that names that file"
        " or column is not given.",
        why="The attack would be another one than meant.",
        fix="Name the file with `external:`, and the column that says who a person is with `identity:`.",
        bad="audits:\n  voters: {use: linkage, with: {identity: name}}",
        good="audits:\n  voters: {use: linkage, with: {external: voters.csv, identity: name}}",
    ),
    CodePage(
        "PPF899",
        "two releases tell what neither does alone",
        "Put together with another release about the same people, this one leaves groups of few people, or classes"
        " that have but one sensitive value in common (a complementary release, temporal or composition attack).",
        "Each release may be k-anonymous and l-diverse; whoever holds both knows of somebody the class in each, and"
        " is left with those in both.",
        "Form the classes as in the other release, or coarser; or keep a release ledger (`ledger:`), which holds"
        " every release against all earlier ones.",
        bad="privacy: {k_anonymity: {k: 5}}    # and spring.csv has the same people in other classes",
        good=(
            "privacy: {k_anonymity: {k: 5}}\n"
            "audits:\n"
            "  spring: {use: complementary_release, with: {other: spring.csv}}\n"
            "gates:\n"
            "  still-many: {metric: spring.k, min: 5}"
        ),
    ),
)
