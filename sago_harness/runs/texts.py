"""What was asked and said in words: read of few records, when they are to be shown."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

import numpy as np

from sago_harness.errors import SagoError
from sago_harness.runs.arrow import coded, places
from sago_harness.runs.find import RunFile

#: (document, variant) -> prompt and response.
_Texts = dict[tuple[str, str], tuple[str, str]]


def texts(run: RunFile, document: str, variant: str) -> tuple[str, str]:
    """Return what was asked and what the model said.

    Parameters
    ----------
    run : RunFile
    document : str
    variant : str
        A variant's id, ``"canonical"``, or a control's or repeat's.

    Returns
    -------
    prompt, response : str
        The varied span of the prompt, and the response.

    Raises
    ------
    SagoError
        If the run has no such document or variant.
    """
    return texts_of(run, [(document, variant)])[document, variant]


def texts_of(run: RunFile, wanted: Collection[tuple[str, str]]) -> _Texts:
    """Return the texts of several records, reading the file once.

    Parameters
    ----------
    run : RunFile
    wanted : collection of (str, str)
        Document and variant of each, as for :func:`texts`.

    Returns
    -------
    dict of (str, str) to (str, str)

    Raises
    ------
    SagoError
        If the run lacks one of them.
    """
    of_file = _of_parquet(run.path, wanted) if run.path.suffix == ".parquet" else _of_samples(run, wanted)
    for document, variant in wanted:
        if (document, variant) not in of_file:
            raise SagoError(f"{run.path} has no variant {variant!r} of document {document!r}")
    return of_file


def _of_parquet(path: Path, wanted: Collection[tuple[str, str]]) -> _Texts:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = ["document", "variant", "text", "response"]
    try:
        with pa.memory_map(str(path)) as source, pq.ParquetFile(source, read_dictionary=names[:2]) as file:
            table = file.read(columns=names, use_threads=False)
        document, documents = coded(table.column("document"))
        variant, variants = coded(table.column("variant"))
        at_document = {name: place for place, name in enumerate(documents)}
        at_variant = {name: place for place, name in enumerate(variants)}
        # A record is known by one number.
        known = {
            at_document[d] * len(variants) + at_variant[v]: (d, v)
            for d, v in wanted
            if d in at_document and v in at_variant
        }
        of = np.where((document < 0) | (variant < 0), -1, document * len(variants) + variant)
        rows = np.flatnonzero(np.isin(of, np.array(list(known), dtype=np.intp)))
        said = [table.column(name).take(places(rows)).to_pylist() for name in ("text", "response")]
    except (OSError, KeyError, pa.ArrowException) as error:
        raise SagoError(f"{path} is no Parquet file with texts: {error}") from error
    found: _Texts = {}
    for key, prompt, response in zip(of[rows].tolist(), *said, strict=True):
        found.setdefault(known[key], (str(prompt or ""), str(response or "")))
    return found


def _of_samples(run: RunFile, wanted: Collection[tuple[str, str]]) -> _Texts:
    found: _Texts = {}
    documents = {document for document, _ in wanted}
    with run.path.open("rb") as lines:
        for line in lines:
            if len(found) == len(wanted):
                break
            try:
                sample = json.loads(line.decode("utf-8-sig"))
                if run.filter and str(sample.get("filter", "none")) != run.filter:
                    continue
                filtered = sample["filtered_resps"]
                # A line is a document: one of its records says which.
                document = json.loads(filtered[0])["document"]
                if document not in documents:
                    continue
                for text, said in zip(filtered, sample["resps"], strict=True):
                    record = json.loads(text)
                    key = (document, record["variant"])
                    if key in wanted:
                        found.setdefault(key, (str(record["text"]), str(said[0])))
            except (ValueError, KeyError, TypeError, IndexError, AttributeError):
                # Damaged lines are refused, or counted, where the table is read.
                continue
    return found
