"""The confidences of inferences in histograms of groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.requirement import TOLERANCE
from ppdm_flow.mining.exposure.histograms import Histograms
from ppdm_flow.mining.exposure.values import ValueHistograms
from ppdm_flow.requirements.templates.inference import Images, Inferences
from ppdm_flow.tables.column import SPECIALS


def inferences_of(read: Sequence[ValueHistograms], images: Images, *, negated: bool) -> Inferences:
    """Return the highest confidence of each (group, value), over all ways of reading and over means of mixed cells."""
    every = [histograms for each in read for histograms in (each.histograms, each.mean) if histograms is not None]
    width = max(1, len(images))
    keys, confidence = np.zeros(0, dtype=np.int64), np.zeros(0)
    for histograms in every:
        group, value, share = _shares(histograms, images, negated=negated)
        keys, confidence = np.append(keys, group * width + value), np.append(confidence, share)
    distinct, place = np.unique(keys, return_inverse=True)
    worst = np.zeros(len(distinct))
    np.maximum.at(worst, place, confidence)
    return Inferences(worst, distinct // width, distinct % width, every[0].rows)


def _shares(
    histograms: Histograms, images: Images, *, negated: bool
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return (group, number of the value, its share) where the value occurs, or where it is not all there is."""
    cells, names = histograms.cells, histograms.names.to_pylist()
    owner = cells.owner
    groups, numbers, shares = [], [], []
    for number, image in enumerate(images.values()):
        meant = np.concatenate([np.zeros(SPECIALS, np.bool_), np.isin(names, list(image))])
        here = meant[cells.value]
        hits = np.bincount(owner[here], cells.count[here], len(histograms))
        share = hits / np.where(histograms.sizes > 0, histograms.sizes, 1)
        share = 1.0 - share if negated else share
        some = np.flatnonzero(share > TOLERANCE) if negated else np.flatnonzero(hits > 0)
        groups.append(some)
        numbers.append(np.full(len(some), number, dtype=np.int64))
        shares.append(share[some])
    return np.concatenate(groups), np.concatenate(numbers), np.concatenate(shares)


def confidences_of(images: Images, *, negated: bool) -> tuple[str, list[str]]:
    """Return a SELECT of (id, value, confidence), and its parameters."""
    texts = [(i, text) for i, image in enumerate(images.values()) for text in sorted(image)]
    wanted = ", ".join(f"({i}, ?)" for i, _ in texts)
    hits = f"""
        SELECT id, value, SUM(n) AS n FROM cells JOIN (VALUES {wanted}) AS sensitive(value, wanted) ON s = wanted
        GROUP BY id, value"""  # noqa: S608  # numbers and parameters
    if not negated:
        text = f"SELECT id, value, n / size AS confidence FROM ({hits}) JOIN sizes USING (id)"  # noqa: S608  # as above
    else:
        text = f"""
            SELECT * FROM (
                SELECT sizes.id AS id, v.value AS value, 1 - COALESCE(hits.n, 0) / size AS confidence
                FROM sizes CROSS JOIN range({len(images)}) AS v(value)
                LEFT JOIN ({hits}) AS hits ON hits.id = sizes.id AND hits.value = v.value)
            WHERE confidence > {TOLERANCE!r}"""  # noqa: S608  # as above
    return text, [text for _, text in texts]
