"""What a determination is made of: chapters with what is known, each with its place, and with questions to a person."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExpertFact:
    """Something that was measured or that the policy says. ``place`` is where it stands: a file of the run, a line."""

    name: str
    text: str
    place: str
    state: str = ""


@dataclass(frozen=True, slots=True)
class Chapter:
    """One of the Five Safes, or what comes before and after. ``sources`` are the parts of the texts that ask for it.

    ``known`` are rows of (name, text, place); ``questions`` are for a person, who fills them in.
    """

    id: str
    title: str
    sources: str
    intro: str
    known: tuple[ExpertFact, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Determination:
    """All chapters; ``readers`` and ``sentence`` say who may read it, ``verdict`` how the run ended."""

    policy: str
    readers: str
    sentence: str
    verdict: str
    state: str
    stamp: str
    chapters: tuple[Chapter, ...]
