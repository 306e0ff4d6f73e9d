"""The packaged encoders themselves; skipped where they have not been fetched."""

import itertools

import pytest

from sago_harness.axes.encoders import Encoder, baseline, load_encoder
from sago_harness.axes.encoders.baseline import demo_texts, mean_similarity, shipped_table, texts_digest
from sago_harness.axes.generation import generation_distances
from sago_harness.models import resolve

pytestmark = pytest.mark.models

PAIRS = [
    ("Blue lamp", "A blue lamp."),
    ("Paris", "The capital of France is Paris."),
    ("The answer is yes.", "The answer is no."),
    ("It is about 3.5 km (2.2 mi) from here.", "About 3.5 kilometres."),
    ("naïve café, Ångström", "naive cafe, Angstrom"),
    ("Größe und Länge", "Die Größe"),
    ("def f(x):\n    return x + 1", "Return x plus one."),
    ("1, 2, 3, 4", "4 3 2 1"),
    ("Write to us at <b>info</b> & co.", "Please call."),
    ("- first\n- second\n- third", "first; second; third"),
    ("She said: “No!”", 'She said: "No!"'),
    ("word " * 700, "another word " * 30),
]


def packaged(spec: str) -> Encoder:
    name = spec.removeprefix("sentence:").partition(":")[0]
    if resolve(name) is None:
        pytest.skip(f"{name} has not been fetched: run `sago models get {name}`")
    encoder = load_encoder(spec, "en")
    assert isinstance(encoder, Encoder)
    return encoder


def test_minilm_equals_bert_score() -> None:
    from bert_score import BERTScorer

    encoder = packaged("minilm:6")
    questions = demo_texts()["en"]
    pairs = [*PAIRS, *itertools.pairwise(questions[:51])]
    scorer = BERTScorer(model_type=str(resolve("minilm")), num_layers=6, idf=False, device="cpu")
    # One pair at a time: MiniLM has negative best matches, which padding raises to 0 there, so
    # that bert-score's value of a pair depends on the pairs beside it (by up to 0.003 here).
    expected = scorer.score([b for _, b in pairs], [a for a, _ in pairs], batch_size=1)[2].tolist()
    found = encoder.compare(pairs)
    assert [similarity.value for similarity in found] == pytest.approx(expected, abs=1e-5)
    assert [similarity.truncated for similarity in found] == [False] * 11 + [True] + [False] * 50


def test_minilm_does_not_score_chinese() -> None:
    encoder = packaged("minilm:6")
    chinese = demo_texts()["zh"]
    rows = generation_distances(list(itertools.pairwise(chinese)), encoder, baseline(encoder, "zh"))
    assert {row.semantic_reason for row in rows} == {"encoder_language"}
    assert {row.semantic for row in rows} == {None}
    assert all(row.bleu is not None for row in rows)


@pytest.mark.parametrize(
    ("spec", "language"), [("minilm:6", "en"), ("use-multilingual", "zh"), ("use-multilingual", "en")]
)
def test_scale_runs_from_same_to_unrelated(spec: str, language: str) -> None:
    encoder = packaged(spec)
    b = baseline(encoder, language)
    near = {
        "en": ("The lamp on the table is blue.", "There is a blue lamp on the table."),
        "zh": ("桌子上有一个蓝色的灯。", "桌上放着一个蓝色的灯。"),
    }[language]
    texts = demo_texts()[language]
    rows = generation_distances([near, *itertools.combinations(texts[:12], 2)], encoder, b)
    far = [row.semantic for row in rows[1:] if row.semantic is not None]
    # One character that is not in the vocabulary is over 5 % of a short Chinese question.
    assert len(far) >= 55
    assert rows[0].semantic is not None
    assert rows[0].semantic < 0.5 < sum(far) / len(far)


def test_use_multilingual_takes_long_texts_and_knows_its_languages() -> None:
    encoder = packaged("use-multilingual")
    pairs = [
        ("蓝色的灯", "红色的桌子"),
        ("青いランプ", "赤い机"),
        ("синяя лампа", "красный стол"),
        ("مصباح أزرق", "طاولة حمراء"),
        ("파란 램프", "빨간 책상"),
        ("โคมไฟสีฟ้า", "โต๊ะสีแดง"),
        ("word " * 3000, "lamp"),
    ]
    found = encoder.compare(pairs)
    assert [similarity.reason for similarity in found] == [""] * len(pairs)
    assert not any(similarity.truncated for similarity in found)
    # Khmer is not one of its sixteen languages.
    assert encoder.compare([("ចង្កៀងពណ៌ខៀវ", "តុក្រហម")])[0].reason == "encoder_language"


def test_use_multilingual_cosine_is_that_of_its_vectors() -> None:
    from sago_harness.models.use import load_use

    encoder = packaged("use-multilingual")
    folder = resolve("use-multilingual")
    assert folder is not None
    texts = demo_texts()["zh"][:6]
    vectors = load_use(folder).encode(list(texts))
    found = encoder.compare([(texts[0], text) for text in texts[1:]])
    assert [s.value for s in found] == pytest.approx((vectors[1:] @ vectors[0]).tolist(), abs=1e-5)


def test_minilm_as_a_sentence_encoder() -> None:
    encoder = packaged("sentence:minilm")
    assert (encoder.kind, encoder.max_tokens) == ("sentence", 256)
    near, far = encoder.compare(
        [("A man is eating food.", "A man eats."), ("A man is eating food.", "Stock prices fell.")]
    )
    assert near.value is not None
    assert far.value is not None
    assert near.value > 0.6 > 0.3 > far.value


@pytest.mark.parametrize("row", [r for r in shipped_table()["baselines"] if "texts" in r], ids=str)
def test_shipped_values_are_those_of_the_demo_texts(row: dict[str, object]) -> None:
    encoder = packaged("minilm:6" if row["encoder"] == "all-MiniLM-L6-v2" else str(row["encoder"]))
    assert (encoder.name, encoder.layer) == (row["encoder"], row["layer"])
    texts = demo_texts()[str(row["language"])]
    assert texts_digest(texts) == row["texts"]
    assert mean_similarity(encoder, texts) == pytest.approx(row["b"], abs=1e-4)
