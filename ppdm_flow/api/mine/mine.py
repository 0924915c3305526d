"""What a recipient asks of released baskets: frequent itemsets and rules of the originals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ppdm_flow.api.arguments import reader_options
from ppdm_flow.api.mine.answer import MinedRelease, MiningOptions
from ppdm_flow.api.mine.estimated import mined_randomized
from ppdm_flow.api.mine.exact import mined_plain
from ppdm_flow.api.mine.sets import Sets, sets_of
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.file_sets import telling_name
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.core.supports import SupportBound, parsed
from ppdm_flow.engine.events import Listener, ignore_events
from ppdm_flow.engine.reading.received_sets import INPUT_WITH, InputFormat, received_sets
from ppdm_flow.plan.formats import handling, inferred
from ppdm_flow.sdk import registry


def mine(
    release: Path,
    min_support: str | float | SupportBound,
    *,
    max_length: int | None = None,
    rules: bool = False,
    min_confidence: float | None = None,
    min_lift: float | None = None,
    precision: float = 2.0,
    level: float = 0.95,
    attribute: str | None = None,
    operator: Path | None = None,
    input_format: str | None = None,
    input_with: Sequence[tuple[str, str]] = (),
    workers: int = 2,
    listener: Listener = ignore_events,
) -> MinedRelease:
    """Find the itemsets that were frequent before the sets were randomized; needs neither policy nor original.

    Parameters
    ----------
    release : a run's directory, a folder with a release, or a released file, with ``operator.json`` beside it; sets
        that came without an operator are mined as they are
    min_support : a share (0.002, ``"0.002"``, ``"0.2%"``) or a number of transactions (500, ``"500"``)
    max_length : items of the largest itemset
    rules, min_confidence, min_lift : association rules among the itemsets, and which (confidence 0.5 if not given)
    precision : the search stops before the size at which an itemset of minimum support would lie fewer standard errors
        than this above zero
    level : of the intervals
    attribute : the column, where several hold sets
    operator : an ``operator.json`` from elsewhere
    input_format : how the file is written, where its name does not say it: a format that sources read sets in, or
        ``csv``, whose rows are the sets of their ``column=value`` pairs
    input_with : names and texts of options of that format's reader
    workers : partitions that are counted at once

    Raises
    ------
    UsageError, DataError, PluginError
        Where the release is not there or damaged, does not fit its operator, or supports cannot be recovered from it.
    """
    options = _asked(min_support, max_length, rules, min_confidence, min_lift, precision, level)
    got = received_sets(release, attribute, operator, written_as(release, input_format, input_with))
    sets = sets_of(got)
    least = _share(options.min_support, sets)
    if sets.operator is None:
        mined = mined_plain(sets, options, least, listener)
    else:
        mined = mined_randomized(sets, options, least, got.lowest, workers, listener)
    return replace(mined, diagnostics=(*_shortened(got.rows, mined.rows), *mined.diagnostics))


def _asked(
    min_support: str | float | SupportBound,
    max_length: int | None,
    rules: bool,
    min_confidence: float | None,
    min_lift: float | None,
    precision: float,
    level: float,
) -> MiningOptions:
    if not rules and (min_confidence is not None or min_lift is not None):
        raise UsageError(
            Diagnostic("PPF120", "`--min-confidence` and `--min-lift` are about rules", help="add `--rules`")
        )
    if not 0.0 <= (min_confidence or 0.0) <= 1.0:
        raise UsageError(Diagnostic("PPF120", "`--min-confidence` lies between 0 and 1"))
    if not 0.0 < level < 1.0:
        advice = f"for {level:g} % write `--level {level / 100:g}`" if 1.0 < level < 100.0 else None
        raise UsageError(Diagnostic("PPF120", "`--level` lies between 0 and 1", help=advice))
    if not (math.isfinite(precision) and precision >= 0.0):
        raise UsageError(Diagnostic("PPF120", "`--precision` is a number of standard errors, from 0"))
    if min_lift is not None and not (math.isfinite(min_lift) and min_lift >= 0.0):
        raise UsageError(Diagnostic("PPF120", "`--min-lift` is a number from 0"))
    sure = 0.5 if min_confidence is None else min_confidence
    return MiningOptions(support_of(min_support), max_length, rules, sure, min_lift, precision, level)


def written_as(file: Path, kind: str | None, options: Sequence[tuple[str, str]]) -> InputFormat | None:
    """Return how a file is written; None where nobody says it. Raises UsageError (PPF120, PPF490)."""
    if kind is None and not options:
        return None
    chosen = kind or inferred("sources", telling_name(file))
    if chosen is None or chosen not in _known_formats():
        known = ", ".join(f"`{name}`" for name in _known_formats())
        text = (
            f"`--input-format {kind}` is no format that sets are read from" if kind else "`--input-with` needs a format"
        )
        raise UsageError(
            Diagnostic("PPF120", text, hint=did_you_mean(kind or "", _known_formats()), help=f"it is one of {known}")
        )
    given = reader_options(chosen, dict(options), f"{INPUT_WITH} {{name}}={{text}}")
    return InputFormat(chosen, given)


def _known_formats() -> list[str]:
    sources = [plugin.name for plugin in registry.listed("sources")]
    return ["csv", *(name for name in sources if handling("sources", name) == "only"), "parquet"]


def support_of(value: str | float | SupportBound) -> SupportBound:
    """Return a minimum support: ``0.002`` and ``0.2%`` are shares, ``500`` a number. Raises UsageError PPF120."""
    text = str(value).strip() if isinstance(value, str) else value
    try:
        if isinstance(text, str) and text.endswith("%"):
            return SupportBound(ratio=float(text[:-1]) / 100.0)
        return parsed(text)
    except ValueError:
        advice = "0.2 % of all transactions is 0.002 or 0.2%, 500 transactions are 500"
        text = "`--min-support` is a share above 0, up to 1, or a whole number of transactions from 1"
        raise UsageError(Diagnostic("PPF120", text, help=advice)) from None


def _share(support: SupportBound, sets: Sets) -> float:
    if support.ratio is not None:
        return support.ratio
    rows, least = sets.count_rows(), support.count or 1
    if least > rows:
        text = f"`--min-support {least}` is more than the {rows:,} transactions that there are"
        raise UsageError(Diagnostic("PPF120", text))
    return least / rows


def _shortened(length: int | None, rows: int) -> Iterator[Diagnostic]:
    if length is not None and length != rows:
        yield Diagnostic(
            "PPF137",
            f"the file has {rows:,} transactions, and its data dictionary says {length:,}",
            severity=Severity.WARNING,
            help="part of the file may be missing: take it over again",
        )
