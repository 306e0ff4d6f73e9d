"""Reads a recipe's YAML: plain values only, in bounds, whatever the file holds."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError

#: Bytes of a recipe file; the longest of the package has 7,000.
_LARGEST = 256 * 1024
#: Characters of a name in a recipe, which messages repeat.
_LONGEST = 200


def read_yaml(path: Path) -> object:
    """Return what a YAML file holds.

    Parameters
    ----------
    path : Path

    Raises
    ------
    SagoError
        If the file is too large, no YAML, or uses an alias: a few lines of them stand for a
        content that fills the memory.
    """
    import yaml

    class Loader(yaml.SafeLoader):
        """Refuses aliases."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("an alias (*name) is not read: write its content out")
            return super().compose_node(parent, index)

    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise SagoError(f"recipe file {path} is too large: at most {_LARGEST // 1024} KiB are read")
        content: object = yaml.load(data.decode("utf-8-sig"), Loader)
    except SagoError:
        raise
    except RecursionError as error:
        raise SagoError(f"recipe file {path} cannot be read: it is nested too deeply") from error
    except OSError as error:
        raise SagoError(f"recipe file {path} cannot be read: {error.strerror or error}") from error
    # Beside bad YAML: no UTF-8, a date that there is not, a number of thousands of digits.
    except (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise SagoError(f"recipe file {path} cannot be read: {_one_line(error)}") from error
    return content


def scalar(content: Mapping[Any, Any], key: str, where: str) -> str:
    """Return one plain value as text.

    Parameters
    ----------
    content : mapping
    key : str
        It holds the value.
    where : str
        Names the place in messages.

    Raises
    ------
    SagoError
        If it is a list, an object or very long.

    Examples
    --------
    >>> scalar({"version": 2}, "version", "mine.yaml")
    '2'
    """
    return plain(content[key], f"recipe {where}: {key!r}")


def plain(value: object, what: str) -> str:
    """Return a plain value as text; ``what`` names it in messages.

    Raises
    ------
    SagoError
        As :func:`scalar`.

    Examples
    --------
    >>> plain(["a"], "recipe mine.yaml: a level")
    Traceback (most recent call last):
        ...
    sago_harness.errors.SagoError: recipe mine.yaml: a level must be a text or a number, it is of type list
    """
    if not isinstance(value, str | int | float | datetime.date):
        raise SagoError(f"{what} must be a text or a number, it is of type {type(value).__name__}")
    try:
        text = str(value)
    except ValueError:  # an integer of thousands of digits
        text = " " * (_LONGEST + 1)
    if len(text) > _LONGEST:
        raise SagoError(f"{what} is longer than {_LONGEST} characters")
    return text


def _one_line(error: Exception, width: int = 300) -> str:
    # PyYAML names a text that it was given by its type.
    text = " ".join(str(error).split()).replace(' in "<unicode string>",', " on")
    return text if len(text) <= width else f"{text[: width - 1]}…"
