"""A made-up model whose instability is known: it is moved by given doses, each of one kind.

The rest is real: variants of a shipped recipe, a backend, and the flow from prompts to scores. A
response depends on its prompt and the model's seed alone, and larger doses contain smaller ones.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sago_harness import pipeline
from sago_harness.axes import measures_for
from sago_harness.axes.record import Reading
from sago_harness.backends.base import Backend, Progress
from sago_harness.data import CANONICAL, Document, Prompt, Response, Wanted
from sago_harness.documents.identity import partners
from sago_harness.scores.composite import TaskScores
from sago_harness.scores.reduce import scored_families
from sago_harness.variants.recipe import load_recipe

Doubles = npt.NDArray[np.float64]
Level = float | Doubles
Record = dict[str, Any]

#: Measure -> axis, as a task of this project has them.
MEASURES: dict[str, str] = {m.name: m.axis for m in measures_for("token")}

#: Kind of dose -> the axis that is to notice it. What a level says: ``switched`` share of variants with
#: another document's answer, ``reworded`` share with a quarter of the words changed, ``rotated``
#: degrees, ``swayed`` standard deviation in degrees, ``sharpened`` what is added to an inverse
#: temperature of 1, ``jittered`` standard deviation of what is added to logits, ``spaced`` and
#: ``shouted`` share of the prompts in that manner whose manner is taken up, ``shouting`` share of all
#: variants that are answered in capitals.
KINDS: dict[str, str] = {
    "switched": "generation",
    "reworded": "generation",
    "rotated": "activation",
    "swayed": "activation",
    "sharpened": "confidence",
    "jittered": "confidence",
    "spaced": "mirroring",
    "shouted": "mirroring",
    "shouting": "mirroring",
}

#: What moves an axis that is not dosed, so that "unchanged" is more than 0 = 0.
REST: dict[str, float] = {"reworded": 0.3, "swayed": 8.0, "jittered": 0.3, "spaced": 0.3}

LAYERS, WIDTH, VOCABULARY = 2, 16, 16
SEED = 42

_QUESTIONS = (
    "Which tool would you bring to clean the old {}, and why?",
    "What is the best time of day to visit the {} with small children?",
    "How many people are needed to paint the {} in a week?",
    "Who should be asked before somebody closes the {} for repairs?",
    "Where can a visitor leave a heavy bag near the {}?",
    "Why do so many birds gather behind the {} in autumn?",
    "Name a plant that grows well in the shade of the {}.",
    "Describe the smell of the {} after a long summer rain.",
    "Explain how a letter reaches the {} during a storm.",
    "Which colour suits the front door of the {} best?",
    "What would a child draw first after a day at the {}?",
    "How does the sound of the {} change in the evening?",
)
_PLACES = (
    "harbour", "valley", "orchard", "library", "bakery", "castle", "garden", "market", "museum", "station",
)  # fmt: skip

# In small letters, without marks and without words that a feature counts: all answers have one
# manner, so that another answer is no change of manner.
_WORDS = (
    "apple", "basket", "bridge", "candle", "carpet", "cellar", "chimney", "circle", "cloud", "corner",
    "cotton", "desert", "engine", "feather", "fence", "field", "flour", "forest", "hammer", "island",
    "kettle", "ladder", "lantern", "lemon", "marble", "meadow", "mirror", "needle", "onion", "paper",
    "pebble", "pencil", "pepper", "pillow", "planet", "pocket", "river", "rocket", "saddle", "shadow",
    "silver", "spoon", "stable", "stone", "summer", "table", "thread", "ticket", "timber", "towel",
    "tunnel", "velvet", "village", "wagon", "walnut", "water", "window", "winter", "wool",
)  # fmt: skip


@dataclass(frozen=True)
class World:
    """Documents as a task asks them: the canonical prompt, its variants, two chance controls."""

    documents: tuple[Document, ...]
    prompts: tuple[tuple[Prompt, ...], ...]
    payloads: tuple[tuple[Record, ...], ...]
    families: Mapping[str, int]

    def golds(self) -> list[list[str]]:
        """Return the gold answers of each document."""
        return [[_gold(i)] for i in range(len(self.documents))]


def _gold(place: int) -> str:
    return str(101 + 7 * place)


@functools.cache
def world(count: int, recipe: str = "default") -> World:
    """Make up to 120 documents and expand them by a shipped recipe."""
    texts = [
        _QUESTIONS[i % len(_QUESTIONS)].format(_PLACES[(i // len(_QUESTIONS) + i % len(_QUESTIONS)) % 10])
        for i in range(count)
    ]
    documents = [Document(f"d{i:03d}", {"question": text}) for i, text in enumerate(texts)]
    names = [document.id for document in documents]
    chosen = load_recipe(recipe)
    families = scored_families(chosen.count("en"))
    chance = partners(names, texts, [None] * count, 2, SEED)
    prompts, payloads = [], []
    for document in documents:
        made = pipeline.expand(document, chosen, SEED)
        rows = []
        for variant in made.variants:
            role = CANONICAL if variant.id == CANONICAL else "variant"
            rows.append(
                _payload(
                    document, variant.id, role, variant.family, variant.operator, variant.text,
                    variant.strength, variant.position, variant.feature,
                )
            )  # fmt: skip
        for k, name in enumerate(chance[document.id], start=1):
            other = texts[names.index(name)]
            rows.append(_payload(document, f"control{k}", "control", "control", "other_document", other))
        rows[0] |= {"families": dict(families), "measures": list(MEASURES), "rejects": []}
        payloads.append(tuple(rows))
        prompts.append(tuple(Prompt(row["text"], row["role"], {}, span=row["text"]) for row in rows))
    return World(tuple(documents), tuple(prompts), tuple(payloads), families)


def _payload(
    document: Document,
    variant: str,
    role: str,
    family: str,
    operator: str,
    text: str,
    strength: float | None = None,
    position: str | None = None,
    feature: str | None = None,
) -> Record:
    return {
        "document": document.id, "variant": variant, "role": role, "family": family, "operator": operator,
        "strength": strength, "position": position, "feature": feature, "language": "en", "text": text,
        "prompt_hash": _digest(text)[:16],
    }  # fmt: skip


@functools.cache
def _noise(shape: tuple[int, ...], *keys: object) -> Doubles:
    """Return normal noise that is the same for all doses."""
    return np.random.default_rng(int(_digest(*keys)[:16], 16)).normal(size=shape)


def _digest(*keys: object) -> str:
    return hashlib.sha256(repr(keys).encode()).hexdigest()


class Dosed(Backend):
    """Answers from a simulation that is moved by doses.

    Parameters
    ----------
    asked : World
    doses : mapping of str to (float or ndarray of shape (D,))
        Kind -> level, for all documents or one each. An axis without a dose is at :data:`REST`.
    seed : int
        Of the model: its answers, states and logits, and which variants are moved.
    logits : ndarray of shape (T, V), optional
        After every canonical prompt, in place of random ones.
    """

    signals = ("text", "own", "forced", "hidden")

    def __init__(
        self, asked: World, doses: Mapping[str, Level], seed: int = 0, logits: Doubles | None = None
    ) -> None:
        dosed = {KINDS[kind] for kind in doses}
        at_rest = {kind: level for kind, level in REST.items() if KINDS[kind] not in dosed}
        self.doses: dict[str, Level] = {**at_rest, **doses}
        self.seed = seed
        count = len(asked.documents)
        self.place = {prompts[0].text: i for i, prompts in enumerate(asked.prompts)}
        self.answers = [self._answer(i) for i in range(count)]
        self.states = [self._states(i) for i in range(count)]
        self.rows = [len(answer.split()) if logits is None else len(logits) for answer in self.answers]
        self.logits = [self._logits(i, i) if logits is None else logits for i in range(count)]

    def run(
        self, documents: Sequence[Sequence[Prompt]], wanted: Wanted, progress: Progress
    ) -> Iterator[tuple[int, list[Response]]]:
        """See :class:`Backend`; documents come last one first, as they may."""
        for index in reversed(range(len(documents))):
            own = self.place[documents[index][0].text]
            yield index, [self._response(own, prompt) for prompt in documents[index]]
            progress(len(documents[index]), "answers")

    def describe(self) -> dict[str, Any]:
        """See :class:`Backend`."""
        return {"dtype": "float32"}

    def level(self, kind: str, own: int) -> float:
        """Return the dose of a document."""
        level = self.doses.get(kind, 0.0)
        return float(level[own]) if isinstance(level, np.ndarray) else float(level)

    def _draw(self, *keys: object) -> np.random.Generator:
        return np.random.default_rng(int(_digest(self.seed, *keys)[:16], 16))

    def _noise(self, shape: tuple[int, ...], *keys: object) -> Doubles:
        return _noise(shape, self.seed, *keys)

    def _answer(self, place: int) -> str:
        rng = self._draw("answer", place)
        words = rng.choice(_WORDS, size=int(rng.integers(5, 11)))
        return " ".join([*map(str, words), "makes", _gold(place)])

    def _states(self, place: int) -> Doubles:
        # A part that all prompts share: unrelated prompts are some 60 degrees apart, not 90.
        size = (LAYERS + 1, WIDTH)
        # The same for all models: what is unrelated is as far apart for each of them.
        states = _noise(size, "shared") + self._noise(size, "states", place)
        return states.astype(np.float32).astype(np.float64)

    def _logits(self, own: int, asked: int) -> Doubles:
        size = (self.rows[own], VOCABULARY)
        # Some tokens are sure and others are not, so that entropies of unrelated prompts differ.
        scale = 4.0 * self._draw("scale", own, asked).random((size[0], 1)) ** 2
        found: Doubles = scale * self._noise(size, "logits", own, asked)
        return found

    def _response(self, own: int, prompt: Prompt) -> Response:
        asked = self.place.get(prompt.text)
        if asked is not None:
            text, states = self.answers[asked], self.states[asked]
            logits = self.logits[own] if asked == own else self._logits(own, asked)
        else:
            text = self._text(own, prompt.text)
            states = self._turned(own, prompt.text)
            logits = self._moved_logits(own, prompt.text)
        forced = _forced(logits, self.logits[own])
        tokens = len(text.split())
        return Response(
            text=text,
            kept_ids=tuple(range(tokens)),
            own_logprob=np.full(tokens, -1.0, dtype=np.float32),
            own_entropy=np.full(tokens, 1.0, dtype=np.float32),
            forced_logprob=forced[0].astype(np.float32),
            forced_entropy=forced[1].astype(np.float32),
            forced_jsd=forced[2][:32],
            hidden=states.astype(np.float32),
            prompt_ids_digest=_digest(prompt.text),
            prompt_tokens=len(prompt.text.split()),
        )

    def _happens(self, kind: str, own: int, prompt: str) -> bool:
        """Say whether a prompt is among those that a dose moves: its draw is the same at every level."""
        level = self.level(kind, own)
        return level > 0.0 and self._draw(kind, own, prompt).random() < level

    def _text(self, own: int, prompt: str) -> str:
        text = self.answers[own]
        if self._happens("switched", own, prompt):
            others = [i for i in range(len(self.answers)) if i != own]
            text = self.answers[others[int(self._draw("other", own, prompt).integers(len(others)))]]
        if self._happens("reworded", own, prompt):
            rng = self._draw("words", own, prompt)
            *words, verb, gold = text.split()
            words = [str(rng.choice(_WORDS)) if rng.random() < 0.25 else word for word in words]
            text = " ".join([*words, verb, gold])
        if "  " in prompt and self._happens("spaced", own, prompt):
            text = _spaced_like(prompt, text)
        if _capitals(prompt) > 0.15 and self._happens("shouted", own, prompt):
            text = text.upper()
        return text.upper() if self._happens("shouting", own, prompt) else text

    def _turned(self, own: int, prompt: str) -> Doubles:
        """Turn each layer's state, in a plane that holds it and is random otherwise."""
        states, degrees = self.states[own], self.level("rotated", own)
        if sway := self.level("swayed", own):
            degrees += sway * float(self._noise((1,), "swayed", own, prompt)[0])
        angle = math.radians(degrees)
        size = np.linalg.norm(states, axis=1, keepdims=True)
        unit = states / size
        aside = self._noise(states.shape, "rotated", own, prompt)
        aside = aside - np.sum(aside * unit, axis=1, keepdims=True) * unit
        aside /= np.linalg.norm(aside, axis=1, keepdims=True)
        turned: Doubles = states * math.cos(angle) + size * math.sin(angle) * aside
        return turned

    def _moved_logits(self, own: int, prompt: str) -> Doubles:
        moved: Doubles = self.logits[own] * (1.0 + self.level("sharpened", own))
        spread = self.level("jittered", own)
        return moved + spread * self._noise(moved.shape, "jittered", own, prompt) if spread else moved


def _forced(logits: Doubles, canonical: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Return log-probability, entropy and JSD over ln 2 at each token that greedy decoding chose."""
    log_p = _log_softmax(logits)
    p, q = np.exp(log_p), np.exp(_log_softmax(canonical))
    m = (p + q) / 2.0
    jsd = ((p * np.log2(p / m)).sum(axis=1) + (q * np.log2(q / m)).sum(axis=1)) / 2.0
    chosen = canonical.argmax(axis=1)
    return log_p[np.arange(len(chosen)), chosen], -(p * log_p).sum(axis=1), np.clip(jsd, 0.0, 1.0)


def _log_softmax(logits: Doubles) -> Doubles:
    moved = logits - logits.max(axis=1, keepdims=True)
    found: Doubles = moved - np.log(np.exp(moved).sum(axis=1, keepdims=True))
    return found


def _spaced_like(prompt: str, text: str) -> str:
    """Widen the first gap until there are as many extra spaces per character as in the prompt."""
    extra = sum(len(run) - 1 for run in re.findall(" {2,}", prompt))
    rate = extra / len(prompt)
    return text.replace(" ", " " * (1 + math.ceil(rate * len(text) / (1.0 - rate))), 1)


def _capitals(text: str) -> float:
    letters = [char for char in text if char.isalpha()]
    return sum(char.isupper() for char in letters) / len(letters)


@dataclass(frozen=True)
class Outcome:
    """What the flow made of a model.

    Attributes
    ----------
    records : list of dict
        Document by document, responses joined in.
    values : list of dict
        Of each document.
    scores : TaskScores
    states : list of list of ndarray
        Hidden states of each document's prompts.
    """

    records: list[Record]
    values: list[Record]
    scores: TaskScores
    states: list[list[npt.NDArray[np.float32]]]

    def distances(self, measure: str, *roles: str) -> Doubles:
        """Return the distances of all responses in these roles, in order; NaN = unscored."""
        rows = [row for row in self.records if row["role"] in (roles or ("variant", "control"))]
        found = [row["distances"].get(measure) for row in rows]
        return np.array([np.nan if value is None else value for value in found], dtype=np.float64)

    def column(self, name: str) -> Doubles:
        """Return a column's value of every document."""
        return np.array([np.nan if v[name] is None else v[name] for v in self.values], dtype=np.float64)

    def squares(self, measure: str, part: int = 0) -> Doubles:
        """Return the mean squares of every document: of variants, or (``part`` 1) of controls."""
        return np.array([value["sago"][measure][part] for value in self.values], dtype=np.float64)


def follow(asked: World, backend: Backend, encoder: str) -> Outcome:
    """Take a model through the whole flow, from prompts to scores."""
    texts: dict[int, list[str]] = {}
    measured: dict[int, list[Record]] = {}
    states: dict[int, list[npt.NDArray[np.float32]]] = {}
    for index, responses in pipeline.ask(backend, asked.prompts, Wanted(), lambda *_: None):
        measured[index] = pipeline.condense(responses, asked.payloads[index])
        texts[index] = [response.text for response in responses]
        states[index] = [r.hidden for r in responses if r.hidden is not None]
    order = range(len(asked.documents))
    golds = asked.golds()
    flat = [text for i in order for text in texts[i]]
    records = pipeline.measure(
        flat,
        [row for i in order for row in measured[i]],
        [row for i in order for row in asked.payloads[i]],
        [golds[i] for i in order for _ in texts[i]],
        Reading(tuple(measures_for("token")), "en", encoder, "exact", _last_words),
    )
    for record, text in zip(records, flat, strict=True):
        record["response"] = text
    ends = np.cumsum([len(texts[i]) for i in order])
    groups = [records[end - len(texts[i]) : end] for i, end in zip(order, ends, strict=True)]
    values = [pipeline.reduce(group, MEASURES, asked.families) for group in groups]
    scores = pipeline.score([value["sago"] for value in values], MEASURES)
    return Outcome(records, values, scores, [states[i] for i in order])


def _last_words(texts: Sequence[str]) -> list[str | None]:
    return [text.split()[-1] for text in texts]


def save_encoder(folder: Path) -> str:
    """Write a tiny random BERT that reads letter by letter, so that no text is unknown to it."""
    import torch
    from transformers import BertConfig, BertModel

    signs = "abcdefghijklmnopqrstuvwxyz0123456789.,;:!?'\"()-"
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = [*special, *signs, *(f"##{sign}" for sign in signs)]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, initializer_range=0.3,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    return f"{folder}:2"
