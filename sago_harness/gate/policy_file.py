"""Reads a policy's YAML: plain values only, every key once, every message with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError

#: Bytes of a policy file; a policy of 200 rules has about 20,000.
_LARGEST = 256 * 1024


class Mapped(dict[Any, Any]):
    """A mapping that knows its line and those of its keys; 0 where it comes from no file."""

    def __init__(self, content: Any = (), line: int = 0, lines: dict[Any, int] | None = None) -> None:
        super().__init__(content)
        self.line = line
        self.lines = lines or {}

    def at(self, key: object = None) -> int:
        """Return the line of a key, or of the mapping itself."""
        return self.lines.get(key, self.line)


def read_policy_file(path: Path) -> object:
    """Return what a policy file holds, mappings as :class:`Mapped`.

    Parameters
    ----------
    path : Path

    Raises
    ------
    SagoError
        If the file cannot be read, is too large, no YAML, has a key twice, or uses an alias.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise SagoError(f"policy {path} cannot be read: {error.strerror or error}") from error
    if len(data) > _LARGEST:
        raise SagoError(f"policy {path} is too large: at most {_LARGEST // 1024} KiB are read")
    try:
        return parse_yaml(data.decode("utf-8-sig"))
    except RecursionError as error:
        raise SagoError(f"policy {path} cannot be read: it is nested too deeply") from error
    # Beside bad YAML: no UTF-8, a date that there is not, a number of thousands of digits.
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise SagoError(f"policy {path} cannot be read: {_one_line(error)}") from error


def parse_yaml(text: str) -> object:
    r"""Return what a YAML text holds, mappings as :class:`Mapped`.

    Raises
    ------
    ValueError
        For what is no YAML, a key that comes twice, a tag that does not fit its value, or an alias.

    Examples
    --------
    >>> found = parse_yaml("level: 0.05")
    >>> found["level"], found.at("level")
    (0.05, 1)
    >>> parse_yaml("level: 0.05\nlevel: 0.5")
    Traceback (most recent call last):
        ...
    ValueError: line 2: 'level' stands there twice (first in line 1): remove one of them
    """
    import yaml

    class Loader(yaml.SafeLoader):
        """Refuses aliases and keys that come twice; keeps lines."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("an alias (*name) is not read: write its content out")
            return super().compose_node(parent, index)

    def mapping(loader: Any, node: Any) -> Mapped:
        lines: dict[Any, int] = {}
        content: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = loader.construct_object(key_node, deep=True)
            line = int(key_node.start_mark.line) + 1
            if not isinstance(key, str | int | float | bool | None):
                raise ValueError(f"line {line}: a key must be a word")
            if key in content:
                raise ValueError(
                    f"line {line}: {key!r} stands there twice (first in line {lines[key]}): "
                    "remove one of them"
                )
            content[key], lines[key] = loader.construct_object(value_node, deep=True), line
        return Mapped(content, int(node.start_mark.line) + 1, lines)

    Loader.add_constructor("tag:yaml.org,2002:map", mapping)
    try:
        found: object = yaml.load(text, Loader)
    except yaml.YAMLError as error:
        raise ValueError(_one_line(error)) from error
    except (LookupError, TypeError, AttributeError, OverflowError) as error:
        # So PyYAML fails on a tag such as !!int or !!timestamp with anything else behind it.
        raise ValueError(
            f"a value is not of the kind that its tag (!!...) names ({_one_line(error)})"
        ) from error
    return found


def _one_line(error: Exception, width: int = 300) -> str:
    # PyYAML names a text that it was given by its type.
    text = " ".join(str(error).split()).replace(' in "<unicode string>",', " on")
    return text if len(text) <= width else f"{text[: width - 1]}…"
