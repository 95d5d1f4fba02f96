"""What is worth keeping of a turn, by rules alone: no model is asked.

A sentence is kept when it says what was decided, preferred, promised, ordered, broken, mended, corrected, or simply is, by the user; of
the assistant only what it did and what mended something, since its talk is no evidence. Greetings, thanks, questions and requests
are nothing to remember, and a sentence that stands on a pronoun alone is joined to the one that it leans on, or left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from earnest.conversation import persons
from earnest.conversation.cues import found, languages_of, only_small_talk, without_reminder
from earnest.conversation.parting import mended, parted
from earnest.conversation.turns import LONGEST, sentences
from earnest.core.analysis import folded
from earnest.core.entry import Kind
from earnest.core.patterns import lazily
from earnest.core.sentences import says_something
from earnest.core.turns import Kept, Said

MOST: Final = 8
"""At most so many statements are kept of one turn, the most important first."""

KINDS: Final[dict[str, tuple[Kind, float]]] = {
    "correction": ("semantic", 0.8),
    "decision": ("semantic", 0.8),
    "instruction": ("procedural", 0.8),
    "preference": ("semantic", 0.7),
    "commitment": ("episodic", 0.7),
    "fix": ("procedural", 0.7),
    "profile": ("semantic", 0.7),
    "error": ("episodic", 0.6),
    "action": ("episodic", 0.5),
    "fact": ("semantic", 0.5),
}
"""Kind and importance by type: what changes what an agent should do weighs most."""

_CLAIMED: Final = 0.7
"""Confidence in what an assistant says of itself."""

_CLAUSE: Final = lazily(r"^(.{1,40}?)[,，、!！]\s*")
_OF_THE_SPEAKER: Final = ("profile", "preference", "correction", "fact")
_QUESTION: Final = lazily(r"[?？؟\u037e][\"'”’)\]」』]*$")
_VALUE: Final = lazily(r"\d+(?:[.,:/\-]\d+)*")
_ANCHOR: Final = lazily(
    r"\d|`[^`]+`|[\w.+-]+@\w|https?://|\b\w+[_/\\]\w|\b[a-z]+[A-Z]\w|\b[A-Z]{2,}\b|\b\w+\.[a-z]{2,5}\b|(?<=[^.!?。\s])\s[\"'“«(]?[A-ZÀ-ÞΑ-ΩА-Я]\w+|[A-Za-z]{2,}(?=[^\x00-\x7f])"
)
_VERB: Final = lazily(
    r"\b(?:is|are|was|were|has|have|had|lives?|runs?|uses?|needs?|requires?|supports?|deploys?|happens?|takes?|costs?|stores?|contains?|belongs?|"
    r"starts?|ends?|opens?|closes?|expires?|works?|returns?|means?|equals?|holds?|sits?|listens?|points?|goes|comes?|owns?|manages?|leads?|ships?|"
    r"writes?|reads?|sends?|arrives?|leaves?|moved|got|became|began|meets?|likes?|wants?|speaks?|must|should|may|will|can(?:not)?|kept|keeps?|"
    r"retains?|depends?|includes?|allows?|serves?|hosts?|backs?|restarts?|broke|failed|died|lasts?|weighs?|measures?|plays?|teaches|studies|visits?|joins?|joined|called|turns)\b"
)
_OPINION: Final = lazily(
    r"^(?:\w+ ){0,3}(?:is|was|are|looks?|sounds?|seems?) (?:so |very |really |pretty |quite |just |all |too )*"
    r"(?:great|nice|cool|awesome|good|bad|fine|ok|okay|perfect|amazing|interesting|funny|helpful|useful|terrible|awful|correct|right|wrong|"
    r"true|lovely|beautiful|hot|cold|crazy|weird|sad|done)(?: (?:to|for|with|by) me| enough| now)?[.!]*$"
)
_MOOD: Final = lazily(
    r"^i(?:['’]?m| am| feel| was) (?:so |very |really |just |not |a bit |still |pretty |quite )*"
    r"(?:fine|ok|okay|good|sure|sorry|glad|happy|done|ready|back|here|curious|wondering|trying|looking|confused|stuck|afraid|tired|bored|"
    r"lost|excited|grateful|thinking|asking|hoping|great|well|interested|aware|sad|busy|hungry|impressed)\b"
    r"|^i(?:['’](?:m|ve|ll|d))? (?:\w+ ){1,4}(?:it|this|that|them)[.!]*$"
    r"|^i have (?:an?|one|another|some|two|no) (?:\w+ )?"
    r"(?:questions?|problems?|ideas?|issues?|requests?|doubts?|feelings?|favou?rs?|clue)[.!]*$"
)
_NAMED: Final = lazily(r"^(?:I['’]m|I am) [A-Z][a-z]{2,}(?: [A-Z][a-z]+)*[.!]*$")
"""Who somebody is, by name."""
_HEDGED: Final = lazily(
    r"^(?:maybe|perhaps|possibly|vielleicht|womoglich|peut-etre|quizas?|tal vez|talvez|возможно|может быть|也许|可能|たぶん|아마)"
    r"|^(?:i (?:think|guess|suppose|wonder|wish|hope|mean|see|know|understand|agree|believe you"
    r"|don'?t (?:know|think|understand|get|mind|care))"
    r"|let'?s see|we'?ll see)\b"
)
_UNREAL: Final = lazily(
    r"^(?:suppose|supposing|imagine|assume|assuming|for example|for instance|angenommen|stell dir vor|zum beispiel|supposons|imagine[zs]?"
    r"|par exemple|supongamos|imagina|por ejemplo|por exemplo|предположим|например|допустим)\b"
    r"|^(?:假设|假如|比如|例如|仮に|例えば|가령|예를 들어)"
    r"|^if\b.*\b(?:would|could|might)\b|\b(?:would|could|might)\b.*\bif i\b|^(?:wenn|falls)\b.*\b(?:wurde|hatte|ware|konnte)\w*\b"
    r"|^si\b.*\b(?:serai[st]?|aurai[st]?|ferai[st]?|seria|tendria)\b|^если бы\b"
)
"""What is only supposed, or an example of something."""
_CHATTER: Final = lazily(
    r"\b(?:you|your|yours|you're|you've|y'all)\b|^(?:sounds|looks?|glad|congrats|congratulations|reminded|reminds|hope|hoping|wish|"
    r"can'?t wait|happy|proud|love|guess|bet|wow|omg|aww*|yay|hey|hi|good luck|well done|way to go|nice|great|awesome|cool|thanks|thank|"
    r"sorry|please|btw|here|there|such|what|how|so|things (?:are|is)|life is|everything|something|anything|nothing|someone|everyone)\b"
)
_FEELING: Final = lazily(r"\b(?:so|really|very|such|super|pretty|quite|truly|totally|absolutely|lol|haha)\b")
_SUBJECT: Final = lazily(
    r"^(?:the|our|we|my|i|i'(?:m|ve|d|ll)|every|all|no|each|both|zero|one|two|three|four|five|six|seven|eight|nine|ten)\b"
)
_NAMES_FIRST: Final = lazily(
    r"^(?:\w+-\w+|(?!(?:check|make|tell|show|explain|see|let|ensure|please|can|could|would|forget)\b)\w+) "
    r"(?:(?!(?:the|an?|my|our|your|his|her|their|its|all|any|which|that|what|who|whose|why|how|if|whether|where|when|while|me|us|it|this|these|"
    r"those|them|for|of|in|on|at|to|from|with|by|as|and|or|but|so|than|der|die|das|den|dem|eine?n?|mir|uns|ob|was|wer|wie|wo|bitte|mal|nach|im|"
    r"und|oder)\b)[\w-]+ ){0,3}"
    r"(?:is|are|was|were|has|have|runs?|needs?|takes?|costs?|opens?|starts?|ends?|uses?|requires?|happens?|failed|crashed|broke|lives?|works?|"
    r"ist|sind|waren?|lauft|laufen|hat|haben|kostet|kosten|dauert|dauern|steht|liegt)\b"
)
"""A sentence whose first word asks for something only by its looks: "Test servers run on port 3", "Plan B is ready"."""
_ENDED: Final = lazily(
    r"\b(?:no longer|not .{1,40} any ?more|don['’]?t .{1,40} any ?more)\b|"
    r"^(?:i|we) (?:live|work|eat|use|drive|prefer|have|own|run|drink|speak|study)\b.{1,60} now[.!]*$"
)
_ANSWERS: Final = 50
"""Sentences of the assistant that are looked at for what the user left open."""
_FEWEST: Final = {"spaced": 3, "anchored": 2, "dense": 7}


def kept_of(user_text: str, assistant_text: str, *, name: str = "") -> list[Kept]:
    """What is worth keeping of a turn, in the order in which it was said: at most `MOST` statements.

    `name` is what the user is called; sentences say "the user" if it is empty. Cost: some 0.2 ms a sentence.
    """

    def counts(part: Said) -> bool:
        kept = _kept(part, (), name)
        return kept is not None and kept.type in _OF_THE_SPEAKER

    said = [
        *parted(mended(sentences(user_text, persons.USER)), lambda text: _begun(persons.bare(text)), counts),
        *sentences(assistant_text, persons.ASSISTANT),
    ]
    answers = [one for one in said if one.speaker == persons.ASSISTANT][:_ANSWERS]
    made: list[tuple[int, Kept]] = []
    seen: set[str] = set()
    for place, one in enumerate(said):
        kept = _kept(one, answers, name)
        if kept is not None and folded(kept.text) not in seen:
            seen.add(folded(kept.text))
            # A sentence that was joined to the one before it says what that one says.
            made = [pair for pair in made if pair[1].text not in kept.text]
            made.append((place, kept))
    best = sorted(made, key=lambda pair: (-pair[1].importance, pair[0]))[:MOST]
    return [kept for _, kept in sorted(best, key=lambda pair: pair[0])]


def _kept(one: Said, answers: Sequence[Said], name: str) -> Kept | None:
    """What is kept of a sentence; `answers` are what the assistant says to it, in case one of them names what it leaves open."""
    told, sentence = _reminded(_begun(persons.bare(one.text)))
    low = folded(sentence).strip()
    if only_small_talk(low) or not says_something(sentence) or _QUESTION.search(sentence):
        return None
    if not told and (found("question", low.rstrip(".!。 ")) or _asks(low)):
        return None
    type_ = _type(low, sentence, one.speaker, told)
    if type_ is None:
        return None
    changes = found("change", low) is not None or (
        one.text != sentence and re.match(r"(?i)(?:no|nope|actually|correction|sorry|i mean|i meant|wait|oops)\b", one.text) is not None
    )
    if changes and type_ in ("fact", "profile"):
        type_ = "correction"
    text = _standing_alone(sentence, low, one, answers)
    if text is None:
        return None
    kind, importance = KINDS[type_]
    made = Kept(
        text=persons.named(text, one.speaker, name),
        type=type_,
        kind=kind,
        importance=min(1.0, importance + (0.1 if told else 0.0)),
        confidence=_CLAIMED if one.speaker == persons.ASSISTANT else 1.0,
        speaker=one.speaker,
        changes=changes,
    )
    return made if len(made.text) <= LONGEST else None


def _begun(sentence: str) -> str:
    """A sentence from where it begins to say something: after a greeting, a thank-you or a yes that a comma sets apart."""
    for _ in range(2):
        head = _CLAUSE.match(sentence)
        if head is None or head.end() == len(sentence) or not only_small_talk(folded(head[1])):
            break
        sentence = sentence[head.end() :]
    return sentence


def _reminded(sentence: str) -> tuple[bool, str]:
    """Whether a sentence asks to remember what it says, and what that is."""
    length = without_reminder(folded(sentence))
    if not length:
        return False, sentence
    at = next((i for i in range(1, len(sentence) + 1) if len(folded(sentence[:i])) >= length), len(sentence))
    rest = sentence[at:].strip(" ,:;-–—")
    return (True, rest[:1].upper() + rest[1:]) if says_something(rest) else (False, sentence)


def _asks(low: str) -> bool:
    return found("request", low.rstrip(".!。 ")) is not None and _NAMES_FIRST.match(low) is None


def _type(low: str, sentence: str, speaker: str, told: bool) -> str | None:
    """Of what type a sentence is; None if it is nothing to keep."""
    if speaker == persons.ASSISTANT:
        if found("fix", low) and _ANCHOR.search(sentence):
            return "fix"
        return "action" if found("done", low) and _ANCHOR.search(sentence) else None
    if _MOOD.match(low) or _OPINION.match(low) or _UNREAL.search(low):
        return "fact" if told else None
    hedged = _HEDGED.match(low) is not None
    for section in ("decision", "instruction", "preference", "fix", "error", "commitment", "profile"):
        if not (hedged and section in ("preference", "profile", "commitment")) and found(section, low):
            return section
    if _NAMED.match(sentence):
        return "profile"
    if told:
        return "fact"
    return "fact" if not hedged and _states(low, sentence) else None


def _states(low: str, sentence: str) -> bool:
    """Whether a sentence without any cue tells how something is: it has a subject, a verb and enough to say."""
    anchored = _ANCHOR.search(sentence) is not None
    languages = languages_of(low)
    if len(low.split()) > _FEWEST["spaced"] and _SUBJECT.match(low) and _ENDED.search(low):
        return True
    words = [word for word in low.split() if any(char.isalnum() for char in word)]
    if any(language in ("zh", "ja", "th") for language in languages):
        return len([char for char in low if char.isalpha()]) >= (_FEWEST["dense"] if not anchored else 4)
    if anchored and len(words) > _FEWEST["anchored"] and found("change", low):
        return True
    if len(words) < (_FEWEST["anchored"] if anchored else _FEWEST["spaced"]):
        return False
    if languages[:1] == ("en",) or ("en" in languages and _VERB.search(low)):
        return _states_in_english(low, sentence, anchored)
    return len(words) > _FEWEST["spaced"] + (0 if anchored else 1)


def _states_in_english(low: str, sentence: str, anchored: bool) -> bool:
    """English has a verb after its subject, and says it of something that is named, not of the one who is spoken to."""
    verb = _VERB.search(low)
    if verb is None or (verb.start() == 0 and _NAMES_FIRST.match(low) is None) or _CHATTER.search(low):
        return False
    if anchored:
        return True
    if sentence.rstrip().endswith("!"):
        return False
    return _SUBJECT.match(low) is not None or (len(low.split()) > _FEWEST["spaced"] + 1 and not _FEELING.search(low))


def _standing_alone(sentence: str, low: str, one: Said, answers: Sequence[Said]) -> str | None:
    """A sentence that needs no other one: itself, with the one that it leans on before it, or what the answer says in its place."""
    if not found("dangling", low):
        return sentence
    before = persons.bare(one.before)
    if (
        before
        and not _QUESTION.search(before)
        and not found("dangling", folded(before))
        and says_something(before)
        and not only_small_talk(folded(before))
    ):
        return f"{before} {sentence}"
    values = set(_VALUE.findall(sentence))
    if one.speaker != persons.USER or not values:
        return None
    for other in answers:
        # "No, it is 5433." – "Right: the port is 5433.": the answer repeats the value and names what it belongs to.
        restated = persons.bare(other.text)
        if not values <= set(_VALUE.findall(restated)) or len(restated.split()) < 3:
            continue
        if not _QUESTION.search(restated) and not found("dangling", folded(restated)):
            return restated[:1].upper() + restated[1:]
    return None
