"""Laws of what is kept beside the entries: keys of requests, settings, running numbers."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final

from earnest.testing.store_conformance.driver import Driver
from earnest.testing.store_conformance.law import Chapter
from earnest.testing.store_conformance.steps import AUTHOR, opened, refused, same

law: Final = Chapter()


@law("What a request with a key did is kept with its digest and result, together with the request's own effects.")
def _keys(driver: Driver) -> None:
    with opened(driver, "keys") as store:
        with store.write(AUTHOR) as tx:
            same(tx.remembered("k"), None, "a key that nobody used")
            tx.remember("k", "settle", bytes(range(16)), {"landed": True, "credits": [{"a": 1}]})
            same(tx.remembered("k"), ("settle", bytes(range(16)), {"landed": True, "credits": [{"a": 1}]}), "in its own transaction")
        with refused(Exception, "a second request with the same key"), store.write(AUTHOR) as tx:
            tx.bump("tick", 1)
            tx.remember("k", "add", b"x", {})
        with store.read() as reading:
            same((reading.remembered("k") or ("",))[0], "settle", "the key")
            same(reading.counter("tick"), 0, "what the second request did")
            same((reading.remembered("K"), reading.remembered("k ")), (None, None), "keys are compared exactly")


@law("Old keys are found in pages and forgotten; those of controls, and those whose result was erased, stay.")
def _old_keys(driver: Driver) -> None:
    late = AUTHOR.at + timedelta(days=1)
    with opened(driver, "old keys") as store:
        with store.write(AUTHOR) as tx:
            for name in ("c", "a", "b"):
                tx.remember(name, "add", name.encode() * 16, {"id": name})
            tx.remember("measured", "control", b"m" * 16, {})
            tx.remember("erased", "add", bytes(16), {})
        with store.write(replace(AUTHOR, at=late)) as tx:
            tx.remember("young", "add", b"y" * 16, {})
        with store.read() as reading:
            same(reading.old_keys(late, "", 2), ["a", "b"], "the first page")
            same(reading.old_keys(late, "b", 2), ["c"], "the next one")
            same(reading.old_keys(AUTHOR.at, "", 9), [], "before there was any")
        with store.write(AUTHOR) as tx:
            same(tx.forget_keys(["a", "c", "unknown"]), 2, "how many were there")
            same((tx.remembered("a"), (tx.remembered("b") or ("",))[0]), (None, "add"), "what is left")


@law("Settings keep their values; a running number that was never set is 0.")
def _settings_and_counters(driver: Driver) -> None:
    with opened(driver, "settings_and_counters") as store:
        values = {"a": 1, "b": 0.1, "c": "é", "d": None, "e": [1, {"x": True}]}
        with store.write(AUTHOR) as tx:
            for name, value in values.items():
                tx.set_setting(name, "before")
                tx.set_setting(name, value)
            tx.bump("n", 5)
            tx.bump("n", -7)
            same(tx.counter("n"), -2, "a running number in its own transaction")
        with store.read() as reading:
            kept = reading.settings()
            same({name: kept[name] for name in values}, values, "settings")
            same((reading.counter("n"), reading.counter("never")), (-2, 0), "running numbers")


@law("A language model's reply is kept until it is dropped, by its digest or by its age, and whoever asks for another finds none.")
def _replies(driver: Driver) -> None:
    with opened(driver, "replies") as store:
        one, two = bytes(range(16)), bytes(range(1, 17))
        with store.write(AUTHOR) as tx:
            same(tx.kept_reply(one), None, "a prompt that nobody sent")
            tx.keep_reply(one, "é\n[]")
            tx.keep_reply(two, "")
            same(tx.kept_reply(one), "é\n[]", "in its own transaction")
        with store.write(AUTHOR) as tx:
            tx.keep_reply(two, "later")
            tx.drop_replies([one, bytes(16)])
        with store.read() as reading:
            same((reading.kept_reply(one), reading.kept_reply(two)), (None, "later"), "what was dropped and what was not")
        with store.write(AUTHOR) as tx:
            tx.drop_replies(before=AUTHOR.at)
            same(tx.kept_reply(two), "later", "kept at that moment, not before it")
            tx.drop_replies(before=AUTHOR.at + timedelta(seconds=1))
            same(tx.kept_reply(two), None, "kept before that moment")
            tx.keep_reply(one, "once more")
            tx.drop_replies(every=True)
            same(tx.kept_reply(one), None, "all were dropped")
