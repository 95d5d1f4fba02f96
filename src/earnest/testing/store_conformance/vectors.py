"""Laws of vectors: kept by entry and model, found inside every filter, never shared between models. They need numpy."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Final

from earnest.core.filters import Filter
from earnest.core.vectors import encoded, looked_over
from earnest.protocols import Store
from earnest.testing.store_conformance.driver import Driver
from earnest.testing.store_conformance.law import Chapter
from earnest.testing.store_conformance.steps import AUTHOR, add, clean, die, must, opened, same

law: Final = Chapter()


def _unit(*components: float) -> bytes:
    [made] = looked_over([components], 1, None).vectors
    assert made is not None
    return made


def _put(store: Store, model: str, rows: Sequence[int], *vectors: tuple[float, ...]) -> None:
    with store.write(AUTHOR) as tx:
        tx.put_vectors(model, dict(zip(rows, encoded([_unit(*vector) for vector in vectors]), strict=True)))


def _near(store: Store, model: str, question: tuple[float, ...], limit: int = 10, **where: Any) -> list[int]:
    with store.read() as reading:
        return [row for row, _ in reading.nearest(model, _unit(*question), Filter(**where), limit)]


@law("The nearest come first, inside every filter; the dead do not come, and come back with their vectors.")
def _nearest(driver: Driver) -> None:
    with opened(driver, "nearest") as store:
        a, b, c = (add(store, text, scope=scope).row for text, scope in (("a", ""), ("b", ""), ("c", "other")))
        _put(store, "m", [a, b, c], (1, 0, 0), (0.9, 0.1, 0), (1, 0, 0.01))
        same(_near(store, "m", (1, 0, 0)), [a, b], "in the default scope")
        same(_near(store, "m", (1, 0, 0), scopes=None), [a, c, b], "in every scope")
        same(_near(store, "m", (1, 0, 0), 1, scopes=("other",)), [c], "in one scope")
        same(_near(store, "m", (1, 0, 0), kinds=("episodic",)), [], "of another kind")
        with store.write(AUTHOR) as tx:
            die(tx, tx.entries([a])[0])
        same(_near(store, "m", (1, 0, 0)), [b], "after a death")
        with store.write(AUTHOR) as tx:
            tx.change_entry(a, standing="active", cause=None, died_tick=None)
            tx.index(a, ["a"], [])
            tx.append("restore", entries=[a])
        same(_near(store, "m", (1, 0, 0)), [a, b], "after its return")
        with store.read() as reading:
            cosines = reading.cosines("m", _unit(1, 0, 0), [a, b, c, 999])
            same(sorted(cosines), [a, b, c], "cosines are of entries that have a vector")
            must(abs(cosines[b] - 0.9 / 0.82**0.5) < 0.01, f"a cosine is {cosines[b]}")


@law("Vectors of two models are kept side by side and never compared.")
def _models(driver: Driver) -> None:
    with opened(driver, "models") as store:
        a, b = add(store, "a").row, add(store, "b").row
        _put(store, "one", [a], (1, 0))
        _put(store, "two", [b], (1, 0, 0))
        same((_near(store, "one", (1, 0)), _near(store, "two", (1, 0, 0))), ([a], [b]), "each model's own")
        same((_near(store, "one", (1, 0, 0)), _near(store, "three", (1, 0))), ([], []), "another length, an unknown model")
        with store.read() as reading:
            same([(m.name, m.dimension, m.living) for m in reading.models()], [("one", 2, 1), ("two", 3, 1)], "the models")
            same([row for row, *_ in reading.unembedded("one", None, 10)], [b], "entries without a vector of the first")
            same([row for row, *_ in reading.unembedded("one", None, 10, every=True)], [b, a], "all of them, newest first")
        clean(store)


@law("A vector that is made anew takes the place of the old one, and one that is taken away is gone at once.")
def _replaced(driver: Driver) -> None:
    with opened(driver, "replaced") as store:
        a, b = add(store, "a").row, add(store, "b").row
        _put(store, "m", [a, b], (1, 0), (0, 1))
        same(_near(store, "m", (1, 0), 1), [a], "before")
        _put(store, "m", [a], (0, -1))
        same(_near(store, "m", (1, 0), 1), [b], "after the first was made anew")
        with store.write(AUTHOR) as tx:
            tx.drop_vectors(b)
            tx.append("edit", entries=[b], data={"fields": []})
        same(_near(store, "m", (1, 0)), [a], "after the other was taken away")
        with store.read() as reading:
            [code] = reading.codes("m", [a, b]).values()
            (scale, *components) = struct.unpack("<f2b", code)
            must(components[0] == 0 and abs(scale * components[1] + 1) < 0.01, f"the stored vector is {scale} × {components}")
            same([m.living for m in reading.models()], [1], "living entries with a vector")
        clean(store)


@law("Vectors of a transaction that fails are never seen.")
def _rolled_back(driver: Driver) -> None:
    class Stop(Exception):
        pass

    with opened(driver, "rolled_back_vectors") as store:
        a, b = add(store, "a").row, add(store, "b").row
        _put(store, "m", [a], (1, 0))
        try:
            with store.write(AUTHOR) as tx:
                tx.put_vectors("m", {b: encoded([_unit(1, 0)])[0]})
                same([row for row, _ in tx.nearest("m", _unit(1, 0), Filter(), 9)], [b, a], "in its own transaction")
                raise Stop
        except Stop:
            same(_near(store, "m", (1, 0)), [a], "afterwards")


@law("One at a time holds a model, until it lets go or its time is up; what went wrong with a model is kept until it works.")
def _held(driver: Driver) -> None:
    with opened(driver, "held") as store, store.write(AUTHOR) as tx:
        same(tx.hold_model("m", "one", 60.0), True, "the first")
        same(tx.hold_model("m", "two", 60.0), False, "a second")
        same(tx.hold_model("m", "one", 0.0), True, "the first lets go")
        same(tx.hold_model("m", "two", 60.0), True, "the second then")
        tx.note_model("m", "it is down")
        same([m.problem for m in tx.models()], ["it is down"], "the problem")
        tx.note_model("m", None)
        same([(m.problem, m.dimension) for m in tx.models()], [(None, None)], "the problem when it is over")


@law("What changed after a position, events and vectors both, is told in stretches that end.")
def _changed(driver: Driver) -> None:
    with opened(driver, "changed") as store:
        rows = [add(store, f"text {n}").row for n in range(5)]
        _put(store, "m", rows, *[(1.0, float(n)) for n in range(5)])
        met: set[int] = set()
        event = vector = 0
        for _ in range(20):
            with store.read() as reading:
                stretch = reading.changed("m", event, vector, 2)
            if (stretch.event, stretch.vector) == (event, vector):
                break
            met.update(stretch.rows)
            event, vector = stretch.event, stretch.vector
        else:
            must(False, "the stretches do not end")
        same(sorted(met), sorted(rows), "what they are about")
