"""Tables of what can be added: name -> ``"module:Class"``, loaded on first use.

Every folder that holds alternatives (operators, features, measures, backends ...)
has one :class:`Table` in its ``__init__``. Another package adds to a table with an
entry point in the group ``sago_harness.<table>``; nothing is imported until asked for.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar, cast

from sago_harness.errors import SagoError, unknown

T = TypeVar("T")


class Table(Mapping[str, str], Generic[T]):
    """A lazy mapping from names to classes.

    Parameters
    ----------
    name : str
        Plural name of the table; third parties register under the entry-point
        group ``sago_harness.<name>``.
    kind : str
        Singular, used in error messages.
    builtin : mapping of str to str
        ``{"name": "module:attribute"}``.

    Raises
    ------
    SagoError
        On look-up, when the name is unknown (the nearest names are given), or when
        an entry point claims a name that is taken.

    Examples
    --------
    >>> table = Table("codecs", "codec", {"json": "json:JSONEncoder"})
    >>> table.load("json").__name__
    'JSONEncoder'
    """

    def __init__(self, name: str, kind: str, builtin: Mapping[str, str]) -> None:
        self.name = name
        self.kind = kind
        self._targets: dict[str, str] = dict(builtin)
        self._loaded: dict[str, T] = {}
        self._scanned = False

    def _entries(self) -> dict[str, str]:
        """Merge entry points in on first use, so that importing a table costs nothing."""
        if not self._scanned:
            for point in importlib.metadata.entry_points(group=f"sago_harness.{self.name}"):
                if self._targets.get(point.name, point.value) != point.value:
                    raise SagoError(
                        f"{self.kind} {point.name!r} is registered twice: {self._targets[point.name]} "
                        f"and {point.value}; uninstall or rename one of them"
                    )
                self._targets[point.name] = point.value
            self._scanned = True
        return self._targets

    def register(self, name: str, target: str) -> None:
        """Add one entry at run time; a name that is taken raises."""
        if self._entries().get(name, target) != target:
            raise SagoError(f"{self.kind} {name!r} is already registered as {self._targets[name]}")
        self._targets[name] = target

    def load(self, name: str, where: str = "") -> T:
        """Import and return what stands under ``name``."""
        entries = self._entries()
        if name not in entries:
            raise unknown(self.kind, name, entries, where)
        if name not in self._loaded:
            module, _, attribute = entries[name].partition(":")
            value: Any = importlib.import_module(module)
            for part in attribute.split("."):
                value = getattr(value, part)
            self._loaded[name] = cast(T, value)
        return self._loaded[name]

    def __getitem__(self, name: str) -> str:
        return self._entries()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries())

    def __len__(self) -> int:
        return len(self._entries())
