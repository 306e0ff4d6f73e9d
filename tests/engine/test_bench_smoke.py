"""The engine's benchmark: three plain passes give right numbers, ratios are those of pairs, runs go on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests import tiny
from tests.backends.plain import PROMPTS, document, forced, library_states
from tests.bench import engine, engine_sides
from tests.bench.engine_table import STOCK, rows


def test_three_passes_give_what_one_prompt_at_a_time_gives(tiny_lm: Any) -> None:
    gen_kwargs = {"max_gen_toks": 8, "do_sample": False, "until": []}
    documents = [document(PROMPTS, gen_kwargs), document(PROMPTS[::-1], gen_kwargs)]
    found = engine_sides.three_passes(tiny_lm, documents)
    assert len(found.texts) == 2 * len(PROMPTS)
    for at, text in enumerate([*PROMPTS, *PROMPTS[::-1]]):
        ids = tiny_lm.tok_encode(text)
        first = found.texts[at // len(PROMPTS) * len(PROMPTS)]
        canonical = tiny_lm.tok_encode(first, add_special_tokens=False)
        assert canonical
        logprob, entropy, _ = forced(tiny_lm.model, ids, canonical)
        np.testing.assert_allclose(found.logprob[at], logprob, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(found.entropy[at], entropy, rtol=1e-4, atol=1e-4)
        last = [state[-1].numpy() for state in library_states(tiny_lm.model, ids)]
        np.testing.assert_allclose(found.hidden[at], np.stack(last), rtol=1e-4, atol=1e-4)


def test_a_ratio_is_that_of_a_repetitions_pair() -> None:
    sides = ("ours with controls", "stock on controls", "ours canonical", "stock canonical", "three passes")
    pairs = [(1.0, 10.0), (2.0, 4.0), (4.0, 5.0)]
    samples = [{"ours": [a, a], "stock": [b, b], **{side: [1.0, 1.0] for side in sides}} for a, b in pairs]
    found = {
        "settings": {"quick": False}, "samples": {"main/5 examples": samples}, "memory": {}, "second": {}
    }  # fmt: skip
    row = next(row for row in rows(found) if row["row"] == STOCK)
    # 0.1, 0.5, 0.8: not 2 / 5, the ratio of the medians.
    assert row["ratio"] == pytest.approx([0.3, 0.5, 0.65])
    assert row["verdict"] == "inconclusive"


def test_quick_run_and_going_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = tiny.save(tmp_path / "model", context=2048), tmp_path / "found.json"
    command = ["--quick", "--model", str(folder), "--threads", "1", "--batch", "8", "--out", str(out)]
    engine.main([*command, "--parts", "main,counts"])
    found = json.loads(out.read_text())
    for kind in engine_sides.KINDS:
        counts = found["counts"][kind]
        assert counts["path"] == "fast"
        assert counts["same_texts"] == counts["prompts"] == 6
        assert counts["differences"]["forced_logprob"]["largest"] < 1e-3
        assert all(counts["differences"][signal]["compared"] == 6 for signal in engine_sides.SIGNALS)
        assert len(found["samples"][f"main/{kind}"]) == 1
    assert str(tmp_path) not in out.read_text()

    def refuse(*_: Any) -> None:
        raise AssertionError("nothing is left to measure")

    monkeypatch.setattr(engine_sides, "load", refuse)
    capsys.readouterr()
    engine.main([*command, "--parts", "main,counts", "--resume", "--markdown"])
    assert "| stock, text only, its best batch size" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="another batch"):
        engine.main([*command, "--batch", "4", "--resume"])
