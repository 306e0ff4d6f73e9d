"""The tables of the engine's benchmark, from its samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.bench.engine_sides import KINDS
from tests.bench.medians import quartiles, verdict

Times = dict[str, list[float]]
Ratio = Callable[[Times, int], float]

STOCK = "stock, text only, its best batch size"
SAME = "stock, text only, our batch size"
THREE = "three passes"
CANONICAL = "canonical prompts alone / stock on those"
CONTROLS = "chance controls: time they add / time without"
CONTROLS_STOCK = "chance controls: stock on them / stock without"
MEMORY = "peak memory / stock's"

#: (row, kind of prompt) -> largest ratio that is aimed at.
AIMS = {
    (STOCK, "5 examples"): 0.40,
    (STOCK, "chat template"): 0.85,
    (THREE, "5 examples"): 0.15,
    (THREE, "chat template"): 0.40,
    **dict.fromkeys(((MEMORY, kind) for kind in KINDS), 1.10),
    **dict.fromkeys(((CANONICAL, kind) for kind in KINDS), 1.05),
}


def _of(side: str, other: str) -> Ratio:
    return lambda times, clock: times[side][clock] / times[other][clock]


def _added(times: Times, clock: int) -> float:
    return times["ours with controls"][clock] / times["ours"][clock] - 1


#: Row -> the sides that it needs, the first two of which are shown; the ratio.
RATIOS: dict[str, tuple[tuple[str, str], Ratio]] = {
    STOCK: (("ours", "stock"), _of("ours", "stock")),
    SAME: (("ours", "stock at our size"), _of("ours", "stock at our size")),
    THREE: (("ours", "three passes"), _of("ours", "three passes")),
    CANONICAL: (("ours canonical", "stock canonical"), _of("ours canonical", "stock canonical")),
    CONTROLS: (("ours with controls", "ours"), _added),
    CONTROLS_STOCK: (("stock on controls", "stock"), _of("stock on controls", "stock")),
}


def rows(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows that can be made so far: ratios by the clock and by processor time."""
    made = []
    # So little work is mostly start-up, of which the aims say nothing.
    aims = {} if found["settings"]["quick"] else AIMS
    for name, (shown, ratio) in RATIOS.items():
        for kind in KINDS:
            samples = found["samples"].get(f"main/{kind}") or []
            if name == SAME and samples and shown[1] not in samples[0]:
                shown, ratio = RATIOS[STOCK]  # stock's best size is ours
            if samples and set(shown) <= set(samples[0]):
                made.append(_row(name, kind, samples, shown, ratio, aims.get((name, kind))))
    for kind in KINDS:
        peaks = found["memory"].get(kind, {})
        if len(peaks) == 2:
            value = peaks["ours"]["peak_mb"] / peaks["stock"]["peak_mb"]
            made.append(
                {
                    "row": MEMORY,
                    "prompt": kind,
                    "aim": aims.get((MEMORY, kind)),
                    "ratio": [value] * 3,
                    "repetitions": 1,
                    "verdict": verdict([value], aims.get((MEMORY, kind))),
                    "sides": {f"{side} MB": [peaks[side]["peak_mb"]] * 3 for side in ("ours", "stock")},
                }
            )
    if samples := found["samples"].get("second"):
        path = f"plain path: {found['second']['reason']}" if found["second"]["reason"] else "fast path"
        for side, told in (("plain", "plain path, asked for"), ("ours", path)):
            name = f"{found['second']['model']} ({told}) / its stock"
            made.append(_row(name, next(iter(KINDS)), samples, (side, "stock"), _of(side, "stock"), None))
    return made


def _row(
    name: str,
    kind: str,
    samples: Sequence[Times],
    shown: tuple[str, str],
    ratio: Ratio,
    aim: float | None,
) -> dict[str, Any]:
    values = [ratio(times, 0) for times in samples]
    return {
        "row": name,
        "prompt": kind,
        "aim": aim,
        "ratio": list(quartiles(values)),
        "processor_ratio": list(quartiles([ratio(times, 1) for times in samples])),
        "repetitions": len(samples),
        "verdict": verdict(values, aim),
        "sides": {side: list(quartiles([times[side][0] for times in samples])) for side in shown},
    }


def render(found: dict[str, Any], *, markdown: bool) -> str:
    """Return all tables as text."""
    parts = [about(found), table(RATIO_HEAD, ratio_lines(found), markdown)]
    if lines := growth_lines(found):
        parts.append(table(GROWTH_HEAD, lines, markdown))
    if found["counts"]:
        parts += [table(["once, not timed", *found["counts"]], count_lines(found), markdown)]
    if found["second"].get("missing"):
        parts.append(f"No row for a second model: {found['second']['model']} is not here.")
    return "\n\n".join(parts)


def about(found: dict[str, Any]) -> str:
    """Say in one paragraph what was measured on what."""
    asked, box = found["settings"], found["machine"]
    prompts = asked["documents"] * (asked["variants"] + 1)
    best = {
        kind: min(tried, key=lambda size: tried[size][0]) for kind, tried in found["batches"].items() if tried
    }
    sizes = ", ".join(f"{size} ({kind})" for kind, size in best.items()) or "not looked for"
    return (
        f"{asked['model']}, {asked['dtype']}, {asked['threads']} threads on {box['cpu']} "
        f"({box['cores']} cores); torch {box['torch']}, transformers {box['transformers']}, "
        f"lm-eval {box['lm-eval']}, sago-harness {box['sago']}. {asked['task']}, recipe {asked['recipe']}: "
        f"{asked['documents']} documents x {asked['variants']} variants and the canonical prompt = {prompts} "
        f"prompts, the same list for every side, equal prompts included; {asked['tokens']} new tokens; "
        f"batch size {asked['batch']}, stock's best: {sizes}; the three passes run at stock's best, too. "
        "Ratios are medians (quartiles) of one repetition's pairs; time by the clock. Growth with variants: "
        f"a fixed sample of recipe {asked['growth_recipe']}, beside the canonical prompt."
    )


RATIO_HEAD = [
    "ours against",
    "prompt",
    "ratio",
    "quartiles",
    "aim",
    "verdict",
    "of processor time",
    "seconds",
    "n",
]
GROWTH_HEAD = [
    "growth with",
    "prompt",
    "number",
    "prompts",
    "seconds",
    "quartiles",
    "ms a prompt",
    "stock s, once",
    "n",
]


def ratio_lines(found: dict[str, Any]) -> list[list[str]]:
    """One line a row."""
    lines = []
    for row in rows(found):
        low, middle, high = row["ratio"]
        lines.append(
            [
                row["row"],
                row["prompt"],
                f"{middle:.3f}",
                f"{low:.3f} to {high:.3f}" if row["repetitions"] > 1 else "-",
                "" if row["aim"] is None else f"<= {row['aim']:.2f}",
                row["verdict"],
                f"{row['processor_ratio'][1]:.3f}" if "processor_ratio" in row else "",
                "; ".join(f"{side} {values[1]:.2f}" for side, values in row["sides"].items()),
                str(row["repetitions"]),
            ]
        )
    return lines


def growth_lines(found: dict[str, Any]) -> list[list[str]]:
    """One line a size; variants count beside the canonical prompt."""
    lines = []
    for name, prompts in found["growth_prompts"].items():
        what, kind = name.split("/")
        samples = found["samples"].get(name) or []
        for size, count in prompts.items() if samples else ():
            seconds = [times[size][0] for times in samples]
            low, middle, high = quartiles(seconds)
            told = verdict(seconds, None)
            lines.append(
                [
                    what,
                    kind,
                    size,
                    str(count),
                    f"{middle:.2f}",
                    (f"{low:.2f} to {high:.2f}" if len(seconds) > 1 else "-")
                    + (" inconclusive" if told == "inconclusive" else ""),
                    f"{1000 * middle / count:.1f}",
                    f"{samples[0][f'stock {size}'][0]:.2f}",
                    str(len(seconds)),
                ]
            )
    return lines


def count_lines(found: dict[str, Any]) -> list[list[str]]:
    """One line a figure, a column a kind of prompt."""
    kinds = list(found["counts"].values())
    names = {
        "path": "path taken",
        "prompts": "prompts",
        "distinct_prompts": "distinct ones",
        "prompt_tokens": "their tokens",
        "response_tokens": "response tokens",
        "passes": "forward passes",
        "tokens": "tokens fed",
        "shared": "prompt tokens shared",
        "verified": "draft tokens verified",
    }
    lines = [[told, *(f"{kind[name]}" for kind in kinds)] for name, told in names.items()]
    lines.append(
        ["texts equal to stock's", *(f"{kind['same_texts']} of {kind['prompts']}" for kind in kinds)]
    )
    for signal in kinds[0]["differences"]:
        of = [kind["differences"][signal] for kind in kinds]
        relative = " (relative to the layer's largest)" if signal == "hidden" else ""
        lines.append(
            [
                f"{signal}{relative}: largest difference from the plain path",
                *(f"{one['largest']:.1e} ({one['compared']} compared, {one['left_out']} not)" for one in of),
            ]
        )
    return lines


def table(head: Sequence[str], lines: Sequence[Sequence[str]], markdown: bool) -> str:
    """Return a table with its columns in line.

    Examples
    --------
    >>> print(table(["a", "b"], [["1", "22"]], markdown=True))
    | a | b  |
    |---|----|
    | 1 | 22 |
    >>> print(table(["a", "b"], [["1", "22"]], markdown=False))
    a  b
    1  22
    """
    widths = [max(len(line[column]) for line in (head, *lines)) for column in range(len(head))]
    padded = [
        [cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in (head, *lines)
    ]
    if not markdown:
        return "\n".join("  ".join(line).rstrip() for line in padded)
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    first, *rest = ["| " + " | ".join(line) + " |" for line in padded]
    return "\n".join([first, rule, *rest])
