"""Machine code on disk is good for the sources that it was made from, all of them."""

from __future__ import annotations

from ppdm_flow.mining.itemsets import output
from ppdm_flow.mining.krimp import accept, change
from ppdm_flow.sdk.ingredients import ingredients


def test_kernels_are_stamped_with_what_they_are_made_of():
    for module, kernel in ((output, output.sort_within), (accept, accept.consider)):
        dispatcher = getattr(kernel.__wrapped__, "dispatcher", kernel.__wrapped__)
        stamp = dispatcher._cache._cache_file._source_stamp
        assert stamp[1] == ingredients(dispatcher.py_func)
        assert dispatcher.py_func.__module__ == module.__name__


def test_what_a_kernel_is_made_of_reaches_over_modules(monkeypatch):
    kernel = accept.consider.__wrapped__.py_func
    before = ingredients(kernel)
    monkeypatch.setattr(change, "A_CONSTANT_OF_A_PART", 3, raising=False)
    assert ingredients(kernel) != before
