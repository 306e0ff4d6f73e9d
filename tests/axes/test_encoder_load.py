import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import huggingface_hub
import pytest
import torch
from huggingface_hub.errors import LocalEntryNotFoundError
from transformers import BertConfig, BertModel

from sago_harness.axes.encoders import Encoder, Missing, load_encoder
from sago_harness.axes.encoders.load import weights_identity
from sago_harness.axes.encoders.spec import Spec, default_spec, parse_spec
from sago_harness.errors import SagoError


@pytest.fixture(autouse=True)
def _empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAGO_HOME", str(tmp_path / "home"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "tiny"
    made.mkdir()
    (made / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "blue", "lamp"]))
    (made / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer"}))
    config = BertConfig(
        vocab_size=7, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=8
    )
    BertModel(config).save_pretrained(made)
    return made


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("minilm", Spec("minilm", "token", 6)),
        ("minilm:3", Spec("minilm", "token", 3)),
        ("all-MiniLM-L6-v2:6", Spec("minilm", "token", 6)),
        ("sentence:minilm", Spec("minilm", "sentence", None)),
        ("use-multilingual", Spec("use-multilingual", "sentence", None)),
        ("roberta-large", Spec("roberta-large", "token", 17)),
        ("roberta-large:9", Spec("roberta-large", "token", 9)),
        ("roberta-large-mnli:11", Spec("roberta-large-mnli", "token", 11)),
        ("owner/model", Spec("owner/model", "token", None)),
        ("/path/to/folder:9", Spec("/path/to/folder", "token", 9)),
        ("sentence:/path/to", Spec("/path/to", "sentence", None)),
    ],
)
def test_specs(text: str, spec: Spec) -> None:
    assert parse_spec(text) == spec


def test_default_layers_are_those_of_bert_score() -> None:
    from bert_score.utils import model2layers

    from sago_harness.axes.encoders.spec import DEFAULT_LAYERS

    ours = {name: layer for name, layer in DEFAULT_LAYERS.items() if name != "minilm"}
    assert ours == {name: model2layers[name] for name in ours}


@pytest.mark.parametrize("language", ["en", "EN", "de-AT", "pt_BR", "vi"])
def test_latin_languages_get_the_token_encoder(language: str) -> None:
    assert default_spec(language) == "minilm:6"


@pytest.mark.parametrize("language", ["zh", "zh-CN", "ja", "ru", "ar", "th", "xx"])
def test_other_languages_get_the_sentence_encoder(language: str) -> None:
    assert default_spec(language) == "use-multilingual"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("minilmm", "did you mean minilm"),
        ("MiniLM", "did you mean minilm"),
        ("use-multilingal", "did you mean use-multilingual"),
        ("use_multilingual:2", "did you mean use-multilingual"),
        ("use-multilingual:3", "no layers"),
        ("sentence:minilm:6", "no layers"),
        (":6", "no name"),
        ("", "no name"),
        ("/nowhere/at/all:3", "does not exist"),
        ("./nowhere", "does not exist"),
        ("not a name/at all", "neither a folder nor a hub id"),
    ],
)
def test_mistakes_are_told_in_one_line(text: str, message: str) -> None:
    with pytest.raises(SagoError, match=message) as error:
        load_encoder(text, "en")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("language", "name"), [("en", "minilm"), ("zh", "use-multilingual")])
def test_an_absent_package_is_missing_with_its_remedy(language: str, name: str) -> None:
    missing = load_encoder(None, language)
    assert isinstance(missing, Missing)
    assert missing.reason == "encoder_unavailable"
    assert f"`sago models get {name}`" in missing.message
    assert "\n" not in missing.message


def test_an_unreachable_hub_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(repo_id: str, allow_patterns: list[str]) -> str:
        raise LocalEntryNotFoundError("no network\nand not in the cache")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    missing = load_encoder("roberta-large:17", "en")
    assert isinstance(missing, Missing)
    assert "roberta-large" in missing.message
    assert "\n" not in missing.message


def test_offline_mode_of_the_hub_is_respected(tmp_path: Path) -> None:
    code = (
        "from sago_harness.axes.encoders import load_encoder\n"
        "print(type(load_encoder('owner/no-such-model:3', 'en')).__name__)"
    )
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == "Missing", done.stderr


def test_a_model_of_the_hub(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = tmp_path / "snapshots" / ("0123456789" * 4)
    shutil.copytree(folder, snapshot)
    asked: list[list[str]] = []

    def download(repo_id: str, allow_patterns: list[str]) -> str:
        asked.append(allow_patterns)
        return str(snapshot)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    encoder = load_encoder("owner/tiny:1", "en")
    assert isinstance(encoder, Encoder)
    assert (encoder.name, encoder.layer, encoder.weights) == ("owner/tiny", 1, f"commit:{'0123456789' * 4}")
    # Nothing that could be code or a pickle is fetched.
    assert not {"*.py", "*.bin", "*.pt", "*"} & set(asked[0])


def test_an_encoder_is_loaded_once(folder: Path) -> None:
    first = load_encoder(f"{folder}:1", "en")
    assert load_encoder(f"{folder}:1", "zh") is first
    assert load_encoder(f"{folder}:2", "en") is not first


def test_a_folder_goes_by_its_weights_not_by_its_path(folder: Path, tmp_path: Path) -> None:
    twin = tmp_path / "elsewhere" / "tiny"
    shutil.copytree(folder, twin)
    one, other = load_encoder(str(folder), "en"), load_encoder(str(twin), "en")
    assert isinstance(one, Encoder)
    assert isinstance(other, Encoder)
    assert one.name == other.name
    assert one.name.startswith("tiny@")
    assert str(tmp_path) not in one.name

    torch.manual_seed(9)
    third = tmp_path / "third" / "tiny"
    shutil.copytree(folder, third)
    BertModel(BertConfig.from_pretrained(folder)).save_pretrained(third)
    assert weights_identity(third) != weights_identity(folder)


def test_a_folder_named_like_a_hub_model_is_not_taken_for_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(folder, tmp_path / "roberta-large")
    monkeypatch.chdir(tmp_path)
    encoder = load_encoder("roberta-large:2", "en")
    assert isinstance(encoder, Encoder)
    assert encoder.name.startswith("roberta-large@")


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(SagoError, match=r"no config\.json"):
        load_encoder(str(tmp_path), "en")


@pytest.mark.parametrize("break_it", ["weights", "code", "config"])
def test_folders_that_cannot_be_loaded(folder: Path, break_it: str) -> None:
    if break_it == "weights":
        # Pickled weights are not read, even where they are all there is.
        torch.save(BertModel(BertConfig.from_pretrained(folder)).state_dict(), folder / "pytorch_model.bin")
        (folder / "model.safetensors").unlink()
    elif break_it == "code":
        config = {"model_type": "own", "auto_map": {"AutoConfig": "own.Own", "AutoModel": "own.Model"}}
        (folder / "config.json").write_text(json.dumps(config))
        (folder / "own.py").write_text("raise RuntimeError('code of the model was run')")
    else:
        (folder / "config.json").write_text("{")
    with pytest.raises(SagoError, match="cannot be loaded") as error:
        load_encoder(str(folder), "en")
    assert "\n" not in str(error.value)
