"""The categorical attributes of UCI Adult and UCI Credit Approval (CRX), complete records only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table

_PEOPLE = ["age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"]
ADULT = [*_PEOPLE, "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "class"]
_NUMERIC = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
ADULT_NOMINAL = [name for name in ADULT if name not in _NUMERIC]
CRX = [f"A{i}" for i in range(1, 17)]
CRX_NOMINAL = ["A1", "A4", "A5", "A6", "A7", "A9", "A10", "A12", "A13", "A16"]


@dataclass(frozen=True)
class Dataset:
    """The first ``train`` records of ``frame`` are the paper's training part; the last column is the class."""

    name: str
    frame: pd.DataFrame
    train: int

    @property
    def attributes(self) -> list[str]:
        return list(self.frame.columns[:-1])

    @property
    def target(self) -> str:
        return str(self.frame.columns[-1])


def adult(data: Path) -> Dataset:
    """30,162 + 15,060 records."""
    parts = []
    for name in ("adult.data.gz", "adult.test.gz"):
        part = _read(data / "adult_uci" / name, ADULT)
        part["class"] = part["class"].str.rstrip(".")
        parts.append(part[ADULT_NOMINAL])
    return Dataset("adult", pd.concat(parts, ignore_index=True), len(parts[0]))


def crx(data: Path) -> Dataset:
    """465 + 188 records, in the order of the file."""
    return Dataset("crx", _read(data / "crx/crx.data", CRX)[CRX_NOMINAL], 465)


def table(frame: pd.DataFrame) -> Table:
    """Return a frame of texts as coded columns."""
    columns = {}
    for name in frame:
        codes, names = pd.factorize(frame[name], sort=True)
        columns[str(name)] = Column(codes.astype(np.int32), pa.array(list(names), pa.string()))
    return Table(columns, np.arange(len(frame)))


def _read(path: Path, names: list[str]) -> pd.DataFrame:
    read = pd.read_csv(path, header=None, names=names, dtype=str, skipinitialspace=True, na_values="?", comment="|")
    return read.dropna().reset_index(drop=True)
