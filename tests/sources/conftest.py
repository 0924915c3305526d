from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ppdm_flow.core.errors import PpdmError
from ppdm_flow.sdk import registry

CANARY = "zqcanary"
"""A word that every broken file of these tests holds, and no message may."""


class Reader:
    """Reads files that a test writes, by the reader that the entry points name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str, content: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content)
        return path

    def open(self, kind: str, path: Path, **options: str) -> Any:
        spec = registry.load("sources", kind)
        return spec.load()(spec.params.model_validate(options), path)

    def batches(self, kind: str, path: Path, columns: Sequence[str] | None = None, **options: str) -> list[Any]:
        source = self.open(kind, path, **options)
        return list(source.batches(source.names() if columns is None else columns))

    def table(self, kind: str, path: Path, columns: Sequence[str] | None = None, **options: str) -> dict[str, list]:
        """Every column as a list of texts and None; names in order."""
        source = self.open(kind, path, **options)
        names = tuple(source.names() if columns is None else columns)
        found: dict[str, list] = {n: [] for n in names}
        for batch in source.batches(names):
            assert tuple(batch.schema.names) == names
            for name in names:
                kind_ = batch.schema.field(name).type
                assert kind_ in (pa.string(), pa.dictionary(pa.int32(), pa.string()))
                found[name] += batch.column(name).to_pylist()
        return found

    def fails(self, kind: str, path: Path, code: str, **options: str) -> str:
        """The message of the DataError that reading raises; it has this code, exit status 2 and no value."""
        with pytest.raises(PpdmError) as caught:
            self.table(kind, path, **options)
        error = caught.value
        shown = (
            "\n".join(f"{d.message} {d.hint} {d.help} {d.notes}" for d in error.diagnostics)
            + str(error)
            + repr(error.__cause__)
            + ("" if error.__suppress_context__ else repr(error.__context__))
        )
        assert error.exit_status == 2
        assert [d.code for d in error.diagnostics] == [code]
        assert CANARY not in shown
        return error.diagnostics[0].message


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    return Reader(tmp_path)


@pytest.fixture
def canary() -> str:
    return CANARY


Make = Callable[[str, bytes], Path]
