"""What jobs print, without the server's folders: who reads it knows tables and policies by their names."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.services.jobs.job import VerbJob
from ppdm_flow.page.texts.catalogue import catalogue

_UPLOAD = r"[0-9a-f]{32}/data[.A-Za-z0-9]*"
_JOB = r"[0-9a-f]{16}"


def hide_server_paths(call: Call, text: str) -> str:
    """Return a text with names in the place of the server's paths.

    An upload is called as its owner called it, a policy by its name, a run by its place below ``runs``; of other
    folders the last name is left.
    """
    settings, t = call.site.settings, catalogue()
    for upload in () if call.visit.user is None else call.site.uploads.all_of(call.user):
        text = _replaced(text, upload.path, "", upload.name)
    text = _replaced(text, settings.uploads, f"/{_UPLOAD}", t("jobs.gone_upload"))
    text = _replaced(text, settings.jobs, f"/{_JOB}(?=/)", t("jobs.own_folder"))
    text = _replaced(text, settings.policies, "/", "")
    for folder in sorted((settings.runs, settings.state, settings.policies, *settings.data), key=_depth, reverse=True):
        text = _replaced(text, folder, "", folder.name)
    return text


def command_without_paths(call: Call, job: VerbJob) -> str:
    """Return a job's words as they would be typed, with names in the place of the server's paths."""
    return shlex.join(("ppdm-flow", *(hide_server_paths(call, word) for word in job.words)))


def without_server_paths(call: Call, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return diagnostics whose texts name no folder of the server."""
    hide = partial(hide_server_paths, call)
    return [
        replace(
            each, message=hide(each.message), hint=hide(each.hint or "") or None, help=hide(each.help or "") or None
        )
        for each in diagnostics
    ]


def _replaced(text: str, path: Path, pattern: str, name: str) -> str:
    for spelled in {str(path.absolute()), os.path.realpath(path)}:
        if spelled in text:
            text = re.sub(re.escape(spelled) + pattern, lambda _: name, text)
    return text


def _depth(folder: Path) -> int:
    return len(folder.absolute().parts)
