"""English words that belong together though no stemmer joins them: irregular forms, everyday synonyms, and kinds of things.

"When did she go" asks for "I went"; "What instruments" for "my violin". General knowledge, written down by hand; small on purpose: a
word has to be common, and its relatives have to be what people say in its place. Stores that are not configured for English do
without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Final

from earnest.core.analysis import Question, Wanted

RELATED: Final = 0.3
"""What a related word counts beside the word that was asked for."""

MAX_RELATED: Final = 24

_FORMS: Final = """
go goes went gone|make made|take took taken|get got gotten|give gave given|see saw seen|come came|know knew known|think thought
say said|tell told|find found|feel felt|leave left|keep kept|begin began begun|bring brought|buy bought|teach taught|catch caught
fight fought|seek sought|write wrote written|speak spoke spoken|drive drove driven|ride rode ridden|eat ate eaten|drink drank drunk
sing sang sung|swim swam swum|run ran|win won|lose lost|meet met|pay paid|sell sold|send sent|spend spent|build built|lend lent
sleep slept|sweep swept|hear heard|hold held|stand stood|understand understood|sit sat|become became|grow grew grown
throw threw thrown|fly flew flown|draw drew drawn|show showed shown|wear wore worn|tear tore torn|swear swore sworn
break broke broken|choose chose chosen|freeze froze frozen|steal stole stolen|wake woke woken|forget forgot forgotten
forgive forgave forgiven|hide hid hidden|fall fell fallen|shake shook shaken|mean meant|dream dreamt|learn learnt|burn burnt
lead led|feed fed|bleed bled|breed bred|shoot shot|slide slid|hang hung|dig dug|stick stuck|strike struck|spin spun|sting stung
ring rang rung|sink sank sunk|shrink shrank shrunk|deal dealt|kneel knelt|bend bent|prove proven|beat beaten|blow blew blown
child children|man men|woman women|person people|foot feet|tooth teeth|mouse mice|goose geese|wife wives|life lives|knife knives
shelf shelves|half halves|wolf wolves|good better best|bad worse worst|far further farther
"""

_ALIKE: Final = """
mom mother mum mommy|dad father daddy|kid child children kids|parent mother father mom dad|husband spouse|wife spouse
boyfriend girlfriend partner spouse husband wife|sibling brother sister|grandma grandmother granny|grandpa grandfather
family relatives|friend buddy pal|job work career occupation profession|company firm business employer|boss manager
colleague coworker teammate|movie film|series show|song music tune|picture photo image photograph|drawing sketch|artwork art painting
car automobile vehicle|bike bicycle|house home|apartment flat|city town|country nation|trip travel vacation journey holiday
hike hiking trail|camp camping|beach ocean sea shore|puppy dog|kitten cat|illness sick disease ill|doctor physician
hospital clinic|injury hurt injured|exercise workout gym fitness|run running jogging|diet nutrition eating|cook cooking
bake baking|recipe dish|beverage drink|happy glad joyful|sad unhappy upset|angry mad furious|scared afraid frightened
worried anxious nervous|excited thrilled|tired exhausted|proud pride|love adore|like enjoy love|hate dislike|favorite favourite
start begin started|finish complete end|stop quit|buy purchase bought|sell sale sold|cost price|money cash funds|receive got
gift present|donate donation|help assist support|need require|want wish|plan planning intend|goal aim objective ambition
decide decision choose|choose pick select|opinion think believe|talk speak chat discuss|mention say tell|answer reply
meet encounter met|visit saw went|attend join went participate|participate join|gathering party event|celebrate celebration party
marriage wedding married marry|divorce breakup|die death passed|move relocate moved|live reside|school college university
study studying learn|teacher instructor|student pupil|class course lesson workshop|degree diploma|exam test|win victory won
prize award trophy|match game|competition contest tournament|team squad club|volunteer volunteering charity
organization group organisation|neighborhood community neighbourhood|religion church faith|problem issue trouble difficulty
challenge obstacle struggle|fix repair|create make craft made|build construct|change alter|improve better improvement|big large huge
small little tiny|fast quick|important significant|recent latest new|elderly old|beautiful gorgeous pretty|funny hilarious
relax unwind destress|stress pressure|calm peaceful relaxing|advice tip suggestion|recommend suggest recommendation|idea thought
reason because why|inspire motivate inspiration|achievement success accomplishment|fail failure|store shop|clothes clothing outfit
phone mobile|computer laptop pc|internet web online|website site|delete remove erase purge wipe|folder directory|database db
config configuration settings|restart reboot|error failure bug fault|deploy release ship|login signin|repository repo
password secret credential|server host machine|keep retain hold preserve|allowed permitted|forbidden prohibited|outdated stale old
leftover remnant artifact|safe ok disposable|climate weather|garden gardening yard|flower plant|wildlife animals|read reading book
author writer|sports sport|dance dancing|outdoors nature
"""

_KINDS: Final = """
instrument: guitar piano violin drums flute clarinet cello saxophone trumpet keyboard ukulele bass banjo harp
pet animal: dog cat puppy kitten hamster rabbit fish bird turtle horse parrot snake lizard
sport: soccer football basketball tennis baseball hockey golf swimming volleyball surfing skiing running cycling boxing yoga
food dish meal: pizza pasta salad soup bread cheese chicken sushi rice curry cake sandwich burger steak
dessert sweet: cake cookie pie chocolate pudding brownie
fruit: apple banana orange strawberry blueberry mango grape peach
drink: coffee tea beer wine juice water smoothie
art: painting drawing sculpture pottery photography
hobby activity interest pastime: painting hiking gardening reading cooking dancing photography knitting gaming camping fishing swimming
hobby activity interest pastime: pottery running yoga writing baking
vehicle transport: car truck motorcycle bike bus van boat train plane
color colour: red blue green yellow purple orange pink black white
country: usa canada mexico france germany italy spain england ireland sweden norway japan china india brazil australia thailand
city: london paris tokyo berlin rome boston chicago seattle
job occupation career profession: teacher doctor nurse engineer lawyer artist writer chef programmer counselor manager
family relative: mother father sister brother son daughter mom dad aunt uncle cousin grandma grandpa
clothing clothes: shirt dress jacket shoes hat pants
game: chess poker puzzle console
emotion feeling: happy sad angry proud scared excited grateful thankful nervous relieved
place location: park beach cafe restaurant museum library lake mountain forest
event: party concert festival parade wedding conference meeting race show fair
injury illness condition: sprain fracture flu asthma allergy diabetes cancer
subject: math science history physics biology art
weather: rain snow sun storm wind
meat: beef chicken pork fish
"""


def widened(question: Question, terms: Callable[[str], Sequence[str]]) -> tuple[Question, tuple[tuple[str, ...], ...]]:
    """A question whose words have their irregular forms too, and for each of its words the terms of related ones.

    `terms(text)` is the analyser's. O(words of the question).
    """
    words, related = [], []
    for word in question.words:
        forms = [form for form in _forms().get(word.terms[0], ()) if form not in word.terms]
        words.append(Wanted((*word.terms, *forms), word.weight) if forms else word)
        others = dict.fromkeys(other for base in _bases(word.terms[0]) for other in _related().get(base, ()))
        found = dict.fromkeys(term for other in [*others][:MAX_RELATED] for term in terms(other))
        related.append(tuple(term for term in found if term not in words[-1].terms))
    return Question(tuple(words)), tuple(related)


def _bases(word: str) -> Iterator[str]:
    """What a word may be a regular form of."""
    yield word
    for ending, bases in (("ies", ("y",)), ("es", ("", "e")), ("s", ("",)), ("ied", ("y",)), ("ed", ("", "e")), ("ing", ("", "e"))):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            stem = word[: -len(ending)]
            for base in bases:
                yield stem + base
            if len(stem) > 3 and stem[-1] == stem[-2]:
                yield stem[:-1]


@cache
def _forms() -> dict[str, tuple[str, ...]]:
    return {word: tuple(other for other in group if other != word) for group in _groups(_FORMS) for word in group}


@cache
def _related() -> dict[str, tuple[str, ...]]:
    made: dict[str, dict[str, None]] = {}
    for group in _groups(_ALIKE):
        for word in group:
            made.setdefault(word, {}).update(dict.fromkeys(other for other in group if other != word))
    for line in _KINDS.split("\n"):
        names, _, members = line.partition(":")
        for name in names.split():
            made.setdefault(name, {}).update(dict.fromkeys(members.split()))
    return {word: tuple(others) for word, others in made.items()}


def _groups(table: str) -> Iterator[list[str]]:
    for group in table.replace("\n", "|").split("|"):
        if words := group.split():
            yield words
