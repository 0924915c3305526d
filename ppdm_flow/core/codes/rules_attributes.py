"""PPF500 to PPF549, of attributes, hierarchies and the source."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF511",
        "a role that only one attribute can have",
        "Two attributes are the weight, the subject or the set of items.",
        "Which of them counts rows, or says whose they are, would be a guess.",
        "Give one of them another role.",
        bad="attributes: {n: {role: weight}, count: {role: weight}}",
        good="attributes: {n: {role: weight}, count: {role: insensitive}}",
    ),
    CodePage(
        "PPF515",
        "edges that do not ascend",
        "The edges of intervals must ascend, each above the one before.",
        "Intervals that overlap put one value into two classes.",
        "Put them in order, each once.",
        bad="attributes:\n  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 65, 18]}}",
        good="attributes:\n  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 18, 65]}}",
    ),
    CodePage(
        "PPF517",
        "a hierarchy without one form",
        "A hierarchy is given by a file (`csv`), by `intervals`, `levels`, `prefix`, `date` or `order`: exactly one of"
        " them. `then` and `open_ends` go with some forms only, as do `delimiter`, `mask` and `format`.",
        "Two forms could say different things, and a key that means nothing was meant to mean something.",
        "Keep one.",
        bad=(
            "attributes:\n"
            "  age: {role: quasi_identifier, type: integer, hierarchy: {csv: age.csv, intervals: [0, 18, 65]}}"
        ),
        good="attributes:\n  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 18, 65]}}",
    ),
    CodePage(
        "PPF518",
        "levels that do not fit together",
        "Some value has more or fewer ancestors than the others, a value of the domain has none, a value stands twice"
        " in an order, or a level of `prefix` or `date` keeps as much as the one before.",
        "At some level such a value would have nothing to be generalized to, and would be released as it is; and a"
        " level that is no coarser makes a search look for what is not there.",
        "Give every value one ancestor for each level, and let each level keep less.",
        bad=(
            "attributes:\n"
            "  city:\n"
            "    role: quasi_identifier\n"
            "    hierarchy: {levels: {Paris: [France, Europe], Lyon: [France]}}"
        ),
        good=(
            "attributes:\n"
            "  city:\n"
            "    role: quasi_identifier\n"
            "    hierarchy: {levels: {Paris: [France, Europe], Lyon: [France, Europe]}}"
        ),
    ),
    CodePage(
        "PPF519",
        "patterns that overlap",
        "Two patterns under `attributes:` can fit the same column, and say different things of it. A warning.",
        "The first one holds, which is easily overlooked.",
        "Narrow one of them, or declare the column by its own name.",
        bad='attributes: {"addr_*": {role: identifier}, "*_city": {role: quasi_identifier}}',
        good="attributes: {addr_street: {role: identifier}, addr_city: {role: quasi_identifier}}",
    ),
    CodePage(
        "PPF520",
        "intervals over texts",
        "An attribute with `intervals` has a type that is no number. A warning.",
        "Only numbers fall into intervals; a value that is none would fail the run.",
        "Add `type: integer` or `type: float`.",
        bad="attributes:\n  age: {role: quasi_identifier, hierarchy: {intervals: [0, 18, 65]}}",
        good="attributes:\n  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 18, 65]}}",
    ),
    CodePage(
        "PPF521",
        "a domain that is not of the attribute's type",
        "A value of the domain is no number, as the attribute's `type` says.",
        "Any data with that value would be refused.",
        "Correct the value or the type.",
        bad="attributes:\n  age: {role: quasi_identifier, type: integer, domain: [18, old]}",
        good="attributes:\n  age: {role: quasi_identifier, type: integer, domain: [18, 99]}",
    ),
    CodePage(
        "PPF522",
        "a delimiter of several characters",
        "Cells of a hierarchy file are separated by one character.",
        "Such a file could not be read.",
        'Write one character; a tab is "\\t".',
        bad='attributes:\n  city: {role: quasi_identifier, hierarchy: {csv: city.csv, delimiter: "; "}}',
        good='attributes:\n  city: {role: quasi_identifier, hierarchy: {csv: city.csv, delimiter: ";"}}',
    ),
    CodePage(
        "PPF523",
        "a value that is read as missing",
        "`source.missing` lists this text, so the value never occurs in the data. In a requirement an error, in a"
        " domain a warning.",
        "A requirement on a value that never occurs protects nothing.",
        "Take it out of `missing`, or name another value.",
        bad=(
            'source: {path: patients.csv, missing: ["?"]}\n'
            "privacy:\n"
            '  templates: {t: {channel: [job], sensitive: {disease: ["?"]}, confidence: 0.5}}'
        ),
        good=(
            'source: {path: patients.csv, missing: ["?"]}\n'
            "privacy:\n"
            "  templates: {t: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.5}}"
        ),
    ),
    CodePage(
        "PPF524",
        "columns and attributes that differ",
        "`source.columns` lists a column that no attribute declares, or lacks one that an attribute declares.",
        "What is not declared has no role, and never passes.",
        "Correct the name, declare the column, or say `undeclared: drop`.",
        bad="source: {columns: [job, age]}\nattributes: {jobs: {role: quasi_identifier}}",
        good="source: {columns: [job]}\nattributes: {job: {role: quasi_identifier}}",
    ),
)
