"""The process that looks at an uploaded table: ``FORMAT FILE``; prints why it cannot be read, as JSON."""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path

_MEMORY = 3 * 2**30
_CPU_SECONDS = 100


def look(kind: str, file: Path) -> str:
    """Return why a file cannot be read as a table of its kind; nothing where its beginning can."""
    from ppdm_flow.api.profile.data import look as looked  # noqa: PLC0415  # limits stand before this is loaded
    from ppdm_flow.core.errors import PpdmError  # noqa: PLC0415  # as above
    from ppdm_flow.engine.opening.opening import open_source  # noqa: PLC0415  # as above

    try:
        node = looked(file).node(file.name)
        source = open_source(node, file)
        names = node.columns or source.names()
        next(iter(source.batches(source.names())), None)
    except PpdmError as error:
        said = "; ".join(each.message for each in error.diagnostics)
        return said.replace(f"`{file}`", "the file").replace(str(file), "the file")
    except MemoryError:
        return "reading it takes too much memory"
    except Exception:  # noqa: BLE001  # whatever a reader does with hostile bytes; its words may quote them
        return f"it cannot be read as {kind}"
    return "" if names else "it has no columns"


def main() -> None:
    """Set limits, look, and end with 1 where it cannot be read."""
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    why = look(sys.argv[1], Path(sys.argv[2]))
    if why:
        sys.stdout.write(json.dumps(why))
        sys.stdout.flush()
    os._exit(1 if why else 0)  # readers read ahead in threads, which must not meet an interpreter that is going


if __name__ == "__main__":
    main()
