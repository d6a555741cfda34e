"""The small language of the story templates, and the teller that turns a plot into a story.

In a template
  [one|another|]   is a choice, made afresh each time; choices nest
  {name}           is a word bound in the story's world; {Name} is the same with a capital
  a@, A@           become "a" or "an", as the next word asks for
  the@, The@       is "the", and swallows an article that follows
The world is bound once, before the first sentence, so every sentence speaks of the same things.
"""

import random
import re

import lexicon
import plots_deeds
import plots_hearts
import plots_quests
import plots_wonders

PLOTS = plots_quests.PLOTS + plots_hearts.PLOTS + plots_deeds.PLOTS + plots_wonders.PLOTS

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_HERO = re.compile(r"\{[Hh]e\}")
_NAME = re.compile(r"\{(\w+)\}")
_ARTICLE = re.compile(r"\b([Aa])@ (\w)")
_DEFINITE = re.compile(r"\b([Tt]he)@ (?:an? |the )?")
_SENTENCE = re.compile(r'(^|[.] |[.]" |[!?] |\n)([a-z])')

_SHE = dict(he="she", him="her", his="her", himself="herself")
_HE = dict(he="he", him="him", his="his", himself="himself")


class World:
    """The facts of one story: names to words, and the random state that chose them."""

    def __init__(self, rng: random.Random, plot: dict):
        self.rng = rng
        self.plot = plot
        self.words = {}
        self._bind_characters()
        self._bind_setting()
        for names, values in plot["pick"].items():
            self._bind(names, rng.choice(values))

    def _bind(self, names, value):
        if isinstance(names, str):
            names, value = (names,), (value,)
        for name, word in zip(names, value, strict=True):
            self.words[name] = self.fill(word)

    def _character(self, taken: set):
        rng = self.rng
        while True:
            kind, limb, limbs, home, gender = rng.choice(lexicon.KINDS)
            gender = gender or rng.choice(("she", "he"))
            name = rng.choice(lexicon.SHE_NAMES if gender == "she" else lexicon.HE_NAMES)
            if kind not in taken and name not in taken:
                taken.update((kind, name))
                return name, kind, limb, limbs, home, gender

    def _bind_characters(self):
        taken = set()
        name, kind, limb, limbs, home, gender = self._character(taken)
        self.words.update(hero=name, kind=kind, limb=limb, limbs=limbs, home=home)
        self.words.update(_SHE if gender == "she" else _HE)
        self.words["friend"], self.words["fkind"] = self._character(taken)[:2]
        self.words["trait"] = self.rng.choice(list(lexicon.TRAITS))

    def _bind_setting(self):
        rng = self.rng
        place, here, spots = rng.choice(lexicon.PLACES)
        spot1, spot2, spot3 = rng.sample(spots, 3)
        thing, adjectives = rng.choice(lexicon.THINGS)
        self.words.update(place=place, here=here, spot1=spot1, spot2=spot2, spot3=spot3, thing=thing,
                          adj=rng.choice(adjectives.split()), food=rng.choice(lexicon.FOODS),
                          moment=rng.choice(lexicon.MOMENTS), night=rng.choice(lexicon.NIGHTS))

    def fill(self, template: str) -> str:
        """One rendering of a template, with its choices made and its names replaced."""
        while "[" in template:
            template = _CHOICE.sub(lambda m: self.rng.choice(m[1].split("|")), template)
        while "{" in template:
            template = _NAME.sub(self._word, template)
        return template

    def _name_or_pronoun(self, match) -> str:
        """The hero is called by name again and again: a small model learns names by seeing them repeat."""
        return "{hero}" if self.rng.random() < (0.6 if match[0] == "{He}" else 0.25) else match[0]

    def _word(self, match) -> str:
        name = match[1]
        word = self.words[name.lower()]
        return word[0].upper() + word[1:] if name[0].isupper() else word

    def say(self, template: str) -> str:
        """A finished sentence: filled, with its articles and capitals in order."""
        text = self.fill(_HERO.sub(self._name_or_pronoun, template))
        text = _DEFINITE.sub(lambda m: m[1] + " ", text)
        text = _ARTICLE.sub(lambda m: m[1] + ("n " if _vowel(m[2]) else " ") + m[2], text)
        return _SENTENCE.sub(lambda m: m[1] + m[2].upper(), text)


def _vowel(letter: str) -> bool:
    return letter.lower() in "aeiou"


def tell(world: World) -> str:
    """The whole story, paragraphs separated by an empty line."""
    rng, plot, words = world.rng, world.plot, world.words
    habits, farewells = lexicon.TRAITS[words["trait"]]
    beats = [[rng.choice(lexicon.OPENINGS), rng.choice(habits)]]
    beats[0] += [rng.choice(beat) for beat in plot["story"][0]]
    beats += [[rng.choice(beat) for beat in paragraph] for paragraph in plot["story"][1:]]
    closing = [rng.choice(rng.choices((plot["end"], farewells, lexicon.CLOSINGS), (5, 3, 2))[0])]
    if rng.random() < 0.25 and closing[0] in plot["end"]:
        closing.append(rng.choice(farewells))
    if rng.random() < 0.5:
        beats.append(closing)
    else:
        beats[-1] += closing
    return "\n\n".join(" ".join(world.say(beat) for beat in paragraph if beat) for paragraph in beats)


def new_world(rng: random.Random) -> World:
    return World(rng, rng.choice(PLOTS))
