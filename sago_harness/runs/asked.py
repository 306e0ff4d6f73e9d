"""What was asked: the columns that the files of all models of a data set hold alike, read once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sago_harness.runs.arrow import coded, doubles, places
from sago_harness.stats.table import VariantKey

Codes = npt.NDArray[np.intp]

ROLES: tuple[str, ...] = ("canonical", "variant", "control", "repeat")
CANONICAL, VARIANT, CONTROL, REPEAT = range(4)

#: Text columns of few distinct values, read as codes.
CODED = ("document", "variant", "role", "family", "operator", "position", "families", "measures", "partner")

#: All columns that are read for it.
ASKED = (*CODED, "record", "strength")


@dataclass(frozen=True, slots=True)
class Stored:
    """How a file holds the columns of :data:`ASKED`: equal for files that say the same in them.

    Attributes
    ----------
    schema : object
        Arrow's Parquet schema: what the bytes stand for.
    chunks : tuple of (str, str, int, bytes)
        Of each column and row group: its name, its compression, its number of values, and its bytes.
    """

    schema: Any = field(repr=False)
    chunks: tuple[tuple[str, str, int, bytes], ...] = field(repr=False)

    def __eq__(self, other: object) -> bool:
        # The bytes differ sooner, and are compared faster.
        return isinstance(other, Stored) and self.chunks == other.chunks and self.schema.equals(other.schema)


@dataclass(frozen=True, slots=True)
class Asked:
    """The prompts of one file; N rows, as in :class:`sago_harness.runs.columns.Columns`.

    Attributes
    ----------
    documents, document, keys, variant, role, families, measures, partners, partner
        As there.
    canonical : ndarray of shape (C,)
        Rows of the canonical prompts.
    stored : Stored
    """

    documents: tuple[str, ...]
    document: Codes
    keys: tuple[VariantKey, ...]
    variant: Codes
    role: Codes
    families: Mapping[str, int]
    measures: frozenset[str]
    partners: tuple[str, ...]
    partner: Codes
    canonical: Codes
    stored: Stored

    @classmethod
    def of(cls, table: Any, stored: Stored) -> Asked:
        """Decode the columns.

        Parameters
        ----------
        table : pyarrow.Table
            With those of :data:`ASKED` that the file has.
        stored : Stored

        Raises
        ------
        ValueError
            If a row has no document, no variant, or no known role.
        KeyError
            If a column is lacking that no version lacks.
        """
        names = set(table.column_names)
        found = {name: coded(table.column(name)) for name in CODED if name in names and name not in _OF_KEYS}
        size = table.num_rows
        role = roles(*found["role"])
        variant, ids = found["variant"]
        first = _first(variant, len(ids))
        said = {name: table.column(name).take(places(first)).to_pylist() for name in _OF_KEYS}
        strength = doubles(table.column("strength"))[first].tolist() if "strength" in names else ()
        keys = tuple(
            VariantKey(
                id,
                said["family"][k] or "",
                said["operator"][k] or "",
                None if not strength or np.isnan(strength[k]) else strength[k],
                said["position"][k],
            )
            for k, id in enumerate(ids)
        )
        measures = [json.loads(text) for text in found["measures"][1] if text]
        partner, partners = found.get("partner", (np.full(size, -1, dtype=np.intp), []))
        return cls(
            tuple(found["document"][1]),
            _complete(found["document"][0], "document"),
            keys,
            _complete(variant, "variant"),
            role,
            _families(*found["families"]),
            frozenset(name for names in measures for name in names),
            tuple(partners),
            partner,
            np.flatnonzero(role == CANONICAL),
            stored,
        )


#: Of a variant, whatever the document.
_OF_KEYS = ("family", "operator", "position")


def stored_bytes(file: Any, source: Any) -> Stored:
    """Return how a file holds what was asked; nothing is decoded.

    Parameters
    ----------
    file : pyarrow.parquet.ParquetFile
    source : pyarrow.NativeFile
        That it is read from.
    """
    metadata = file.metadata
    at = {name: place for place, name in enumerate(file.schema.names)}
    chunks = []
    for group in range(metadata.num_row_groups):
        columns = metadata.row_group(group)
        for name in ASKED:
            if name not in at:
                continue
            chunk = columns.column(at[name])
            start = chunk.data_page_offset
            if chunk.has_dictionary_page:
                start = min(start, chunk.dictionary_page_offset)
            # A damaged file may say anything; what it cannot hold is refused where it is read.
            held = source.read_at(min(chunk.total_compressed_size, source.size()), start)
            chunks.append((name, chunk.compression, chunk.num_values, held))
    return Stored(file.schema, tuple(chunks))


def roles(codes: Codes, names: Sequence[str]) -> Codes:
    """Return the place of each row's role in :data:`ROLES`.

    Raises
    ------
    ValueError
        For a role that is none of them, or a row without any.

    Examples
    --------
    >>> roles(np.array([0, 1, 1]), ("variant", "canonical")).tolist()
    [1, 0, 0]
    """
    unknown = set(names) - set(ROLES)
    if unknown:
        raise ValueError(f"role {min(unknown)}")
    found: Codes = np.array([ROLES.index(name) for name in names], dtype=np.intp)[_complete(codes, "role")]
    return found


def _complete(codes: Codes, name: str) -> Codes:
    if len(codes) and codes.min() < 0:
        raise ValueError(f"a record without {name}")
    return codes


def _first(codes: Codes, count: int) -> Codes:
    """Return the first row of each code."""
    first = np.zeros(count, dtype=np.intp)
    present, rows = np.unique(codes, return_index=True)
    first[present[present >= 0]] = rows[present >= 0]
    return first


def _families(codes: Codes, texts: Sequence[str]) -> dict[str, int]:
    for code in dict.fromkeys(codes[codes >= 0].tolist()):
        families = json.loads(texts[code])
        if families:
            return {str(family): int(count) for family, count in families.items()}
    return {}
