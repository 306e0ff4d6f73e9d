"""Small files in the formats of the published data sets that people's variants are read from."""

from __future__ import annotations

import json
from pathlib import Path


def save_disfl_qa(folder: Path) -> Path:
    """Four questions of four paragraphs, each with one rewrite; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        f"{index:08x}{'0' * 16}": {
            "original": f"How many legs has the {animal} over there?",
            "disfluent": f"How many eyes no sorry legs has the {animal} over there?",
        }
        for index, animal in enumerate(("cat", "hen", "bee", "owl"))
    }
    (folder / "dev.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def save_mgsm(folder: Path, german: str = "Zwei?\t2\n“Drei”?\t3\n") -> Path:
    """Two problems in four languages; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = {
        "en": 'Two?\t2\n"Three"?\t3\n',
        "de": german,
        "es": "¿Dos?\t2\n¿Tres?\t3\n",
        "fr": "2 ?\t2\n3 ?\t3\n",
    }
    for language, text in lines.items():
        (folder / f"mgsm_{language}.tsv").write_text(text, encoding="utf-8")
    return folder
