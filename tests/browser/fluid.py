"""How fluid the document browser is: times of what a reader does, in Chromium.

``python -m tests.browser.fluid`` writes runs at random (1,000 documents x 12 variants, two models), makes
their report and acts on it. A time is that from the event until the page has answered and painted, by the
browser's own clock; of several repetitions the median and the longest are printed, and beside them the
processor time of the page's thread (median): on a machine that does other things too, look at that.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from tests.browser.rig import launched, opened

#: Painted: the frame after the one in which something changed has begun.
_HELPERS = """
const part = (name) => document.querySelector(`#sago-browse [data-part=${name}]`);
const frame = () => new Promise(requestAnimationFrame);
const painted = async () => { await frame(); await frame(); };
const until = async (ready) => { while (!ready()) await frame(); await painted(); };
const timed = async (act) => {
  const start = performance.now();
  await act();
  return performance.now() - start;
};
const choose = (name, label) => timed(async () => {
  const select = part(name);
  select.value = [...select.options].find((option) => option.textContent === label).value;
  select.dispatchEvent(new Event("change"));
  await until(() => document.querySelector("#sago-browse [role=option]") !== null && !part("pane").ariaBusy);
});
const type = (text) => timed(async () => {
  part("query").value = text;
  part("query").dispatchEvent(new Event("input"));
  const found = () => part("status").textContent;
  await until(() => (text ? found().endsWith(`hold “${text}”`) : !found().includes("hold")));
});
const open = (key) => timed(async () => {
  const before = part("pane").querySelector("h3").textContent;
  part("list").dispatchEvent(new KeyboardEvent("keydown", { key }));
  await until(() => part("pane").querySelector("h3").textContent !== before);
});
const scroll = async (frames, step) => {
  const list = part("list");
  list.scrollTop = 0;
  await painted();
  const times = [];
  let last = await frame();
  for (let i = 0; i < frames; i++) {
    list.scrollTop += step;
    const now = await frame();
    times.push(now - last);
    last = now;
  }
  return times;
};
"""


def main(argv: list[str] | None = None) -> None:
    """Make the report, act on it, print the times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--variants", type=int, default=12)
    parser.add_argument("--models", type=int, default=2)
    parser.add_argument("--repetitions", type=int, default=5)
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        report = _report(Path(folder), args.models, args.documents, args.variants)
        print(
            f"{args.models} models x {args.documents:,} documents x {args.variants} variants, "
            f"{report.stat().st_size / 1e6:.1f} MB"
        )
        with sync_playwright() as playwright:
            browser = launched(playwright)
            with opened(browser, report, drawn=False) as watched:
                watched.page.wait_for_selector("#sago-browse [data-part=pane] .sb-card")
                _measure(watched.page, _Clock(watched.page), args.repetitions)
            browser.close()


def _report(folder: Path, models: int, documents: int, variants: int) -> Path:
    """Write runs and their report, without charts, which would be drawn meanwhile."""
    from sago_harness.report.browse.data import browse_data
    from sago_harness.report.page.page import build, save
    from sago_harness.report.study import read_study
    from sago_harness.stats.resampling import Settings
    from tests.runs.made_runs import write_runs

    write_runs(folder / "runs", models=models, tasks=1, documents=documents, variants=variants)
    study = read_study([folder / "runs"], Settings(resamples=99), with_texts=False)
    save(build(study, browse=browse_data(study), drawn=[]), folder / "report.html")
    return folder / "report.html"


class _Clock:
    """Processor time of the page's main thread, in milliseconds."""

    def __init__(self, page: Page) -> None:
        self.session = page.context.new_cdp_session(page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def now(self) -> float:
        metrics = self.session.send("Performance.getMetrics")["metrics"]
        return next(1000.0 * float(one["value"]) for one in metrics if one["name"] == "TaskDuration")


def _measure(page: Page, clock: _Clock, repetitions: int) -> None:
    def run(call: str) -> tuple[Any, float]:
        before = clock.now()
        found = page.evaluate(f"async () => {{ {_HELPERS} return await {call}; }}")
        return found, clock.now() - before

    def told(name: str, times: list[float], busy: float) -> None:
        print(f"  {name:<50}{statistics.median(times):>8.0f} ms{max(times):>8.0f} ms{busy:>8.1f} ms")

    def repeated(name: str, call: Callable[[int], str], back: str = "") -> None:
        """Measure the call; ``back`` puts things back."""
        times, busy = [], []
        for number in range(repetitions):
            taken, used = run(call(number))
            times.append(float(taken))
            busy.append(used)
            if back:
                run(back)
        told(name, times, statistics.median(busy))

    print(f"  {'':<50}{'median':>11}{'longest':>11}{'processor':>11}")
    repeated("filter by operator", lambda _: 'choose("operator", "noise/typos")', 'choose("operator", "all")')
    repeated(
        "sort by furthest variant",
        lambda _: 'choose("sort", "furthest variant")',
        'choose("sort", "instability")',
    )
    repeated("search all texts (200 ms of it wait for typing)", lambda n: f'type("it is {n}")', 'type("")')
    repeated("open the next document", lambda _: 'open("ArrowDown")')
    frames, busy = run("scroll(120, 400)")
    told("scroll through the list, a frame", frames, busy / len(frames))
    slow = sum(time > 50.0 for time in frames)
    print(f"  frames over 50 ms while scrolling: {slow} of {len(frames)}")


if __name__ == "__main__":
    main()
