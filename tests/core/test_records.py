"""Data classes of our own maker behave like those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import itertools
import math
import pickle
import typing
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.records import dataclass

OPTIONS = [
    dict(zip(("frozen", "slots", "eq", "repr", "kw_only"), chosen, strict=True))
    for chosen in itertools.product((False, True), repeat=5)
]
VALUES = st.one_of(
    st.integers(0, 2), st.sampled_from(["", "a", math.nan, None, (1, 2)]), st.lists(st.integers(0, 1), max_size=1)
)


def two(body: Callable[[Callable[..., Any]], type]) -> tuple[type, type]:
    """Return the class by the standard library's maker and by ours."""
    return body(dataclasses.dataclass), body(dataclass)


def plain(options: dict[str, bool]) -> tuple[type, type]:
    def body(maker: Callable[..., Any]) -> type:
        @maker(**options)
        class Plain:
            """Three fields."""

            a: Any
            b: Any = 1
            c: Any = dataclasses.field(default=2, repr=False, compare=False)

        return Plain

    return two(body)


def hash_of(value: Any) -> int | str:
    try:
        return hash(value)
    except TypeError as error:
        return str(error)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_option_gives_the_same_class(options: dict[str, bool]) -> None:
    theirs, ours = plain(options)
    assert inspect.signature(theirs) == inspect.signature(ours)
    assert [f.name for f in dataclasses.fields(theirs)] == [f.name for f in dataclasses.fields(ours)]
    assert getattr(theirs, "__match_args__", None) == getattr(ours, "__match_args__", None)
    assert getattr(theirs, "__slots__", None) == getattr(ours, "__slots__", None)
    assert (theirs.__hash__ is None) == (ours.__hash__ is None)
    defined = {
        "__eq__",
        "__hash__",
        "__repr__",
        "__init__",
        "__setattr__",
        "__delattr__",
        "__getstate__",
        "__setstate__",
    }
    assert defined & set(vars(theirs)) == defined & set(vars(ours))


@pytest.mark.slow(quick=5)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@given(first=st.tuples(VALUES, VALUES, VALUES), second=st.tuples(VALUES, VALUES, VALUES))
def test_objects_compare_hash_and_show_alike(
    options: dict[str, bool], first: tuple[Any, ...], second: tuple[Any, ...]
) -> None:
    answers = []
    for of in plain(options):
        one, other = (of(**dict(zip("abc", values, strict=True))) for values in (first, second))
        assert one == one
        assert one == one
        shown = repr(one) if options["repr"] else ""
        hashed = hash_of(one) if options["eq"] else one.__hash__() == object.__hash__(one)
        answers.append((one == other, one != other, one == first, shown, hashed))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("names", ["", "a", "ab"])
@pytest.mark.parametrize("frozen", [False, True])
def test_few_fields(names: str, frozen: bool) -> None:
    theirs, ours = two(
        lambda maker: maker(frozen=frozen, slots=True)(type("Few", (), {"__annotations__": dict.fromkeys(names, Any)}))
    )
    values = (math.nan, "b")[: len(names)]
    assert repr(theirs(*values)) == repr(ours(*values))
    assert ours(*values) == ours(*values)
    assert hash_of(theirs(*values)) == hash_of(ours(*values))
    assert isinstance(hash_of(ours(*values)), int) == frozen


def test_methods_of_the_class_itself_stay() -> None:
    def body(maker: Callable[..., Any]) -> type:
        @maker(frozen=True, slots=True)
        class Own:
            """Everything by itself."""

            a: int

            def __eq__(self, other: object) -> bool:
                return isinstance(other, type(self)) and self.a % 2 == other.a % 2

            def __hash__(self) -> int:
                return self.a % 2

            def __repr__(self) -> str:
                return "own"

        return Own

    for of in two(body):
        assert (of(1) == of(3), of(1) == of(2), hash(of(3)), repr(of(1))) == (True, False, 1, "own")


@pytest.mark.parametrize("frozen", [False, True])
def test_an_equality_of_its_own_without_a_hash(frozen: bool) -> None:
    def body(maker: Callable[..., Any]) -> type:
        @maker(frozen=frozen)
        class Half:  # noqa: PLW1641  # that is the case
            """Only an equality."""

            a: int

            def __eq__(self, other: object) -> bool:
                return True

        return Half

    theirs, ours = two(body)
    assert theirs(1) == theirs(2)
    assert ours(1) == ours(2)
    assert str(hash_of(theirs(1))) == str(hash_of(ours(1)))


def test_fields_say_themselves_whether_they_are_hashed() -> None:
    def body(maker: Callable[..., Any]) -> type:
        @maker(frozen=True)
        class Hashed:
            """A field that is compared and not hashed, and the reverse."""

            a: Any
            b: Any = dataclasses.field(hash=False)
            c: Any = dataclasses.field(compare=False, hash=True, default=7)

        return Hashed

    theirs, ours = two(body)
    for arguments in ((1, [2]), (1, 3), (2, 3, 8)):
        assert hash(theirs(*arguments)) == hash(ours(*arguments))
    assert ours(1, 2, 3) == ours(1, 2, 4)
    assert ours(1, 2) != ours(1, 3)


def test_a_subclass_is_another_class_and_has_its_fathers_fields() -> None:
    def body(maker: Callable[..., Any]) -> type:
        @maker(frozen=True, slots=True)
        class Father:
            """One field."""

            a: int

        @maker(frozen=True, slots=True)
        class Child(Father):
            """One more."""

            b: int = 0

        @maker(frozen=True, slots=True, eq=False)
        class Heir(Father):
            """It compares as its father does."""

            b: int = 0

        assert Father(1) != Child(1)
        assert Child(1) != Father(1)
        assert Child(1, 2) == Child(1, 2) != Child(1, 3)
        assert Heir(1, 2) == Heir(1, 3)
        assert hash(Heir(1, 2)) == hash(Heir(1, 3)) == hash(Father(1))
        assert repr(Child(1, 2)).endswith("Child(a=1, b=2)")
        return Child

    two(body)


@pytest.mark.parametrize("slots", [False, True])
@pytest.mark.parametrize("frozen", [False, True])
def test_constructors(frozen: bool, slots: bool) -> None:
    def body(maker: Callable[..., Any]) -> type:
        @maker(frozen=frozen, slots=slots)
        class Made:
            """Every kind of default, a constant and an end."""

            FIXED: ClassVar[int] = 3
            a: int
            b: list[int] = dataclasses.field(default_factory=list)
            c: tuple[int, ...] = (1, 2)

            def __post_init__(self) -> None:
                object.__setattr__(self, "a", self.a + 1)

        return Made

    answers = []
    for of in two(body):
        assert of(1).b is not of(1).b
        with pytest.raises(TypeError) as none:
            of()
        with pytest.raises(TypeError) as many:
            of(1, [], (), 4)
        with pytest.raises(TypeError) as other:
            of(a=1, colour=2)
        texts = tuple(str(error.value).replace("test_constructors.<locals>.", "") for error in (none, many, other))
        made = of(1, c=(4,))
        answers.append((made.a, made.b, made.c, of.FIXED, str(inspect.signature(of)), texts, repr(of(1, [2]))))
    assert answers[0] == answers[1]


def test_what_is_seldom_is_as_in_the_standard_library() -> None:
    def body(maker: Callable[..., Any]) -> type:
        @maker(frozen=True, slots=True)
        class Seldom:
            """A parameter that is no field, a field that is no parameter, one by name alone."""

            a: int
            start: dataclasses.InitVar[int]
            b: int = dataclasses.field(init=False)
            c: int = dataclasses.field(default=3, kw_only=True)

            def __post_init__(self, start: int) -> None:
                object.__setattr__(self, "b", start * 2)

        return Seldom

    for of in two(body):
        made = of(1, 2, c=5)
        assert (made.a, made.b, made.c) == (1, 4, 5)

    def odd(maker: Callable[..., Any]) -> type:
        @maker(frozen=True)
        class Odd:
            """Names that a constructor could need for itself."""

            self: int
            _record_set: int
            name: int = 0

        return Odd

    for of in two(odd):
        made = of(1, 2)
        assert (vars(made)["self"], made._record_set, made.name) == (1, 2, 0)

    def disorderly(maker: Callable[..., Any]) -> type:
        @maker(frozen=True)
        class Disorderly:
            """A field without a default after one that has a default."""

            a: int = 1
            b: int

        return Disorderly

    for maker in (dataclasses.dataclass, dataclass):
        with pytest.raises(TypeError, match="non-default argument 'b' follows default argument"):
            disorderly(maker)


@pytest.mark.parametrize("name", ["__init__", "__setattr__", "__delattr__"])
def test_a_method_of_its_own_is_kept_or_refused_as_there(name: str) -> None:
    def own(self: Any, *given: Any) -> None:
        object.__setattr__(self, "a", 9)

    def body(maker: Callable[..., Any]) -> type:
        return maker(frozen=True)(type("Own", (), {"__annotations__": {"a": int}, name: own}))

    answers = []
    for maker in (dataclasses.dataclass, dataclass):
        try:
            answers.append(body(maker)(1).a)
        except TypeError as error:
            answers.append(str(error))
    assert answers[0] == answers[1]


def test_a_frozen_class_may_be_extended_by_either_maker_and_by_none() -> None:
    makers = (dataclasses.dataclass, dataclass)
    for first, second, slots in itertools.product(makers, makers, (False, True)):

        @first(frozen=True, slots=slots)
        class Father:
            """One field."""

            a: int

        @second(frozen=True, slots=slots)
        class Child(Father):
            """One more."""

            b: int = 0

        class Loose(Father):
            """It has a dictionary."""

        for of in (Father, Child, Loose):
            with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'a'"):
                of(1).a = 2
            with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'a'"):
                del of(1).a
        with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):
            second(type("Open", (Father,), {"__annotations__": {"c": int}}))
        if slots and first is dataclasses.dataclass:
            continue  # other names end in a TypeError there, as the class is made twice
        with pytest.raises(dataclasses.FrozenInstanceError):
            Father(1).other = 2
        loose = Loose(1)
        loose.other = 2
        del loose.other
        assert not hasattr(loose, "other")


@dataclass(frozen=True, slots=True)
class Kept:
    """It can be pickled: it is a module's."""

    a: int
    b: tuple[int, ...] = ()


def test_objects_are_copied_replaced_pickled_and_matched() -> None:
    one = Kept(1, (2,))
    assert pickle.loads(pickle.dumps(one)) == copy.copy(one) == copy.deepcopy(one) == one
    assert dataclasses.replace(one, a=3) == Kept(3, (2,))
    assert dataclasses.asdict(one) == {"a": 1, "b": (2,)}
    assert dataclasses.is_dataclass(one)
    assert typing.get_type_hints(Kept.__init__) == {"a": int, "b": tuple[int, ...], "return": type(None)}
    match one:
        case Kept(a, b):
            assert (a, b) == (1, (2,))
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.a = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del one.a


def test_an_object_within_itself_is_shown() -> None:
    @dataclass
    class Ring:
        """It may hold itself."""

        inner: Any = None

    ring = Ring()
    ring.inner = ring
    assert repr(ring).endswith("Ring(inner=...)")


def test_order_is_left_to_the_standard_library() -> None:
    @dataclass(frozen=True, order=True)
    class Ordered:
        """Two fields."""

        a: int
        b: int

    assert sorted([Ordered(2, 1), Ordered(1, 2), Ordered(1, 1)]) == [Ordered(1, 1), Ordered(1, 2), Ordered(2, 1)]
    assert len({Ordered(1, 1), Ordered(1, 1)}) == 1


def test_an_option_that_is_none_is_refused_as_there() -> None:
    with pytest.raises(TypeError, match="colour"):
        dataclass(colour=True)(Kept)  # type: ignore[call-overload]
