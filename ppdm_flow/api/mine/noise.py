"""What a recipient asks: the distribution of numbers before noise was added to them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ppdm_flow.api.mine.estimates import cell
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, UsageError
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.core.texts import OPERATOR, json_text
from ppdm_flow.engine.reading.received import ReceivedRelease, released_file
from ppdm_flow.engine.streams.tallying import tally
from ppdm_flow.mining.reconstruction.additive_noise import (
    LAPLACE,
    NORMAL,
    Floats,
    NoiseLaw,
    NoiseReconstruction,
    reconstruct_density,
)
from ppdm_flow.tables.numeric.column import numbers_among, parsed, texts_of

NOISE = "noise.json"
BASIS = "rows and noise are random: intervals are by the profile of the likelihood"
MOST_CELLS = 200
_USUAL = 20
_MOST_DECIMALS = 30
_MICROSECONDS = 10**6
_FIGURES = ("released", "estimate", "standard_error", "low", "high")


@dataclass(frozen=True, slots=True)
class PublishedNoise:
    """The noise of one attribute as ``noise.json`` has it, in the column's own units.

    ``sd`` is None where only the noise's share ``scale`` of the original's standard deviation is published. Released
    numbers are ``shrink`` (x + e) + (1 - ``shrink``) mean. ``step_name`` is the step that added the noise, if known.
    """

    attribute: str
    kind: AttributeType
    distribution: str
    sd: float | None
    scale: float | None
    keeps_moments: bool
    shrink: float | None
    step: float
    low: float | None
    high: float | None
    clamp: bool
    step_name: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ReconstructedNumbers:
    """Estimated counts of the originals of a column in cells; ``cells`` are the labels of these."""

    file: str
    noise: PublishedNoise
    law: NoiseLaw
    where: Mapping[str, tuple[str, ...]]
    level: float
    cells: tuple[str, ...]
    reconstruction: NoiseReconstruction
    diagnostics: tuple[Diagnostic, ...] = ()

    def rows(self) -> Iterator[tuple[str, dict[str, float]]]:
        """Yield each cell with its figures."""
        reconstruction = self.reconstruction
        arrays = (
            reconstruction.released,
            reconstruction.estimate,
            reconstruction.error,
            reconstruction.low,
            reconstruction.high,
        )
        for label, numbers in zip(self.cells, np.column_stack(arrays).tolist(), strict=True):
            yield label, dict(zip(_FIGURES, numbers, strict=True))

    def document(self, form: str) -> str:
        """Return the estimates as ``json`` or ``csv``."""
        if form == "csv":
            lines = [f"{cell(label)},{','.join(f'{n:.10g}' for n in row.values())}" for label, row in self.rows()]
            return "\n".join([",".join(("cell", *_FIGURES)), *lines])
        return json_text(
            {
                "version": 1,
                "file": self.file,
                "attribute": self.noise.attribute,
                "where": {name: list(values) for name, values in self.where.items()},
                "method": "em",
                "level": self.level,
                "basis": BASIS,
                "noise": {"distribution": self.law.distribution, "sd": self.law.sd, "estimated": self.noise.sd is None},
                "rounds": self.reconstruction.rounds,
                "log_likelihood_gap": self.reconstruction.gap,
                "cells": [{"cell": label, **row} for label, row in self.rows()],
            }
        )


def find_noise(release: Path, attribute: str | None, operator: Path | None) -> tuple[Path, PublishedNoise] | None:
    """Return the released file and its noise; None where something else is asked for, or no noise was published.

    Raises UsageError (PPF694) where several attributes have noise and none is named.
    """
    folders = [release if release.is_dir() else release.parent, *sorted((release / "released").glob("*"))]
    known = [(operator.parent, operator)] if operator is not None else _files(folders)
    entries = [(folder, each) for folder, file in known for each in _read(file)]
    if attribute is None and any((folder / OPERATOR).is_file() for folder, _ in entries):
        return None
    chosen = [pair for pair in entries if attribute in (None, pair[1].attribute)]
    if not chosen:
        return None
    if len(chosen) > 1:
        listing = ", ".join(f"`{each.attribute}`" for _, each in chosen)
        advice = f"say which one with `--attribute`: {listing}, or give the folder of one release"
        raise UsageError(Diagnostic("PPF694", "several attributes got noise", help=advice))
    folder, noise = chosen[0]
    place = release if operator is not None or not release.is_dir() else folder
    file, about = released_file(place, lambda _: True, UsageError(Diagnostic("PPF760", "no release")), given=True)
    if later := _changed_afterwards(about, noise):
        raise _too_little(noise, f"step `{later}` changed released numbers after it was added")
    return file, noise


def reconstruct_numbers(
    file: Path, noise: PublishedNoise, where: Mapping[str, tuple[str, ...]], level: float, cells: int | None
) -> ReconstructedNumbers:
    """Estimate how the originals of a column with noise are distributed.

    Raises UsageError, and DataError where there are no rows, no numbers, or too little is known of the noise.
    """
    if cells is not None and not 2 <= cells <= MOST_CELLS:
        raise UsageError(Diagnostic("PPF120", f"`--cells` lies between 2 and {MOST_CELLS}"))
    values, counts = _released(file, noise, where)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(values @ counts / counts.sum())
        deviation = float(np.sqrt(((values - mean) ** 2) @ counts / counts.sum()))
    if not math.isfinite(deviation):
        raise _too_little(noise, "released numbers are too large to compute with")
    sd, shrink = _sized(noise, deviation)
    if shrink != 1.0:
        values = (values - (1.0 - shrink) * mean) / shrink
    law = NoiseLaw(noise.distribution, sd, noise.low, noise.high, noise.clamp, noise.step / shrink)
    edges = _edges(values, law, noise, cells)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        result = reconstruct_density(values, counts, law, edges, level)
    if not np.isfinite(np.concatenate((result.estimate, result.low, result.high, [result.gap]))).all():
        raise _too_little(noise, "released numbers are none that it makes")
    return ReconstructedNumbers(file.name, noise, law, where, level, tuple(_labels(edges, noise)), result)


def _changed_afterwards(about: Mapping[str, Any], noise: PublishedNoise) -> str | None:
    """Return a step that changed the column after its noise, by the data dictionary; None where none did."""
    try:
        (column,) = (each for each in about.get("attributes", ()) if each["name"] == noise.attribute)
        steps = [str(each["step"]) for each in column["done"]]
    except (ValueError, KeyError, TypeError):  # no dictionary, or none that says what was done
        return None
    if noise.step_name not in steps:
        return None
    return next(iter(steps[steps.index(noise.step_name) + 1 :]), None)


def _files(folders: list[Path]) -> list[tuple[Path, Path]]:
    return [(folder, file) for folder in folders if folder.is_dir() for file in sorted(folder.glob(f"*{NOISE}"))]


def _read(file: Path) -> list[PublishedNoise]:
    """Return what a file says of the noise; nothing where it is no such file. Raises DataError PPF447."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(document, dict) or "distribution" not in document:
            return []
        return [_entry(document, each) for each in document["attributes"]]
    except OSError as error:
        reason = error.strerror or "no reason given"
        raise DataError(Diagnostic("PPF701", f"cannot read `{file}`: {reason}")) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, IndexError, OverflowError):
        if not file.name.endswith(NOISE):
            return []
        raise DataError(Diagnostic("PPF447", f"`{file}` does not describe noise")) from None


def _entry(document: Mapping[str, Any], entry: Mapping[str, Any]) -> PublishedNoise:
    kind = AttributeType(entry["type"])
    if kind is AttributeType.TEXT:
        raise ValueError("noise was expected on numbers, dates or moments, not on texts")
    factor = float(_MICROSECONDS) if kind is AttributeType.TIMESTAMP else 1.0
    decimals = int(_number(entry["rounded_to_decimals"]))
    if abs(decimals) > _MOST_DECIMALS:
        raise ValueError(f"at most {_MOST_DECIMALS} decimals were expected, not {decimals}")
    step = {AttributeType.FLOAT: 10.0**-decimals, AttributeType.TIMESTAMP: 10.0 ** (6 - min(6, decimals))}.get(
        kind, 1.0
    )
    bounds = document["bounds"] or {}
    low, high = (_bound(bounds.get(name), kind) for name in ("min", "max"))
    if low is not None and high is not None and low >= high:
        raise ValueError("the lower bound must be below the upper one")
    sd, scale, shrink = entry.get("sd"), document["relative_scale"], entry.get("multiplied_by")
    distribution = str(document["distribution"])
    if distribution not in (NORMAL, LAPLACE) or (distribution == LAPLACE and document["correlated"]):
        raise ValueError(f"the distribution must be {NORMAL} or uncorrelated {LAPLACE}")
    return PublishedNoise(
        attribute=str(entry["attribute"]),
        kind=kind,
        distribution=distribution,
        sd=None if sd is None else _number(sd) * factor,
        scale=None if scale is None else _number(scale),
        keeps_moments=bool(document["keep_moments"]),
        shrink=None if shrink is None else _number(shrink),
        step=step,
        low=low,
        high=high,
        clamp=bounds.get("outside") == "clamp",
        step_name=None if document.get("step") is None else str(document["step"]),
    )


def _bound(text: Any, kind: AttributeType) -> float | None:
    return None if text is None else _number(float(numbers_among([str(text)], kind)[0].item()))


def _number(value: Any) -> float:
    """Return a finite number. Raises ValueError for anything else, and for a text or a truth value."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"a finite number was expected, not a value of type {type(value).__name__}")
    return float(value)


def _released(file: Path, noise: PublishedNoise, where: Mapping[str, tuple[str, ...]]) -> tuple[Floats, Floats]:
    """Return the distinct released numbers, ascending, and their rows; missing cells are left out."""
    name = noise.attribute
    if name in where:
        text = f"`--where` cannot use `{name}`: its released values are partly chance"
        raise UsageError(Diagnostic("PPF763", text))
    counts = tally(ReceivedRelease(file, ()).open(), (name,), where, f"`{file.name}`")
    read = None if counts is None else parsed(counts.names(name), noise.kind)
    if counts is None or read is None or not len(read.values):
        raise DataError(Diagnostic("PPF714", f"`{file.name}` has no rows with a number in `{name}`"))
    codes = counts.of(name)
    rows = np.bincount(codes[codes >= 0], counts.counts[codes >= 0], len(read.values))
    empty = np.array([not text for text in counts.names(name).to_pylist()])
    if (bad := int(rows[(read.bad | read.missing) & ~empty].sum())) > 0:
        raise DataError(Diagnostic("PPF765", f"{bad:,} cells of `{name}` are no numbers of its type"))
    good = ~(read.bad | read.missing)
    if not rows[good].sum():
        raise DataError(Diagnostic("PPF714", f"`{file.name}` has no rows with a number in `{name}`"))
    values, places = np.unique(read.values[good].astype(np.float64), return_inverse=True)
    return values, np.bincount(places, rows[good]).astype(np.float64)


def _sized(noise: PublishedNoise, deviation: float) -> tuple[float, float]:
    """Return the standard deviation of the noise and the factor of released numbers; estimated where not published."""
    bounded = noise.low is not None or noise.high is not None
    if bounded and noise.keeps_moments:
        raise _too_little(noise, "bounds were applied after numbers were drawn towards their mean")
    sd, shrink = noise.sd, noise.shrink
    if noise.keeps_moments and shrink is None and (noise.scale is None or sd is not None):
        raise _too_little(noise, "by how much numbers were drawn towards their mean is not published")
    if sd is None:
        if noise.scale is None or bounded:
            raise _too_little(noise, "its standard deviation is not published, and bounds hide it in the release")
        spread = math.sqrt(1.0 + noise.scale**2)
        sd = noise.scale * deviation / (1.0 if noise.keeps_moments else spread)
        shrink = 1.0 / spread if noise.keeps_moments else 1.0
    if not sd > 0.0:
        raise _too_little(noise, "there is none: released numbers are the originals")
    return sd, 1.0 if shrink is None else shrink


def _too_little(noise: PublishedNoise, why: str) -> DataError:
    text = f"the originals of `{noise.attribute}` cannot be estimated from its noise: {why}"
    return DataError(Diagnostic("PPF447", text))


def _edges(values: Floats, law: NoiseLaw, noise: PublishedNoise, cells: int | None) -> Floats:
    """Return edges of cells about as wide as the noise, over the bounds or else the released numbers."""
    low = float(values[0]) if noise.low is None else noise.low
    high = float(values[-1]) if noise.high is None else noise.high
    number = cells or int(np.clip(round((high - low) / law.sd), 2, _USUAL))
    if noise.kind is AttributeType.FLOAT or noise.step > 1.0:
        width = (high - low) / number or 1.0
        return np.asarray(low + width * np.arange(number + 1))
    cell_width = max(1, math.ceil((math.floor(high) - math.floor(low) + 1) / number))
    count = math.ceil((math.floor(high) - math.floor(low) + 1) / cell_width)
    return np.asarray(math.floor(low) - 0.5 + cell_width * np.arange(count + 1))


def _labels(edges: Floats, noise: PublishedNoise) -> Iterator[str]:
    """Yield the first and the last number of each cell; of floats and timestamps its ends."""
    has_integers = not (noise.kind is AttributeType.FLOAT or noise.step > 1.0)
    begins, ends = (edges[:-1] + 0.5, edges[1:] - 0.5) if has_integers else (edges[:-1], edges[1:])
    plain = noise.kind is AttributeType.FLOAT
    numbers = [side if plain else np.rint(side).astype(np.int64) for side in (begins, ends)]
    if plain:
        numbers = [np.array([float(f"{n:.6g}") for n in side]) for side in numbers]
    first, last = (texts_of(side, noise.kind).to_pylist() for side in numbers)
    for a, b in zip(first, last, strict=True):
        yield str(a) if a == b else f"{a} to {b}"
