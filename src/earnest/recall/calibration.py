"""How sure a match has to be: the floor that keeps memory silent on a stated share of questions that are none of its business."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from earnest.core.analysis import Analyser
from earnest.protocols import Rng

QUESTIONS: Final = 200
"""Questions that are made where none are given."""

FEWEST: Final = 20
"""Off-topic questions below which no share of them can be told."""

_NAMES: Final = """
Abigail Bruno Camille Dmitri Elena Farid Greta Hiroshi Ingrid Javier Kofi Lucia Mateo Nadia Oskar Priya Quentin Rosa Stefan Tomoko Umar
Valentina Wanda Xavier Yusuf Zelda Arturo Bettina Cyrus Delphine Emeka Fiona Gustavo Helga Ismail Jolanta Kwame Leonie Marisol Nikolai
"""
_THINGS: Final = """
accordion aquarium avocado bagpipe ballet beehive binoculars blender bonsai bracelet calligraphy canoe caravan carnival casserole cathedral
chandelier chess choir comet compost curtain dentist dinosaur drone espresso falcon ferry fireplace flute fossil fountain glacier greenhouse
hammock harvest helicopter igloo jigsaw judo kayak kettle kite lantern lighthouse lottery mackerel marathon microscope monastery mosaic
museum nectarine observatory omelette orchid origami orchestra parachute pasta peacock perfume piano planet poetry pottery pyramid quilt
raincoat robot rollercoaster saffron sailboat sculpture skateboard snowman sourdough submarine sunflower telescope tennis terrace theatre
tulip turbine typewriter umbrella vaccine vineyard violin volcano waterfall windmill xylophone yacht zeppelin
"""
_ABOUT: Final = (
    "What did {name} say about the {thing}?", "When did {name} buy the {thing} for the {other}?", "Where does {name} keep the {thing}?",
    "How many times has {name} seen the {thing} near the {other}?", "Why did {name} give up the {thing}?",
    "Which {thing} does {name} like best?", "How did {name} feel after visiting the {thing} with the {other}?",
    "Who gave {name} the {thing} last summer?", "What is the name of {name}'s {thing}?", "Is it safe to leave the {thing} in the {other}?",
    "How do we repair the {thing} of the {other}?", "What is the best way to clean a {thing} or a {other}?",
    "Should the {thing} be checked before the {other}?", "How long does it take to get from the {thing} to the {other}?",
    "Who is responsible for the {thing} and the {other}?", "May I move the {thing} behind the {other}?",
    "What does {name} plan to do with the {thing}?", "Can the {thing} be used as a {other}?",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a calibration found.

    `floor` clears no more than the stated share of the off-topic questions: `answered` of `questions` clear it, `before` of them cleared
    the floor that the store had. `near` is the cosine that goes with it (0 without vectors); see the setting of that name. `applied`
    says whether the settings were changed.
    """

    floor: float
    near: float
    questions: int
    answered: int
    before: int
    applied: bool


def floor_for(sureness: Sequence[float], false_answers: float) -> float:
    """The lowest floor, in steps of a hundredth, that at most this share of off-topic matches clears; 1 if there is none.

    `sureness` is the best match's of each off-topic question.
    """
    allowed = int(false_answers * len(sureness))
    for step in range(1, 101):
        floor = step / 100
        if sum(1 for sure in sureness if sure >= floor) <= allowed:
            return floor
    return 1.0


def near_for(cosines: Sequence[float], false_answers: float) -> float:
    """The cosine that at most this share of off-topic questions reaches with any entry, 0.05 to 0.95; 0 without any."""
    if not cosines:
        return 0.0
    ordered = sorted(cosines, reverse=True)
    return min(0.95, max(0.05, ordered[min(len(ordered) - 1, int(false_answers * len(ordered)))]))


def off_topic(analyser: Analyser, known: Callable[[Sequence[str]], frozenset[str]], rng: Rng, wanted: int = QUESTIONS) -> list[str]:
    """English questions about things that no entry of a store names, in everyday words that entries may well hold: what is asked about is
    missing, everything else is as in any question. Fewer than wanted only if the store names nearly all that could be asked about.

    `known(terms)` says which terms some entry holds. O(wanted).
    """
    names = [name for name in _NAMES.split() if not known(analyser.question(name).terms)]
    things = [thing for thing in _THINGS.split() if not known(analyser.question(thing).terms)]

    def one_of(words: list[str]) -> str:
        return words[_below(rng, len(words))]

    made: dict[str, None] = {}
    for number in range(4 * wanted):
        if not names or not things or len(made) >= wanted:
            break
        shape = _ABOUT[number % len(_ABOUT)]
        made[shape.format(name=one_of(names), thing=one_of(things), other=one_of(things))] = None
    return list(made)


def _below(rng: Rng, size: int) -> int:
    return min(size - 1, int(rng.random() * size))
