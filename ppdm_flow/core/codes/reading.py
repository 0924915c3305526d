"""PPF700 to PPF725: reading the data, and what it holds."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

_NO_VALUES = "Messages name rows (counted from 1 below the header) and columns, never values."

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF701",
        "the file cannot be read",
        "The data file, or a file given beside it, does not exist or may not be read.",
        "Nothing can be measured on data that is not there.",
        "Check the path: `source.path` is relative to the policy, `--data` to the current folder.",
        bad="source: {path: bnak.csv}",
        good="source: {path: bank.csv}",
    ),
    CodePage(
        "PPF702",
        "the file is empty",
        "The file has neither a header nor rows.",
        "Most often an export failed. Nothing can be measured or released without rows.",
        "Export the data again, and look whether the file begins with a line of column names.",
        bad="$ ls -l patients.csv    # 0 bytes: the export failed\n-rw-r--r-- 1 ada ada 0 Nov 21 09:00 patients.csv",
        good="$ head -2 patients.csv\nage,job,disease\n34,nurse,flu",
    ),
    CodePage(
        "PPF703",
        "a row has too many or too few cells",
        f"One row of a CSV file has another number of cells than the others. {_NO_VALUES}",
        "Guessing which cell is missing would put values under wrong names.",
        "Look at that row: a delimiter inside a value needs quotes, a quote inside quotes is doubled.",
        bad="$ cat people.csv    # three cells under two names\njob,country\nengineer, senior,France",
        good='$ cat people.csv\njob,country\n"engineer, senior",France',
    ),
    CodePage(
        "PPF704",
        "the text is not in the declared encoding",
        "Bytes were found that are no characters of the encoding; it is UTF-8 unless the policy says otherwise.",
        "Replaced characters would silently make different values equal.",
        "Name the file's own encoding.",
        bad="source: {path: old.csv}   # written on Windows",
        good="source: {path: old.csv, with: {encoding: cp1252}}",
    ),
    CodePage(
        "PPF705",
        "the compressed file is damaged",
        "A gzip stream ends too early, or its checksum is wrong.",
        "A cut-off file lacks rows, and every figure would be wrong.",
        "Fetch the file again; `gzip -t FILE` tests it.",
        bad="$ gzip -t patients.csv.gz\ngzip: patients.csv.gz: unexpected end of file",
        good="$ gzip -t patients.csv.gz && ppdm-flow run policy.yaml    # once it is fetched again",
    ),
    CodePage(
        "PPF706",
        "a NUL byte in the text",
        "A cell or the header holds a byte of value 0.",
        "Text has none: the file is binary or UTF-16, or was damaged.",
        "Say the encoding, or export the file again.",
        bad="source: {path: sheet.csv}    # UTF-16, without the mark at its beginning that says so",
        good="source: {path: sheet.csv, with: {encoding: utf-16}}",
    ),
    CodePage(
        "PPF707",
        "two columns have one name",
        "The header has the same name twice.",
        "It would be unclear which of them the policy means, and the other might pass unnoticed.",
        "Rename one of them in the file, or give `source.columns` for a file without a header.",
        bad="$ head -1 patients.csv\nage,job,disease,age",
        good="$ head -1 patients.csv\nage,job,disease,age_at_death",
    ),
    CodePage(
        "PPF708",
        "a declared column is missing",
        "The policy declares an attribute, or an audit asks for one, and the data has no column of that name.",
        "A requirement on a column that is not there cannot be kept.",
        "Correct the name; a file without a header needs `source.columns`.",
        bad="attributes: {birthday: {role: quasi_identifier}}    # the column is called date_of_birth",
        good="attributes: {date_of_birth: {role: quasi_identifier}}",
    ),
    CodePage(
        "PPF709",
        "the data has columns that are not declared",
        "A column of the data is no attribute of the policy.",
        "What nobody has looked at must not be released.",
        "Declare the column with its role, or say `undeclared: drop`.",
        bad="undeclared: error",
        good="undeclared: drop",
    ),
    CodePage(
        "PPF710",
        "another number of columns than the policy names",
        "`source.columns` names the columns of a file without a header, and the file has more or fewer.",
        "Names would slide to the wrong columns.",
        "List all columns, in the file's order.",
        bad=(
            "source: {path: people.data, columns: [age, job]}    # each line has three cells: 39,clerk,Paris\n"
            "attributes: {age: {role: quasi_identifier}, job: {role: quasi_identifier}}"
        ),
        good=(
            "source: {path: people.data, columns: [age, job, city]}\n"
            "attributes: {age: {role: quasi_identifier}, job: {role: quasi_identifier}, city: {role:"
            " quasi_identifier}}"
        ),
    ),
    CodePage(
        "PPF711",
        "a value outside the declared domain",
        f"A cell holds a value that the attribute's `domain` does not list. {_NO_VALUES}",
        "Perturbation, hierarchies and bounds are worked out for the declared values.",
        "Correct the data, add the value to `domain`, or list it under `source.missing`.",
        bad="attributes: {sex: {role: quasi_identifier, domain: [F, M]}}    # the data has `f` as well",
        good="attributes: {sex: {role: quasi_identifier, domain: [F, M, f]}}",
    ),
    CodePage(
        "PPF712",
        "a value that its type does not know",
        "An `integer`, `float` or `date` attribute holds text that is none; NaN and infinity are no numbers here.",
        "Intervals and rounding would have no answer for it.",
        "Correct the data, use `type: text`, or list the word under `source.missing`. Dates are ISO 8601.",
        bad=(
            "source: {path: patients.csv}\n"
            "attributes: {age: {role: quasi_identifier, type: integer}}    # a cell holds `unknown`"
        ),
        good=(
            'source: {path: patients.csv, missing: ["", unknown]}\n'
            "attributes: {age: {role: quasi_identifier, type: integer}}"
        ),
    ),
    CodePage(
        "PPF713",
        "the sign of suppressed cells is a value of the data",
        "A cell of the original holds `⊥`, which stands for a suppressed cell in released files.",
        "Nobody could tell a suppressed cell from that value.",
        "Replace the value, or list `⊥` under `source.missing` if it means missing.",
        bad="source: {path: released-before.csv}    # somebody has suppressed cells in it already",
        good='source: {path: released-before.csv, missing: ["", "⊥"]}',
    ),
    CodePage(
        "PPF714",
        "no rows",
        "The file has a header only, or every row has a missing value and `incomplete_rows: drop` drops it.",
        "A release without rows would satisfy every requirement and mean nothing.",
        "Check the export, `source.missing` and `source.incomplete_rows`.",
        bad='source: {path: patients.csv, missing: ["0"], incomplete_rows: drop}    # every row has a 0 somewhere',
        good='source: {path: patients.csv, missing: [""], incomplete_rows: drop}',
    ),
    CodePage(
        "PPF715",
        "a weight is no number of rows",
        "The attribute with `role: weight` holds something else than whole numbers, or so large ones that they cannot"
        " be added up. In a released file 0 is none either; in the source, such rows are dropped.",
        "Weights are how many people a row stands for, and a row that stands for nobody escapes every figure.",
        "Correct the data, or give the attribute another role.",
        bad=(
            "$ head -2 patients.csv    # `n` has the role weight: how many people a row stands for\n"
            "age,job,n\n"
            "34,nurse,1.5"
        ),
        good="$ head -2 patients.csv\nage,job,n\n34,nurse,2",
    ),
    CodePage(
        "PPF716",
        "the CSV file is not in order",
        "A quote is never closed, or a single cell is larger than 512 MB.",
        "All rows after it would become one cell.",
        "Look after the row that the message names; `with: {quote: …}` changes the quote character.",
        bad=(
            '$ head -3 patients.csv    # the quote before 12 is never closed\nage,height\n34,"12 inches\n35,13 inches'
        ),
        good='$ head -3 patients.csv\nage,height\n34,"12 inches"\n35,13 inches',
    ),
    CodePage(
        "PPF717",
        "the file is not in its format",
        "A Parquet file or a workbook cannot be read as such.",
        (
            "It is cut off, or has another format than its name says. What could still be read of it"
            " might be a part of the data."
        ),
        "Fetch the file again, or say `source.format`.",
        bad="source: {path: table.parquet}    # it is a CSV file with a wrong name",
        good="source: {path: table.parquet, format: csv}",
    ),
    CodePage(
        "PPF718",
        "a line is no JSON object",
        "Each line of a JSON lines file has to be one object, with every key once, and without NaN or Infinity.",
        "Anything else has no place in a table.",
        'Look at the line that the message names; each line is one `{"column": value, …}` by itself.',
        bad='$ head -1 patients.jsonl\n[34, "clerk"]',
        good='$ head -1 patients.jsonl\n{"age": 34, "job": "clerk"}',
    ),
    CodePage(
        "PPF719",
        "a nested value, or one without a text",
        "A cell holds a list, a map or a type that has no canonical text.",
        "A table has one value a cell.",
        "Flatten the file beforehand, or take the column out.",
        bad='$ head -1 patients.jsonl\n{"age": 34, "address": {"city": "Lyon", "zip": "69001"}}',
        good='$ head -1 patients.jsonl\n{"age": 34, "city": "Lyon", "zip": "69001"}',
    ),
    CodePage(
        "PPF720",
        "no format fits the file's name",
        "The ending of the file's name is none that a reader is known for.",
        "Guessing the format from the content can go wrong silently.",
        ("Say the format: `source: {path: table.dump, format: csv}`. `ppdm-flow list sources` names all formats."),
        bad="source: {path: table.dump}",
        good="source: {path: table.dump, format: csv}",
    ),
    CodePage(
        "PPF721",
        "no data file",
        "Neither the policy nor the command line names the data.",
        "There is nothing to read.",
        "Give `source.path` in the policy, or `--data FILE`.",
        bad="$ ppdm-flow run policy.yaml    # and the policy has no `source: {path: …}`",
        good="$ ppdm-flow run policy.yaml --data patients.csv",
    ),
    CodePage(
        "PPF722",
        "no such sheet",
        "The workbook has no sheet of that name or number.",
        "Another sheet would be other data.",
        "Correct `sheet`: a name, or a position from 1.",
        bad="source: {path: book.xlsx, with: {sheet: 5}}    # the workbook has two sheets",
        good="source: {path: book.xlsx, with: {sheet: 2}}",
    ),
    CodePage(
        "PPF723",
        "an extra is not installed",
        "Reading this format needs an optional package.",
        "The core comes without it, so that it stays small. Without it this file cannot be read.",
        "Install it: `pip install 'ppdm_flow[excel]'`.",
        bad="$ ppdm-flow run policy.yaml --data book.xlsx    # after `pip install ppdm_flow` only",
        good="$ pip install 'ppdm_flow[excel]'\n$ ppdm-flow run policy.yaml --data book.xlsx",
    ),
    CodePage(
        "PPF724",
        "the data changed during the run",
        "The file's size, time or inode is another one than at the beginning.",
        "Figures and release would come from two versions of the data.",
        "Run again on a file that nobody writes to.",
        bad=(
            "$ ./export.sh > patients.csv &    # still writes while the run reads\n"
            "$ ppdm-flow run policy.yaml --data patients.csv"
        ),
        good="$ ./export.sh > patients.csv && ppdm-flow run policy.yaml --data patients.csv",
    ),
    CodePage(
        "PPF725",
        "no rows are left",
        "The steps dropped every row before a release, or before a step that needs the whole table.",
        "An empty release would satisfy every requirement and mean nothing.",
        "Check steps that drop rows, such as `sample`.",
        bad="steps:\n  few: {use: sample, with: {fraction: 0.001}}    # of 200 rows",
        good="steps:\n  few: {use: sample, with: {fraction: 0.1}}",
    ),
)
