"""Arrays and texts over memory that nobody can write to again.

A flag on an array is no protection: ``setflags(write=True)`` takes it back where the array or its base owns writeable
memory. An array over a buffer that says of itself that it is immutable cannot be made writeable, and shows no way back
to the array whose memory it is. Nothing is copied but what is not contiguous.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Some = TypeVar("Some", bound=np.generic)


def frozen(array: npt.NDArray[Some]) -> npt.NDArray[Some]:
    """Return an array over the same memory that nobody can make writeable."""
    contiguous = np.ascontiguousarray(array)
    buffer = pa.foreign_buffer(contiguous.ctypes.data, contiguous.nbytes, base=contiguous)
    view: npt.NDArray[Some] = np.ndarray(contiguous.shape, contiguous.dtype, buffer=buffer)
    return view


def frozen_texts(texts: pa.StringArray) -> pa.StringArray:
    """Return the same texts over immutable buffers: those of a fresh Arrow array can be written to."""
    buffers = [b if b is None else pa.foreign_buffer(b.address, b.size, base=b) for b in texts.buffers()]
    return pa.Array.from_buffers(texts.type, len(texts), buffers, texts.null_count, texts.offset)
