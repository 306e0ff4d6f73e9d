"""What the engine's benchmark has found so far, on disk, and what it was found on."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import sago_harness

#: Whose versions matter.
PACKAGES = {"torch": "torch", "transformers": "transformers", "lm-eval": "lm_eval", "sago": "sago-harness"}


class Store:
    """The JSON file; whole at any moment.

    Parameters
    ----------
    path : Path
    settings, machine : dict
        A run goes on only with what was found under the same ones.
    resume : bool
        False: begin anew.

    Raises
    ------
    SystemExit
        If the file was made under other settings, in one line.
    """

    def __init__(
        self, path: Path, settings: dict[str, Any], machine: dict[str, Any], *, resume: bool
    ) -> None:
        self.path = path
        self.found: dict[str, Any] = {
            "settings": settings,
            "machine": machine,
            **{name: {} for name in ("batches", "samples", "growth_prompts", "counts", "memory", "second")},
            "rows": [],
        }
        if resume and path.is_file():
            before = json.loads(path.read_text(encoding="utf-8"))
            for part in ("settings", "machine"):
                new = self.found[part]
                other = [name for name in new if before.get(part, {}).get(name) != new[name]]
                if other:
                    raise SystemExit(
                        f"{path} was made with another {', '.join(other)}: "
                        "leave --resume out, or name another --out"
                    )
            self.found |= before

    def save(self) -> None:
        """Write the file, all of it or nothing."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_name(self.path.name + ".part")
        fresh.write_text(json.dumps(self.found, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        fresh.replace(self.path)


def machine() -> dict[str, Any]:
    """Return what the figures were found on; no names and no paths."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        **{name: version(package) for name, package in PACKAGES.items()},
    }


def _cpu() -> str:
    facts = Path("/proc/cpuinfo")
    if facts.is_file():
        for line in facts.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def code_hash() -> str:
    """Short hash of the code that is timed, so that a changed engine's times are not mixed with old ones."""
    root = Path(sago_harness.__file__).parent
    files = sorted(path for folder in ("engine", "backends") for path in (root / folder).glob("*.py"))
    files.append(Path(__file__).with_name("engine_sides.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]
