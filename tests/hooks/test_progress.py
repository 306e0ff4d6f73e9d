"""The bar: what it counts, when it is quiet, and the time left."""

from __future__ import annotations

import io
import logging
import re
from functools import partial
from typing import Any

import pytest
from lm_eval.api.model import LM

from sago_harness.backends.base import Spent
from sago_harness.hooks import plugin
from sago_harness.hooks.progress import Amount, Progress
from tests.hooks.hosts import Scripted, evaluate


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Leaping(Clock):
    """Two minutes later at every look: each step is worth a line."""

    def __call__(self) -> float:
        self.now += 120.0
        return self.now


#: A document of a canonical prompt and three variants; one of a single prompt.
FOUR, ONE = Amount(1, 3, 4), Amount(1, 0, 1)
NOTHING = Amount()


def times(count: int, amount: Amount) -> Amount:
    return sum([amount] * count, NOTHING)


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.name.endswith("progress")]


def test_the_bar_counts_documents_variants_and_saved_tokens() -> None:
    stream, spent = Terminal(), Spent()
    with Progress(times(3, FOUR), FOUR, 2, spent, stream=stream) as progress:
        assert progress.words() == "1/3 documents, 3/9 variants"
        progress.step(8, "generate")
        spent.verified = 21
        progress.done(FOUR)
        assert progress.words() == "2/3 documents, 6/9 variants, 21 tokens saved by verification"
        progress.step(8, "force")
        progress.done(FOUR)
    last = stream.getvalue().split("\r")[-1]
    assert "sago: 3/3 documents, 9/9 variants, 21 tokens saved by verification: 100%" in last


def test_it_is_one_bar_over_all_bundles() -> None:
    stream = Terminal()
    with Progress(times(4, ONE), NOTHING, 1, Spent(), stream=stream) as progress:
        for _ in range(4):
            progress.step(1, "generate")
            progress.done(ONE)
            progress.settle()
    assert stream.getvalue().count("\n") == 1


def test_time_left_counts_what_is_computed_only() -> None:
    """90 of 100 documents from a cache, 5 of the other 10 in 50 seconds: 50 seconds left."""
    clock = Clock()
    asked, found = times(100, ONE), times(90, ONE)
    progress = Progress(asked, found, 2, Spent(), stream=io.StringIO(), clock=clock)
    assert progress.left() is None
    clock.now = 50.0
    progress.step(10, "generate")
    assert progress.left() == pytest.approx(50.0)
    # Three more turn out to be in the cache: 2 of 7 are left.
    for _ in range(3):
        progress.found(ONE)
    assert progress.left() == pytest.approx(20.0)


def test_the_bars_own_time_left_is_the_same() -> None:
    stream = Terminal()
    with Progress(times(100, ONE), times(90, ONE), 1, Spent(), stream=stream) as progress:
        bar = progress._bar
        assert bar is not None
        bar.start_t -= 50.0
        progress.step(5, "generate")
        bar.refresh()
        shown = stream.getvalue().split("\r")[-1]
    left = re.search(r"<(\d+):(\d+)", shown)
    assert left is not None, shown
    assert 45 <= 60 * int(left[1]) + int(left[2]) <= 60


def test_the_bar_stands_at_what_is_done_of_all() -> None:
    stream = Terminal()
    asked = times(4, FOUR)
    with Progress(asked, times(2, FOUR), 2, Spent(), stream=stream) as progress:
        assert " 50%|" in stream.getvalue()
        progress.found(FOUR)
        progress.step(8, "generate")
        progress.done(FOUR)
    last = stream.getvalue().split("\r")[-1]
    assert "sago: 4/4 documents, 12/12 variants: 100%" in last
    stream = Terminal()
    with Progress(asked, asked, 2, Spent(), stream=stream):
        pass
    assert "sago: 4/4 documents, 12/12 variants: 100%" in stream.getvalue()


@pytest.mark.parametrize("steps", [[4, 4], [8, 8], [1], []])
def test_a_backend_that_counts_otherwise_still_ends_at_all(steps: list[int]) -> None:
    progress = Progress(times(2, FOUR), NOTHING, 2, Spent(), stream=io.StringIO())
    for _ in range(2):
        for count in steps:
            progress.step(count, "x")
            assert progress._taken <= progress._total
        progress.done(FOUR)
        progress.settle()
    assert progress._taken == progress._total == 16
    assert progress.left() == pytest.approx(0.0)


def test_without_a_terminal_it_is_quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Only who asks for the log's debug level is told, a line a minute."""
    sixty = Amount(1, 59, 60)
    stream, clock = io.StringIO(), Clock()
    with (
        caplog.at_level(logging.DEBUG, logger="sago_harness"),
        Progress(times(10, sixty), NOTHING, 1, Spent(), stream=stream, clock=clock) as progress,
    ):
        for _ in range(600):
            clock.now += 1.0
            progress.step(1, "generate")
            if clock.now % 60 == 0:
                progress.done(sixty)
    assert stream.getvalue() == ""
    lines = told(caplog)
    assert {r.levelno for r in caplog.records if r.getMessage() in lines} == {logging.DEBUG}
    assert lines[0] == "sago: 0/10 documents, 0/590 variants, 600 responses to be computed"
    # Ten minutes: ten lines, and one at the end.
    assert len(lines) == 1 + 10 + 1
    assert "09:00 left" in lines[1]
    assert lines[-1] == "sago: 10/10 documents, 590/590 variants"


def test_a_short_run_logs_no_more_than_its_beginning(caplog: pytest.LogCaptureFixture) -> None:
    with (
        caplog.at_level(logging.DEBUG, logger="sago_harness"),
        Progress(ONE, NOTHING, 1, Spent(), stream=io.StringIO()) as progress,
    ):
        progress.step(1, "generate")
        progress.done(ONE)
    assert len(told(caplog)) == 1


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_other_processes_are_quiet(stream: Any, caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    with (
        caplog.at_level(logging.DEBUG, logger="sago_harness"),
        Progress(ONE, NOTHING, 1, Spent(), rank=1, stream=stream, clock=clock) as progress,
    ):
        clock.now = 1000.0
        progress.step(1, "generate")
        progress.done(ONE)
    assert stream.getvalue() == ""
    assert told(caplog) == []


def test_all_from_the_cache_says_nothing_of_computing(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="sago_harness"), Progress(FOUR, FOUR, 2, Spent()):
        pass
    assert told(caplog) == []


def test_a_run_without_a_terminal_says_nothing_of_it(
    monkeypatch: pytest.MonkeyPatch, no_encoder: None, caplog: pytest.LogCaptureFixture
) -> None:
    stream, clock = io.StringIO(), Leaping()
    monkeypatch.setattr("sago_harness.hooks.progress.sys.stderr", stream)
    monkeypatch.setattr("sago_harness.hooks.requests.Progress", partial(Progress, clock=clock))
    with caplog.at_level(logging.INFO, logger="sago_harness"):
        evaluate(Scripted(str.upper), "sago_demo_facts", limit=3, predict_only=True)
    assert clock.now > 360.0
    assert "sago:" not in stream.getvalue()
    assert told(caplog) == []


def test_a_run_of_the_host_writes_one_bar(
    monkeypatch: pytest.MonkeyPatch, no_encoder: None, caplog: pytest.LogCaptureFixture
) -> None:
    stream = Terminal()
    monkeypatch.setattr("sago_harness.hooks.progress.sys.stderr", stream)
    metadata = {"bundle": 1}
    tasks = ["sago_demo_facts", "sago_demo_reasoning"]
    plugin.load()
    roles: list[str] = []
    real = LM.sago_generate

    def asked(lm: LM, made: list[Any], *rest: Any) -> Any:
        roles.extend(request.arguments[2]["role"] for request in made)
        return real(lm, made, *rest)

    monkeypatch.setattr(LM, "sago_generate", asked)
    evaluate(Scripted(str.upper), tasks, metadata, limit=3, predict_only=True)
    assert roles.count("canonical") == 6
    variants = roles.count("variant")
    assert 0 < variants < len(roles) - 6
    bars = [part for part in stream.getvalue().split("\r") if "sago:" in part]
    assert bars[0].lstrip().startswith(f"sago: 0/6 documents, 0/{variants} variants")
    assert f"sago: 6/6 documents, {variants}/{variants} variants" in bars[-1]
    assert "100%" in bars[-1]
