"""A report in Debian's Chromium: what it shows, and all that it does and should not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Playwright, Route

#: Nothing that Chromium does by itself may reach a network.
ARGUMENTS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

#: Runs before the page's own programs.
_WATCH = """
window.__violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.__violations.push(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`);
});
"""

#: Milliseconds; a page on a busy machine takes its time.
PATIENCE = 120_000


def launched(playwright: Playwright) -> Browser:
    """Start Chromium; without it there is nothing to test, and that is no reason to pass."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        raise RuntimeError("chromium is not on this machine: make test-browser installs it (Debian: apt-get)")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    return playwright.chromium.launch(executable_path=found, args=[*ARGUMENTS, *sandbox])


@dataclass
class Watched:
    """A page and what was heard from it.

    Attributes
    ----------
    page : Page
    said : list of str
        Errors and warnings on the console, and exceptions.
    asked : list of str
        Everything that it wanted beside its own file.
    dialogs : list of str
    """

    page: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def calm(self) -> None:
        """Fail if the page did anything that it should not."""
        assert self.said == []
        assert self.asked == []
        assert self.dialogs == []
        assert self.page.evaluate("window.__violations") == []
        assert self.page.evaluate("typeof window.__pwned") == "undefined"


@contextmanager
def opened(
    browser: Browser,
    path: Path,
    *,
    dark: bool = False,
    width: int = 1280,
    height: int = 900,
    drawn: bool = True,
    **context: Any,
) -> Iterator[Watched]:
    """Open a report from the disk without a network, and hold it to its word at the end.

    Parameters
    ----------
    browser : Browser
    path : Path
    dark : bool
        What the reader's system prefers.
    width, height : int
    drawn : bool
        Wait until all charts are drawn.
    context
        Further options of the browser's context.
    """
    made = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        offline=True,
        accept_downloads=True,
        **context,
    )
    made.set_default_timeout(PATIENCE)
    made.add_init_script(_WATCH)
    page = made.new_page()
    watched = Watched(page)
    page.on("console", lambda line: _heard(watched, line.type, line.text))
    page.on("pageerror", lambda error: watched.said.append(str(error)))
    page.on("dialog", lambda dialog: (watched.dialogs.append(dialog.message), dialog.dismiss()))
    own = path.as_uri()

    def let(route: Route) -> None:
        url = route.request.url
        if url.partition("#")[0] == own:
            route.continue_()
        else:
            watched.asked.append(url)
            route.abort()

    made.route("**/*", let)
    try:
        page.goto(own)
        if drawn:
            page.wait_for_selector('html[data-charts="drawn"]', state="attached")
        yield watched
        watched.calm()
    finally:
        made.close()


def _heard(watched: Watched, kind: str, text: str) -> None:
    if kind in ("error", "warning"):
        watched.said.append(f"{kind}: {text}")


def first_chart(page: Page, theme: str = "light") -> None:
    """Wait until the first chart is drawn in a theme; the others may still be waiting."""
    page.wait_for_selector(f'.chart[data-drawn="{theme}"].done svg')


def findings(page: Page) -> list[str]:
    """Return what axe finds serious or critical, one line each.

    What is inside a chart is left out: it is hidden from all but eyes, and has ten thousands of elements.
    """
    found = (
        Axe()
        .run(page, context={"exclude": [[".chart > div"]]}, options={"resultTypes": ["violations"]})
        .response["violations"]
    )
    return [
        f"{one['id']} ({one['impact']}): {node['target']} {node['html'][:200]} {node['failureSummary'][:300]}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]
