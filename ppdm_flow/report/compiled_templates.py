"""Compiled templates, kept where Python keeps its compiled modules: beside them, in ``__pycache__``.

Compiling those of a report takes a tenth of a second, which each run paid. Python's own rules hold for the files:
``PYTHONPYCACHEPREFIX`` says where they are, ``PYTHONDONTWRITEBYTECODE`` that none is written, and who can write them
can write the modules' as well. A folder that nobody may write in is no error, nor is a file that is damaged.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from threading import get_ident

from jinja2 import BytecodeCache
from jinja2.bccache import Bucket

from ppdm_flow.core.version import VERSION

_SUFFIX = ".template"


class CompiledTemplates(BytecodeCache):
    """The compiled templates of one environment.

    Parameters
    ----------
    module : file of the module that makes the environment: what it says of escaping is compiled into the templates, so
        they are compiled anew where it changes
    """

    def __init__(self, module: str) -> None:
        try:
            self._maker = Path(module).read_text(encoding="utf-8")
        except OSError:  # modules without their sources, of which the version says enough
            self._maker = ""

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return the path of the compiled template; nothing for one that is no file, which is not kept."""
        del name  # jinja's: the file says more
        if filename is None or sys.implementation.cache_tag is None:
            return ""
        return str(Path(cache_from_source(filename)).with_suffix(_SUFFIX))

    def get_source_checksum(self, source: str) -> str:
        """Return what a compiled template has to be made of to be taken: this source, this maker, this version."""
        return super().get_source_checksum(f"{VERSION}\n{self._maker}\n{source}")

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take what is kept, where it was made of the same."""
        if not bucket.key:
            return
        try:
            with Path(bucket.key).open("rb") as file:
                bucket.load_bytecode(file)
        except Exception:  # noqa: BLE001  # whatever a damaged file leads to: the template is compiled anew
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template; never a half of one, as another process may read it meanwhile."""
        if not bucket.key or sys.dont_write_bytecode:
            return
        path = Path(bucket.key)
        beside = path.with_name(f"{path.name}.{os.getpid()}.{get_ident()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with beside.open("xb") as file:
                bucket.write_bytecode(file)
            beside.replace(path)
        except OSError:
            with suppress(OSError):
                beside.unlink()
