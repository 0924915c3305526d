"""PPF920 to PPF929: what leaves, or lies open, beside the cells of a release."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF920",
        "a key that others may read",
        "A file that holds a key or a password (of pseudonyms, of the ledger's hashes, of the ledger's server) can be"
        " read, written or executed by its group or by everybody.",
        "Whoever reads the key undoes the pseudonyms, or finds people in the ledger.",
        "`chmod 600` the file. If it lay open for long, take a new key.",
        bad="$ openssl rand -hex 32 > study.key && ppdm-flow run policy.yaml    # a new file is readable by all",
        good="$ (umask 077; openssl rand -hex 32 > study.key) && ppdm-flow run policy.yaml",
    ),
    CodePage(
        "PPF921",
        "values in a file that no row has",
        "The audited file's bytes hold values, or whole stretches, that belong to none of its rows: entries of a"
        " Parquet dictionary that are not used, bytes of no column.",
        "Whoever reads the bytes instead of the rows finds what was taken out of them.",
        "Write the file anew from its rows. Files that a run of this program releases have no such values.",
        bad="$ ppdm-flow audit policy.yaml --original data.csv --released theirs.parquet    # filtered categories",
        good="$ ppdm-flow audit policy.yaml --original data.csv --released runs/study/RUN/released/study/study.parquet",
    ),
    CodePage(
        "PPF922",
        "metadata in a file",
        "The audited Parquet file has key-value metadata: that of pandas (its index, columns that are gone), an Arrow"
        " schema, or entries of its own.",
        "No requirement is measured on metadata, and few people look at it.",
        "Read it (`pyarrow.parquet.read_metadata(FILE).metadata`), or write the file without.",
        bad="$ python -c \"import pandas; pandas.read_csv('theirs.csv').to_parquet('theirs.parquet')\"",
        good="$ ppdm-flow run policy.yaml    # releases have none, but for what explains sets",
    ),
    CodePage(
        "PPF923",
        "statistics in a file",
        "The audited Parquet file has the least and the greatest value of a column for each group of rows.",
        "They are values of the rows as they were written: if cells were changed since, they still tell the old ones.",
        "Nothing, if the file was written once; else write it anew, or without statistics.",
        bad="$ python -c \"import pandas; pandas.read_csv('theirs.csv').to_parquet('theirs.parquet')\"",
        good="$ python -c \"pyarrow.parquet.write_table(table, 'theirs.parquet', write_statistics=False)\"",
    ),
    CodePage(
        "PPF924",
        "more in a workbook than its sheet",
        "The audited Excel file has other sheets, hidden rows or columns, comments, pivot tables, names, links, macros,"
        " drawings, properties, or the names of people.",
        "Only the cells of one sheet are measured; all of the workbook leaves.",
        "Copy the values of the sheet to a new workbook, or release CSV.",
        bad="$ ppdm-flow audit policy.yaml --original data.csv --released theirs.xlsx",
        good="$ ppdm-flow audit policy.yaml --original data.csv --released theirs.csv",
    ),
    CodePage(
        "PPF925",
        "marks in a text file",
        "The audited text file begins with a byte order mark, or its gzip header has a file name, a time or a comment.",
        "They tell what wrote the file, when, and from what: a name of a folder can be that of a person.",
        "Pack it with `gzip -n`; save it as UTF-8 without a mark.",
        bad="$ gzip theirs.csv",
        good="$ gzip -n theirs.csv",
    ),
)
