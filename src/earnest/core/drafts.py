"""Drafts of rules, looked over before they become proposals: short, about what they were made from, and aimed at nobody.

A rule ends up in prompts. What made it up may have read an attacker's text, so a draft that speaks to its reader, leads somewhere, or
looks like something else than a rule is left out. That is one hurdle of several: a proposal is shown to nobody before a person or a
trial lets it, and then as data.
"""

from __future__ import annotations

import re
from typing import Final

from earnest.core import check
from earnest.core.injection import MARKS, marks
from earnest.core.patterns import lazily
from earnest.core.rules import MAX_ACTION, MAX_TRIGGER

_PREVIOUS: Final = r"(?:all|any|the|your|my|these|those|previous|prior|above|earlier|preceding|other|of|every)"
_ROLE: Final = r"(^|[\n.!?;:]\s*)(system|assistant|user|developer|tool|human)\s*[:：]"
_TAG: Final = r"<\s*/?\s*[a-z!|?][^<>]{0,80}>|<\||\|>"
_ADDRESS: Final = r"(?:https?:|ftp:|\bwww\.|\bdata:[a-z]+/|javascript:)[^\s<>\"']*"
_MARK: Final = r"\[(/?)(inst|sys)\]"


def _table(*rows: tuple[str, str]) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Patterns, in whatever case, and what a draft is that one of them is found in."""
    return tuple((lazily(pattern, re.IGNORECASE), why) for pattern, why in rows)


_FORMS: Final = _table(
    (r"```|~~~", "it holds a code fence"),
    (_TAG, "it holds markup"),
    (_ROLE, "it holds a role's mark"),
    (_MARK + r"|\bbegin (?:system|prompt)\b", "it holds a prompt's mark"),
    (_ADDRESS, "it leads to an address"),
    (r"\brm\s+-[rf]|\bcurl\b|\bwget\b|\beval\s*\(|\bbase64\b|\bdrop table\b|\bchmod\b|\bsudo\b", "it is a command"),
)
"""What a draft must not look like. What happened may: errors name addresses and commands."""

_AIMS: Final = _table(
    (
        rf"\b(?:ignore|disregard|forget|override|bypass|skip)\b(?: \w+){{0,3}} {_PREVIOUS}?\s*"
        r"(?:instructions?|prompts?|rules?|guidelines?|safety|polic(?:y|ies)|messages?)",
        "it tells its reader to ignore what they were told",
    ),
    (
        r"\b(?:ignorier|vergiss|missacht)\w*\b.{0,40}\b(?:anweisung|vorgabe|regel)|\bignore[zr]?\b.{0,40}\b(?:instructions|consignes)\b|"
        r"\bignor[ae]\w*\b.{0,40}\b(?:instrucciones|instruções|órdenes|ordens)\b|(?:игнорир|забуд)\w*.{0,40}(?:инструкц|указани|правил)|"
        r"(?:忽略|无视|無視|忘记|忘掉).{0,20}(?:指令|指示|提示|规则|規則)|(?:指示|命令|ルール|プロンプト).{0,12}無視|"
        r"(?:지시|명령|규칙|프롬프트).{0,12}무시|تجاهل.{0,40}(?:تعليمات|أوامر|اوامر)",
        "it tells its reader to ignore what they were told",
    ),
    (r"\b(?:system|hidden|developer) prompt\b|\bjailbreak\b|\bdo anything now\b", "it is about the reader's own instructions"),
    (
        r"\byou are (?:now|root|an? (?:ai|assistant|admin\w*|model|agent))\b|\bact as an? \w|\bpretend to be\b",
        "it tells its reader who to be",
    ),
    (
        r"\b(?:reveal|leak|exfiltrat\w*|dump|disclose|print|send|post|upload|email|forward)\b.{0,60}"
        r"\b(?:passwords?|secrets?|tokens?|api keys?|credentials?|private keys?|prompt|home folder|\.env)\b",
        "it gives secrets away",
    ),
    (
        r"\bdo(?: not|n't) (?:tell|mention|inform|show|ask)\b.{0,30}\b(?:user|anyone|anybody|operator|human)\b|"
        r"\bwithout (?:telling|asking)\b",
        "it hides something from people",
    ),
    (r"\bverify\(|\brules?\.(?:verify|trial)|\baccept (?:this|the) rule\b", "it speaks of its own acceptance"),
)
"""What speaks to its reader, wherever it stands."""


def fault(trigger: str, action: str) -> str | None:
    """What is wrong with a draft, in words; None if nothing is."""
    for name, text, most in (("trigger", trigger, MAX_TRIGGER), ("action", action, MAX_ACTION)):
        if check.blank(text):
            return f"its {name} is blank"
        if len(text) > most:
            return f"its {name} is longer than {most} characters"
    said = f"{trigger}\n{action}"
    form = next((why for pattern, why in _FORMS if pattern.search(said)), None)
    return suspicious(said) or form or next((MARKS[mark] for mark in marks(said)), None)


def suspicious(text: str) -> str | None:
    """Why a text is taken for no material, because it speaks to whoever reads it; None if it does not."""
    aimed = next((why for pattern, why in _AIMS if pattern.search(text)), None)
    return aimed or (MARKS["instruction"] if "instruction" in marks(text) else None)


def neutral(text: str) -> str:
    """What happened, as it may be quoted in a rule: on one line, without addresses, markup, fences and marks of roles."""
    plain = re.sub(_ADDRESS, "…", " ".join(text.split()), flags=re.IGNORECASE)
    plain = re.sub(_MARK, r"(\1\2)", plain, flags=re.IGNORECASE)
    plain = re.sub(_ROLE, r"\1\2 –", plain, flags=re.IGNORECASE)
    return plain.replace("<", "‹").replace(">", "›").replace("```", "'" * 3).replace("~~~", "---")
