"""PPF1xx: what is wrong with the text of a policy file."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF100",
        "the policy file cannot be read",
        "The path given on the command line is not there, is a folder, or may not be read.",
        "Without a policy there is nothing to check or run.",
        "Check the path and the file's permissions.",
        bad="$ ppdm-flow check polices/bank.yaml",
        good="$ ppdm-flow check policies/bank.yaml",
    ),
    CodePage(
        "PPF101",
        "the policy file is too large",
        "A policy file has at most 1 MB.",
        "A larger one is hardly a policy, and refusing it by its size keeps hostile files from taking up the machine.",
        "Keep long lists of values in hierarchy files: `hierarchy: {csv: hierarchies/country.csv}`.",
        bad="$ ls -sh policy.yaml    # a list of all places of the country is written out in it\n3.1M policy.yaml",
        good="attributes:\n  place: {role: quasi_identifier, hierarchy: {csv: hierarchies/places.csv}}",
    ),
    CodePage(
        "PPF102",
        "the policy file is not UTF-8",
        "Some bytes of the file are no UTF-8 text.",
        "Attribute values written in another encoding would be compared as other values, and protect nothing.",
        "Save the file as UTF-8. Editors show the encoding in the status line; `iconv -f latin1 -t utf-8` converts.",
        bad="$ file policy.yaml\npolicy.yaml: ISO-8859 text",
        good="$ iconv -f latin1 -t utf-8 policy.yaml > policy.utf8.yaml",
    ),
    CodePage(
        "PPF103",
        "a control character",
        "The file holds a character that YAML does not allow, such as a NUL byte or an escape.",
        "Such characters are invisible: two values that look the same would differ.",
        "Remove it: the message names line and column, and editors can show invisible characters.",
        bad="$ grep -c -P '[\\x00-\\x08\\x0b\\x0e-\\x1f]' policy.yaml    # lines with such a character\n1",
        good="$ tr -d '\\000-\\010\\013\\016-\\037' < policy.yaml > policy.clean.yaml",
    ),
    CodePage(
        "PPF104",
        "the file is no YAML",
        "The parser cannot go on at this place. Often the cause stands one line above.",
        "A file that is half understood could lose a requirement, so nothing of it is used.",
        "Check quotes, brackets, the space behind `:` and the indentation.",
        bad="attributes:\n  job: {role: quasi_identifier",
        good="attributes:\n  job: {role: quasi_identifier}",
    ),
    CodePage(
        "PPF105",
        "a tab in the indentation",
        "YAML is indented by spaces.",
        "Tabs have no fixed width, so it would not be clear what stands under what.",
        "Replace it by spaces; most editors can do so on saving.",
        bad="attributes:\n\tjob: {role: quasi_identifier}",
        good="attributes:\n  job: {role: quasi_identifier}",
    ),
    CodePage(
        "PPF106",
        "an unresolved merge",
        "The file holds `<<<<<<<` or `>>>>>>>`, as Git writes where two branches changed the same lines.",
        "Which of the two policies holds is for a person to decide.",
        "Choose one side, or combine them, and delete the markers.",
        bad="privacy:\n<<<<<<< HEAD\n  k_anonymity: {k: 10}\n=======\n  k_anonymity: {k: 5}\n>>>>>>> smaller-groups",
        good="privacy:\n  k_anonymity: {k: 10}",
    ),
    CodePage(
        "PPF107",
        "a key twice",
        "The same key stands twice in one map.",
        "Most YAML readers silently take the last one: a requirement would be lost without a word.",
        "Remove one of the two, or give it another name.",
        bad="privacy:\n  k_anonymity: {k: 10}\n  k_anonymity: {k: 2}",
        good="privacy:\n  k_anonymity: {k: 10}",
    ),
    CodePage(
        "PPF108",
        "a tag",
        "The file uses a YAML tag, such as `!include` or `!!python/object`.",
        "Tags let a file run code or read other files in some readers. Here every value is text, typed by its key.",
        "Remove the tag. Other files are brought in by `extends:`, values by `${params.name}`.",
        bad="source: !include source.yaml",
        good="# source.yaml: source: {path: patients.csv}\nextends: ./source.yaml",
    ),
    CodePage(
        "PPF109",
        "a merge key",
        "`<<` merges maps in YAML 1.1. It is not part of YAML 1.2, and not of the policy language.",
        "A policy has one merge rule, that of `extends:`; a second one would make it hard to see what holds.",
        "Use `extends:`, write the keys out, or repeat a whole value by an alias (`*name`).",
        bad="attributes:\n  city: &place {role: quasi_identifier}\n  job: {<<: *place, type: text}",
        good="attributes:\n  city: {role: quasi_identifier}\n  job: {role: quasi_identifier, type: text}",
    ),
    CodePage(
        "PPF110",
        "a value that others read otherwise",
        "A data value stands without quotes, and YAML readers elsewhere take it for a boolean, a number or a date.",
        "This tool takes every value as text, so the policy means what it says here. But the editor, a linter or a"
        " colleague's script sees `NO` as false, `010` as 8 or 10, `1.10` as 1.1, `12:30` as 750.",
        "Put the value in quotes.",
        bad="attributes:\n  country: {role: sensitive, domain: [NO, SE]}",
        good='attributes:\n  country: {role: sensitive, domain: ["NO", SE]}',
    ),
    CodePage(
        "PPF111",
        "a key that is no text",
        "A key is empty, a list or a map.",
        "Every key of the language is a name.",
        "Write `name: value`.",
        bad="attributes:\n  [job, country]: {role: quasi_identifier}",
        good="attributes:\n  job: {role: quasi_identifier}\n  country: {role: quasi_identifier}",
    ),
    CodePage(
        "PPF112",
        "several documents in one file",
        "`---` begins a second YAML document.",
        "Which of them is the policy would be a guess.",
        "Keep one policy a file.",
        bad="version: 1\nname: bank\n---\nversion: 1\nname: insurance",
        good="version: 1\nname: bank",
    ),
    CodePage(
        "PPF113",
        "an alias that leads nowhere",
        "`*name` repeats what `&name` marks. There is no such mark above, or the alias stands inside of it.",
        "There is nothing to put in its place.",
        "Mark the value with `&name` before its first use, or write it out.",
        bad="attributes: {job: *quasi}",
        good="attributes: {job: &quasi {role: quasi_identifier}, country: *quasi}",
    ),
    CodePage(
        "PPF114",
        "too many values",
        "The file stands for more than 100,000 values, aliases counted with all that they repeat.",
        "Nested aliases let a few lines grow to billions of values. Such a file is refused before it takes up memory.",
        "Write out what is meant; keep long lists in hierarchy files.",
        bad=(
            "attributes:\n"
            "  a: &a [x, x, x, x, x, x, x, x, x, x]\n"
            "  b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n"
            "  c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\n"
            "  d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]\n"
            "  e: [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]    # 100,000 values in five lines"
        ),
        good="attributes:\n  place: {role: quasi_identifier, hierarchy: {csv: hierarchies/places.csv}}",
    ),
    CodePage(
        "PPF115",
        "nested too deeply",
        "Lists and maps stand in each other more than 64 levels deep.",
        "No policy needs that; a text of brackets is a way to make a parser fail.",
        "Check for a bracket or an alias too many.",
        bad=(
            "name: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[bank\n"
            "  ]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
        ),
        good="name: bank",
    ),
    CodePage(
        "PPF116",
        "an empty file",
        "The file holds nothing, or comments only.",
        "An empty policy requires nothing, so it releases nothing.",
        "`ppdm-flow init` writes a policy to begin with.",
        bad="# version: 1\n# name: bank",
        good="version: 1\nname: bank",
    ),
    CodePage(
        "PPF117",
        "not a map",
        "The file holds a list or a single text.",
        "A policy is a map from keys to values.",
        "Begin with `version: 1` and `name: …`.",
        bad="- version: 1",
        good="version: 1",
    ),
)
