"""Encoding a document again replaces what changed and keeps what did not."""

from __future__ import annotations

import pytest

from earnest import Memory
from earnest.encoding import Document


def texts(memory: Memory) -> dict[str, tuple[str, ...]]:
    return {entry.text: entry.sources for entry in memory.list()}


def test_what_a_document_still_says_keeps_its_balance() -> None:
    with Memory.open() as memory:
        [kept] = memory.encode([Document("notes", "The port is 8080.")]).entries
        ticket = memory.decide("Which port is it?")
        assert ticket.id is not None
        memory.settle(ticket.id, delta=1, meter="m")
        again = memory.encode([Document("notes", "The port is 8080. Backups run at night.")])
        assert memory.get(kept.id).balance > kept.balance
        assert again.joined == 1 and again.replaced == ()


def test_what_a_document_does_not_say_any_more_ends_superseded_and_can_be_restored() -> None:
    with Memory.open() as memory:
        [old] = memory.encode([Document("notes", "The port is 8080.")]).entries
        report = memory.encode([Document("notes", "The port is 9090.")])
        assert report.replaced == (old.id,)
        assert memory.get(old.id).cause == "superseded"
        assert memory.restore(old.id).standing == "active"
        assert memory.check().ok


def test_a_sentence_that_another_source_says_too_only_loses_this_one() -> None:
    with Memory.open() as memory:
        memory.encode([Document("a", "Logs may be deleted."), Document("b", "Logs may be deleted.")])
        memory.encode([Document("a", "Reports must be kept.")])
        assert texts(memory) == {"Logs may be deleted.": ("b",), "Reports must be kept.": ("a",)}


def test_what_was_put_together_from_several_documents_stays_until_all_of_them_are_given_again() -> None:
    first = Document("a", "The Platform Team sits in Juniper House. They drink tea.")
    second = Document("b", "We asked the Platform Team for help. They came at once.")
    with Memory.open() as memory:
        made = memory.encode([first, second])
        assert made.by_origin["cross_doc"] == 1
        memory.encode([first])
        assert [e.origin for e in memory.list()].count("cross_doc") == 1
        memory.encode([Document("a", "They drink tea."), Document("b", "They came at once.")])
        assert [e.origin for e in memory.list()].count("cross_doc") == 0


def test_what_was_added_by_hand_under_the_same_source_is_never_touched() -> None:
    with Memory.open() as memory:
        memory.add("The wiki is slow on Mondays.", sources=["notes"])
        memory.encode([Document("notes", "The port is 9090.")])
        memory.encode([Document("notes", "The port is 9091.")])
        assert "The wiki is slow on Mondays." in texts(memory)


@pytest.mark.parametrize("guard", ["pin", "ticket"])
def test_a_pinned_entry_and_one_in_escrow_are_left_alone_and_named(guard: str) -> None:
    with Memory.open() as memory:
        [old] = memory.encode([Document("notes", "The port is 8080.")]).entries
        if guard == "pin":
            memory.pin(old.id)
        else:
            assert memory.decide("Which port is it?").id
        report = memory.encode([Document("notes", "Backups run at night.")])
        assert report.replaced == ()
        assert memory.get(old.id).alive
        assert any(old.id in note for note in report.notes)


def test_replace_false_only_adds() -> None:
    with Memory.open() as memory:
        memory.encode([Document("notes", "The port is 8080.")])
        memory.encode([Document("notes", "Backups run at night.")], replace=False)
        assert len(memory.list()) == 2


def test_the_same_source_in_another_scope_is_another_document() -> None:
    with Memory.open() as memory:
        memory.encode([Document("notes", "The port is 8080.")], scope="alice")
        memory.encode([Document("notes", "Backups run at night.")], scope="bob")
        assert len(memory.list(scope=["alice", "bob"])) == 2
