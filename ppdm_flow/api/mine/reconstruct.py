"""What a recipient asks: the original counts of an attribute that was perturbed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ppdm_flow.api.mine.estimates import ReconstructedCounts
from ppdm_flow.api.mine.noise import ReconstructedNumbers, find_noise, reconstruct_numbers
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.errors import DataError, UsageError
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.engine.reading.received import ReceivedRelease, read_release
from ppdm_flow.engine.streams.tallying import tally
from ppdm_flow.mining.reconstruction.estimate import Method, ReconstructedGroups, groups, misfit, reconstruct_counts
from ppdm_flow.mining.reconstruction.likelihood import AnyChannel, SingularMatrixError, channel_of
from ppdm_flow.sdk.anonymizer import ValueOperator

MOST = 2_000_000
"""So many estimates, groups times values, are made at most."""


def reconstruct(
    release: Path,
    by: Sequence[str] = (),
    where: Mapping[str, tuple[str, ...]] = {},
    attribute: str | None = None,
    method: Method = "inverse",
    level: float = 0.95,
    operator: Path | None = None,
    cells: int | None = None,
) -> ReconstructedCounts | ReconstructedNumbers:
    """Estimate the original counts of a perturbed attribute, with intervals; needs neither policy nor original.

    Numbers to which noise was added, as ``noise.json`` says, are estimated in ``cells``, always by ``em``.

    Parameters
    ----------
    release : a run's directory, a folder with a release, or a released file with ``operator.json`` beside it
    by : columns; one reconstruction for each combination of their released values
    where : columns and the texts of which a row must have one; ``""`` means a missing value as well
    attribute : the perturbed attribute, where there are several
    method : ``inverse`` or ``em`` (:func:`ppdm_flow.mining.reconstruction.estimate.reconstruct_counts`)
    level : of the intervals
    operator : an ``operator.json`` or ``noise.json`` from elsewhere
    cells : so many cells of numbers with noise; about as wide as the noise unless given

    Raises
    ------
    UsageError, DataError
        Where the release, the attribute or a column is not there, no row fits, a value is outside the domain, or the
        operator is a matrix that cannot be inverted.
    """
    if not 0.0 < level < 1.0:
        advice = f"for {level:g} % write `--level {level / 100:g}`" if 1.0 < level < 100.0 else None
        raise UsageError(Diagnostic("PPF120", "`--level` lies between 0 and 1", help=advice))
    noisy = find_noise(release, attribute, operator)
    if noisy is not None:
        if by:
            text = "`--by` groups estimates of values, and numbers with noise are estimated all together"
            raise UsageError(Diagnostic("PPF763", text, help="choose rows with `--where`, a group at a time"))
        return reconstruct_numbers(*noisy, where, level, cells)
    if cells is not None:
        raise UsageError(Diagnostic("PPF120", "`--cells` is for numbers with noise, and these are values"))
    got = read_release(release, attribute, operator)
    chosen = _operator(got, attribute)
    _allowed((*by, *where), chosen.attribute, by)
    channel = _channel(chosen)
    counted = _groups(got, chosen, tuple(by), where)
    by_rows = chosen.per_person is None  # else rows are no draws of their own, and deviate more by chance
    misfits = by_rows and misfit(channel, counted.released.sum(axis=0))
    doubts = (_doubt(chosen.attribute),) if misfits else ()
    estimates = reconstruct_counts(channel, counted.released, method, level)
    return ReconstructedCounts(got.file.name, chosen, where, method, level, counted, estimates, doubts)


def _operator(got: ReceivedRelease, attribute: str | None) -> ValueOperator:
    known = {o.attribute: o for o in got.operators}
    listing = ", ".join(f"`{name}`" for name in known)
    if len(known) < len(got.operators):
        raise DataError(Diagnostic("PPF736", "the operator file has two operators for one attribute"))
    if attribute is None:
        if len(known) == 1:
            return got.operators[0]
        if not known:
            text = "the operator file has no operator: no released attribute is perturbed"
            raise UsageError(Diagnostic("PPF736", text))
        advice = f"say which one with `--attribute`: {listing}"
        raise UsageError(Diagnostic("PPF694", "several attributes are perturbed", help=advice))
    if attribute not in known:
        text = f"there is no operator for `{attribute}`"
        hint = did_you_mean(attribute, known)
        raise UsageError(Diagnostic("PPF694", text, hint=hint, help=f"there is one for {listing}" if known else None))
    return known[attribute]


def _channel(operator: ValueOperator) -> AnyChannel:
    try:
        return channel_of(operator)
    except SingularMatrixError:
        text = f"the matrix of `{operator.attribute}` cannot be inverted: different originals give the same release"
        raise DataError(Diagnostic("PPF869", text)) from None


def _allowed(names: Sequence[str], attribute: str, by: Sequence[str]) -> None:
    if attribute in names:
        option = "--by" if attribute in by else "--where"
        text = f"`{option}` cannot use `{attribute}`: its released values are partly chance"
        raise UsageError(Diagnostic("PPF763", text))


def _groups(
    got: ReceivedRelease, operator: ValueOperator, by: tuple[str, ...], where: Mapping[str, tuple[str, ...]]
) -> ReconstructedGroups:
    counts = tally(got.open(), (*by, operator.attribute), where, f"`{got.file.name}`")
    if counts is None:
        chosen = " and ".join(f"`{name}={value}`" for name, values in where.items() for value in values)
        text = f"no released row has {chosen}" if where else f"`{got.file.name}` has no rows"
        advice = f"`--by {','.join(where)}` shows the values that there are" if where else None
        raise DataError(Diagnostic("PPF714", text, help=advice))
    number = counts.groups(by)[1]
    if number * operator.size > MOST:
        text = f"{number:,} groups of {operator.size:,} values are more than {MOST:,} estimates"
        raise UsageError(Diagnostic("PPF768", text, help="group by fewer columns, or choose rows with `--where`"))
    by_group = groups(counts, operator.attribute, operator.domain, by)
    if by_group.outside:
        text = f"{by_group.outside:,} cells of `{operator.attribute}` are not among the {operator.size:,} values"
        raise DataError(Diagnostic("PPF765", f"{text} that its operator chooses from"))
    return by_group


def _doubt(attribute: str) -> Diagnostic:
    return Diagnostic(
        "PPF767",
        f"the released counts of `{attribute}` hardly fit its operator: the estimates may mean nothing",
        severity=Severity.WARNING,
        help="is the `operator.json` the one that came with this very file?",
    )
