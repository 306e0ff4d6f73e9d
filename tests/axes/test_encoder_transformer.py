import itertools
import json
import math
import random
import string
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import (
    AutoConfig,
    AutoModel,
    AutoTokenizer,
    BertConfig,
    BertModel,
    RobertaConfig,
    RobertaModel,
)

from sago_harness.axes.encoders import Encoder, base, load_encoder
from sago_harness.axes.encoders.base import FloatArray, Reading
from sago_harness.axes.encoders.sentence import PooledEncoder
from sago_harness.axes.encoders.token import TokenEncoder
from sago_harness.axes.encoders.transformer import Transformer
from sago_harness.errors import SagoError

LAYERS, LIMIT = 3, 40
OTHER_LETTERS = "äöéñßдомлапξύλο灯蓝色的桌子上ランプ램프😀€"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def save_tiny_bert(folder: Path) -> Path:
    """Write a random BERT with a vocabulary of characters and a few words."""
    folder.mkdir()
    characters = list(string.ascii_lowercase + string.digits + string.punctuation + OTHER_LETTERS)
    pieces = ["blue", "lamp", "the", "table", "##ing", *characters, *(f"##{c}" for c in characters)]
    vocabulary = list(dict.fromkeys([*SPECIAL, *pieces]))
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    settings_ = {
        "tokenizer_class": "BertTokenizer",
        "do_lower_case": True,
        "strip_accents": False,
        "model_max_length": LIMIT,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings_), encoding="utf-8")
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=24,
        num_hidden_layers=LAYERS,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=64,
        # Wide, so that cosines are spread out and not all near 1.
        initializer_range=0.6,
    )
    BertModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_bert(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture(scope="module")
def encoder(folder: Path) -> Encoder:
    found = load_encoder(f"{folder}:2", "en")
    assert isinstance(found, TokenEncoder)
    return found


def varied_pairs() -> list[tuple[str, str]]:
    rng = random.Random(11)
    line = "the blue lamp table stands on a desk reading Yes No 42 3.5 e-mail it's größe señor"
    vocabulary = [*line.split(), "дом", "лампа", "ξύλο", "蓝色的灯", "桌子上", "ランプ", "램프", "😀", "5€"]
    fixed = [
        ("Blue lamp", "blue lamp"),
        ("yes", "no"),
        ("a", "the blue lamp"),
        (" padded\n", "padded"),
        ("The lamp [SEP] stands", "The lamp stands"),
        ("灯", "蓝色的灯"),
        ("ランプ", "램프"),
        ("!!!", "?"),
        ("the lamp " * 40, "the table " * 40),
        ("lamp", "blue " * 100),
    ]
    drawn = [
        (" ".join(rng.choices(vocabulary, k=n)), " ".join(rng.choices(vocabulary, k=rng.randint(1, 14))))
        for n in range(1, 26)
        for _ in range(2)
    ]
    return fixed + drawn


def bert_score_f1(folder: Path, layer: int, pairs: Sequence[tuple[str, str]]) -> list[float]:
    from bert_score import BERTScorer

    scorer = BERTScorer(model_type=str(folder), num_layers=layer, idf=False, device="cpu")
    # One pair at a time: in a padded batch bert-score raises negative best matches to 0.
    return [scorer.score([b], [a], batch_size=1)[2].item() for a, b in pairs]


@pytest.mark.parametrize("layer", [1, 2, LAYERS])
def test_f1_is_that_of_bert_score(folder: Path, layer: int) -> None:
    pairs = varied_pairs()
    encoder = load_encoder(f"{folder}:{layer}", "en")
    assert isinstance(encoder, Encoder)
    found = encoder.compare(pairs, batch_size=7)
    values = [similarity.value for similarity in found]
    assert len(pairs) == 60
    assert None not in values
    assert values == pytest.approx(bert_score_f1(folder, layer, pairs), abs=1e-5)
    assert np.std(np.array(values, float)) > 0.05


@pytest.mark.parametrize("kind", ["distilbert", "albert", "modernbert", "xlm-roberta", "t5"])
def test_other_architectures_are_cut_as_bert_score_cuts_them(folder: Path, tmp_path: Path, kind: str) -> None:
    made = tmp_path / kind
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.save_pretrained(made)
    wide = {"vocab_size": len(tokenizer), "pad_token_id": 0}
    usual = {"hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48}
    options = {
        "distilbert": {"dim": 24, "n_layers": 3, "n_heads": 4, "hidden_dim": 48},
        "t5": {"d_model": 24, "d_kv": 6, "num_layers": 3, "num_heads": 4, "d_ff": 48},
        "modernbert": {**usual, "cls_token_id": 2, "sep_token_id": 3, "bos_token_id": 2, "eos_token_id": 3},
    }.get(kind, usual)
    torch.manual_seed(5)
    config = AutoConfig.for_model(kind, initializer_range=0.3, **wide, **options)
    AutoModel.from_config(config).save_pretrained(made)
    pairs = varied_pairs()[::4]
    encoder = load_encoder(f"{made}:2", "en")
    assert isinstance(encoder, Encoder)
    values = [similarity.value for similarity in encoder.compare(pairs)]
    assert values == pytest.approx(bert_score_f1(made, 2, pairs), abs=1e-5)


def test_byte_level_tokenizers_get_the_space_that_bert_score_asks_for(tmp_path: Path) -> None:
    from tokenizers import pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("Ġ", "l"), ("l", "a"), ("Ġl", "a"), ("m", "p"), ("Ġla", "mp"), ("la", "mp")]
    tokens = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *alphabet, *("".join(pair) for pair in merges)]
    (tmp_path / "vocab.json").write_text(json.dumps({token: at for at, token in enumerate(tokens)}))
    (tmp_path / "merges.txt").write_text("#version: 0.2\n" + "\n".join(" ".join(pair) for pair in merges))
    torch.manual_seed(4)
    config = RobertaConfig(
        vocab_size=len(tokens),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=30,
        type_vocab_size=1,
        initializer_range=0.6,
    )
    RobertaModel(config).save_pretrained(tmp_path)
    described = {"tokenizer_class": "RobertaTokenizer"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(described))
    encoder = load_encoder(f"{tmp_path}:1", "en")
    assert isinstance(encoder, Encoder)
    # 30 positions, of which RoBERTa never uses the first two; no limit in the tokenizer.
    assert encoder.max_tokens == 28
    (reading,) = encoder.read(["lamp"])
    assert [tokens[at] for at in reading.ids] == ["<s>", "Ġlamp", "</s>"]
    (long,) = encoder.read(["lamp " * 50])
    assert (len(long.ids), long.truncated) == (28, True)

    # bert-score's own request for the space has no effect in transformers 5; a folder that says so has.
    described |= {"add_prefix_space": True, "model_max_length": 28}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(described))
    pairs = [
        ("lamp", "a lamp"),
        ("Blue lamp", "lamp is blue"),
        ("灯 lamp", "lamp"),
        ("lamp " * 50, "lamp x " * 9),
    ]
    values = [similarity.value for similarity in encoder.compare(pairs)]
    assert values == pytest.approx(bert_score_f1(tmp_path, 1, pairs), abs=1e-5)


class Counting:
    """Stands before a model and counts the texts that go through it."""

    def __init__(self, transformer: Transformer) -> None:
        self.rows: list[int] = []
        transformer.model.register_forward_pre_hook(
            lambda module, args, kwargs: self.rows.append(len(kwargs["input_ids"])), with_kwargs=True
        )


def counted(folder: Path) -> tuple[TokenEncoder, Counting]:
    transformer = Transformer(AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder), 2)
    return TokenEncoder("tiny", transformer), Counting(transformer)


def test_each_distinct_text_is_embedded_once(folder: Path) -> None:
    encoder, count = counted(folder)
    pairs = [("the lamp", text) for text in ("a", "b", "c", "a", "the lamp")] + [
        ("a", "b"),
        ("c", "the lamp"),
    ]
    encoder.compare(pairs)
    assert sum(count.rows) == 4


def test_windows_keep_what_is_needed_later(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, count = counted(folder)
    texts = [f"lamp {number}" for number in range(60)]
    pairs = [(text, texts[-1 - at]) for at, text in enumerate(texts)] + [(texts[0], texts[1])]
    whole = encoder.compare(pairs)
    calls: list[tuple[int, int]] = []
    count.rows.clear()
    monkeypatch.setattr(base, "_WINDOW", 50)
    found = encoder.compare(pairs, batch_size=2, progress=lambda done, total: calls.append((done, total)))
    assert sum(count.rows) == 60
    assert max(count.rows) == 2
    assert calls[-1] == (60, 60)
    assert [s.value for s in found] == pytest.approx([s.value for s in whole], abs=1e-5)


def test_a_window_holds_few_tokens_but_at_least_one_pair(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder, _ = counted(folder)
    monkeypatch.setattr(base, "_WINDOW", 50)
    readings = encoder.read([f"{'lamp ' * number}blue" for number in range(1, 31)])
    pairs = list(zip(readings[::2], readings[1::2], strict=True))
    start, seen = 0, []
    while start < len(pairs):
        end, wanted = base._window(pairs, start, ())
        assert end > start
        assert end == start + 1 or sum(len(reading.ids) for reading in wanted) <= 50
        seen += wanted
        start = end
    assert seen == readings


def test_padding_stays_below_the_price_of_a_pass(folder: Path) -> None:
    encoder, _ = counted(folder)
    # One long text among short ones, and many of one length.
    readings = encoder.read(
        ["lamp " * 38, *(f"blue lamp {n}" for n in range(90)), *(["the"] * 3), "a b c d e"]
    )
    batches = list(base._batches(readings, 64))
    assert sorted(r.ids for batch in batches for r in batch) == sorted(reading.ids for reading in readings)
    for batch in batches:
        width = max(len(reading.ids) for reading in batch)
        assert len(batch) <= 64
        assert len(batch) == 1 or len(batch) * width <= base._PASS
        assert sum(width - len(reading.ids) for reading in batch) <= base._PADDING
    # Joining two neighbours would have broken one of the three limits.
    for one, other in itertools.pairwise(batches):
        padding = sum(len(one[0].ids) - len(reading.ids) for reading in [*one, other[0]])
        assert len(one) == 64 or padding > base._PADDING or (len(one) + 1) * len(one[0].ids) > base._PASS


def test_equal_pairs_are_matched_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, _ = counted(folder)
    matched: list[tuple[str, str]] = []
    plain = TokenEncoder.similarity

    def watched(self: TokenEncoder, a: Reading, b: Reading, of_a: FloatArray, of_b: FloatArray) -> float:
        matched.append((a.text, b.text))
        return plain(self, a, b, of_a, of_b)

    monkeypatch.setattr(TokenEncoder, "similarity", watched)
    found = encoder.compare([("lamp", "blue"), ("lamp", "table"), ("lamp", "blue")])
    assert matched == [("lamp", "blue"), ("lamp", "table")]
    assert found[0] == found[2] != found[1]


def test_a_value_does_not_depend_on_what_was_measured_before(folder: Path) -> None:
    bundles = [varied_pairs()[:30], varied_pairs()[20:]]
    forth, _ = counted(folder)
    back, _ = counted(folder)
    first = [forth.compare(bundle) for bundle in bundles]
    assert first == [back.compare(bundle) for bundle in reversed(bundles)][::-1]
    assert first == [forth.compare(bundle) for bundle in bundles]


def test_pairs_that_need_no_model_are_not_embedded(folder: Path) -> None:
    encoder, count = counted(folder)
    found = encoder.compare(
        [
            ("lamp", "lamp"),
            ("Lamp", "lamp "),
            ("", "lamp"),
            ("\ud800", "lamp"),
            ("ЖЖЖ", "lamp"),
            ("\u200b", "lamp"),
            ("[SEP]", "lamp"),
        ]
    )
    assert count.rows == []
    assert [similarity.value for similarity in found] == [1.0, 1.0, None, None, None, None, None]
    assert [similarity.reason for similarity in found[2:]] == [
        "empty",
        "invalid_unicode",
        "encoder_language",
        "encoder_no_tokens",
        "encoder_no_tokens",
    ]


def test_unknown_share_is_over_five_per_cent_of_a_text(encoder: Encoder) -> None:
    # Ж is not in the vocabulary: 1 of 20 tokens is within the limit, 1 of 19 is not.
    inside, outside = "lamp " * 19 + "Ж", "lamp " * 18 + "Ж"
    assert encoder.compare([(inside, "lamp")])[0].value is not None
    assert encoder.compare([(outside, "lamp")])[0].reason == "encoder_language"
    assert encoder.compare([("lamp", outside)])[0].reason == "encoder_language"
    # Beyond what the encoder takes the text still counts.
    late = encoder.compare([("lamp " * 60 + "Ж " * 10, "lamp")])[0]
    assert (late.value, late.reason) == (None, "encoder_language")


def test_truncation_is_flagged_at_the_limit(encoder: Encoder) -> None:
    assert encoder.max_tokens == LIMIT
    fits, over = "lamp " * (LIMIT - 2), "lamp " * (LIMIT - 1)
    assert [s.truncated for s in encoder.compare([(fits, "table"), (over, "table"), ("table", over)])] == [
        False,
        True,
        True,
    ]
    # What differs only behind the limit looks the same, and says so.
    alike = encoder.compare([(over + "table", over + "blue")])[0]
    assert (alike.value, alike.truncated) == (1.0, True)


def test_batch_size_and_order_of_pairs_do_not_matter(encoder: Encoder) -> None:
    pairs = varied_pairs()
    values = [s.value for s in encoder.compare(pairs, batch_size=1)]
    assert [s.value for s in encoder.compare(pairs, batch_size=64)] == pytest.approx(values, abs=1e-5)
    turned = [s.value for s in encoder.compare([(b, a) for a, b in pairs])]
    assert turned == pytest.approx(values, abs=1e-5)


any_text = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30)
known_text = st.text(alphabet="abc lamp12.,äд灯", max_size=30)


@settings(deadline=None, max_examples=60)
@given(any_text | known_text, any_text | known_text)
def test_f1_is_symmetric_and_bounded_for_any_text(encoder: Encoder, a: str, b: str) -> None:
    forth, back = encoder.compare([(a, b), (b, a)])
    assert (forth.value is None) == bool(forth.reason)
    assert forth.reason == back.reason
    if forth.value is not None and back.value is not None:
        assert forth.value == pytest.approx(back.value, abs=1e-6)
        assert forth.value <= 1.0 + 1e-5
    assert encoder.compare([(a, a)])[0].value == 1.0


def test_not_a_number_is_a_reason(folder: Path) -> None:
    encoder, _ = counted(folder)
    with torch.no_grad():
        encoder._transformer.model.embeddings.word_embeddings.weight.fill_(math.nan)
    found = encoder.compare([("lamp", "table")])[0]
    assert (found.value, found.reason) == (None, "encoder_nan")


@pytest.mark.parametrize("layer", [0, LAYERS + 1, -1])
def test_a_layer_that_is_not_there(folder: Path, layer: int) -> None:
    with pytest.raises(SagoError, match=rf"no layer {layer}: take one of 1 to {LAYERS}") as error:
        load_encoder(f"{folder}:{layer}", "en")
    assert "\n" not in str(error.value)


def test_the_last_layer_is_the_default_of_a_folder(folder: Path) -> None:
    encoder = load_encoder(str(folder), "en")
    assert isinstance(encoder, TokenEncoder)
    assert encoder.layer == LAYERS
    assert encoder._transformer.model.training is False
    assert {parameter.dtype for parameter in encoder._transformer.model.parameters()} == {torch.float32}


# --- a folder as a sentence encoder -----------------------------------------------------


def sentence_encoder(folder: Path) -> PooledEncoder:
    encoder = load_encoder(f"sentence:{folder}", "en")
    assert isinstance(encoder, PooledEncoder)
    assert (encoder.kind, encoder.layer) == ("sentence", None)
    return encoder


def test_cosine_is_that_of_mean_pooled_states(folder: Path) -> None:
    pairs = [(a, b) for a, b in varied_pairs() if max(len(a), len(b)) < 60]
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()

    def pooled(text: str) -> torch.Tensor:
        with torch.no_grad():
            return (
                model(**tokenizer(text, return_tensors="pt", truncation=True))
                .last_hidden_state[0]
                .mean(0)
                .double()
            )

    expected = [torch.cosine_similarity(pooled(a), pooled(b), dim=0).item() for a, b in pairs]
    found = sentence_encoder(folder).compare(pairs, batch_size=5)
    assert len(pairs) > 15
    assert [similarity.value for similarity in found] == pytest.approx(expected, abs=1e-5)


@settings(deadline=None, max_examples=40)
@given(known_text, known_text)
def test_cosine_is_symmetric_and_bounded(folder: Path, a: str, b: str) -> None:
    forth, back = sentence_encoder(folder).compare([(a, b), (b, a)])
    assert forth == back
    assert forth.value is None or -1.0 <= forth.value <= 1.0


def test_stated_limit_and_pooling_are_read(tmp_path: Path) -> None:
    folder = save_tiny_bert(tmp_path / "sentences")
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 12}')
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    encoder = sentence_encoder(folder)
    assert encoder.max_tokens == 12
    assert encoder.compare([("lamp " * 11, "blue")])[0].truncated


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("1_Pooling/config.json", '{"pooling_mode_mean_tokens": false}', "does not pool by the mean"),
        ("modules.json", '[{"type": "sentence_transformers.models.Dense"}]', "has a step Dense"),
    ],
)
def test_other_poolings_are_refused(tmp_path: Path, file: str, content: str, message: str) -> None:
    folder = save_tiny_bert(tmp_path / "sentences")
    (folder / "1_Pooling").mkdir()
    (folder / file).write_text(content)
    with pytest.raises(SagoError, match=message):
        load_encoder(f"sentence:{folder}", "en")
