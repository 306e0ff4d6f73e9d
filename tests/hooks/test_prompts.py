"""Variants change the varied span and nothing else of the prompt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sago_harness.errors import SagoError
from sago_harness.hooks.template import keeps_system, merge_system, system_safe
from tests import tiny
from tests.hooks.hosts import DEMO, Scripted, build, evaluate, prompts, write_yaml

SPECIAL = {"sago_demo_instructions": "instruction"}


def chat(turns: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
    """Every turn readable again, roles and all."""
    return json.dumps([turns, add_generation_prompt], ensure_ascii=False)


def frame(prompt: str, span: str) -> tuple[str, str]:
    """What stands before and behind the last occurrence of the span."""
    assert span in prompt
    at = prompt.rindex(span)
    return prompt[:at], prompt[at + len(span) :]


@pytest.mark.parametrize("shots", [0, 2])
@pytest.mark.parametrize("name", DEMO)
def test_everything_around_the_span_is_byte_identical(name: str, shots: int) -> None:
    task = build(name, {"recipe": "default"})
    task.set_config(key="num_fewshot", value=shots)
    task.build_all_requests(limit=8)
    frames: dict[str, set[tuple[str, str]]] = {}
    for instance in task.instances:
        prompt, _, payload = instance.arguments
        if payload["role"] in ("canonical", "variant"):
            frames.setdefault(payload["document"], set()).add(frame(prompt, payload["text"]))
    assert len(frames) == 8
    for document, found in frames.items():
        assert len(found) == 1, f"{document}: {found}"
    # Across documents only the example that would be the document itself may differ.
    assert len(set().union(*frames.values())) <= 1 + shots


@pytest.mark.parametrize("name", DEMO)
def test_variants_differ_from_each_other_and_carry_their_own_text(name: str) -> None:
    task = build(name, {"recipe": "default", "controls": 0})
    task.build_all_requests()
    for document, made in prompts(task).items():
        assert len(set(made.values())) == len(made) >= 7, document
        assert next(iter(made)) == "canonical"


@pytest.fixture(scope="module")
def quiz_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    body = (
        'vary: {field: text, after: "[Q] ", before: "\\nOptions:"}\nid_field: id\n'
        'doc_to_text: "{{text}}\\nAnswer:"\ndoc_to_target: "{{gold}}"\n'
        'description: "Choose well.\\n\\n"\n'
    )
    stems = ["Which animal lays eggs in a nest?", "Which fruit is long and yellow?", "Which one is a tool?"]
    rows = [
        {
            "id": f"quiz{k}",
            "text": f"Please read, please think. [Q] {stem}\nOptions: A. hen  B. cow  C. banana, hammer!!",
            "gold": "ABC"[k],
        }
        for k, stem in enumerate(stems)
    ]
    rows.append({"id": "quiz3", "text": "No mark in here at all.", "gold": "A"})
    return write_yaml(tmp_path_factory.mktemp("quiz"), "quiz", body, rows)


def test_only_the_part_between_the_marks_changes(quiz_folder: Path) -> None:
    task = build("quiz", {"recipe": "default"}, quiz_folder)
    task.build_all_requests()
    made = prompts(task)
    assert set(made["quiz3"]) == {"canonical"}
    for document in ("quiz0", "quiz1", "quiz2"):
        variants = {name: text for name, text in made[document].items() if not name.startswith("control")}
        assert len(variants) >= 8
        for text in variants.values():
            assert text.startswith("Choose well.\n\nPlease read, please think. [Q] ")
            assert text.endswith("\nOptions: A. hen  B. cow  C. banana, hammer!!\nAnswer:")
            assert text.count("[Q] ") == text.count("\nOptions:") == 1
        assert len(set(variants.values())) == len(variants)


def test_a_span_that_is_not_there_is_a_reason(quiz_folder: Path) -> None:
    task = build("quiz", None, quiz_folder)
    task.build_all_requests()
    reasons = {i.arguments[2]["document"]: i.arguments[2].get("reason") for i in task.instances}
    assert reasons == {"quiz0": None, "quiz1": None, "quiz2": None, "quiz3": "span_not_found"}


def test_two_varied_fields_change_together_and_the_rest_stays(tmp_path: Path) -> None:
    body = (
        'vary: [setting, question]\ndoc_to_target: ""\n'
        'doc_to_text: "{{setting}} || {{fixed}} || {{question}}"\n'
    )
    rows = [
        {
            "setting": f"The {animal} sits in the old barn.",
            "fixed": "please  do NOT change me!!",
            "question": f"What colour has the {animal} in there?",
        }
        for animal in ("cat", "hen", "owl")
    ]
    task = build("pair", {"controls": 0}, write_yaml(tmp_path / "pair", "pair", body, rows))
    task.build_all_requests()
    for instance in task.instances:
        prompt, _, payload = instance.arguments
        first, fixed, second = prompt.split(" || ")
        assert fixed == "please  do NOT change me!!"
        assert payload["text"] == f"{first}\n{second}"


# ---------------------------------------------------------------------- few-shot examples


def turns_of(prompt: str) -> list[dict[str, str]]:
    turns: list[dict[str, str]] = json.loads(prompt)[0]
    return turns


def built(name: str, shots: int, *folders: Path, **options: Any) -> Any:
    task = build(name, None, *folders)
    task.set_config(key="num_fewshot", value=shots)
    task.build_all_requests(**options)
    return task


def test_examples_are_the_same_for_all_documents_variants_and_controls() -> None:
    task = built("sago_demo_facts", 2, limit=6)
    examples: dict[str, set[tuple[str, ...]]] = {}
    for instance in task.instances:
        prompt, _, payload = instance.arguments
        of = payload["partner"] if payload["role"] == "control" else payload["document"]
        examples.setdefault(of, set()).add(tuple(prompt.split("\n\n")[:-1]))
    assert all(len(found) == 1 for found in examples.values())
    common = {next(iter(found)) for found in examples.values()}
    assert all(len(found) == 2 for found in common)
    # Two documents may be examples themselves and get the next one in their own place.
    assert 1 <= len(common) <= 3


def test_a_document_is_never_its_own_example() -> None:
    """With all others as examples, a document that could be its own would be one."""
    task = built("sago_demo_facts", 23, limit=8)
    by_question = {row["question"]: row["sago_id"] for row in task.eval_docs}
    for document, made in prompts(task).items():
        for variant, prompt in made.items():
            if variant.startswith("control"):
                continue
            shots = prompt.split("\n\n")[:-1]
            names = [by_question[shot.removeprefix("Q: ").split("\nA:")[0]] for shot in shots]
            assert len(names) == 23
            assert {document, *names} == set(by_question.values())


def test_the_order_of_examples_is_one_order_minus_the_document() -> None:
    task = built("sago_demo_facts", 3, limit=24)
    by_question = {row["question"]: row["sago_id"] for row in task.eval_docs}
    found = {}
    for document, made in prompts(task).items():
        shots = made["canonical"].split("\n\n")[:-1]
        found[document] = [by_question[shot.removeprefix("Q: ").split("\nA:")[0]] for shot in shots]
    usual = max(
        (tuple(names) for names in found.values()), key=lambda t: list(map(tuple, found.values())).count(t)
    )
    assert sum(tuple(names) == usual for names in found.values()) == 21
    for document, names in found.items():
        if document in usual:
            assert [name for name in usual if name != document] == names[:2]
        else:
            assert tuple(names) == usual


def test_an_exact_copy_of_the_document_may_be_no_example(tmp_path: Path) -> None:
    """Duplicates in the split have ids of their own; the same text must still not be shown."""
    body = 'vary: prompt\ndoc_to_text: "{{prompt}}"\ndoc_to_target: "{{gold}}"\n'
    rows = [{"prompt": "Is ice cold to touch?", "gold": "yes"}] * 2
    rows += [{"prompt": f"Is the {thing} green in May?", "gold": "no"} for thing in ("sky", "sea")]
    task = built("copies", 2, write_yaml(tmp_path / "copies", "copies", body, rows))
    for document, made in prompts(task).items():
        for variant, prompt in made.items():
            if variant.startswith("control"):
                continue
            own = next(row["prompt"] for row in task.eval_docs if row["sago_id"] == document)
            examples = prompt.split("\n\n")[:-1]
            assert not any(own in example for example in examples), (document, variant, prompt)


def test_rows_without_text_or_answer_are_no_examples(tmp_path: Path) -> None:
    body = 'vary: prompt\ndoc_to_text: "{{prompt}}"\ndoc_to_target: "{{gold or \'\'}}"\n'
    rows: list[dict[str, Any]] = [{"prompt": f"Is the {thing} green in May?", "gold": "no"} for thing in "ab"]
    rows += [
        {"prompt": None, "gold": "no"},
        {"prompt": " ", "gold": "no"},
        {"prompt": "Is it so?", "gold": None},
    ]
    folder = write_yaml(tmp_path / "gaps", "gaps", body, rows)
    for made in prompts(built("gaps", 1, folder)).values():
        for prompt in made.values():
            assert "green in May? no\n\n" in prompt
    with pytest.raises(SagoError, match="only 1 other examples with an answer"):
        built("gaps", 2, folder)


def test_too_few_examples_is_one_line() -> None:
    with pytest.raises(SagoError, match="--num_fewshot 24, but only 23 other examples with an answer"):
        built("sago_demo_facts", 24, limit=1)


def test_examples_depend_on_the_few_shot_seed_and_the_task_only() -> None:
    def first(seed: int) -> str:
        task = build("sago_demo_facts")
        task.set_config(key="num_fewshot", value=1)
        task.set_fewshot_seed(seed)
        task.build_all_requests(limit=1)
        return str(task.instances[0].arguments[0])

    assert first(1) == first(1)
    assert len({first(seed) for seed in range(6)}) > 1


def hub_like(folder: Path, body: str = "") -> Path:
    """A task whose examples come from a split of their own, read as a hub data set is."""
    splits = {
        "test": ["Is ice cold to touch?", "Is the sea wide and deep?", "Is a stone hard to bite?"],
        "train": ["Is ice cold to touch?", "Is fire hot in winter?", "Is snow white at night?"],
    }
    folder.mkdir()
    for split, questions in splits.items():
        rows = [json.dumps({"question": q, "gold": f"{split} yes"}) + "\n" for q in questions]
        (folder / f"{split}.jsonl").write_text("".join(rows), encoding="utf-8")
    files = "{" + ", ".join(f"{split}: {folder / split}.jsonl" for split in splits) + "}"
    (folder / "apart.yaml").write_text(
        "class: !function sago_harness.hooks.task.SagoTask\ntask: apart\nlanguage: en\nrecipe: quick\n"
        f"dataset_path: json\ndataset_kwargs: {{data_files: {files}}}\n"
        "test_split: test\nfewshot_split: train\noutput_type: generate_until\nvary: question\n"
        'doc_to_text: "{{question}}"\ndoc_to_target: "{{gold}}"\n'
        "generation_kwargs: {until: [], do_sample: false, max_gen_toks: 12}\nmetadata: {version: 1.0}\n"
        + body,
        encoding="utf-8",
    )
    return folder


def test_examples_of_another_split_are_never_a_copy_of_the_document(tmp_path: Path) -> None:
    task = built("apart", 2, hub_like(tmp_path / "apart"))
    for instance in task.instances:
        prompt, _, payload = instance.arguments
        examples = prompt.split("\n\n")[:-1]
        assert len(examples) == 2
        assert all(example.endswith("train yes") for example in examples)
        shown = payload["partner"] if payload["role"] == "control" else payload["document"]
        own = next(row["question"] for row in task.eval_docs if row["sago_id"] == shown)
        assert not any(own in example for example in examples)


def test_first_n_keeps_the_order_of_the_split(tmp_path: Path) -> None:
    folder = hub_like(tmp_path / "apart", "fewshot_config: {sampler: first_n}\n")
    task = built("apart", 2, folder)
    for document, made in prompts(task).items():
        own = next(row["question"] for row in task.eval_docs if row["sago_id"] == document)
        pool = [
            q
            for q in ("Is ice cold to touch?", "Is fire hot in winter?", "Is snow white at night?")
            if q != own
        ]
        assert [e.removesuffix(" train yes") for e in made["canonical"].split("\n\n")[:-1]] == pool[:2]


def test_a_prefix_of_the_answer_stays_behind_every_variant(tmp_path: Path) -> None:
    folder = hub_like(tmp_path / "apart", 'gen_prefix: "I say:"\n')
    task = built("apart", 1, folder)
    for instance in task.instances:
        prompt, _, payload = instance.arguments
        assert prompt.endswith(payload["text"] + " I say:")
    task = built("apart", 1, folder, apply_chat_template=True, fewshot_as_multiturn=True, chat_template=chat)
    for instance in task.instances:
        turns, generation = json.loads(instance.arguments[0])
        assert [turn["role"] for turn in turns] == ["user", "assistant", "user", "assistant"]
        assert turns[-1]["content"] == "I say:"
        assert turns[-2]["content"] == instance.arguments[2]["text"]
        assert generation is False


@pytest.mark.parametrize("multiturn", [True, False])
def test_chat_roles_alternate_and_the_last_turn_is_the_document(multiturn: bool) -> None:
    task = built(
        "sago_demo_facts",
        2,
        limit=3,
        apply_chat_template=True,
        fewshot_as_multiturn=multiturn,
        chat_template=chat,
        system_instruction="Answer in one word.",
    )
    for instance in task.instances:
        prompt, _, payload = instance.arguments
        turns = turns_of(prompt)
        assert [turn["role"] for turn in turns] == ["system"] + (
            ["user", "assistant", "user", "assistant", "user"] if multiturn else ["user"]
        )
        assert turns[0]["content"].strip() == "Answer in one word."
        assert payload["text"] in turns[-1]["content"]
        assert turns[-1]["content"].endswith("\nA:")


def test_instruction_description_and_prompt_stand_in_this_order_without_a_template(quiz_folder: Path) -> None:
    task = built("quiz", 1, quiz_folder, system_instruction="Be kind.")
    for instance in task.instances:
        prompt, _, payload = instance.arguments
        assert prompt.index("Be kind.") < prompt.index("Choose well.") < prompt.index("Answer:")
        assert prompt.count("Be kind.") == prompt.count("Choose well.") == 1
        assert prompt.endswith("Answer:")
        assert payload["text"] in prompt


# ---------------------------------------------------------------------- H18: no system turn


def test_a_refused_system_turn_moves_into_the_first_user_turn(quiz_folder: Path, tmp_path: Path) -> None:
    from lm_eval.models.huggingface import HFLM

    folder = tiny.save(tmp_path / "nosys", template=tiny.NO_SYSTEM_TEMPLATE)
    lm = HFLM(pretrained=str(folder), device="cpu", dtype="float32", batch_size=4)
    options: dict[str, Any] = {"apply_chat_template": True, "num_fewshot": 2, "fewshot_as_multiturn": True}
    found = evaluate(lm, "quiz", folders=[quiz_folder], system_instruction="Be kind.", **options)
    sent = [argument[0] for sample in found["samples"]["quiz"] for argument in sample["arguments"]]
    assert len(sent) > 3 * 7
    for prompt in sent:
        assert prompt.startswith("<|user|>\nBe kind."), prompt
        assert prompt.count("Be kind.") == prompt.count("Choose well.") == 1
        roles = [part.split("|>")[0] for part in prompt.split("<|")[1:] if not part.startswith("end")]
        assert roles == ["user", "assistant"] * 3
        assert "<|system|>" not in prompt
    for sample in found["samples"]["quiz"]:
        for prompt, _, payload in sample["arguments"]:
            last = prompt.rsplit("<|user|>\n", 1)[1]
            if payload["role"] != "control":
                assert payload["text"] in last
            assert last.endswith("Answer:<|end|>\n<|assistant|>\n")


def test_a_template_that_takes_a_system_turn_is_left_alone() -> None:
    model = Scripted(str.lower)
    assert keeps_system(model.apply_chat_template)
    turns = [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]
    assert system_safe(model.apply_chat_template)(turns) == "<system>S</system><user>U</user><assistant>"


def test_a_template_that_drops_a_system_turn_silently_is_noticed() -> None:
    model = Scripted(str.lower, system=False)
    assert not keeps_system(model.apply_chat_template)
    turns = [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]
    assert system_safe(model.apply_chat_template)(turns) == "<user>S\n\nU</user><assistant>"
    assert turns[0]["role"] == "system", "the host's own list is not changed"


def test_merging_needs_a_user_turn() -> None:
    only = [{"role": "system", "content": "S"}]
    assert merge_system(only) == only
    assert merge_system([]) == []
