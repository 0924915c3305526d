"""What keeps a figure of classes from being measured."""

from __future__ import annotations


class UnrankedError(Exception):
    """Values have no place in an order. ``text`` says so, without naming any."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text
