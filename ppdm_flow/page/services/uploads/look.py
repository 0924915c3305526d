"""A look at an uploaded table by the source that will read it: what it unpacks to, its columns, its first rows."""

from __future__ import annotations

from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, PpdmError
from ppdm_flow.page.services.uploads.kinds import UploadKind
from ppdm_flow.page.services.uploads.limits import UploadLimits
from ppdm_flow.page.services.uploads.unpacking import check_columns, check_unpacked, refuse_wide


def look(file: Path, kind: UploadKind, limits: UploadLimits) -> None:
    """Look at a file, in a process that cannot take the server with it.

    Raises DataError where it unpacks to too much or has too many columns (PPF996), or with what the source says where
    it cannot be read as a table of its kind (PPF995).
    """
    check_unpacked(file, kind, limits)
    check_columns(file, kind, limits)
    if why := _fault(file, kind, limits):
        help_ = "open it where it was made, and write it anew"
        raise DataError(Diagnostic("PPF995", f"the upload is refused: {why}", help=help_))


def _fault(file: Path, kind: UploadKind, limits: UploadLimits) -> str:
    """Return why a file cannot be read as a table of its kind; nothing where its beginning can.

    Raises DataError where it has too many columns (PPF996), before any row is read.
    """
    from ppdm_flow.api.profile.data import look as looked  # noqa: PLC0415  # the server itself reads no data
    from ppdm_flow.engine.opening.opening import open_source  # noqa: PLC0415  # as above

    try:
        node = looked(file).node(file.name)
        source = open_source(node, file)
        names = node.columns or source.names()
        if len(names) <= limits.columns:
            next(iter(source.batches(source.names())), None)
    except PpdmError as error:
        said = "; ".join(each.message for each in error.diagnostics)
        return said.replace(f"`{file}`", "the file").replace(str(file), "the file")
    except MemoryError:
        return "reading it takes too much memory"
    except Exception:  # noqa: BLE001  # whatever a reader does with hostile bytes; its words may quote them
        return f"it cannot be read as {kind.format}"
    refuse_wide(len(names), limits)
    return "" if names else "it has no columns"
