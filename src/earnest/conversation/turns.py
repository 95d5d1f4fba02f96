"""From the texts of a turn to its sentences: what is quoted, pasted or printed by programs is told apart from what somebody says."""

from __future__ import annotations

import re
from typing import Final

from earnest.conversation.prefetching import TAG
from earnest.core.patterns import lazily
from earnest.core.sentences import split_sentences
from earnest.core.turns import Said

READ: Final = 100_000
"""Characters of each side of a turn that are looked at; what is beyond is left out."""
LONGEST: Final = 400
"""A sentence longer than this is no statement that somebody makes; it is pasted."""
MANY_LINES: Final = 40
"""A text of more lines than this holds the output of programs: only lines that read like prose are looked at."""

_BLOCK: Final = lazily(rf"<{TAG}\b.*?(?:</{TAG}>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT: Final = lazily(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE: Final = lazily(r"^[ \t]*(```|~~~).*?^[ \t]*\1[ \t]*$|^[ \t]*(?:```|~~~).*\Z", re.DOTALL | re.MULTILINE)
_BULLET: Final = lazily(r"^(?:[>|]\s*)*(?:[-*•·–—]\s+|\d{1,3}[.)]\s+|\[[ xX\d]{0,3}\]\s+)*(?:[>|]\s*)*")
_PROGRAM: Final = lazily(
    r"^(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d|(?:DEBUG|INFO|TRACE|WARN(?:ING)?|NOTICE)\b|at \S+\(|File \"|[$#%>]\s|"
    r"[{}\[\]<(]|[-+]{3} |@@|"
    r"[|+=_*~-]{3,}|\w+\(.*\)\s*[;{]?$|(?:import|def|class|return|const|let|var|function|SELECT|INSERT|UPDATE|DELETE)\b.*[;:{(=])"
)
_MARKS: Final = '"“”„«»「」『』'
_QUOTED: Final = lazily(r"^\s*>")
_ROLE: Final = lazily(r"^\W{0,4}(?:user|human|assistant|system|ai|bot|agent|chatgpt|claude)\W{0,3}[:：]", re.IGNORECASE)
"""A line of a transcript: what somebody said once, and not to whom it is shown now."""
_ENDS: Final = lazily(r"[.!?…。！？।؟][\"'”’)\]」』]*$")
_HEADING: Final = lazily(r"^#{1,6}\s|[:：]$")


def sentences(text: str, speaker: str) -> list[Said]:
    """The sentences that somebody says in a text, in order."""
    text = _FENCE.sub("\n", _THOUGHT.sub("\n", _BLOCK.sub("\n", text[:READ])))
    lines = [line for line in text.split("\n") if line.strip()]
    pasted = len(lines) > MANY_LINES
    made: list[Said] = []
    for line in lines:
        if _QUOTED.match(line) or _ROLE.match(line):
            continue
        whole = " ".join(_BULLET.sub("", line.strip(), count=1).split())
        bare = whole.strip('*_`"“”«»「」『』 ')
        if sum(bare.count(mark) for mark in _MARKS) % 2:
            # One of a pair went: it closed what somebody is quoted with.
            bare = whole
        if not bare or _HEADING.search(bare) or _printed(bare, pasted):
            continue
        before = ""
        for sentence in split_sentences(bare):
            said = sentence.strip("*_ ")
            if said and len(said) <= LONGEST:
                made.append(Said(said, speaker, before))
            before = said
    return made


def _printed(line: str, pasted: bool) -> bool:
    """Whether a line was printed by a program rather than said."""
    if _PROGRAM.match(line):
        return True
    letters = sum(char.isalpha() or char.isspace() for char in line)
    words = line.split()
    if len(line) > 40 and letters < 0.6 * len(line) and 2 * sum(word.strip(".,;:!?").isalpha() for word in words) < len(words):
        return True
    return pasted and not (_ENDS.search(line) and letters >= 0.75 * len(line))
