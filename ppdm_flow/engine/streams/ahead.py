"""Making the next item while the last one is used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")
_END: Any = object()


def ahead(items: Iterable[T]) -> Iterator[T]:
    """Yield the items in order, each made by a thread of its own while the one before is in use.

    An error in making an item is raised where the item would have come. At most one item is made ahead; whoever stops
    early waits for that one.
    """
    source = iter(items)
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as pool:
        coming = pool.submit(next, source, _END)
        while (item := coming.result()) is not _END:
            coming = pool.submit(next, source, _END)
            yield item
