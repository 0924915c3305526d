"""Set-valued columns at the edge: Arrow lists, or packed and seeded rows with a document that explains them.

Baskets are ``large_list<dictionary<int32, string>>``, packed sets ``struct<bits: fixed_size_binary, size: int32>``,
seeded ones ``struct<seed: fixed_size_binary, size: int32>``. What bits and seeds mean stands once a file or batch, in
a JSON document (form, alphabet, expansion) under :data:`KEY`. A size that is not published is null.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.tables.column import union
from ppdm_flow.tables.sets.baskets import Baskets, gathered, placed
from ppdm_flow.tables.sets.forms import SetColumn
from ppdm_flow.tables.sets.packed import UNKNOWN, PackedSets, words_for
from ppdm_flow.tables.sets.seeded import Expansion, SeededSets

KEY = b"ppdm_flow.sets"
"""The key of the document in a field's metadata, and of all of a file's documents in the file's."""


class MalformedSetError(ValueError):
    """An array that is no column of sets; ``row`` is the first row at fault, where one is.

    ``repeated`` says that an item is in its set twice: readers can merge that.
    """

    def __init__(self, what: str, row: int | None = None, *, repeated: bool = False) -> None:
        super().__init__(what)
        self.row = row
        self.repeated = repeated


def holds_sets(kind: pa.DataType) -> bool:
    """Whether an Arrow type is one that sets come in."""
    listed = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return bool(listed or (pa.types.is_struct(kind) and kind.names in (["bits", "size"], ["seed", "size"])))


def document_of(column: SetColumn) -> Mapping[str, Any]:
    """Return what explains the rows of a packed or seeded column; nothing for baskets, which explain themselves."""
    if isinstance(column, Baskets):
        return {}
    alphabet = column.categories.to_pylist()
    if isinstance(column, PackedSets):
        return {"form": "packed", "alphabet": alphabet}
    expansion = column.expansion
    return {
        "form": "seeded",
        "alphabet": alphabet,
        "expansion": expansion.form,
        "insertion": list(expansion.insertion),
        "spare": expansion.spare,
    }


def field_of(name: str, column: SetColumn) -> pa.Field:
    """Return the Arrow field of a column, with its document."""
    document = document_of(column)
    metadata = {KEY: json.dumps(document, ensure_ascii=False).encode()} if document else None
    return pa.field(name, to_arrow(column.take(slice(0, 0))).type, metadata=metadata)


def to_arrow(column: SetColumn) -> pa.Array:
    """Return the rows in their Arrow form."""
    if isinstance(column, Baskets):
        return _lists(column)
    sizes = pa.array(column.sizes, pa.int32(), mask=column.sizes == UNKNOWN)
    if isinstance(column, SeededSets):
        return pa.StructArray.from_arrays([_binary(column.seeds, "<u2"), sizes], ["seed", "size"])
    return pa.StructArray.from_arrays([_binary(column.words, "<u8"), sizes], ["bits", "size"])


def _binary(numbers: npt.NDArray[np.unsignedinteger[Any]], kind: str) -> pa.FixedSizeBinaryArray:
    octets = np.ascontiguousarray(numbers, dtype=kind)
    width = pa.binary(octets.itemsize * octets.shape[1])
    return pa.Array.from_buffers(width, len(octets), [None, pa.py_buffer(octets)])


def _numbers(binary: pa.Array, kind: str, width: int) -> npt.NDArray[Any]:
    """Return the numbers of shape (rows, width). Raises ValueError for bytes of another width."""
    wanted = np.dtype(kind).itemsize * width
    if binary.null_count or not pa.types.is_fixed_size_binary(binary.type) or binary.type.byte_width != wanted:
        raise ValueError("rows of another width than the document says")
    if not len(binary) or not width:
        return np.zeros((len(binary), width), dtype=kind)
    every = np.frombuffer(binary.buffers()[1], dtype=kind)
    return every[binary.offset * width : (binary.offset + len(binary)) * width].reshape(len(binary), width)


def from_arrow(array: pa.Array, document: bytes | None = None) -> SetColumn:
    """Return the column that an array of a type that :func:`holds_sets` is. Raises MalformedSetError."""
    if array.null_count:
        raise MalformedSetError("a row has no set, which is another thing than an empty one", _first_null(array))
    if pa.types.is_struct(array.type):
        return _explained(array, document)
    offsets = array.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    values = array.values.slice(offsets[0], offsets[-1] - offsets[0])
    offsets = offsets - offsets[0]
    if values.null_count:
        place = _first_null(values)
        raise MalformedSetError("a set holds a missing item", int(np.searchsorted(offsets, place, "right")) - 1)
    coded = values if pa.types.is_dictionary(values.type) else values.cast(pa.string()).dictionary_encode()
    return _sorted(offsets, coded)


def _sorted(offsets: npt.NDArray[np.int64], coded: pa.DictionaryArray) -> Baskets:
    names = coded.dictionary.cast(pa.string())
    alphabet = union([names.drop_null().unique()])
    items = coded.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    if not names.equals(alphabet):
        items = placed(names, alphabet)[items]
        if (items < 0).any():
            place = int((items < 0).argmax())
            raise MalformedSetError("a set holds a missing item", int(np.searchsorted(offsets, place, "right")) - 1)
    baskets = Baskets(offsets, items, alphabet)
    if baskets.valid():
        return baskets
    merged, twice = gathered(baskets.rows(), items, len(baskets), alphabet)
    if twice.any():
        raise MalformedSetError("a set holds an item twice", int(twice.argmax()), repeated=True)
    return merged


def _lists(column: Baskets) -> pa.LargeListArray:
    values = pa.DictionaryArray.from_arrays(pa.array(column.items, pa.int32()), column.categories)
    return pa.LargeListArray.from_arrays(pa.array(column.offsets, pa.int64()), values)


def _explained(array: pa.StructArray, document: bytes | None) -> SetColumn:
    sizes = array.field("size").cast(pa.int32()).fill_null(UNKNOWN).to_numpy(zero_copy_only=False)
    try:
        info = json.loads(document or b"{}")
        alphabet = pa.array([str(name) for name in info["alphabet"]], pa.string())
        column = _packed(array, sizes, alphabet) if info["form"] == "packed" else _seeded(array, sizes, alphabet, info)
    except (KeyError, TypeError, ValueError):
        raise MalformedSetError("the document that explains the sets is missing or damaged") from None
    if not column.valid() or len(alphabet.unique()) < len(alphabet):
        raise MalformedSetError("the sets and the document that explains them do not fit")
    return column


def _packed(array: pa.StructArray, sizes: npt.NDArray[np.int32], alphabet: pa.StringArray) -> PackedSets:
    words = _numbers(array.field("bits"), "<u8", words_for(len(alphabet)))
    return PackedSets(words.astype(np.uint64, copy=False), sizes, alphabet)


def _seeded(
    array: pa.StructArray, sizes: npt.NDArray[np.int32], alphabet: pa.StringArray, info: Mapping[str, Any]
) -> SeededSets:
    expansion = Expansion(tuple(float(p) for p in info["insertion"]), int(info["spare"]), str(info["expansion"]))
    seeds = _numbers(array.field("seed"), "<u2", expansion.width)
    return SeededSets(seeds.astype(np.uint16, copy=False), sizes, alphabet, expansion)


def _first_null(array: pa.Array) -> int:
    return int(array.is_null().to_numpy(zero_copy_only=False).argmax())
