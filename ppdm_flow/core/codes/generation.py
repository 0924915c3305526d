"""PPF742 to PPF749: generated tables."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF742",
        "sets of items cannot be generated",
        "The generator makes tables with one value in each cell; an attribute with `role: items` has a set of them.",
        "A set would be taken for one value, and copied as it is.",
        "Name the attributes to generate under `attributes`, without the sets.",
        "attributes:\n  basket: {role: items}\nsteps:\n  generate: {use: krimp_generator}",
        "steps:\n  generate: {use: krimp_generator, with: {attributes: [age, job]}}",
    ),
    CodePage(
        "PPF743",
        "a holdout of rows that are not the source's",
        "`holdout` chooses rows by their number in the source, and this step does not read those: a generator made"
        " other ones, or a weighted table was written out, row by row, before it.",
        "Attacks would be compared with the wrong rows: what was learned from would stand among what was not.",
        "Take the generator before the other step, or leave `holdout` out.",
        "steps:\n  first: {use: krimp_generator}\n  second: {use: krimp_generator, with: {holdout: 0.2}}",
        "steps:\n  first: {use: krimp_generator, with: {holdout: 0.2}}",
    ),
    CodePage(
        "PPF744",
        "a generated row that is rejected however often it is drawn",
        "`blend: strict` rejects rows that occur in the original, but in too few of its rows. Here nearly everything"
        " that the model makes is such a row, and no row of the original is frequent enough to stand in for it.",
        "To release one of them after all would break what `strict` promises.",
        "Lower the minimal support, say `blend: allow` and let the audit measure, leave out or generalize attributes,"
        " or raise `laplace`.",
        bad=(
            "steps:\n"
            "  generate: {use: krimp_generator, with: {min_support: {count: 500}, blend: strict}}    #"
            " of 1,000 rows"
        ),
        good="steps:\n  generate: {use: krimp_generator, with: {min_support: {count: 20}, blend: strict}}",
    ),
    CodePage(
        "PPF745",
        "a generator has nothing to learn from",
        "No row reaches the step, or the holdout has taken all of them: the table is tiny, or the share close to 1.",
        "A model that has learned from no row could only make rows up.",
        "Give a smaller `holdout`, or none; or see which earlier step leaves no rows.",
        bad="steps:\n  generate: {use: krimp_generator, with: {holdout: 0.99}}    # of 50 rows",
        good="steps:\n  generate: {use: krimp_generator, with: {holdout: 0.2}}",
    ),
    CodePage(
        "PPF746",
        "released numbers are numbers of the original",
        "`draw: empirical` takes each number from those that the original has in the same interval.",
        "A number can be as telling as a name: an income to the cent belongs to one person.",
        "Say `draw: uniform`, unless the numbers are known to be harmless.",
        bad=(
            "attributes: {age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 18,"
            " 65, 120]}}}\n"
            "steps:\n"
            "  generate: {use: krimp_generator, with: {draw: empirical}}"
        ),
        good=(
            "attributes: {age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 18,"
            " 65, 120]}}}\n"
            "steps:\n"
            "  generate: {use: krimp_generator, with: {draw: uniform}}"
        ),
    ),
    CodePage(
        "PPF747",
        "`remove` leaves something in",
        "Either a value under `remove` does not occur in the data: it is spelled in another way, or is new. Or two of"
        " the named attributes or values still go together in generated rows: no element of the code table has both,"
        " but which elements fit beside each other can tell of one what the other is, above all where single values are"
        " named, whose correlations with others stay.",
        "What was meant to be gone can still be inferred.",
        "Write values as the data spell them; attributes with intervals have `[30, 50)`. Name whole attributes instead"
        " of values, raise the minimal support, or generate one of the attributes in a table of its own.",
        bad=(
            "steps:\n"
            "  generate: {use: krimp_generator, with: {remove: [{job: clerk, disease: hiv}]}}    # the"
            " data has `HIV`"
        ),
        good="steps:\n  generate: {use: krimp_generator, with: {remove: [[job, disease]]}}",
    ),
    CodePage(
        "PPF748",
        "a code table of single values",
        "No itemset is frequent enough, or all were removed, or none compresses the data: every attribute is drawn by"
        " itself.",
        "Nothing that attributes have to do with each other is in the generated rows.",
        "Lower the minimal support, or give more rows.",
        bad="steps:\n  generate: {use: krimp_generator, with: {min_support: {ratio: 0.9}}}",
        good="steps:\n  generate: {use: krimp_generator, with: {min_support: {ratio: 0.01}}}",
    ),
    CodePage(
        "PPF749",
        "rare values are generated as they are",
        "The minimal support bounds the itemsets that are learned, and each single value is an element of every code"
        " table: a value that one person has can appear in a generated row.",
        "A rare value may tell who it belongs to, whatever stands beside it.",
        "Generalize the attribute first, declare intervals for numbers, or leave the attribute out.",
        bad=(
            "attributes: {income: {role: quasi_identifier, type: integer}}    # one person earns 999999\n"
            "steps:\n"
            "  generate: {use: krimp_generator}"
        ),
        good=(
            "attributes:\n"
            "  income: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 20000, 50000,"
            " 1000000]}}\n"
            "steps:\n"
            "  generate: {use: krimp_generator}"
        ),
    ),
)
