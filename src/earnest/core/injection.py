"""Marks of text that aims at whoever reads it, not at what it is about: orders to a model, forged roles and tool calls, hidden characters.

A mark accuses nobody: a lesson about prompts may quote such an order. It says that the text should not decide anything before an outcome has
borne it out, and that people should see it marked. Nothing is dropped or changed. Each pattern is bounded; the cost grows with the text alone.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from earnest.core.patterns import lazily

MARKS: Final = {
    "instruction": "it gives orders to whoever reads it",
    "role": "it imitates the roles or marks of a conversation with a model",
    "tool call": "it imitates a call of a tool, or its result",
    "invisible": "it holds characters that nobody sees",
    "bidirectional": "it holds controls that make it look other than it is",
}
"""What each mark means."""

_ALL: Final = r"(?:(?:all|any|every|the|your|my|of|these|those|and|or)\s{1,3}){0,4}"
_EARLIER: Final = (
    r"(?:previous(?:ly)?|prior|above|earlier|preceding|former|foregoing|existing|original|initial|system|safety|developer|other)"
)
_ORDERS: Final = r"(?:instructions?|directions?|directives?|prompts?|rules?|guidelines?|commands?|constraints?|context|messages?|policies|programming|training)"
_ORDER_HINTS: Final = (
    "instruction", "direction", "directive", "prompt", "rule", "guideline", "command", "constraint", "context", "message", "polic", "programming",
    "training", "everything", "told",
)  # fmt: skip
_FROM_HERE: Final = lazily(
    rf"""(?ix)
      \b(?:ignore|disregard|forget|override|overrule|bypass|discard|drop|skip|neglect|do\s+not\s+(?:follow|obey)|don'?t\s+(?:follow|obey)|stop\s+following)\s{{1,3}}
        {_ALL}(?:{_EARLIER}\s{{1,3}}(?:given\s|set\s)?{_ALL}{_ORDERS}|{_ORDERS}\s(?:above|before|so\sfar|given|you\s(?:have|were))|everything\s(?:above|before|you\s(?:were|have\sbeen))|what\syou\swere\stold)
    | \b(?:reveal|print|repeat|show|output|leak|send|exfiltrate|disclose)\s{{1,3}}{_ALL}(?:system|hidden|initial|developer|secret)\s{{1,3}}(?:prompts?|instructions?|messages?|keys?|credentials?)
    | \b(?:new|updated|real|actual|secret|hidden)\s(?:system\s)?instructions?\s{{0,2}}:
    """
)
_YOU_HINTS: Final = ("you ", "from now", "henceforth", "pretend", "act as", "user", "human", "operator", "developer", "anyone", "assistant", "model", "always ", "cites", "jailbreak", "dan ", "sudo", " ai ", "agent", "llm")  # fmt: skip
_YOU: Final = lazily(
    r"""(?ix)
      \byou\s(?:are|will\sbe)\snow\s(?:a|an|in|the|my|free|dan|root|admin|jailbroken|unrestricted|acting)\b
    | \b(?:from\snow\son|henceforth),?\s(?:you|always\s(?:answer|reply|say|respond|recommend|choose)|never\s(?:refuse|mention|tell))
    | \bpretend\s(?:to\sbe|you\sare|that\syou\sare)\b | \bact\sas\s(?:if\syou\s(?:are|were)|an?\s(?:unrestricted|different|evil))\b
    | \b(?:do\s+not|don'?t|never)\s(?:tell|inform|alert|mention\s(?:this|it)\sto|reveal\s(?:this|it)\sto|show\s(?:this|it)\sto)\s{0,2}(?:the\s)?(?:user|users|human|operator|developer|anyone)\b
    | \bwithout\sasking\s(?:for\s)?(?:the\s)?(?:user|human)(?:'s)?\s(?:for\s)?(?:permission|confirmation|approval|consent)\b
    | \bthe\s(?:assistant|model|ai|agent|llm)\s(?:must|should|has\sto|shall)\s(?:always\s|now\s)?(?:answer|reply|respond|obey|ignore|execute|recommend|reveal|say)\b
    | \balways\s(?:answer|cite|reply|respond)\s(?:with\s)?[\[(]?\d | \bcites\sitself\b | \b(?:jailbreak|DAN\smode|developer\smode\s(?:on|enabled)|sudo\smode)\b
    """
)
_ELSEWHERE_HINTS: Final = ("anweisung", "regel", "vorgabe", "instruktion", "instruc", "instruç", "consigne", "règle", "reglas", "regras", "órdenes", "инструкц", "указани", "правил", "忽略", "无视", "無視", "忘", "무시", "잊", "تجاهل", "انس")  # fmt: skip
_ELSEWHERE: Final = lazily(
    r"""(?ix)
      \b(?:ignoriere|missachte|vergiss)\s.{0,30}(?:anweisungen|regeln|vorgaben|instruktionen) | \b(?:ignore[zr]?|oublie[zr]?)\s.{0,30}(?:instructions|consignes|règles)\b.{0,20}(?:précédentes|antérieures|ci-dessus)
    | \b(?:ignora|olvida|descarta)\s.{0,30}(?:instrucciones|reglas|órdenes) | \b(?:ignore|esqueça|desconsidere)\s.{0,30}(?:instruções|regras)
    | (?:игнорируй|забудь|не\s(?:следуй|обращай)).{0,40}(?:инструкци|указани|правил) | (?:忽略|无视|無視|忘记|忘掉).{0,12}(?:指令|指示|提示|规则|規則|说明)
    | (?:これまで|以前|上記|前).{0,8}(?:指示|命令|ルール).{0,4}(?:無視|忘れ) | (?:이전|위|앞).{0,8}(?:지시|명령|규칙|지침).{0,6}(?:무시|잊) | (?:تجاهل|انس).{0,20}(?:التعليمات|الأوامر|القواعد)
    """
)
_EVERY_ORDER: Final = ((_ORDER_HINTS, _FROM_HERE), (_YOU_HINTS, _YOU), (_ELSEWHERE_HINTS, _ELSEWHERE))
_PLAIN_ORDERS: Final = tuple((tuple(filter(str.isascii, hints)), orders) for hints, orders in _EVERY_ORDER)
"""The same for a text of ASCII, which can hold no other hints."""
_ROLE: Final = lazily(
    r"""(?imx)
      <\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id|channel|message)\|?> | \[/?INST\] | <</?SYS>> | <(?:start|end)_of_turn>
    | </?(?:system|assistant|human|user|instructions?|memory[-_]?context|memor(?:y|ies)|context|system[-_]?(?:prompt|reminder|message)|think(?:ing)?|important|admin)(?:\s[^<>]{0,60})?>
    | ^[^\S\n]{0,8}(?:\#{1,4}\s|\*\*|>\s)?(?:SYSTEM|ASSISTANT|DEVELOPER|Human|Assistant|System\sprompt)(?:\*\*)?\s?:\s\S | ^[^\S\n]{0,8}["']?role["']?\s?:\s?["']?(?:system|assistant|developer|tool)\b
    | "role"\s?:\s?"(?:system|assistant|developer|tool)"
    """
)
_TOOL: Final = lazily(
    r"""(?ix)
      </?(?:tool_?calls?|function_?calls?|tool_?use|tool_?results?|function_?results?|invoke|antml:\w{1,20}|parameter)(?:\s[^<>]{0,100})?/?>
    | "(?:tool_calls?|function_call|tool_use_id|tool_call_id)"\s?: | "type"\s?:\s?"(?:tool_use|tool_result|function_call)" | \{\s?"name"\s?:\s?"[\w.-]{1,60}"\s?,\s?"(?:arguments|parameters|input)"\s?:
    | <\|(?:tool|python_tag|function)[\w|]{0,20}> | ^[^\S\n]{0,4}(?:Action|Tool)\s?:\s?\w{1,40}\s{0,3}\n\s{0,4}(?:Action\s)?Input\s?:
    """
)
_ROLE_HINTS: Final = ("<", "[", "system", "assistant", "developer", "human", "role")
_TOOL_HINTS: Final = ("<", '"', "Input")
_OVERRIDES: Final = frozenset("\u202d\u202e")
_EMBEDDINGS: Final = frozenset("\u202a\u202b\u2066\u2067\u2068")
_ENDS: Final = frozenset("\u202c\u2069")
_JOINERS: Final = frozenset("\u200c\u200d")
_UNSEEN: Final = frozenset("\u200b\u2060\u2061\u2062\u2063\u2064\ufeff\u180e\u00ad\u034f\u115f\u1160\u3164\uffa0")
_FLAG: Final = "\U0001f3f4"


def marks(text: str) -> tuple[str, ...]:
    """The marks of a text, in the order of `MARKS`; none for nearly every text. O(length)."""
    found = set()
    if not text.isascii():
        found |= _hidden(text)
    plain = text if text.isascii() else _seen(text)
    lowered = plain.lower()
    for hints, orders in _PLAIN_ORDERS if plain.isascii() else _EVERY_ORDER:
        if any(map(lowered.__contains__, hints)) and orders.search(plain):
            found.add("instruction")
    if any(map(lowered.__contains__, _ROLE_HINTS)) and _ROLE.search(plain):
        found.add("role")
    if any(map(plain.__contains__, _TOOL_HINTS)) and _TOOL.search(plain):
        found.add("tool call")
    return tuple(mark for mark in MARKS if mark in found)


def _seen(text: str) -> str:
    """What a reader takes a text for: compatibility forms folded, and what nobody sees left out."""
    return "".join(c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) != "Cf")


def _hidden(text: str) -> set[str]:
    """Whether characters hide in a text that no script needs where they stand."""
    found: set[str] = set()
    open_ones = unseen = joined = tags = selectors = 0
    for place, character in enumerate(text):
        if character.isascii():
            continue
        if character in _OVERRIDES:
            found.add("bidirectional")
        elif character in _EMBEDDINGS:
            open_ones += 1
        elif character in _ENDS:
            open_ones -= 1
        elif character in _UNSEEN:
            # A soft hyphen or a zero-width space may help to break a line; a byte order mark may begin a text.
            unseen += 1 if character not in "\u200b\u00ad" and place else 0
            joined += _between_letters(text, place) and character == "\u200b"
        elif character in _JOINERS:
            # Indic scripts, Persian and emoji need them; between Latin letters they hide.
            joined += _between_letters(text, place)
        elif "\U000e0000" <= character <= "\U000e007f":
            tags += 1
        elif "\U000e0100" <= character <= "\U000e01ef" or "\ufe00" <= character <= "\ufe0f":
            selectors += place > 0 and unicodedata.category(text[place - 1]) == "Mn"
    if open_ones > 0:
        found.add("bidirectional")
    if unseen or joined > 1 or selectors > 2 or tags > 7 * text.count(_FLAG):
        found.add("invisible")
    return found


def _between_letters(text: str, place: int) -> bool:
    return 0 < place < len(text) - 1 and all(c.isascii() and c.isalpha() for c in (text[place - 1], text[place + 1]))
