"""A published data set whose documents bring variants that people made.

Tasks read its rows; whoever checks variants against what people write reads its documents.
"""

from __future__ import annotations

import abc
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

from sago_harness.data import Document, Variant
from sago_harness.errors import SagoError

#: One document as a task reads it: ``id``, ``cluster``, ``question``, ``answers``, ``variants`` ...
Row = dict[str, Any]

#: Field of a row that the variants stand for.
FIELD = "question"


class People(abc.ABC):
    """Reads the published files of one data set.

    Subclasses state their facts as class attributes and implement :meth:`published`.
    """

    name: ClassVar[str]
    #: "human" (the same language) or "language" (translations).
    family: ClassVar[str]
    #: How the variants came about: "typed", "spoken", "disfluent", "pattern", "translation".
    operators: ClassVar[tuple[str, ...]]
    #: ISO 639-1 code of the canonical texts.
    language: ClassVar[str] = "en"
    #: Where the files are published.
    source: ClassVar[str]
    licence: ClassVar[str]
    attribution: ClassVar[str]
    #: Files in the folder, as published; a pattern stands for at least one file.
    files: ClassVar[tuple[str, ...]]

    @abc.abstractmethod
    def published(self, folder: Path) -> Iterator[Row]:
        """Yield the rows of a folder that holds all of :attr:`files`."""

    def rows(self, folder: Path) -> list[Row]:
        """Return one row for each document that brings a variant, in the published order.

        Parameters
        ----------
        folder : Path
            Holds :attr:`files`.

        Returns
        -------
        list of dict
            ``id``, ``cluster``, ``question`` (the canonical text), ``answers`` where there are
            any, ``variants``: objects with ``id``, ``text``, ``family``, ``operator``.

        Raises
        ------
        SagoError
            Names a file that is missing, or the folder whose files are not as published.
        """
        for pattern in self.files:
            if not any(path.is_file() for path in folder.glob(pattern)):
                raise SagoError(
                    f"{folder} has no {pattern}: {self.name} is read from {', '.join(self.files)} "
                    f"as published at {self.source}"
                )
        try:
            return [row for row in self.published(folder) if row["variants"]]
        except SagoError:
            raise
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            what = f"lacks {error}" if isinstance(error, KeyError) else str(error)
            raise SagoError(f"{folder} is not {self.name} as published at {self.source}: {what}") from error

    def read(self, folder: Path) -> Iterator[Document]:
        """Yield the documents with their variants, for checks without a model.

        Parameters
        ----------
        folder : Path
            As of :meth:`rows`.
        """
        yield from (document_of(row, self.language) for row in self.rows(folder))

    def variants(self, original: str, texts: Iterable[tuple[str, str, str]]) -> list[dict[str, str]]:
        """Return the variants of a text as a row holds them; a text like the original is none.

        Parameters
        ----------
        original : str
        texts : iterable of (str, str, str)
            Id, operator and text.

        Examples
        --------
        >>> from sago_harness.variants.people.noiseqa import NoiseQA
        >>> texts = [("typed", "typed", "Who won? "), ("spoken", "spoken", "who won")]
        >>> [variant["text"] for variant in NoiseQA().variants("Who won?", texts)]
        ['who won']
        """
        return [
            {"id": name, "text": text, "family": self.family, "operator": operator}
            for name, operator, text in texts
            if _plain(text) and _plain(text) != _plain(original)
        ]


def document_of(row: Row, language: str) -> Document:
    """Return a row's document: its question, its cluster, and the variants it brings.

    Examples
    --------
    >>> row = {"id": "1", "cluster": "a", "question": "Who won?", "variants": []}
    >>> document_of(row, "en").text
    'Who won?'
    """
    own = tuple(
        Variant(item["id"], item["family"], item["operator"], {FIELD: item["text"]})
        for item in row["variants"]
    )
    return Document(row["id"], {FIELD: row[FIELD]}, language, cluster=row["cluster"], own=own)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()
