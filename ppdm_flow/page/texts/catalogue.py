"""The catalogue of all texts of the page: one TOML file a feature, one folder a language."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

DEFAULT = "en"


class Catalogue:
    """The texts of one language. A key is ``feature.name``; ``{word}`` in a text is filled in."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def __call__(self, key: str, **words: object) -> str:
        """Return a text. Raises KeyError where there is none: a test asks for every key that templates name."""
        text = self._texts[key]
        return text.format(**words) if words else text

    def __contains__(self, key: str) -> bool:
        return key in self._texts

    @property
    def keys(self) -> frozenset[str]:
        """All keys."""
        return frozenset(self._texts)


@cache
def catalogue(language: str = DEFAULT) -> Catalogue:
    """Return the texts of a language; what it lacks is in English."""
    return Catalogue({**_read(DEFAULT), **_read(language)})


def _read(language: str) -> dict[str, str]:
    folder = files(__package__).joinpath(language)
    return {
        f"{file.name.removesuffix('.toml')}.{name}": text
        for file in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if file.name.endswith(".toml")
        for name, text in tomllib.loads(file.read_text(encoding="utf-8")).items()
    }
