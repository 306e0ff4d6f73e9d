import itertools
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from sago_harness.axes.encoders import baseline as baseline_of
from sago_harness.axes.encoders.base import Encoder, FloatArray, Reading
from sago_harness.axes.encoders.baseline import demo_texts, mean_similarity, shipped_table, texts_digest
from sago_harness.errors import SagoError


class LengthEncoder(Encoder):
    """Similarity = shorter length over longer; counts how many texts it embedded."""

    max_tokens = None

    def __init__(
        self,
        name: str = "lengths",
        layer: int | None = 2,
        kind: Literal["token", "sentence"] = "token",
        weights: str = "sha256:1",
        unknown: str = "",
    ) -> None:
        self.name, self.layer, self.kind, self._weights = name, layer, kind, weights
        self.unknown = unknown
        self.embedded = 0

    @property
    def weights(self) -> str:
        return self._weights

    def read(self, texts: Sequence[str]) -> list[Reading]:
        return [Reading(t, tuple(map(ord, t)), len(t), len(t) * bool(self._strange(t)), False) for t in texts]

    def _strange(self, text: str) -> bool:
        return {"zh": not text.isascii(), "all": True, "": False}[self.unknown]

    def embed(self, readings: Sequence[Reading]) -> list[FloatArray]:
        self.embedded += len(readings)
        return [np.array([reading.content], float) for reading in readings]

    def similarity(self, a: Reading, b: Reading, of_a: FloatArray, of_b: FloatArray) -> float:
        return float(min(of_a[0], of_b[0]) / max(of_a[0], of_b[0]))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SAGO_HOME", str(tmp_path))
    return tmp_path


def expected(texts: Sequence[str]) -> float:
    ratios = [min(len(a), len(b)) / max(len(a), len(b)) for a, b in itertools.combinations(texts, 2)]
    return math.fsum(ratios) / len(ratios)


def test_roberta_large_has_the_value_of_bert_score() -> None:
    import bert_score

    file = Path(bert_score.__file__).parent / "rescale_baseline" / "en" / "roberta-large.tsv"
    rows = [line.split(",") for line in file.read_text().split()]
    (published,) = (float(f) for layer, _, _, f in rows[1:] if layer == "17")
    assert published == 0.83122575
    roberta = LengthEncoder("roberta-large", 17)
    assert baseline_of(roberta, "en") == published
    assert roberta.embedded == 0
    # Another layer is another encoder.
    assert baseline_of(LengthEncoder("roberta-large", 16), "en") != published


def test_every_shipped_value_names_its_source() -> None:
    for row in shipped_table()["baselines"]:
        assert 0.0 < row["b"] < 1.0
        assert row["source"]
        assert row["language"] in {"*", *demo_texts()}


def test_a_shipped_value_belongs_to_its_weights() -> None:
    (row,) = (row for row in shipped_table()["baselines"] if row["encoder"] == "all-MiniLM-L6-v2")
    same = LengthEncoder("all-MiniLM-L6-v2", 6, weights=row["weights"])
    assert (baseline_of(same, "en"), same.embedded) == (row["b"], 0)
    other = LengthEncoder("all-MiniLM-L6-v2", 6, weights="sha256:2")
    assert baseline_of(other, "en") == pytest.approx(expected(demo_texts()["en"]))


def test_b_is_the_mean_over_all_pairs_of_the_demo_texts() -> None:
    texts = demo_texts()
    assert len(texts["en"]) >= 24
    assert len(texts["zh"]) >= 24
    assert baseline_of(LengthEncoder(), "en") == pytest.approx(expected(texts["en"]))
    assert baseline_of(LengthEncoder(), "zh-CN") == pytest.approx(expected(texts["zh"]))
    assert all(any("\u4e00" <= letter <= "\u9fff" for letter in text) for text in texts["zh"])
    assert all(text.isascii() for text in texts["en"])


def test_a_language_without_demo_texts_takes_english() -> None:
    assert baseline_of(LengthEncoder(), "de") == baseline_of(LengthEncoder(), "en")


def test_a_language_that_the_encoder_does_not_know_takes_english() -> None:
    assert baseline_of(LengthEncoder(unknown="zh"), "zh") == pytest.approx(expected(demo_texts()["en"]))


def test_an_encoder_that_knows_no_demo_text() -> None:
    with pytest.raises(SagoError, match="can read the demo texts neither in zh nor in en"):
        baseline_of(LengthEncoder(unknown="all"), "zh")


def test_an_encoder_that_finds_all_texts_alike() -> None:
    class Blind(LengthEncoder):
        def similarity(self, a: Reading, b: Reading, of_a: FloatArray, of_b: FloatArray) -> float:
            return 1.0

    with pytest.raises(SagoError, match="finds all texts alike"):
        baseline_of(Blind(), "en")


def test_b_is_computed_once_and_kept(home: Path) -> None:
    first = LengthEncoder()
    value = baseline_of(first, "en")
    assert first.embedded == len(demo_texts()["en"])
    again = LengthEncoder()
    assert baseline_of(again, "en") == value
    assert again.embedded == 0
    (file,) = (home / "baselines").iterdir()
    kept = json.loads(file.read_text())
    assert kept["b"] == value
    assert kept["texts"] == texts_digest(demo_texts()["en"])


@pytest.mark.parametrize(
    "other",
    [
        LengthEncoder("lengths2"),
        LengthEncoder(layer=3),
        LengthEncoder(kind="sentence"),
        LengthEncoder(weights="sha256:2"),
    ],
    ids=["name", "layer", "kind", "weights"],
)
def test_what_tells_two_kept_values_apart(home: Path, other: LengthEncoder) -> None:
    baseline_of(LengthEncoder(), "en")
    baseline_of(other, "en")
    assert other.embedded > 0
    assert len(list((home / "baselines").iterdir())) == 2


def test_other_texts_are_another_digest() -> None:
    assert texts_digest(["a", "b"]) != texts_digest(["ab"])
    assert texts_digest(["a", "b"]) != texts_digest(["b", "a"])


def test_a_damaged_file_is_told(home: Path) -> None:
    baseline_of(LengthEncoder(), "en")
    (file,) = (home / "baselines").iterdir()
    file.write_text("{")
    with pytest.raises(SagoError, match="delete it"):
        baseline_of(LengthEncoder(), "en")


def test_a_home_that_cannot_be_written(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "file").write_text("")
    monkeypatch.setenv("SAGO_HOME", str(home / "file"))
    with pytest.raises(SagoError, match="set SAGO_HOME"):
        baseline_of(LengthEncoder(), "en")


def test_few_scored_pairs_give_no_mean() -> None:
    # 3 of 6 texts are read: 3 of 15 pairs.
    assert mean_similarity(LengthEncoder(unknown="zh"), ["a", "bb", "ccc", "一", "一一", "一一一"]) is None
    assert mean_similarity(LengthEncoder(), ["a", "bb"]) == 0.5
    assert mean_similarity(LengthEncoder(), ["a"]) is None


def test_shipped_values_belong_to_the_demo_texts_as_they_are() -> None:
    computed = [row for row in shipped_table()["baselines"] if "texts" in row]
    assert {(row["encoder"], row["language"]) for row in computed} == {
        ("all-MiniLM-L6-v2", "en"),
        ("use-multilingual", "en"),
        ("use-multilingual", "zh"),
    }
    for row in computed:
        changed = "the demo texts changed: compute the shipped baselines again"
        assert texts_digest(demo_texts()[row["language"]]) == row["texts"], changed
