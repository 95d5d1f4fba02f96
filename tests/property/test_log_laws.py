"""Laws of the log's form: what is hashed is the compact JSON of an event, whatever it says."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from earnest.core.events import GENESIS, Posting, canonical, chained

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ROWS = st.lists(st.integers(0, 2**62), max_size=5)
POSTINGS = st.lists(st.builds(Posting, st.integers(-9, 2**62), st.integers(-9, 2**62), st.integers(1, 2**62)), max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(kind=TEXTS, actor=TEXTS, channel=TEXTS, entries=ROWS, ticket=TEXTS | st.none(), data=TEXTS, postings=POSTINGS)
def test_the_hash_of_an_event_is_over_its_compact_json(
    kind: str, actor: str, channel: str, entries: list[int], ticket: str | None, data: str, postings: list[Posting]
) -> None:
    said = json.dumps(
        [7, kind, 3, 1_700_000_000_000_000, actor, channel, entries, ticket, data, [list(p) for p in postings]],
        separators=(",", ":"),
        ensure_ascii=False,
    )
    made = chained(GENESIS, 7, kind, 3, 1_700_000_000_000_000, actor, channel, entries, ticket, data, postings)
    assert made == hashlib.sha256(GENESIS + said.encode("utf-8")).digest()


@given(data=st.dictionaries(TEXTS, VALUES, max_size=5))
def test_data_has_one_spelling(data: dict[str, Any]) -> None:
    assert canonical(data) == json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    assert canonical(dict(reversed(data.items()))) == canonical(data)
