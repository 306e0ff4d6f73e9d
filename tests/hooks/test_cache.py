"""Kept responses: found again when everything is the same, computed again when anything is not."""

from __future__ import annotations

import copy
import dataclasses
import json
import logging
import sqlite3
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM, CacheHook, CachingLM

from sago_harness.axes.measures import Act
from sago_harness.axes.vectors import VectorFile
from sago_harness.backends import identity
from sago_harness.backends.hf import HFBackend
from sago_harness.backends.identity import fingerprint, model_identity
from sago_harness.backends.store import Entry, _row
from sago_harness.backends.text import TextBackend
from sago_harness.data import Response, Wanted
from sago_harness.errors import SagoError
from sago_harness.hooks import plugin
from sago_harness.hooks.cache import cache_file
from sago_harness.hooks.requests import SagoText
from tests import tiny
from tests.hooks.hosts import Scripted, evaluate, values

TASK = "sago_demo_facts"
GREEDY = {"until": ["\n\n"], "do_sample": False, "max_gen_toks": 6}

TEXTS = [
    ["Name a river", "name a river", "Please name a river", "Name  a river"],
    ["What is red?", "what is red?", "Say: what is red?"],
]


@pytest.fixture(scope="module")
def words() -> Any:
    plugin.load()
    return tiny.tokenizer()


@pytest.fixture
def lm(words: Any) -> Any:
    return tiny.host(tiny.llama(len(words), seed=1), copy.deepcopy(words), batch_size=4)


class Computed(list[list[str]]):
    """The prompts of every document that a backend was asked for."""

    def __call__(self) -> list[list[str]]:
        found = list(self)
        self.clear()
        return found


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> Computed:
    """Notes what reaches the backends."""
    seen = Computed()
    for backend in (HFBackend, TextBackend):

        def spied(
            self: Any, documents: Any, wanted: Any, progress: Any, run: Any = backend.run
        ) -> Iterator[Any]:
            seen.extend([str(prompt.text) for prompt in prompts] for prompts in documents)
            yield from run(self, documents, wanted, progress)

        monkeypatch.setattr(backend, "run", spied)
    return seen


def requests(
    documents: Sequence[Sequence[Any]] = TEXTS,
    gen_kwargs: dict[str, Any] = GREEDY,
    *,
    roles: Sequence[str] = (),
    names: Sequence[str] = (),
    bundle: int = 0,
    **wanted: Any,
) -> list[Instance]:
    """Requests as a task makes them, each document's first text the canonical one."""
    made = []
    asked = list(dataclasses.astuple(Wanted(**wanted)))
    for number, texts in enumerate(documents):
        name = names[number] if names else f"doc{number}"
        for place, text in enumerate(texts):
            role = roles[place] if roles else ("variant" if place else "canonical")
            payload = {"document": name, "role": role, "text": text, "wanted": asked, "bundle": bundle}
            if role == "repeat":
                payload["repeat"] = place
            made.append(
                Instance(
                    request_type="sago_generate",
                    doc={},
                    arguments=(text, copy.deepcopy(gen_kwargs), payload),
                    idx=place,
                    metadata=("task", number, 1),
                )
            )
    return made


def ask(lm: Any, path: Path, made: list[Instance] | None = None) -> list[SagoText]:
    """Call the handler as the host does under ``--use_cache``."""
    wrapped = CachingLM(lm, f"{path}_rank0.db")
    try:
        found: list[SagoText] = wrapped.sago_generate(requests() if made is None else made)
        return found
    finally:
        wrapped.dbdict.close()
        lm.set_cache_hook(CacheHook(None))


def content(found: Sequence[SagoText]) -> list[Any]:
    return [(str(answer), answer.measured, answer.payload) for answer in found]


# ---------------------------------------------------------------------- through the host


def test_a_second_run_computes_nothing_and_gives_the_same(
    lm: Any, tmp_path: Path, computed: Computed, no_encoder: None
) -> None:
    cache = str(tmp_path / "cache")
    metadata = {"canonical_repeats": 1}
    plain = evaluate(lm, TASK, metadata, limit=3)
    assert len(computed()) == 3
    first = evaluate(lm, TASK, metadata, limit=3, use_cache=cache)
    assert len(computed()) == 3
    second = evaluate(lm, TASK, metadata, limit=3, use_cache=cache)
    assert computed() == []
    assert isinstance(values(first, TASK)["x_act"], float)
    for found in (first, second):
        assert found["results"] == plain["results"]
        assert found["samples"] == plain["samples"]
        assert found["configs"] == plain["configs"], "the model's description among them"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache.sago.sqlite", "cache_rank0.db"]
    evaluate(lm, TASK, metadata, limit=3)
    assert len(computed()) == 3, "no cache was asked for this time"


def test_the_hosts_own_cache_holds_nothing_of_ours(tmp_path: Path) -> None:
    """It knows no model, and a text backend sends requests of the host's own type."""
    plugin.load()
    lm = Scripted(str.upper)
    wrapped = CachingLM(lm, f"{tmp_path}/c_rank0.db")
    hook = lm.cache_hook
    wrapped.sago_generate(requests())
    assert len(wrapped.dbdict) == 0
    assert lm.cache_hook is hook
    wrapped.dbdict.close()


def test_it_is_said_how_many_come_from_the_cache(
    lm: Any, tmp_path: Path, computed: Computed, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="sago_harness"):
        ask(lm, tmp_path / "c", requests(TEXTS[:1]))
        ask(lm, tmp_path / "c")
    told = [r.getMessage() for r in caplog.records if "come from it" in r.getMessage()]
    assert [line.split(": ", 1)[1] for line in told] == [
        "0 of 4 responses come from it, 4 are to be computed",
        "4 of 7 responses come from it, 3 are to be computed",
    ]
    assert not [r for r in caplog.records if "use_cache" in r.getMessage()]


def test_all_processes_of_a_run_share_one_file() -> None:
    found = {cache_file(f"runs/c_rank{rank}.db") for rank in (0, 1, 12)}
    assert found == {Path("runs/c.sago.sqlite")}
    assert cache_file("runs/a_rank3.db_rank0.db") == Path("runs/a_rank3.db.sago.sqlite")


# ---------------------------------------------------------------------- what makes a response another


def one_weight(lm: Any) -> None:
    with torch.no_grad():
        lm.model.model.layers[1].mlp.down_proj.weight[3, 5] += 1e-3


def dtype(lm: Any) -> None:
    lm.model.to(torch.bfloat16)


def template(lm: Any) -> None:
    lm.tokenizer.chat_template += " "


def vocabulary(lm: Any) -> None:
    lm.tokenizer.add_tokens(["<new>"])


def defaults(lm: Any) -> None:
    lm.model.generation_config.repetition_penalty = 1.5


def configuration(lm: Any) -> None:
    lm.model.config.rms_norm_eps = 0.1


def revision(lm: Any) -> None:
    lm.revision = "other"


def attention(lm: Any) -> None:
    lm.model.set_attn_implementation("eager")


def padding(lm: Any) -> None:
    lm.sago_padding_side = "right"


def room(lm: Any) -> None:
    lm._max_length = 100


def reasoning(lm: Any) -> None:
    lm.think_end_token = "</think>"


@pytest.mark.parametrize(
    "change",
    [
        one_weight,
        dtype,
        template,
        vocabulary,
        defaults,
        configuration,
        revision,
        attention,
        room,
        reasoning,
    ],
)
def test_another_model_shares_nothing(
    change: Callable[[Any], None], lm: Any, tmp_path: Path, computed: Computed
) -> None:
    ask(lm, tmp_path / "c")
    ask(lm, tmp_path / "c")
    assert len(computed()) == 2
    change(lm)
    changed = ask(lm, tmp_path / "c")
    assert len(computed()) == 2, "computed anew"
    assert content(ask(lm, tmp_path / "c")) == content(changed)
    assert computed() == [], "and kept beside the first"


@pytest.mark.parametrize(
    "other",
    [
        {"gen_kwargs": {**GREEDY, "max_gen_toks": 5}},
        {"gen_kwargs": {**GREEDY, "until": ["\n"]}},
        {"seed": 1},
        {"pooling": "span"},
        {"layers": "attention"},
        {"roles": ["canonical", "variant", "control", "variant"]},
        {"documents": [["Name a river!", *TEXTS[0][1:]], ["What's red?", *TEXTS[1][1:]]]},
        {"documents": [[*texts[:2], texts[2] + "!", *texts[3:]] for texts in TEXTS]},
    ],
    ids=lambda other: next(iter(other)),
)
def test_another_request_is_computed(
    other: dict[str, Any], lm: Any, tmp_path: Path, computed: Computed
) -> None:
    first = ask(lm, tmp_path / "c")
    computed()
    ask(lm, tmp_path / "c", requests(**other))
    assert len(computed()) == 2
    assert content(ask(lm, tmp_path / "c")) == content(first)
    assert computed() == []


def test_another_version_of_a_measure_is_computed(
    lm: Any, tmp_path: Path, computed: Computed, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(lm, tmp_path / "c")
    monkeypatch.setattr(Act, "version", 2)
    computed()
    ask(lm, tmp_path / "c")
    assert len(computed()) == 2


def test_what_moves_rounding_alone_is_taken_up(lm: Any, tmp_path: Path, computed: Computed) -> None:
    ask(lm, tmp_path / "c")
    assert len(computed()) == 2
    padding(lm)
    lm.batch_size_per_gpu = 2
    ask(lm, tmp_path / "c")
    assert computed() == []


def test_an_adapter_and_its_strength_count(lm: Any) -> None:
    peft = pytest.importorskip("peft")
    plain = model_identity(lm, {})
    found = []
    for alpha in (8, 16):
        torch.manual_seed(0)
        config = peft.LoraConfig(r=2, lora_alpha=alpha, target_modules=["q_proj"], init_lora_weights=False)
        lm._model = peft.get_peft_model(copy.deepcopy(lm.model), config)
        found.append(model_identity(lm, {}))
        lm._model = lm._model.merge_and_unload()
        found.append(model_identity(lm, {}))
    assert len({plain, *found}) == 5


def test_a_folder_that_is_overwritten_is_another_model(tmp_path: Path, words: Any) -> None:
    from lm_eval.models.huggingface import HFLM

    def identified(seed: int) -> str:
        tiny.save(tmp_path / "m", seed=seed)
        options = {"device": "cpu", "dtype": "float32"}
        return model_identity(HFLM(pretrained=str(tmp_path / "m"), **options), {})

    first = identified(1)
    assert identified(1) == first
    assert identified(2) != first


class Table(torch.nn.Module):
    """A single large tensor."""

    def __init__(self, table: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("table", table)


@pytest.fixture(params=[torch.float32, torch.bfloat16, torch.int8, torch.complex64])
def table(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Table:
    """Over 2 MB of small numbers, read in many pieces that end within rows."""
    monkeypatch.setattr(identity, "_CHUNK", 100_003)
    drawn = torch.randint(-4, 5, (2**18, 9), generator=torch.Generator().manual_seed(0))
    return Table(drawn.to(request.param))


@pytest.mark.parametrize("row", [0, 4321, 2**18 - 1])
def test_a_single_value_of_a_large_tensor_counts(table: Table, row: int) -> None:
    before = fingerprint(table)
    assert fingerprint(copy.deepcopy(table)) == before
    held = table.table[row, 7].clone()
    table.table[row, 7] = held + 1
    assert fingerprint(table) != before
    table.table[row, 7] = held
    assert fingerprint(table) == before
    table.table = table.table.reshape(9, -1)
    assert fingerprint(table) != before


@pytest.mark.parametrize("rows", [(3, 4), (1234, 200_001)])
def test_two_rows_that_change_places_count(table: Table, rows: tuple[int, int]) -> None:
    """All values are there, and their sum is the same: two tokens whose embeddings were exchanged."""
    before, (one, other) = fingerprint(table), rows
    assert not torch.equal(table.table[one], table.table[other])
    table.table[[one, other]] = table.table[[other, one]]
    assert fingerprint(table) != before
    table.table[[one, other]] = table.table[[other, one]]
    assert fingerprint(table) == before


def test_signs_that_change_in_pairs_count() -> None:
    drawn = torch.randn(2**18, 2, generator=torch.Generator().manual_seed(0))
    before = fingerprint(Table(drawn))
    drawn[5], drawn[77_777] = -drawn[5], -drawn[77_777]
    assert fingerprint(Table(drawn)) != before


def test_tied_weights_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[tuple[int, ...]] = []
    real = identity._content

    def watched(tensor: torch.Tensor) -> bytes:
        read.append(tuple(tensor.shape))
        return real(tensor)

    monkeypatch.setattr(identity, "_content", watched)
    module = torch.nn.ModuleList([torch.nn.Linear(4, 4, bias=False) for _ in range(2)])
    with torch.no_grad():
        module[1].weight.copy_(module[0].weight)
    apart = fingerprint(module)
    assert len(read) == 2
    module[1].weight = module[0].weight
    assert fingerprint(module) == apart
    assert len(read) == 3
    # The same memory read otherwise is another matrix.
    module[1].weight = torch.nn.Parameter(module[0].weight.detach().t())
    assert fingerprint(module) != apart


def test_weights_that_a_quantised_layer_packs_count() -> None:
    def quantised(seed: int) -> Any:
        torch.manual_seed(seed)
        module = torch.nn.Sequential(torch.nn.Linear(8, 8))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return torch.ao.quantization.quantize_dynamic(module, {torch.nn.Linear}, dtype=torch.qint8)
            except (AttributeError, NotImplementedError, RuntimeError) as error:
                pytest.skip(f"this torch has no dynamic quantisation on this processor: {error}")

    assert fingerprint(quantised(0)) == fingerprint(quantised(0))
    assert fingerprint(quantised(0)) != fingerprint(quantised(1))


def test_weights_that_are_spread_over_processes_are_not_asked_for() -> None:
    """As under tensor parallel: each process would see its part, or wait for the others."""

    class Spread(torch.Tensor):
        def to_local(self) -> Any:
            raise AssertionError("not to be asked")

    module = Table(torch.ones(2, 2).as_subclass(Spread))
    with pytest.raises(identity.Unidentified, match="the values of table are spread over processes"):
        fingerprint(module)


def test_a_state_that_cannot_be_read_is_said() -> None:
    class Odd(torch.nn.Linear):
        def get_extra_state(self) -> Any:
            return object()

        def set_extra_state(self, state: Any) -> None: ...

    with pytest.raises(identity.Unidentified, match=r"what _extra_state holds cannot be read \(a object\)"):
        fingerprint(Odd(2, 2))


def test_a_transposed_view_is_read_as_what_it_holds() -> None:
    one, other = torch.nn.Linear(3, 3, bias=False), torch.nn.Linear(3, 3, bias=False)
    table = torch.arange(9.0).reshape(3, 3)
    one.weight.data, other.weight.data = table.t(), table.t().contiguous()
    assert fingerprint(one) == fingerprint(other)


def test_weights_that_cannot_be_read_are_never_mistaken(
    lm: Any, tmp_path: Path, computed: Computed, caplog: pytest.LogCaptureFixture, monkeypatch: Any
) -> None:
    state = lm.model.state_dict()
    state["lm_head.weight"] = state["lm_head.weight"].to("meta")
    monkeypatch.setattr(lm.model, "state_dict", lambda: state)
    for _ in range(2):
        ask(lm, tmp_path / "c")
        assert len(computed()) == 2
    (told,) = [r.getMessage() for r in caplog.records if "--use_cache" in r.getMessage()]
    assert "lm_head.weight are not in memory" in told
    assert not (tmp_path / "c.sago.sqlite").exists()


# ---------------------------------------------------------------------- what is there, and what is missing


def test_a_document_is_computed_whole(lm: Any, tmp_path: Path, computed: Computed) -> None:
    ask(lm, tmp_path / "c", requests([TEXTS[0][:3], TEXTS[1]]))
    computed()
    ask(lm, tmp_path / "c")
    assert computed() == [TEXTS[0]], "one request more: all of its document, nothing of the other"
    ask(lm, tmp_path / "c", requests([TEXTS[0][:2]]))
    assert computed() == [], "fewer requests are all there"


def test_a_lacking_signal_is_computed(
    lm: Any, tmp_path: Path, computed: Computed, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        original = HFBackend._response

        def mute(self: Any, *args: Any) -> Response:
            response = original(self, *args)
            response.own_logprob = response.own_entropy = None
            return response

        patch.setattr(HFBackend, "_response", mute)
        ask(lm, tmp_path / "c")
    computed()
    found = ask(lm, tmp_path / "c")
    assert len(computed()) == 2
    assert all(answer.measured["signals"]["own_logprob"] is not None for answer in found)
    ask(lm, tmp_path / "c")
    assert computed() == []


def test_what_is_unscored_for_good_is_not_computed_again(
    lm: Any, tmp_path: Path, computed: Computed, monkeypatch: pytest.MonkeyPatch
) -> None:
    beams = {**GREEDY, "num_beams": 2}
    first = ask(lm, tmp_path / "c", requests(gen_kwargs=beams))
    assert first[0].measured["signals"]["own_logprob"] is None
    noop = requests([["Name a river", "Name a river", "Who?"]])
    assert "noop_tokens" in ask(lm, tmp_path / "c", noop)[1].measured["flags"]
    computed()
    ask(lm, tmp_path / "c", requests(gen_kwargs=beams))
    ask(lm, tmp_path / "c", noop)
    assert computed() == []


def test_a_request_that_failed_is_sent_again(tmp_path: Path, computed: Computed) -> None:
    plugin.load()
    answers: dict[str, Any] = {"Name a river": None}
    lm = Scripted(lambda prompt: answers.get(prompt, f"I say {prompt}"))
    failed = ask(lm, tmp_path / "c")
    assert failed[0].measured["text_reason"] == "no_response"
    computed()
    answers.clear()
    found = ask(lm, tmp_path / "c")
    assert computed() == [TEXTS[0]]
    assert (str(found[0]), found[0].measured["text_reason"]) == ("I say Name a river", "")


def as_before(path: Path) -> int:
    """Leave out what entries of older versions lack: where the first tokens end; return their number."""
    with sqlite3.connect(f"{path}.sago.sqlite") as link:
        rows = link.execute("SELECT rowid, content, vectors FROM entries").fetchall()
        for rowid, text, vectors in rows:
            said, measured, held = json.loads(text)
            measured["first"].pop("characters")
            entry = Entry(said, measured, frozenset(held) - {"head"}, vectors)
            values = (*_row(entry), rowid)
            link.execute("UPDATE entries SET content = ?, vectors = ?, digest = ? WHERE rowid = ?", values)
    link.close()
    return len(rows)


def test_entries_that_do_not_say_where_the_first_tokens_end_are_replaced(
    lm: Any, tmp_path: Path, computed: Computed
) -> None:
    first = ask(lm, tmp_path / "c")
    assert all(isinstance(answer.measured["first"]["characters"], int) for answer in first)
    assert as_before(tmp_path / "c") == 7
    computed()
    again = ask(lm, tmp_path / "c")
    assert len(computed()) == 2
    assert content(again) == content(first)
    assert content(ask(lm, tmp_path / "c")) == content(first)
    assert computed() == []
    assert as_before(tmp_path / "c") == 7, "none is kept twice"


def test_answers_that_were_paid_for_are_not_asked_for_again(tmp_path: Path, computed: Computed) -> None:
    """An interface gives no token ids: its entries lack nothing."""
    plugin.load()
    lm = Scripted(str.upper)
    first = ask(lm, tmp_path / "c")
    assert {answer.measured["first"]["characters"] for answer in first} == {None}
    as_before(tmp_path / "c")
    computed()
    assert [str(answer) for answer in ask(lm, tmp_path / "c")] == [str(answer) for answer in first]
    assert computed() == []


def test_hidden_states_are_kept_where_they_are_wanted(lm: Any, tmp_path: Path, computed: Computed) -> None:
    plain = ask(lm, tmp_path / "c")
    assert [answer.vectors for answer in plain] == [None] * 7
    computed()
    made = ask(lm, tmp_path / "c", requests(vectors=True))
    assert len(computed()) == 2, "an entry without them is none"
    again = ask(lm, tmp_path / "c", requests(vectors=True))
    assert computed() == []
    for one, other in zip(made, again, strict=True):
        assert one.vectors is not None
        assert other.vectors is not None
        assert one.vectors.load().shape == (3, 32)
        np.testing.assert_array_equal(one.vectors.load(), other.vectors.load())
        assert one.vectors.blob() == other.vectors.blob()


def test_states_that_are_there_and_not_wanted_are_not_handed_over(
    lm: Any, tmp_path: Path, computed: Computed
) -> None:
    ask(lm, tmp_path / "c", requests(vectors=True))
    computed()
    found = ask(lm, tmp_path / "c")
    assert computed() == []
    assert [answer.vectors for answer in found] == [None] * 7


def test_repeats_of_a_sampling_run_stay_distinct(lm: Any, tmp_path: Path, computed: Computed) -> None:
    drawn = {"do_sample": True, "temperature": 2.0, "max_gen_toks": 8, "until": []}
    made: dict[str, Any] = {"documents": [["Name a river"] * 4], "gen_kwargs": drawn}
    made["roles"] = ["canonical", "repeat", "repeat", "repeat"]
    first = ask(lm, tmp_path / "c", requests(**made, seed=3))
    assert len({str(answer) for answer in first}) == 4
    computed()
    assert content(ask(lm, tmp_path / "c", requests(**made, seed=3))) == content(first)
    assert computed() == []
    other = ask(lm, tmp_path / "c", requests(**made, seed=4))
    assert len(computed()) == 1
    assert {str(answer) for answer in other} != {str(answer) for answer in first}


def test_documents_that_say_the_same_keep_numbers_of_their_own(
    lm: Any, tmp_path: Path, computed: Computed
) -> None:
    twice = requests([TEXTS[0], TEXTS[0]], names=["d", "d#2"])
    first = ask(lm, tmp_path / "c", twice)
    computed()
    assert content(ask(lm, tmp_path / "c", twice)) == content(first)
    assert computed() == []
    ask(lm, tmp_path / "c", requests([TEXTS[0]], names=["under another name"]))
    assert computed() == []


HOSTILE = [
    'it\'s "quoted"; DROP TABLE entries; --',
    "a\0b",
    "a\0c",
    "lone \ud800 surrogate",
    "lone \ud801 surrogate",
    "日本語 𝔘 \u202e",
    " ",
    "%s {} \\x00 \x1b[31m",
]


def test_hostile_prompts_and_answers_come_back(tmp_path: Path, computed: Computed) -> None:
    plugin.load()
    lm = Scripted(lambda prompt: prompt[::-1])
    made = requests([HOSTILE], names=["'\0\ud800"])
    first = ask(lm, tmp_path / "c", made)
    computed()
    assert content(ask(lm, tmp_path / "c", made)) == content(first)
    assert computed() == []
    assert str(first[1]) == "b\0a"
    ask(lm, tmp_path / "c", requests([[*HOSTILE[:4], "lone \ud802 surrogate"]], names=["'\0\ud800"]))
    assert len(computed()) == 1, "what cannot be written is told apart all the same"


def test_prompts_that_are_objects_are_told_apart(tmp_path: Path, computed: Computed) -> None:
    plugin.load()
    lm = Scripted(lambda prompt: str(prompt))
    chats = [[{"role": "user", "content": text}] for text in ("a", "b")]
    ask(lm, tmp_path / "c", requests([chats]))
    computed()
    ask(lm, tmp_path / "c", requests([chats]))
    assert computed() == []
    ask(lm, tmp_path / "c", requests([[chats[0], [{"role": "system", "content": "b"}]]]))
    assert len(computed()) == 1


# ---------------------------------------------------------------------- models behind an interface


class Api(Scripted):
    """As the host's models for interfaces keep what they are given."""

    secrets: ClassVar[list[str]] = ["sk-SECRET1", "pw-SECRET2", "q-SECRET3", "h-SECRET4", "v-SECRET5"]

    def __init__(self, model: str = "m", host: str = "host", secret: str = "") -> None:
        super().__init__(str.upper)
        self.model = model
        self.base_url = f"https://me:pw-SECRET2{secret}@{host}/v1?api-key=q-SECRET3{secret}&api-version=1"
        self.api_key = self.auth_token = f"sk-SECRET1{secret}"
        self._header = {"Authorization": f"Bearer h-SECRET4{secret}"}
        self.model_args = {"model": model, "hf_token": f"v-SECRET5{secret}"}


def test_name_and_address_tell_interfaces_apart_and_keys_do_not(tmp_path: Path, computed: Computed) -> None:
    plugin.load()
    ask(Api(), tmp_path / "c")
    computed()
    ask(Api(secret="-renewed"), tmp_path / "c")
    assert computed() == []
    for other in (Api(model="n"), Api(host="elsewhere")):
        ask(other, tmp_path / "c")
        assert len(computed()) == 2


def test_an_engine_that_was_started_otherwise_is_another_model() -> None:
    def engine(adapter: str | None = None, **arguments: Any) -> Any:
        class Engine:
            model_args: ClassVar[dict[str, Any]] = {"model": "m", "dtype": "auto", **arguments}
            lora_request = None if adapter is None else SimpleNamespace(lora_path=adapter)

        return Engine()

    made = [
        engine(),
        engine(adapter="a"),
        engine(adapter="b"),
        engine(rope_scaling={"factor": 2.0}),
        engine(tokenizer="other"),
    ]
    assert len({model_identity(lm, {}) for lm in made}) == len(made)
    assert model_identity(engine(api_key="x"), {}) == model_identity(engine(api_key="y"), {})


def test_states_that_found_no_room_are_computed_again(
    lm: Any, tmp_path: Path, computed: Computed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_file: Any, _blob: bytes) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(VectorFile, "_write", full)
        patched.setattr(VectorFile, "_here", None)
        lost = ask(lm, tmp_path / "c", requests(vectors=True))
    assert {answer.vectors for answer in lost} == {""}
    found = ask(lm, tmp_path / "c", requests(vectors=True))
    for answer in found:
        assert answer.vectors is not None
        assert answer.vectors.load().shape == (3, 32)


def test_no_secret_is_written(tmp_path: Path) -> None:
    plugin.load()
    ask(Api(), tmp_path / "c")
    files = [path.read_bytes() for path in tmp_path.iterdir() if ".sago.sqlite" in path.name]
    assert files
    for secret in Api.secrets:
        assert not any(secret.encode() in held for held in files)


def test_the_identity_is_the_same_in_another_process(lm: Any, words: Any) -> None:
    """Nothing of it depends on addresses in memory, or on what was asked before."""
    other = tiny.host(tiny.llama(len(words), seed=1), copy.deepcopy(words), batch_size=4)
    other.tokenizer("something", padding="max_length", truncation=True, max_length=9)
    described = {"dtype": "float32"}
    assert model_identity(lm, described) == model_identity(other, described)
    assert model_identity(lm, described) != model_identity(lm, {"dtype": "bfloat16"})


# ---------------------------------------------------------------------- files that cannot be used


def test_a_file_that_is_no_cache_stops_the_run_before_anything_is_computed(
    lm: Any, tmp_path: Path, computed: Computed
) -> None:
    (tmp_path / "c.sago.sqlite").write_text("my notes " * 200, encoding="utf-8")
    hook = lm.cache_hook
    with pytest.raises(SagoError, match=r"c\.sago\.sqlite: it is no SQLite file"):
        ask(lm, tmp_path / "c")
    assert computed() == []
    assert type(lm.cache_hook) is type(hook)


def test_a_full_disk_does_not_end_the_run(
    lm: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = content(ask(lm, tmp_path / "whole"))
    from sago_harness.backends.store import Store

    opened = Store._open

    def full(self: Store, link: sqlite3.Connection) -> None:
        opened(self, link)
        link.execute("PRAGMA max_page_count = 1")

    monkeypatch.setattr(Store, "_open", full)
    long = [[*texts, "x" * 20_000] for texts in TEXTS]
    plain = LM.sago_generate(lm, requests(long))
    assert content(ask(lm, tmp_path / "full", requests(long))) == content(plain)
    (told,) = [r.getMessage() for r in caplog.records if "--use_cache" in r.getMessage()]
    assert "cannot be written (database or disk is full)" in told
    monkeypatch.undo()
    assert content(ask(lm, tmp_path / "full")) == whole
