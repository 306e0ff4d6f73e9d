"""One browser for all tests of a process, and reports to open in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="pip install 'sago-harness[browser]'")

from playwright.sync_api import Browser, sync_playwright

from tests.browser.rig import launched


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        made = launched(playwright)
        yield made
        made.close()


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of four models on two data sets, as the command writes it."""
    from sago_harness.cli.main import main
    from tests.runs.made_runs import write_runs

    folder = tmp_path_factory.mktemp("report")
    write_runs(
        folder / "runs", models=["one", "two", "three", "通义千问"], tasks=["facts", "maths"],
        documents=20, variants=12, repeats=2, levels=[0.2, 0.4, 0.6, 0.5],
    )  # fmt: skip
    out = folder / "report.html"
    assert main(["report", str(folder / "runs"), "--out", str(out), "--resamples", "199"]) == 0
    return out


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with every kind of figure and table, and few of each: a checker visits every element."""
    from sago_harness.cli.main import main
    from tests.runs.made_runs import write_runs

    folder = tmp_path_factory.mktemp("small")
    write_runs(folder / "runs", models=2, tasks=2, documents=8, variants=6, repeats=2)
    out = folder / "report.html"
    assert main(["report", str(folder / "runs"), "--out", str(out), "--resamples", "99", "--worst", "1"]) == 0
    return out


@pytest.fixture(scope="session")
def one_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of one model on one data set."""
    from sago_harness.cli.main import main
    from tests.runs.made_runs import write_runs

    folder = tmp_path_factory.mktemp("one")
    write_runs(folder / "runs", models=["solo"], tasks=["facts"], documents=20, variants=6)
    out = folder / "report.html"
    assert main(["report", str(folder / "runs"), "--out", str(out), "--resamples", "199"]) == 0
    return out
