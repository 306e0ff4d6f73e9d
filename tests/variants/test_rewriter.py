"""Variants by a language model: what is taken, what is rejected, and what the cache gives back."""

import argparse
import contextlib
import json
import random
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from sago_harness.backends.local_writer import LocalWriter
from sago_harness.data import Document
from sago_harness.errors import SagoError
from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.build import build, make_passage
from sago_harness.variants.operators import OPERATORS
from sago_harness.variants.recipe import parse_recipe
from sago_harness.variants.rewriter import (
    NoText,
    RewriterSettings,
    Writer,
    add_rewriter_arguments,
    describe,
    make_writer,
    session,
    settings_from,
    use_rewriter,
)
from sago_harness.variants.rewriter.cache import Cache, Written
from sago_harness.variants.rewriter.checks import find_fault, find_form
from sago_harness.variants.rewriter.clean import clean
from sago_harness.variants.rewriter.endpoint import CALLS, MAX_BYTES, EndpointWriter
from sago_harness.variants.rewriter.prompts import make_messages

WHO = "Who wrote the novel?"
KEY = "sk-very-secret-1234"


class Scripted(Writer):
    """Gives the answers it was made with, one a call; an exception among them is raised."""

    identity = "scripted"

    def __init__(self, *answers):
        self.answers = list(answers)
        self.calls = []

    def write(self, messages, seed, max_tokens, temperature, top_p):
        self.calls.append((messages, seed, max_tokens, temperature, top_p))
        answer = self.answers[len(self.calls) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def scripted(monkeypatch):
    """Say what the writer answers; returns a function that rewrites a text with it."""

    @contextmanager
    def rewriting(writer, cache=None, **options):
        monkeypatch.setattr(session, "make_writer", lambda spec: writer)
        with use_rewriter(RewriterSettings("scripted", cache, **options)) as active:
            yield active

    return rewriting


def free(text, language="en", seed=0, strength=1):
    return OPERATORS.load("rewrite_free")(strength).apply(make_passage(text, language), random.Random(seed))


# ------------------------------------------------------------------ operators


def test_the_first_answer_that_passes_is_taken(scripted):
    writer = Scripted(
        "Jane Austen wrote the novel.",
        "Who wrote the novel?",
        'Sure, here is the text:\n"Who was it that wrote the novel?"',
    )
    with scripted(writer) as active:
        assert free(WHO) == "Who was it that wrote the novel?"
    assert active.counts == {"adds a name": 1, "changed": 1, "accepted": 1}


def test_every_try_has_another_seed_and_the_same_variant_the_same_seeds(scripted):
    writer = Scripted(*["no"] * 16)
    with scripted(writer, temperature=0.25, top_p=0.5, max_tokens=77):
        for seed in (0, 0, 1, 0):
            with pytest.raises(Refused):
                free(WHO, seed=seed)
    seeds = [call[1] for call in writer.calls]
    assert len(set(seeds[:4])) == 4
    assert seeds[:4] == seeds[4:8] == seeds[12:]
    assert not set(seeds[:4]) & set(seeds[8:12])
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert {call[2:] for call in writer.calls} == {(77, 0.25, 0.5)}


@pytest.mark.parametrize(
    ("retries", "answers", "reason"),
    [
        (2, ["", "", "Who has written the 3 novels?"], "rewriter: adds a number after 3 tries"),
        (0, ["Who was it that wrote it?\nIt was me."], "rewriter: more lines after 1 try"),
        (1, ["", NoText("cut at max_tokens")], "rewriter: cut at max_tokens after 2 tries"),
        (0, ["The novel is what she wrote, she who knew."], "rewriter: form after 1 try"),
        (
            0,
            ["Who wrote the novel? Who was the author of the novel?"],
            "rewriter: more sentences after 1 try",
        ),
        (0, ["Who hides behind all of that, then?"], "rewriter: other words after 1 try"),
        (0, ["Who never wrote the novel?"], "rewriter: semantic after 1 try"),
        (0, ["who wrote  the novel"], "rewriter: changed after 1 try"),
        (0, ["Who was it that\x07 wrote the novel?"], "rewriter: control characters after 1 try"),
        (0, ["Who wrote the novel, " + "I ask, " * 30 + "?"], "rewriter: length after 1 try"),
    ],
)
def test_the_last_reason_is_told(scripted, retries, answers, reason):
    with scripted(Scripted(*answers), retries=retries), pytest.raises(Refused) as error:
        free(WHO)
    assert str(error.value) == reason


@pytest.mark.parametrize(
    ("text", "answer", "reason"),
    [
        ("Which 12 hens lay `x y`?", "Which of the 12 hens lay `x  y`?", "literals"),
        ("Are 3 hens and 4 cows here?", "Are 4 cows and 3 hens here?", "literals"),
        ("Did Anna Karenina write this book?", "Did Anna write this book?", "semantic"),
        ("What is a good defence here?", "Is there a good defence here?", "asks for yes or no"),
        ("When was the novel written?", "Who has written the novel?", "answer_type"),
        ("Did people never write such a book?", "Did people write a book such as this?", "semantic"),
    ],
)
def test_what_must_survive_is_checked(text, answer, reason):
    assert find_fault(make_passage(text), answer, "free") == reason


def test_kept_spans_stay_beside_the_change(scripted):
    with scripted(Scripted("Where is it that the 12 hens of `x y` live?")):
        assert free("Where do the 12 hens of `x y` live?") == "Where is it that the 12 hens of `x y` live?"


def test_outer_white_space_of_the_source_is_kept(scripted):
    with scripted(Scripted("Who was it that wrote the novel?")):
        assert free(f"  {WHO}\n") == "  Who was it that wrote the novel?\n"


# 17 letters and marks: "Whowrotethenovel?". 1.5 times is 25.5, within 20.4 and 31.875.
@pytest.mark.parametrize(
    ("answer", "taken"),
    [
        ("Who once wrote the novel?", True),  # 21
        ("Who has wrote the novel?", False),  # 20
        ("Who was it that wrote this very novel?", True),  # 31
        ("Who was it that wrote that whole novel?", False),  # 32
    ],
)
def test_length_is_taken_within_its_tolerance(scripted, answer, taken):
    with scripted(Scripted(answer), retries=0):
        operator = OPERATORS.load("rewrite_length")(1.5)
        if taken:
            assert operator.apply(Passage(WHO), random.Random(0)) == answer
        else:
            with pytest.raises(Refused, match="length"):
                operator.apply(Passage(WHO), random.Random(0))


@pytest.mark.parametrize(
    ("position", "text", "answer", "taken"),
    [
        ("imperative", WHO, "Tell me who wrote the novel.", True),
        ("imperative", WHO, "It is she who wrote the novel.", False),
        ("imperative", WHO, "Say who?, who wrote the novel.", False),
        ("interrogative", "Name the novel that people like.", "Which novel do people like?", True),
        ("interrogative", "Name the novel that people like.", "Name a novel that people like.", False),
        ("declarative", WHO, "I would like to know who wrote the novel.", True),
        ("declarative", WHO, "It is she who wrote the novel.", False),
        ("declarative", "他写了什么书？", "我想知道他写了什么书。", True),
    ],
)
def test_form_is_taken_if_the_last_sentence_has_it(scripted, position, text, answer, taken):
    language = "zh" if text.startswith("他") else "en"
    with scripted(Scripted(answer), retries=0):
        operator = OPERATORS.load("rewrite_form")(position=position)
        if taken:
            assert operator.apply(make_passage(text, language), random.Random(0)) == answer
        else:
            with pytest.raises(Refused, match=r"rewriter: form"):
                operator.apply(make_passage(text, language), random.Random(0))


@pytest.mark.parametrize(
    ("position", "text", "reason"),
    [
        ("interrogative", WHO, "already interrogative"),
        ("imperative", "Name a hen.", "already imperative"),
        ("imperative", "A hen and a cow.", "unclear form"),
        ("imperative", "Which one?\nA. hen\nB. cow", "not the last sentence"),
    ],
)
def test_form_refuses_without_asking(scripted, position, text, reason):
    writer = Scripted()
    with scripted(writer), pytest.raises(Refused, match=reason):
        OPERATORS.load("rewrite_form")(position=position).apply(make_passage(text), random.Random(0))
    assert not writer.calls


def test_form_of_a_story_is_that_of_its_last_sentence():
    assert find_form("Who came? A man. Tell me his age.", "en") == "imperative"
    assert find_form("Telling tales is bad.", "en") == ""
    assert find_form('She asked: "Who is it?"', "en") == "interrogative"


def test_a_lone_surrogate_is_refused_before_anything_is_asked(scripted):
    writer = Scripted()
    with scripted(writer), pytest.raises(Refused, match="not valid Unicode"):
        free("Who wrote \ud800?")
    assert not writer.calls


RECIPE = {
    "name": "rewrites",
    "version": 1,
    "variants": [{"operator": "rewrite_free", "strength": step} for step in (1, 2)],
}


def test_a_build_without_a_rewriter_skips_with_the_reason():
    made = build(Document("1", {"question": WHO}), parse_recipe(RECIPE, "rewrites"), seed=0)
    assert [variant.id for variant in made.variants] == ["canonical"]
    assert {(reject.id, reject.reason) for reject in made.rejects} == {
        ("rewrite_free1", "no rewriter"),
        ("rewrite_free2", "no rewriter"),
    }


def test_a_build_takes_independent_paraphrases_once_each(scripted):
    one = "Who was it that wrote the novel?"
    with scripted(Scripted(one, one)):
        made = build(Document("1", {"question": WHO}), parse_recipe(RECIPE, "rewrites"), seed=0)
    assert [variant.text for variant in made.variants] == [WHO, one]
    assert [reject.reason for reject in made.rejects] == ["duplicate"]


# ------------------------------------------------------------------ cleaning and prompts


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("  Who was it?  ", "Who was it?"),
        ("```text\nWho was it?\n```", "Who was it?"),
        ("“Who was it?”", "Who was it?"),
        ("Sure, here is the rewritten text: Who was it?", "Who was it?"),
        ("**Rewritten text:** Who was it?", "Who was it?"),
        ("---\nWho was it?\n---", "Who was it?"),
        ("<think>Hm, a question.</think>\nWho was it?", "Who was it?"),
        ("好的，以下是改写后的文字：\n“是谁？”", "是谁？"),
        ('"Who" and "what" was it?', '"Who" and "what" was it?'),
        ("Surely: who was it?", "Surely: who was it?"),
        ("Who was it: he or she?", "Who was it: he or she?"),
        ("Sure:", "Sure:"),
        ("", ""),
    ],
)
def test_only_covers_are_taken_off(answer, expected):
    assert clean(answer, WHO, "zh" if "好" in answer else "en") == expected


def test_what_the_source_has_itself_is_left_on():
    assert clean('"Who is it?"', '"Who was it?"') == '"Who is it?"'
    assert clean("Output: 3 hens", "Output: three hens") == "Output: 3 hens"


def test_a_prompt_names_the_text_the_length_and_what_must_stay():
    for language, text in (("en", "Did Anna see 12 hens?"), ("zh", "安娜看见12只鸡了吗？")):
        last = make_messages("longer", make_passage(text, language), 3)[-1]["content"]
        assert f"---\n{text}\n---" in last
        assert "12" in last.partition("---")[0]
    assert " 15 " in make_messages("longer", Passage("Did she see any hens?"), 3)[-1]["content"]


def test_examples_of_the_prompts_pass_their_own_checks():
    from sago_harness.variants.phrases import read_table

    for language, tasks in read_table("rewriter")["examples"].items():
        for task, pairs in tasks.items():
            for source, rewritten in pairs:
                kind = {"longer": "length", "shorter": "length", "free": "free"}.get(task, "form")
                assert find_fault(make_passage(source, language), rewritten, kind) == "", rewritten
                if kind == "form":
                    assert find_form(rewritten, language) == task


# ------------------------------------------------------------------ cache


def test_the_cache_serves_without_a_writer(scripted, tmp_path):
    cache = tmp_path / "cache.jsonl"
    with scripted(
        Scripted("Who lays eggs?", NoText("cut at max_tokens"), "Who was it that wrote the novel?"), cache
    ):
        assert free(WHO) == "Who was it that wrote the novel?"
        told = describe()
    with use_rewriter(RewriterSettings(cache=cache)):
        assert free(WHO) == "Who was it that wrote the novel?"
        assert describe() == told
        with pytest.raises(Refused, match="no rewriter and not in its cache"):
            free(WHO, seed=1)
    assert told["writer"] == "scripted"
    lines = [json.loads(line) for line in cache.read_text().splitlines()]
    assert [line["reason"] for line in lines if "rejected" in line] == ["other words", "cut at max_tokens"]


def test_a_cached_answer_is_not_asked_for_again(scripted, tmp_path):
    cache = tmp_path / "cache.jsonl"
    with scripted(Scripted("Who was it that wrote the novel?"), cache):
        free(WHO)
    again = Scripted()
    with scripted(again, cache):
        assert free(WHO) == "Who was it that wrote the novel?"
    assert not again.calls


@pytest.mark.parametrize("change", [{"temperature": 0.1}, {"top_p": 0.1}, {"max_tokens": 9}])
def test_other_sampling_is_another_answer(scripted, tmp_path, change):
    cache = tmp_path / "cache.jsonl"
    with scripted(Scripted("Who was it that wrote the novel?"), cache):
        free(WHO)
    other = Scripted("Who has been writing the novel?")
    with scripted(other, cache, **change):
        assert free(WHO) == "Who has been writing the novel?"
    with pytest.raises(SagoError, match="unknown writer 'script'"):
        session.Session(RewriterSettings("cache:script", cache))
    with pytest.raises(SagoError, match="several writers"), use_rewriter(RewriterSettings(cache=cache)):
        pass
    # The name of the writer and its sampling say which answers are meant, again with no model.
    with use_rewriter(RewriterSettings("cache:scripted", cache, **change)):
        assert free(WHO) == "Who has been writing the novel?"


def test_a_cache_that_is_empty_or_no_cache_is_one_line(tmp_path):
    def use(path, writer=""):
        with use_rewriter(RewriterSettings(writer, path)):
            pass

    with pytest.raises(SagoError, match="holds nothing"):
        use(tmp_path / "none.jsonl")
    with pytest.raises(SagoError, match="folder does not exist"):
        use(tmp_path / "none" / "cache.jsonl", "smollm2")
    with pytest.raises(SagoError, match="cannot be read"):
        use(tmp_path, "smollm2")
    for content in ('{"id": 1}\n', "hello", "\x00" * 100):
        (tmp_path / "other.jsonl").write_text(content)
        with pytest.raises(SagoError, match="is no rewriter cache"):
            use(tmp_path / "other.jsonl", "smollm2")
        assert (tmp_path / "other.jsonl").read_text() == content


@pytest.mark.parametrize("cut", range(2, 200, 7))
def test_a_line_that_was_cut_loses_itself_only(tmp_path, cut):
    path = tmp_path / "cache.jsonl"
    cache = Cache(path)
    for name in "ab":
        cache.put(name, Written(name.upper()), "{}")
    data = path.read_bytes()
    path.write_bytes(data[: max(1, len(data) - cut)])
    torn = Cache(path)
    before = {name: torn.get(name) for name in "ab"}
    torn.put("c", Written("C"), "{}")
    again = Cache(path)
    assert {name: again.get(name) for name in "ab"} == before
    assert before["b"] is None
    assert before["a"] in ((Written("A"), None) if cut > 40 else (Written("A"),))
    assert again.get("c") == Written("C")


def test_a_short_placeholder_of_a_key_may_stand_in_an_answer(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with serving(said("Is there none?")) as (address, _):
        assert ask(address) == "Is there none?"


@pytest.mark.parametrize("how", ["emptied", "removed", "replaced"])
def test_a_cache_that_is_emptied_while_it_is_open_is_begun_anew(tmp_path, how):
    path = tmp_path / "cache.jsonl"
    cache = Cache(path)
    cache.put("a", Written("A"), "{}")
    if how == "emptied":
        path.write_bytes(b"")
    elif how == "removed":
        path.unlink()
    else:
        # As large or larger: its size does not tell.
        other = tmp_path / "other.jsonl"
        Cache(other).put("o", Written("O" * 500), "{}")
        other.replace(path)
    cache.put("b", Written("B"), "{}")
    cache.put("a", Written("A2"), "{}")
    again = Cache(path)
    assert {name: again.get(name) for name in "ab"} == {"a": Written("A2"), "b": Written("B")}
    assert cache.get("a") == Written("A2")
    assert again.get("o") == (Written("O" * 500) if how == "replaced" else None)


@pytest.mark.parametrize("maker", ["{}", "x", "[]", '{"writer": 1, "prompts": 1}'])
def test_a_cache_that_does_not_say_who_wrote_it_is_one_line(tmp_path, maker):
    path = tmp_path / "cache.jsonl"
    Cache(path).put("a", Written("A"), maker)
    with pytest.raises(SagoError, match="does not say who wrote it"):
        session.Session(RewriterSettings(cache=path))


def test_an_answer_that_is_odd_in_a_cache_harms_nothing(tmp_path):
    path = tmp_path / "cache.jsonl"
    Cache(path).put("a", Written("A"), "{}")
    odd = ["[]", "null", '{"key": 1}', '{"key": "b", "maker": "{}", "text": 5}', "[" * 100_000, "\xff"]
    with path.open("a", encoding="latin-1") as stream:
        stream.write("\n".join(odd) + "\n")
    cache = Cache(path)
    assert cache.get("a") == Written("A")
    assert len(cache) == 1


WRITES = """
import sys
import time
from pathlib import Path
from sago_harness.variants.rewriter.cache import Cache, Written
cache = Cache(Path(sys.argv[1]))
ready = [Path(sys.argv[1] + name) for name in "12"]
ready[int(sys.argv[2]) - 1].touch()
while not all(path.exists() for path in ready):  # both at once, or there is nothing to keep apart
    time.sleep(0.001)
for number in range(60):
    cache.put(f"own{sys.argv[2]}-{number}", Written("x" * 3000), "{}")
    cache.put(f"both{number}", Written(sys.argv[2]), "{}")
    assert cache.get(f"both{number}").text in "12"
"""


def test_two_processes_fill_one_cache(tmp_path):
    path = tmp_path / "cache.jsonl"
    runs = [subprocess.Popen([sys.executable, "-c", WRITES, path, name]) for name in "12"]
    assert [run.wait(timeout=120) for run in runs] == [0, 0]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    keys = [line["key"] for line in lines if "key" in line]
    assert len(keys) == len(set(keys)) == 180
    assert sum("sago_rewriter_cache" in line for line in lines) == 1


# ------------------------------------------------------------------ endpoint


@contextmanager
def serving(*replies):
    """Serve the replies in turn, the last one for ever; a reply is (status, body, headers)."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((self.path, dict(self.headers), json.loads(body)))
            status, content, headers = replies[min(len(seen), len(replies)) - 1]
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            with contextlib.suppress(OSError):  # the client had enough
                self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=10)


def said(text, end="stop"):
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": end}
    return 200, json.dumps({"choices": [choice]}).encode(), {}


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def ask(address, waits=None, options=""):
    writer = EndpointWriter(
        f"{address},model=small{options}", sleep=(waits if waits is not None else []).append
    )
    return writer.write([{"role": "user", "content": "é\u4e2d"}], 7, 50, 0.5, 0.9)


def test_an_endpoint_is_sent_the_chat_the_sampling_and_the_key():
    with serving(said("Who?")) as (address, seen):
        assert ask(address) == "Who?"
    ((path, headers, body),) = seen
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert body["messages"] == [{"role": "user", "content": "é\u4e2d"}]
    assert (body["model"], body["seed"], body["max_tokens"], body["temperature"], body["top_p"]) == (
        *("small", 7, 50),
        *(0.5, 0.9),
    )


def test_without_a_key_no_header_is_sent(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with serving(said("Who?")) as (address, seen):
        ask(address)
    assert "Authorization" not in seen[0][1]


def test_a_key_in_the_place_of_its_variables_name_is_not_repeated():
    with serving((401, b"", {})) as (address, _), pytest.raises(SagoError) as error:
        # It could be a name, but no such variable is set.
        ask(address, options=",key=gsk_verysecret1234")
    assert "names an environment variable that is not set" in str(error.value)
    assert "gsk_verysecret" not in str(error.value)


def test_another_variable_can_hold_the_key(monkeypatch):
    monkeypatch.setenv("OTHER_KEY", "other")
    with serving(said("Who?")) as (address, seen):
        ask(address, options=",key=OTHER_KEY,timeout=5")
    assert seen[0][1]["Authorization"] == "Bearer other"


def test_a_busy_endpoint_is_asked_again_as_late_as_it_says():
    waits = []
    replies = [(429, b"", {"Retry-After": "7"}), (503, b"", {}), (500, b"", {"Retry-After": "99999"})]
    with serving(*replies, said("Who?")) as (address, seen):
        assert ask(address, waits) == "Who?"
    assert len(seen) == 4
    assert waits == [7, 2, 60]


def one_line(error):
    message = str(error.value)
    assert "\n" not in message
    assert KEY not in message
    assert error.value.__cause__ is None
    return message


@pytest.mark.parametrize(
    ("reply", "words", "calls"),
    [
        ((503, KEY.encode(), {}), "HTTP 503, 5 times", CALLS),
        ((401, KEY.encode(), {}), "the key is read from $OPENAI_API_KEY", 1),
        ((404, KEY.encode(), {}), "check the address", 1),
        ((400, KEY.encode(), {}), "check the model's name", 1),
        ((200, b"<html>" + KEY.encode(), {}), "gave no chat completion", 1),
        ((200, b"", {}), "gave no chat completion", 1),
        ((200, b"[" * 200_000, {}), "gave no chat completion", 1),
        ((200, b'{"choices": []}', {}), "gave no chat completion", 1),
        ((200, b'{"choices": {"0": 1}}', {}), "gave no chat completion", 1),
        ((200, b'{"choices": [{"message": null}]}', {}), "gave no chat completion", 1),
        ((200, b'{"choices": [{"message": {"content": [1]}}]}', {}), "its content is no text", 1),
        ((200, b'"' + b"x" * (MAX_BYTES + 1), {}), "more than 4 MiB", 1),
    ],
)
def test_a_bad_answer_is_one_line_without_the_key(reply, words, calls):
    with serving(reply) as (address, seen), pytest.raises(SagoError) as error:
        ask(address)
    assert words in one_line(error)
    assert len(seen) == calls


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(status):
    with (
        serving(said("stolen")) as (other, taken),
        serving((status, b"", {"Location": f"{other}/chat/completions"})) as (address, _),
        pytest.raises(SagoError) as error,
    ):
        ask(address)
    assert "redirect" in one_line(error)
    assert not taken


def test_an_endpoint_that_is_not_there_is_one_line():
    with serving(said("")) as (address, _):
        pass
    waits = []
    with pytest.raises(SagoError) as error:
        ask(address, waits)
    assert "cannot be reached (ConnectionRefusedError), 5 times" in one_line(error)
    assert waits == [1, 2, 4, 8]


@contextmanager
def dripping(head, drop):
    """Serve a head and then drops, one every 50 ms: longer than the time-out, never idle that long."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    client, _ = server.accept()
                    threading.Thread(target=drip, args=(client,), daemon=True).start()

        def drip(client):
            with client, contextlib.suppress(OSError):
                client.recv(65536)
                client.sendall(head)
                for _ in range(100):
                    client.sendall(drop)
                    time.sleep(0.05)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"


@pytest.mark.parametrize(
    ("head", "drop", "words", "calls"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n", b" ", "(TimeoutError), 5 times", CALLS),
        (b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a", "(TimeoutError), 5 times", CALLS),
        (b"HTTP/1.1 200 OK\r\n", b"X-Slow: a\r\n", "(TimeoutError), 5 times", CALLS),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n", "(TimeoutError), 5 times", CALLS),
        (b"HTTP/1.1 400 Bad\r\nContent-Length: 9000\r\n\r\n", b" ", "answered HTTP 400", 1),
    ],
    ids=["body", "header", "headers", "continue", "error body"],
)
def test_an_answer_that_drips_is_given_up(head, drop, words, calls):
    start = time.monotonic()
    with dripping(head, drop) as address, pytest.raises(SagoError) as error:
        ask(address, options=",timeout=0.2")
    assert words in one_line(error)
    # A server that is waited for takes 5 seconds for one call.
    assert time.monotonic() - start < calls * 0.2 + 2


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (said("Who", "length"), "cut at max_tokens"),
        (said("", "content_filter"), "content filter"),
        (said(None), "empty"),
        ((400, b'{"error": {"code": "content_filter"}}', {}), "content filter"),
    ],
)
def test_an_answer_of_no_use_is_told_as_such(reply, reason):
    with serving(reply) as (address, _), pytest.raises(NoText, match=reason):
        ask(address)


def test_a_key_with_a_line_break_is_not_quoted(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\nX: y")
    with serving(said("Who?")) as (address, seen), pytest.raises(SagoError) as error:
        ask(address)
    assert "OPENAI_API_KEY" in one_line(error)
    assert not seen


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("http://example.org/v1,model=m", "only https leaves this machine"),
        ("http://127.0.0.1.example.org/v1,model=m", "only https"),
        ("https://user:sk-secret@example.org/v1,model=m", "no user, password"),
        ("https://example.org/v1?key=sk-secret,model=m", "no user, password"),
        ("https://example.org/v1", "lacks its model"),
        ("https://example.org/v1,model=m,timeout=sk-secret", "timeout= is not a number of seconds"),
        ("https://example.org/v1,model=m,key=sk-secret", "key= takes the name of an environment variable"),
        ("https://example.org/v1,model=m,sk-secret", "unknown option in --rewriter endpoint"),
        ("https://example.org/v1,model=m,sk-secret=x", "unknown option in --rewriter endpoint"),
        ("https://example.org/v1,model=m,modle=x", "did you mean model?"),
        ("https://exa mple.org/v1,model=m", "must be https://host"),
        ("https://example.org:port/v1,model=m", "cannot be read"),
        ("https:///v1,model=m", "must be https://host"),
        ("endpoint:ftp://example.org,model=m", "must be https://host"),
        ("local:", "lacks a model"),
        ("model=", "names its model first"),
        (" ", "--rewriter is empty"),
    ],
)
def test_a_wrong_spec_is_one_line(spec, words):
    with pytest.raises(SagoError) as error:
        make_writer(spec)
    assert words in str(error.value)
    assert "sk-secret" not in str(error.value)


def test_the_key_is_in_no_cache_and_no_description(tmp_path):
    cache = tmp_path / "cache.jsonl"
    quoted = said(f"Who was it that wrote the novel {KEY.upper()}?")
    with (
        serving(quoted, said("Who was it that wrote the novel?")) as (address, seen),
        use_rewriter(RewriterSettings(f"{address},model=small", cache)),
    ):
        assert free(WHO) == "Who was it that wrote the novel?"
        assert KEY not in json.dumps(describe())
        assert describe()["writer"] == f"endpoint:{address}#small"
    assert len(seen) == 2
    assert "the answer quotes the key" in cache.read_text()
    assert KEY not in cache.read_text().lower()
    with use_rewriter(RewriterSettings(cache=cache)):
        assert free(WHO) == "Who was it that wrote the novel?"


# ------------------------------------------------------------------ models


CHAT = [{"role": "user", "content": "Name a hen."}]


def test_a_local_model_writes_the_same_whatever_ran_before(tiny_folder):
    import torch

    writer = LocalWriter(str(tiny_folder))
    # A random model seldom ends by itself: any token may end what it writes but for the first ones.
    writer._loaded[1].generation_config.eos_token_id = list(range(7, 512, 4))

    def write(seed, temperature=1.0):
        return writer.write(CHAT, seed, 300, temperature, 0.99)

    first = {seed: write(seed) for seed in range(6)}
    assert len(set(first.values())) > 1
    torch.rand(1000)
    torch.manual_seed(99)
    state = torch.random.get_rng_state()
    assert {seed: write(seed) for seed in reversed(range(6))} == first
    assert torch.equal(torch.random.get_rng_state(), state)
    assert len({write(seed, temperature=0) for seed in range(3)}) == 1


def test_a_local_model_that_does_not_end_is_of_no_use(tiny_folder):
    writer = LocalWriter(str(tiny_folder))
    writer._loaded[1].generation_config.eos_token_id = 1
    with pytest.raises(NoText, match="cut at max_tokens"):
        writer.write(CHAT, 1, 3, 0.0, 1.0)


def test_a_local_model_goes_by_its_weights_not_its_place(tiny_folder, tmp_path):
    import shutil

    copy = tmp_path / tiny_folder.name
    shutil.copytree(tiny_folder, copy)
    same = LocalWriter(str(copy)).identity
    assert same == LocalWriter(str(tiny_folder)).identity
    assert str(tmp_path) not in same
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**config, "rope_theta": 5.0}))
    assert LocalWriter(str(copy)).identity != same


def test_a_folder_without_safetensors_and_a_model_that_is_not_there_are_one_line(tmp_path):
    with pytest.raises(SagoError, match=r"no \.safetensors file"):
        _ = LocalWriter(str(tmp_path)).identity
    with pytest.raises(SagoError, match="cannot be loaded"):
        _ = LocalWriter("no-such-owner/no-such-model").identity


def test_a_text_that_does_not_fit_the_model_is_of_no_use(tiny_folder):
    long = [{"role": "user", "content": "hen " * 2000}]
    with pytest.raises(NoText, match="too long"):
        LocalWriter(str(tiny_folder)).write(long, 1, 10, 0.5, 0.9)


def test_a_model_of_the_host_writes_the_same_whatever_ran_before(tiny_folder):
    import torch

    writer = make_writer(f"model=hf,pretrained={tiny_folder},device=cpu,dtype=float32")
    assert writer.identity == f"host:hf,dtype=float32,pretrained={tiny_folder.name}"
    first = writer.write(CHAT, 3, 12, 1.0, 0.99)
    torch.rand(1000)
    random.seed(1)
    state = random.getstate()
    assert writer.write(CHAT, 3, 12, 1.0, 0.99) == first
    assert random.getstate() == state
    assert len({writer.write(CHAT, seed, 12, 1.0, 0.99) for seed in range(6)}) > 1


def test_a_model_of_the_host_without_a_tokenizer_writes_too():
    # The host's dummy answers "lol" to everything.
    assert make_writer("model=dummy").write(CHAT, 1, 5, 0.5, 0.9) == "lol"


def test_an_unknown_model_of_the_host_is_one_line():
    with pytest.raises(SagoError, match="unknown model 'sago-hff'"):
        make_writer("model=sago-hff,pretrained=x").write(CHAT, 1, 1, 1, 1)
    with pytest.raises(SagoError, match="NAME=VALUE"):
        make_writer("model=hf,pretrained")


# ------------------------------------------------------------------ settings


def parsed(*words):
    parser = argparse.ArgumentParser()
    add_rewriter_arguments(parser)
    return settings_from(parser.parse_args(words))


def test_flags_become_settings(tmp_path):
    assert parsed() is None
    flags = ("--rewriter", "smollm2", "--rewriter-cache", str(tmp_path / "c"), "--rewriter-retries", "5")
    assert parsed(*flags) == RewriterSettings("smollm2", tmp_path / "c", 5)
    assert parsed("--rewriter-cache", "c").writer == ""


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--rewriter-retries", "-1"),
        ("--rewriter-temperature", "nan"),
        ("--rewriter-temperature", "-1"),
        ("--rewriter-top-p", "0"),
        ("--rewriter-max-tokens", "0"),
    ],
)
def test_a_number_out_of_range_is_one_line(flag, value):
    with pytest.raises(SagoError, match=flag):
        parsed("--rewriter", "smollm2", flag, value)


def test_an_inner_rewriter_gives_way_to_the_outer_one(scripted):
    with use_rewriter(RewriterSettings("https://example.org/v1,model=outer")):
        with use_rewriter(RewriterSettings("https://example.org/v1,model=inner")), use_rewriter(None):
            assert describe()["writer"].endswith("#inner")
        assert describe()["writer"].endswith("#outer")
    assert describe() == {}
