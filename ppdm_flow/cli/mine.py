"""``ppdm-flow mine``."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ppdm_flow import api
from ppdm_flow.api.arguments import pairs
from ppdm_flow.cli.terminal.mined import text as mined_text
from ppdm_flow.cli.terminal.options import Operator, OutputFile, ReleasePath, option, share_option
from ppdm_flow.cli.terminal.output import complain, deliver
from ppdm_flow.cli.terminal.progress import listening
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.texts import json_text

if TYPE_CHECKING:  # `mine` alone needs it
    from ppdm_flow.api.mine.answer import MinedRelease

INPUT_WITH = "--input-with"
EXAMPLES = (
    "mine runs/shop/RUN --min-support 0.002",
    "mine shop.parquet --min-support 500 --max-length 3 --format csv -o itemsets.csv",
    "mine runs/shop/RUN/released/baskets --min-support 0.5% --rules --min-confidence 0.3",
    "mine orders.txt --input-format baskets --min-support 1%",
    "mine orders.csv --input-format long --input-with id=order --input-with item=product --min-support 20",
    "mine patients.csv --code-table --min-support 20 -o code_table.json",
)


class MiningFormat(StrEnum):
    """How the answer is written."""

    TEXT = "text"
    CSV = "csv"
    JSON = "json"
    MD = "md"


def mine(
    release: ReleasePath,
    min_support: Annotated[
        str, option("--min-support", "SHARE|COUNT", "How frequent: 0.002 or 0.2% of the transactions, or 500 of them.")
    ],
    max_length: Annotated[
        int | None, typer.Option("--max-length", metavar="ITEMS", min=1, help="Items of the largest itemset.")
    ] = None,
    rules: Annotated[bool, typer.Option("--rules", help="Find association rules as well.")] = False,
    min_confidence: Annotated[float | None, share_option("--min-confidence", "Of rules; 0.5 if not given.")] = None,
    min_lift: Annotated[float | None, option("--min-lift", "FACTOR", "Of rules.")] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=0, help="Show so many itemsets of each size, and rules, at most."),
    ] = None,
    precision: Annotated[
        float,
        option("--precision", "ERRORS", "Stop where itemsets of minimum support lie fewer standard errors above 0."),
    ] = 2.0,
    level: Annotated[float, share_option("--level", "Confidence level of intervals.")] = 0.95,
    attribute: Annotated[str | None, option("--attribute", "NAME", "The column, if several hold sets.")] = None,
    operator: Operator = None,
    input_format: Annotated[
        str | None,
        option(
            "--input-format",
            "FORMAT",
            "How the file is written, if its name does not say it: baskets (a line of names with commas between),"
            " transactions (a line of item numbers, as FIMI files), long (a row for each id and item), parquet, or csv"
            " (each row is the set of its column=value pairs).",
        ),
    ] = None,
    input_with: Annotated[
        list[str] | None,
        option(
            "--input-with",
            "NAME=VALUE",
            "An option of that format, as `source.with` has it: delimiter=';', id=order, item=product. Repeatable.",
        ),
    ] = None,
    form: Annotated[
        MiningFormat, typer.Option("--format", help="How to write the answer; csv has rules if asked for.")
    ] = MiningFormat.TEXT,
    code_table: Annotated[
        bool, typer.Option("--code-table", help="Print, as JSON, the code table of a table of single values.")
    ] = False,
    output_file: OutputFile = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Parts of the data that are counted at once.")] = 2,
) -> None:
    """Find frequent itemsets, and rules, in the sets of items of a release or of any file.

    Randomized sets are mined with the operator.json that came with them: supports are estimates of the original ones,
    with intervals. Other sets are mined as they are, with exact supports.

    With `--code-table` the answer is the code table with which KRIMP compresses a table best (`ppdm-flow explain
    code_table`).

    Exit status: 0 mined, 2 the release is not there or damaged, or its sets do not fit the operator.
    """
    if code_table:
        others = (max_length, attribute, operator, input_format, input_with)
        if rules or form not in (MiningFormat.TEXT, MiningFormat.JSON) or any(each is not None for each in others):
            text = "`--code-table` is about a whole table: it takes `--min-support` and `--output-file`"
            raise UsageError(Diagnostic("PPF120", text))
        deliver(json_text(api.code_table(release, min_support)), output_file)
        return
    with listening() as listener:
        answer = api.mine(
            release,
            min_support,
            max_length=max_length,
            rules=rules,
            min_confidence=min_confidence,
            min_lift=min_lift,
            precision=precision,
            level=level,
            attribute=attribute,
            operator=operator,
            input_format=input_format,
            input_with=pairs(input_with or (), INPUT_WITH),
            workers=workers,
            listener=listener,
        )
    complain(answer.diagnostics, {})
    deliver(_rendered(answer, form, limit), output_file, exact=form is MiningFormat.CSV)


def _rendered(answer: MinedRelease, form: MiningFormat, limit: int | None) -> str:
    if form in (MiningFormat.TEXT, MiningFormat.MD):
        return mined_text(answer, limit, markdown=form is MiningFormat.MD)
    from ppdm_flow.api.mine import documents  # noqa: PLC0415  # only these two forms need it

    return documents.as_json(answer, limit) if form is MiningFormat.JSON else documents.as_csv(answer, limit)
