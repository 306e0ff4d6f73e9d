"""``sago plan``: how many documents and variants a study needs, before it is run."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sago_harness.errors import SagoError

if TYPE_CHECKING:
    from sago_harness.stats.components import VarianceComponents
    from sago_harness.stats.power import PlanResult

#: Documents of a pilot under which it is said how rough its variance is.
ROUGH = 30

_EPILOG = """\
examples:
  sago plan                                       documents for a difference of .05 of sago_core
  sago plan runs/pilot --difference 0.03          from the variances of a pilot run
  sago plan runs/pilot --documents 100 --models 5 the difference that 100 documents can show
  sago plan --documents 60 --difference 0.05      the variants of each document that this takes
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's flags.

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> configure(parser)
    >>> parser.parse_args(["runs/pilot", "--documents", "40"]).documents
    '40'
    """
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    # Numbers are read in `run`, so that a bad one is told in one line.
    parser.add_argument("pilot", nargs="?", metavar="PILOT_RUN", help="run folder to take variances from")
    parser.add_argument("--difference", metavar="D", help="between two models, to be found (0.05)")
    parser.add_argument(
        "--documents",
        metavar="N",
        help="say what N documents can show instead; with --difference, how many variants they need",
    )
    parser.add_argument(
        "--score", default="sago_core", metavar="NAME", help="sago, an axis, with a pilot a measure"
    )
    parser.add_argument("--power", default="0.8", metavar="P", help="chance of finding the difference (0.8)")
    parser.add_argument("--level", default="0.05", metavar="A", help="error rate of the test (0.05)")
    parser.add_argument("--recipe", metavar="R", help="name or YAML file (the pilot's variants, or default)")
    parser.add_argument("--language", metavar="CODE", help="of the documents, for a recipe (en)")
    parser.add_argument("--models", default="2", metavar="M", help="in the study; all pairs are compared (2)")
    parser.add_argument(
        "--datasets", default="1", metavar="T", help="data sets of as many documents each (1)"
    )
    parser.add_argument("--repeats", default="0", metavar="R", help="canonical repeats of a document (0)")
    parser.add_argument("--tokens", metavar="T", help="mean response length (the pilot's)")
    parser.add_argument("--allow-mixed", action="store_true", help="a pilot whose runs differ, all the same")
    parser.add_argument("--skip-damaged", action="store_true", help="leave out lines that cannot be read")
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")


def run(args: argparse.Namespace) -> int:
    """Print the plan, with half and twice as many variants beside it.

    Raises
    ------
    SagoError
        If a number, the score, the recipe or the pilot is no good.
    """
    from sago_harness.stats.components import default_components

    documents = None if args.documents is None else _whole("--documents", args.documents, 2)
    wanted = args.difference if documents is not None else args.difference or "0.05"
    difference = None if wanted is None else _number("--difference", wanted)
    if difference is not None and not 0.0 < difference <= 1.0:
        raise SagoError(f"--difference {difference:g}: it must be above 0 and at most 1")
    models = _whole("--models", args.models, 2)
    settings: dict[str, Any] = {
        # Given both, the variants are what is looked for.
        "difference": difference if documents is None else None,
        "documents": documents,
        "power": _number("--power", args.power),
        "level": _number("--level", args.level),
        "comparisons": models * (models - 1) // 2,
        "models": models,
        "datasets": _whole("--datasets", args.datasets, 1),
        "repeats": _whole("--repeats", args.repeats, 0),
        "response_tokens": None if args.tokens is None else float(_whole("--tokens", args.tokens, 1)),
    }
    if not 0.0 < settings["level"] < 0.5:
        raise SagoError(f"--level {settings['level']:g}: it must lie between 0 and 0.5")
    if not settings["level"] < settings["power"] < 1.0:
        raise SagoError(f"--power {settings['power']:g}: it must lie between the level and 1")
    notes: tuple[str, ...] = ()
    if args.pilot:
        components, notes = _pilot(args)
    else:
        components = default_components(args.score)
    variants = _variants(args, components)
    answer: dict[str, Any] = {}
    said = ""
    if difference is not None and documents is not None:
        needed, said = _needed(components, difference, variants, settings)
        answer = {"variants_needed": needed, "answer": said}
        variants = needed or variants
    rows = _rows(components, variants, settings)
    if args.json:
        from sago_harness.jsonsafe import dumps

        print(dumps({**answer, "plan": rows[0], "with_other_variants": rows[1:], "notes": notes}))
    else:
        print(_text(rows, notes, said))
    return 0


def _needed(
    components: VarianceComponents, difference: float, variants: int, settings: Mapping[str, Any]
) -> tuple[int | None, str]:
    """Return the variants with which so many documents find a difference, and that in words."""
    from sago_harness.stats.power import documents_needed, variants_needed

    documents, power = settings["documents"], settings["power"]
    level = settings["level"] / settings["comparisons"]
    needed = variants_needed(difference, components, documents, power, level)
    aim = f"a difference of {difference:g} on {documents:,} documents"
    if needed is not None:
        each = "variant" if needed == 1 else "variants"
        return needed, f"{aim} takes {needed:,} {each} of each document"
    enough = documents_needed(difference, components, variants, power, level)
    if enough <= documents:
        return None, f"{aim} is found with {variants:,} variants; with how few, these variances do not tell"
    why = (
        "documents differ too much"
        if components.splits
        else "these variances do not tell documents from variants"
    )
    return (
        None,
        f"no number of variants is known to find {aim}: {why}; {variants:,} take {enough:,} documents",
    )


def _rows(components: VarianceComponents, variants: int, settings: dict[str, Any]) -> list[PlanResult]:
    """Return the plan, then those with half and twice as many variants where they differ."""
    from sago_harness.stats.power import plan

    numbers = [variants]
    if components.splits:
        numbers += [n for n in (variants // 2, 2 * variants) if n >= 1]
    return [plan(components, number, **settings) for number in numbers]


def _pilot(args: argparse.Namespace) -> tuple[VarianceComponents, tuple[str, ...]]:
    """Return the variance components of a pilot run, all its data sets together."""
    from sago_harness.runs.find import find_runs
    from sago_harness.runs.read import read_table
    from sago_harness.stats.pilot import pilot_components, pooled

    runs = find_runs([args.pilot])
    table = read_table(runs, allow_mixed=args.allow_mixed, skip_damaged=args.skip_damaged)
    found, failed = [], []
    for task in table.spanning:
        try:
            found.append(pilot_components(table.load(task), args.score))
        except SagoError as error:
            failed.append(error)
    if not found:
        raise failed[0]
    made = pooled(found)
    rough = []
    if made.documents < ROUGH:
        within = 1.0 / math.sqrt(2.0 * (made.documents - 1.0))
        told = f"a pilot of {made.documents} documents tells an sd only within about {within:.0%}"
        rough.append(f"{told}, one standard error")
    return made, (*table.notes, *map(str, failed), *rough)


def _variants(args: argparse.Namespace, components: VarianceComponents) -> int:
    if args.pilot and not args.recipe:
        if args.language is not None:
            raise SagoError(
                f"--language {args.language}: the pilot's own variants are counted; a language is that of a "
                "--recipe"
            )
        return max(1, round(components.variants))
    from sago_harness.variants.recipe import load_recipe

    recipe = load_recipe(args.recipe or "default")
    number = sum(recipe.count(args.language or "en").values())
    if not number:
        raise SagoError(f"recipe {recipe.name!r} makes no variants itself: --recipe must name one that does")
    return number


def _text(rows: list[PlanResult], notes: tuple[str, ...], answer: str = "") -> str:
    from sago_harness.cli.variants import table
    from sago_harness.report.changes import escape_line
    from sago_harness.stats.power import detectable_difference

    first, components = rows[0], rows[0].components
    goal = "documents" if math.isfinite(first.difference) else "difference"
    each = f" over {first.comparisons} pairs of models" if first.comparisons > 1 else ""
    lines = [
        f"{first.score}, two models on the same documents: {goal} for power {first.power:g} "
        f"at level {first.level:g}{each}",
        f"sd of a document's paired difference: {_variance(components)}",
        escape_line(f"from {components.origin}"),
        "",
    ]
    over = first.datasets > 1
    head = ["variants", "documents", "finds", *([f"over {first.datasets} data sets"] if over else []),
            "prompts", "passes"]  # fmt: skip
    body = [
        [
            str(row.variants),
            f"{row.documents:,}",
            _found(row.detectable),
            *([_found(row.detectable_overall)] if over else []),
            f"{row.prompts:,}",
            f"{row.passes:,}",
        ]
        for row in rows
    ]
    lines += [f"  {line}" for line in table([head, *body], range(len(head))).splitlines()]
    place = "one data set" if over else "the data set"
    said = [
        *([answer] if answer else []),
        f"finds: the smallest difference found with this power on {place}",
        f"prompts: all of {first.models} models and {first.datasets} data sets, with 2 chance controls a "
        "document; passes: rows of forward passes with nothing saved, to be divided by --batch_size",
    ]
    if components.splits and goal == "difference":
        floor = math.sqrt(components.document / first.documents)
        least = detectable_difference(floor, first.documents, first.power, first.level / first.comparisons)
        said.append(f"no number of variants finds less than {least:.3f} on {first.documents} documents")
    said += [*dict.fromkeys(note for row in rows for note in row.notes), *notes]
    return "\n".join([*lines, "", *(escape_line(f"- {one}") for one in said)])


def _found(difference: float) -> str:
    """Scores lie between 0 and 1: no difference is larger."""
    return f"{difference:.3f}" if difference <= 1.0 else "none"


def _variance(components: VarianceComponents) -> str:
    whole = components.per_document(components.variants)
    said = f"{math.sqrt(whole):.3f} with {components.variants:.3g} variants"
    if math.isfinite(components.smallest) and components.models > 2:
        said += f" (pairs of models {components.smallest:.3f} to {components.largest:.3f})"
    if components.models == 1 and math.isfinite(components.smallest):
        said += " (one model's, taken twice)"
    if components.splits and whole > 0.0:
        said += f", {components.document / whole:.0%} of the variance whatever the variants"
    return said


def _number(flag: str, word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        raise SagoError(f"{flag} {word}: that is no number") from None
    if not math.isfinite(value):
        raise SagoError(f"{flag} {word}: that is no number")
    return value


def _whole(flag: str, word: str, least: int) -> int:
    try:
        value = int(word)
    except ValueError:
        raise SagoError(f"{flag} {word}: that is no whole number") from None
    if value < least:
        raise SagoError(f"{flag} {value}: it must be {least} or more")
    from sago_harness.stats.power import MOST_DOCUMENTS

    if value > MOST_DOCUMENTS:
        raise SagoError(f"{flag} {value}: it must be {MOST_DOCUMENTS:,} or less")
    return value
