"""Documents from a task's rows, without the host: the task and packs make them in one way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sago_harness.data import Document
from sago_harness.documents.identity import choose, name_rows
from sago_harness.hooks.dataset import Source, own_variants, uniform
from sago_harness.hooks.spec import TaskSpec
from sago_harness.variants.recipe import base_language

#: Column that carries a document's id; the host's ``doc_id`` is a position.
ID = "sago_id"


def make_document(
    row: Mapping[str, Any], spec: TaskSpec, varies: Callable[[str], bool], own_language: bool = False
) -> Document:
    """Return what varying needs of a row; a row that cannot be varied carries the reason.

    Parameters
    ----------
    row : mapping
        With the document's id in column :data:`ID`.
    spec : TaskSpec
    varies : callable
        Says whether documents of a language can be varied.
    own_language : bool
        The row may name its language itself.

    Examples
    --------
    >>> from sago_harness.hooks.spec import Vary
    >>> spec = TaskSpec("t", (Vary("q", after="Q: "),))
    >>> make_document({ID: "1", "q": "Q: Who?"}, spec, lambda language: True).fields
    {'q': 'Who?'}
    >>> make_document({ID: "1", "q": "Who?"}, spec, lambda language: True).reason
    'span_not_found'
    """
    fields: dict[str, str] = {}
    reason = ""
    for vary in spec.vary:
        value = row.get(vary.field)
        if not isinstance(value, str):
            reason = "missing_field"
            fields[vary.field] = ""
            continue
        try:
            fields[vary.field] = vary.split(value)[1]
        except ValueError:
            reason = "span_not_found"
            fields[vary.field] = ""
    if not reason and not "".join(fields.values()).strip():
        reason = "empty_prompt"
    cluster = row.get(spec.cluster_field) if spec.cluster_field else None
    given = row.get("language") if own_language else None
    language = base_language(str(given or spec.language))
    if not reason and not varies(language):
        reason = "language_without_variants"
    return Document(
        id=str(row[ID]),
        fields=fields,
        language=language,
        cluster=None if cluster is None else str(cluster),
        keep=spec.keep,
        own=own_variants(row, next(iter(fields)), fields),
        reason=reason,
    )


def named_rows(source: Source, seed: int) -> list[dict[str, Any]]:
    """Return the rows that a task evaluates, drawn by their names, ids in column :data:`ID`."""
    rows = source.rows()
    names = name_rows(rows, [vary.field for vary in source.spec.vary], source.id_field)
    return [{**rows[index], ID: names[index]} for index in choose(names, source.spec.documents, seed)]


@dataclass(slots=True)
class TaskDocuments:
    """A task's documents, sorted by id, made one at a time.

    Attributes
    ----------
    rows : list of dict
    spec : TaskSpec
    varies : callable
    own_language : bool
    """

    rows: Sequence[Mapping[str, Any]]
    spec: TaskSpec
    varies: Callable[[str], bool]
    own_language: bool

    @classmethod
    def of(cls, source: Source, varies: Callable[[str], bool], limit: int | None = None) -> TaskDocuments:
        """Read a task's rows as the host would see them.

        Parameters
        ----------
        source : Source
        varies : callable
            As for :func:`make_document`.
        limit : int or None
            The first of the split only.
        """
        spec = source.spec
        # All rows are made to fit one table before a limit is applied: it must change no text.
        rows = uniform(named_rows(source, spec.seed), [vary.field for vary in spec.vary])[:limit]
        rows.sort(key=lambda row: str(row[ID]))
        return cls(rows, spec, varies, source.is_users_file)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Document]:
        return (make_document(row, self.spec, self.varies, self.own_language) for row in self.rows)
