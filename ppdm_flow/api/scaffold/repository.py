"""The files of the repository: those that every one has, those of its template, invented data and schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path, PurePosixPath

import ppdm_flow
from ppdm_flow.api.documents import SCHEMAS, text_of
from ppdm_flow.api.scaffold import invented
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.suggest import closest

DEFAULT = "microdata-kl"
_COMMON = "common"
_DOT = "dot-"
_SCHEMAS = ("policy", "template", "test")
_SETS = "randomized-baskets"
_DATA = {"visits": ("visits.csv", invented.visits), "orders": ("orders.txt", invented.orders)}


def variants() -> tuple[str, ...]:
    """Return the built-in templates that a repository can start from."""
    return tuple(sorted(p.name for p in _kit().iterdir() if p.is_dir() and p.name != _COMMON))


def init(folder: Path, template: str = DEFAULT) -> tuple[Path, ...]:
    """Write a repository of policies into ``folder``, the first of which builds on a built-in template.

    Raises
    ------
    UsageError
        For an unknown template (PPF630), where a file is there already (PPF695), or the folder cannot be written
        (PPF693); nothing was written then.
    """
    files = contents(template)
    if folder.exists() and not folder.is_dir():
        raise UsageError(Diagnostic("PPF695", f"`{folder}` is a file"))
    taken = [folder / name for name in files if (folder / name).exists()]
    if taken:
        text = f"`{taken[0]}` is there already: nothing was written"
        raise UsageError(Diagnostic("PPF695", text, help="give another folder"))
    try:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())  # line ends as they are, on every machine
    except (FileExistsError, NotADirectoryError, PermissionError) as error:
        raise UsageError(Diagnostic("PPF693", f"cannot write into `{folder}`: {type(error).__name__}")) from None
    return tuple(folder / name for name in files)


def contents(template: str = DEFAULT) -> Mapping[str, str]:
    """Return the files by their names in the folder, the policy first. Raises UsageError (PPF630)."""
    name = template.removeprefix("builtin:")
    if name not in variants():
        raise UsageError(_unknown(template))
    policy = "orders" if name == _SETS else "visits"
    data, table = _DATA[policy]
    words = {"@VERSION@": ppdm_flow.__version__, "@TEMPLATE@": name, "@POLICY@": policy, "@DATA@": data}
    files = {f"policies/{policy}.yaml": ""}
    files |= {path: _filled(text, words) for path, text in (*_texts(_kit() / name), *_texts(_kit() / _COMMON))}
    files[f"data/{data}"] = table()
    return files | {f".schemas/{each}.v1.json": text_of(each) for each in _SCHEMAS if each in SCHEMAS}


def _unknown(template: str) -> Diagnostic:
    near = closest(template.removeprefix("builtin:"), variants())
    names = ", ".join(f"`{name}`" for name in variants())
    hint = f"did you mean `{near}`?" if near else None
    return Diagnostic(
        "PPF630", f"no repository starts from a template `{template}`", hint=hint, help=f"there are {names}"
    )


def _kit() -> Path:
    return Path(str(resources.files("ppdm_flow.api.scaffold") / "kit"))


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    """The files below a folder. Names that begin with a dot are stored with ``dot-``, so that no tool obeys them."""
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        parts = (f".{p.removeprefix(_DOT)}" if p.startswith(_DOT) else p for p in path.relative_to(folder).parts)
        yield str(PurePosixPath(*parts)), path.read_text(encoding="utf-8")


def _filled(text: str, words: Mapping[str, str]) -> str:
    for mark, word in words.items():
        text = text.replace(mark, word)
    return text
