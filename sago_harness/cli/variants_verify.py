"""`sago variants verify`: checks a pack's hash, its constraints and, if asked, every variant."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from sago_harness.errors import SagoError
from sago_harness.report.changes import escape_line
from sago_harness.variants.packs.packfile import Pack, open_pack
from sago_harness.variants.packs.recheck import Finding, Rebuild, Recheck, recipe_of
from sago_harness.variants.recipe import FOLDER, Recipe, load_recipe
from sago_harness.variants.rewriter.session import use_rewriter
from sago_harness.variants.rewriter.settings import add_rewriter_arguments, settings_from

#: Findings shown of each kind; all are counted.
_SHOWN = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the action's flags."""
    parser.add_argument("pack", metavar="PACK", help="file of `sago variants build`")
    parser.add_argument("--rebuild", action="store_true", help="make every variant again and compare")
    parser.add_argument("--recipe", metavar="R", help="recipe for --rebuild (the one the pack names)")
    add_rewriter_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Print what holds and what does not.

    Returns
    -------
    int
        0 if everything holds, 1 if not.

    Raises
    ------
    SagoError
        If the file is no whole pack, or its recipe is not here.
    """
    pack = open_pack(args.pack, check=False)
    manifest = pack.manifest
    _say(f"{args.pack}: {len(pack)} documents, {manifest.variants} variants, recipe {manifest.recipe}")
    same = pack.found == manifest.sha256
    _say(f"hash: {'as stated' if same else f'found {pack.found}, the manifest says {manifest.sha256}'}")
    found = 0 if same else 1
    found += _count(pack)
    recheck = Recheck(manifest, str(pack.path))
    found += _print("constraints", (finding for made in pack for finding in recheck.check(made)))
    _say(f"constraints: {recheck.checked} checked")
    _tell([*dict.fromkeys(recheck.notes)])
    for reason, count in recheck.unchecked.items():
        _say(f"  not checked, {count} variants: {reason}")
    if args.rebuild:
        found += _rebuild(pack, args)
    _say("verified" if not found else f"{found} difference{'' if found == 1 else 's'}")
    return 1 if found else 0


def _count(pack: Pack) -> int:
    """Compare the manifest's counts with what is there."""
    variants = rejects = 0
    for made in pack:
        variants += len(made.variants) - 1
        rejects += len(made.rejects)
    manifest = pack.manifest
    differing = [
        f"  {name}: {there} in the file, the manifest says {stated}"
        for name, there, stated in (
            ("documents", len(pack), manifest.documents),
            ("variants", variants, manifest.variants),
            ("rejects", rejects, manifest.rejects),
        )
        if there != stated
    ]
    if differing:
        for line in ("counts:", *differing):
            _say(line)
    return len(differing)


def _rebuild(pack: Pack, args: argparse.Namespace) -> int:
    recipe, notes = recipe_of(pack.manifest, _recipe(pack, args.recipe), str(pack.path))
    rebuild = Rebuild(recipe, pack.manifest.seed)
    with use_rewriter(settings_from(args)):
        found = _print("rebuilt", (finding for made in pack for finding in rebuild.compare(made)))
    _say(f"rebuilt: {rebuild.rebuilt} variants")
    _tell(notes)
    for reason, count in rebuild.unable.items():
        _say(f"  not rebuilt, {count} variants: {reason}")
    return found


def _recipe(pack: Pack, named: str | None) -> Recipe:
    """Return the recipe that is named, else the one of the package that the pack names."""
    if named:
        return load_recipe(named)
    label = pack.manifest.recipe
    # A version may hold dots too, so the name alone cannot be taken off the label.
    for file in sorted(FOLDER.glob("*.yaml")):
        if label.startswith(f"{file.stem}."):
            return load_recipe(file.stem)
    raise SagoError(
        f"{pack.path} was built with recipe {label}, no recipe of this package: name its file with --recipe"
    )


def _print(title: str, findings: Iterator[Finding]) -> int:
    count = 0
    for count, finding in enumerate(findings, start=1):
        if count <= _SHOWN:
            _say(f"{title}: {finding.document}, {finding.variant}: {finding.text}")
    if count > _SHOWN:
        _say(f"{title}: {count - _SHOWN} more")
    return count


def _say(text: str) -> None:
    """Print a line that a pack may have a part in; it cannot drive the terminal or add a line."""
    print(escape_line(text))


def _tell(notes: list[str]) -> None:
    for note in notes:
        _say(f"  {note}")
