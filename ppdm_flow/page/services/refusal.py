"""What a service refuses: the key of the sentence that tells people why, in place of a text of its own."""

from __future__ import annotations


class RefusalError(Exception):
    """Something that cannot be done now. ``key`` names the sentence in the catalogue, ``words`` fill it in.

    ``status`` is that of the answer: 409 where it is in the way of something else, 429 where a limit is reached.
    """

    def __init__(self, key: str, status: int = 409, **words: object) -> None:
        super().__init__(key)
        self.key, self.status, self.words = key, status, words
