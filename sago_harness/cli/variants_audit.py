"""`sago variants audit`: figures of quality, of the equivalence check or of a pack."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from sago_harness.cli.variants import writing
from sago_harness.errors import SagoError
from sago_harness.jsonsafe import dumps
from sago_harness.report.changes import escape
from sago_harness.variants.audit.checker import load_checker, table_of
from sago_harness.variants.audit.noise import human_profiles, noise_figures
from sago_harness.variants.audit.packs import pack_figures, pack_report
from sago_harness.variants.audit.people import (
    BAD_RATE,
    Measured,
    collect_pairs,
    fit_checker,
    people_figures,
    read_bad_rate,
    to_stderr,
    translation_figures,
)
from sago_harness.variants.audit.plot import draw_audit, draw_pack
from sago_harness.variants.audit.report import people_report, replace_section
from sago_harness.variants.audit.sources import human_pairs, read_questions


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the action's flags.

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> configure(parser)
    >>> parser.parse_args(["--data-dir", "data", "--out", "audit"]).pack is None
    True
    """
    parser.add_argument(
        "pack", nargs="?", metavar="PACK", help="a pack; without one the check itself is audited"
    )
    parser.add_argument("--data-dir", metavar="DIR", help="folder of the public data sets")
    parser.add_argument("--out", required=True, metavar="DIR", help="where the report and the figures go")
    parser.add_argument("--plot", action="store_true", help="draw the figures too (needs matplotlib)")
    parser.add_argument(
        "--sample",
        type=int,
        default=0,
        metavar="N",
        help="clusters of each source, or texts of each operator (all)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the choices by chance (0)")
    parser.add_argument(
        "--bad-rate", type=float, metavar="P", help=f"share of made variants that are bad ({BAD_RATE})"
    )
    parser.add_argument("--readings", metavar="CSV", help="readings to take the rate of bad variants from")
    parser.add_argument("--docs", metavar="FILE", help="a Markdown file whose generated section is replaced")
    parser.add_argument("--write-table", metavar="FILE", help="write the fitted weights to this JSON file")


def run(args: argparse.Namespace) -> int:
    """Run the audit.

    Raises
    ------
    SagoError
        For bad input.
    """
    if args.pack is None and args.data_dir is None:
        raise SagoError("name a pack, or the folder of the public data sets with --data-dir")
    if args.sample < 0:
        raise SagoError(f"--sample {args.sample}: give 0 for all, or a number above 0")
    if args.bad_rate is not None and not 0 <= args.bad_rate <= 1:
        raise SagoError(f"--bad-rate {args.bad_rate}: it is a share between 0 and 1")
    out = Path(args.out)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SagoError(f"--out {out} cannot be made: {error.strerror or error}") from error
    return _run_pack(args, out) if args.pack else _run_people(args, out)


def _run_people(args: argparse.Namespace, out: Path) -> int:
    # Read first: a wrong name should not be told after an hour.
    rate_read = read_bad_rate(Path(args.readings)) if args.readings else None
    pairs = collect_pairs(Path(args.data_dir), args.seed, args.sample)
    to_stderr(f"{len(pairs)} pairs")
    measured = Measured([pair for pair in pairs if pair.source != "translation"])
    fitted = fit_checker(measured)
    shipped = load_checker()
    note = {"seed": args.seed, "sample": args.sample, "pairs": int((measured.half == "fit").sum())}
    if args.write_table:
        with writing(Path(args.write_table)):
            Path(args.write_table).write_text(
                json.dumps(table_of(fitted, note), indent=2) + "\n", encoding="utf-8"
            )
    # Figures are those of the check that is shipped, unless this command just made it.
    checker = fitted if args.write_table else shipped
    if table_of(fitted, {}) != table_of(shipped, {}) and not args.write_table:
        to_stderr(
            "the weights fitted on these pairs differ from the shipped ones; the shipped ones are audited"
        )
    bad_rate = args.bad_rate if args.bad_rate is not None else BAD_RATE if rate_read is None else rate_read
    result: dict[str, Any] = people_figures(measured, checker, bad_rate, args.seed)
    to_stderr("translations and noise profiles")
    result |= {
        "checker": table_of(checker, note),
        "seed": args.seed,
        "sample": args.sample,
        "translations": translation_figures([p for p in pairs if p.source == "translation"], args.seed),
        "noise": noise_figures(pairs, args.seed),
    }
    report = people_report(result)
    _write(out, result, report)
    if args.docs:
        with writing(Path(args.docs)):
            replace_section(Path(args.docs), report)
    if args.plot:
        draw_audit(result["rates"], _scores(measured, checker), checker.threshold, out / "audit.svg")
    print(report)
    return 0


def _write(out: Path, result: dict[str, Any], report: str) -> None:
    with writing(out):
        (out / "audit.json").write_text(dumps(result) + "\n", encoding="utf-8")
        (out / "audit.md").write_text(report, encoding="utf-8")


def _scores(measured: Measured, checker: Any) -> dict[str, list[float]]:
    """Return the scores of the test half, in the groups that the figure shows."""
    scores, test = measured.scores(checker), measured.half == "test"
    masks = {
        f"same, {name}": measured.same & (measured.source == name)
        for name in ("typed", "disfluent", "spoken")
    }
    masks["other question"] = measured.kind == "other-question"
    masks["something changed"] = (
        ~measured.same & (measured.kind != "other-question") & (measured.kind != "other-fact")
    )
    return {name: np.asarray(scores[test & mask]).tolist() for name, mask in masks.items()}


def _run_pack(args: argparse.Namespace, out: Path) -> int:
    from sago_harness.variants.packs.packfile import open_pack

    pack = open_pack(args.pack)
    human = None
    if args.data_dir:
        human = human_profiles(human_pairs(read_questions(Path(args.data_dir))))["typed"]
    rows = pack_figures(pack, human, args.seed, args.sample)
    # Operators and reasons are whatever the pack says.
    report = escape(pack_report(rows, Path(args.pack).name))
    _write(out, {"operators": rows}, report)
    if args.plot:
        draw_pack(rows, out / "audit.svg")
    print(report)
    return 0
