"""A released table as its data dictionary describes it, before a copy of it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from ppdm_flow.core.digests import digest
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.texts.file_names import DICTIONARY
from ppdm_flow.page.services.released.files import ChangedFileError, GuestFile, ReleasedFolder
from ppdm_flow.page.services.tables.layout import VERSION
from ppdm_flow.plan.definition import COLLAPSE

_PLAN = "plan.json"


@dataclass(frozen=True, slots=True)
class DeclaredColumn:
    """A released column: its type in the file, and what steps did to it, in words of :class:`Change`, each once."""

    name: str
    type: AttributeType
    description: str
    changes: tuple[str, ...]
    is_set: bool


@dataclass(frozen=True, slots=True)
class ReleasedTable:
    """The table of a release: the place of its file in the release's folder, how it was written, its columns.

    ``files`` are the file, or the parts of a partitioned one, with their hashes. ``rows`` is None where the dictionary
    does not say it.
    """

    folder: ReleasedFolder
    path: str
    format: str
    options: Mapping[str, Any]
    description: str
    rows: int | None
    columns: tuple[DeclaredColumn, ...]
    files: tuple[GuestFile, ...]

    @classmethod
    def of(cls, folder: ReleasedFolder) -> Self:
        """Read what the run says of its release. Raises ChangedFileError where a document is not the listed one."""
        dictionary = folder.document(DICTIONARY)
        plan = folder.run_document(_PLAN)
        try:
            node = next(each for each in plan["releases"] if each["name"] == folder.release)
            path, counts = str(node["path"]), dictionary["options"].get(COLLAPSE)  # rows are shown, not records
            files = tuple(f for f in folder.files() if f.name == path or f.name.startswith(f"{path}/"))
            table = cls(
                folder,
                path,
                str(dictionary["format"]),
                dict(dictionary["options"]),
                str(dictionary["description"]),
                dictionary["rows"] if isinstance(dictionary["rows"], int) else None,
                tuple(_column(each) for each in dictionary["attributes"] if each["name"] != counts),
                files,
            )
        except (KeyError, StopIteration, TypeError, ValueError):
            raise ChangedFileError(DICTIONARY) from None
        if not files:
            raise ChangedFileError(path)
        return table

    @property
    def key(self) -> str:
        """What the name of its copy is made from: the hashes of its files, and all that decides how they are read."""
        return digest(
            {
                "version": VERSION,
                "files": [[file.name.removeprefix(self.path), file.sha256] for file in self.files],
                "format": [self.format, dict(self.options)],
                "columns": [[c.name, c.type.value, list(c.changes), c.is_set] for c in self.columns],
            }
        )

    @property
    def bytes(self) -> int:
        """The size of the released file."""
        return sum(file.bytes for file in self.files)


def _column(document: Mapping[str, Any]) -> DeclaredColumn:
    return DeclaredColumn(
        str(document["name"]),
        AttributeType(document["type"]),
        str(document.get("description", "")),
        tuple(dict.fromkeys(str(done["change"]) for done in document["done"])),
        document["role"] == Role.ITEMS,
    )
