"""Run folders made at random: what ``sago run`` leaves, without a model.

Fast enough for a benchmark: ``write_runs(folder, models=100, tasks=20, documents=500, variants=16)`` are
20 million rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sago_harness.scores.table import _NESTED, _PLAIN, _SPREAD, encodings

TIME = "2026-01-02T03-04-05.000006"
MEASURES = ("x_bleu", "x_bert", "x_act", "x_prob", "x_ent", "x_jsd")
OPERATORS = (
    ("register", "politeness", "politeness_markers"),
    ("noise", "typos", None),
    ("structure", "wrap", None),
    ("register", "casual", "casual_markers"),
    ("noise", "spaces", "extra_spaces"),
    ("structure", "fronting", None),
)

#: Nothing, the signals lost, mirroring lost, both.
_REASONS = pa.array(
    [
        "{}",
        '{"x_act": "nan_hidden", "x_prob": "nan_logits"}',
        '{"x_mr": "prompt_change_small"}',
        '{"x_act": "nan_hidden", "x_prob": "nan_logits", "x_mr": "prompt_change_small"}',
    ]
)

Rows = list[dict[str, Any]]


def keys(variants: int) -> list[tuple[str, str, str, float, str | None]]:
    """Id, family, operator, strength and feature of each variant: operators in turn, then stronger."""
    found = []
    for v in range(variants):
        family, operator, feature = OPERATORS[v % len(OPERATORS)]
        strength = float(1 + v // len(OPERATORS))
        found.append((f"{operator}{strength:g}", family, operator, strength, feature))
    return found


def families(variants: int) -> dict[str, int]:
    counts: dict[str, int] = {}
    for _, family, *_ in keys(variants):
        counts[family] = counts.get(family, 0) + 1
    return {name: counts[name] for name in ("register", "noise", "structure") if name in counts}


def signature(task: str, documents: int, variants: int, **changes: Any) -> dict[str, Any]:
    return {
        "task": task,
        "version": "1.0",
        "recipe": "made.1",
        "recipe_digest": "04d8e2deb1a99b72",
        "variants": hashlib.sha256(f"{task}{documents}{variants}".encode()).hexdigest()[:16],
        "pack": "",
        "documents": documents,
        "families": families(variants),
        "seed": 42,
        "controls": 2,
        "canonical_repeats": 0,
        "shots": 0,
        "template": False,
        "prompts": "996f7d75105b2c4e",
        "scoring": "b1cbbd3ce71274f8",
        "generation": {"do_sample": False, "max_gen_toks": 32, "until": []},
        "encoder": "minilm:6/token/8f3cd2a1/b=0.4",
        "pooling": "last",
        "layers": "blocks",
        "representation_documents": 0,
        "measures": dict.fromkeys(MEASURES, 1),
        "versions": {"sago-harness": "0.1.0", "torch": "2.6"},
        **changes,
    }


def reseeded(task: str, seed: int) -> dict[str, Any]:
    """What another seed of the variants changes in a signature; nothing for the usual one."""
    if seed == 42:
        return {}
    parts = ("variants", "prompts", "scoring")
    hashed = {part: hashlib.sha256(f"{task}{part}{seed}".encode()).hexdigest()[:16] for part in parts}
    return {"seed": seed, **hashed}


def line(full: Mapping[str, Any]) -> str:
    """The signature in one line, as records hold it."""
    pack = f"|pack:{full['pack'][:16]}" if full["pack"] else ""
    return (
        f"task:{full['task']}|v:{full['version']}|recipe:{full['recipe']}|variants:{full['variants']}{pack}"
        f"|n:{full['documents']}|seed:{full['seed']}|ctl:{full['controls']}|rep:{full['canonical_repeats']}"
        f"|shots:{full['shots']}|tpl:{'yes' if full['template'] else 'no'}|enc:{full['encoder']}"
        f"|pool:{full['pooling']}/{full['layers']}|sago:0.1.0|sig:0123456789abcdef"
    )


def described(**changes: Any) -> dict[str, Any]:
    return {
        "backend": "hf",
        "class": "LlamaForCausalLM",
        "dtype": "float32",
        "mixed_precision": "",
        "quantised": False,
        "adapter": "",
        "revision": "main",
        **changes,
    }


def write_runs(
    folder: Path,
    *,
    models: int | Sequence[str] = 3,
    tasks: int | Sequence[str] = 2,
    documents: int = 10,
    variants: int = 6,
    controls: int = 2,
    repeats: int = 0,
    missing: float = 0.0,
    levels: Sequence[float] | float = 0.4,
    seed: int = 0,
    time: str = TIME,
    compression: str = "zstd",
    pack_seed: int = 42,
    **changes: Any,
) -> list[Path]:
    """Write one folder a model with its results and the records of every task; return the records' paths.

    ``levels`` is each model's mean distance as a share of chance; ``missing`` the share of numbers that
    are unscored, with a reason; ``pack_seed`` the seed of the variants, with what follows from it in the
    signature, ``changes`` what else is another.
    """
    names = [f"model{m:03d}" for m in range(models)] if isinstance(models, int) else list(models)
    of = [f"made{t:02d}" for t in range(tasks)] if isinstance(tasks, int) else list(tasks)
    level = np.broadcast_to(np.asarray(levels, dtype=float), (len(names),))
    signatures = {
        task: {
            **signature(task, documents, variants, controls=controls, canonical_repeats=repeats),
            **reseeded(task, pack_seed),
            **changes,
        }
        for task in of
    }
    plain = {task: _plain(documents, variants, controls, repeats, line(signatures[task])) for task in of}
    written = []
    for m, name in enumerate(names):
        place = folder / name.replace("/", "__")
        place.mkdir(parents=True, exist_ok=True)
        write_results(place, name, signatures, time=time)
        for t, task in enumerate(of):
            rng = np.random.default_rng([seed, m, t])
            path = place / f"records_{task}_{time}.parquet"
            table = _table(plain[task], rng, level[m], missing)
            pq.write_table(table, path, compression=compression, **encodings(table.schema))
            written.append(path)
    return written


def write_results(
    place: Path,
    name: str | None,
    signatures: Mapping[str, Mapping[str, Any]],
    *,
    model: Mapping[str, Any] | None = None,
    filters: Sequence[str] = ("none",),
    others: Sequence[str] = (),
    time: str = TIME,
) -> Path:
    """Write what matters of a results file; ``others`` are tasks of other projects."""
    own = {
        task: {"metadata": {"version": 1.0, "sago": {"signature": full, "model": model or described()}}}
        for task, full in signatures.items()
    }
    content = {
        "results": {
            task: {"alias": task, **{f"x_bleu,{one}": 0.5 for one in filters}} for task in (*own, *others)
        },
        "configs": own | {task: {"metadata": {"version": 0.0}} for task in others},
        "model_name": name,
        "config": {"model": "hf", "model_args": {"pretrained": name}},
    }
    path = place / f"results_{time}.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def write_samples(rows: Rows, path: Path, *, filter: str = "none", record: int = 2) -> Path:
    """Append records as the host's samples, a line a document."""
    documents: dict[str, Rows] = {}
    for row in rows:
        documents.setdefault(row["document"], []).append(row)
    with path.open("a", encoding="utf-8") as out:
        for number, of in enumerate(documents.values()):
            texts = [
                json.dumps({"record": record, **_without(row, record)}, separators=(",", ":")) for row in of
            ]
            said = [[row["response"]] for row in of]
            out.write(
                json.dumps({"doc_id": number, "resps": said, "filtered_resps": texts, "filter": filter})
                + "\n"
            )
    return path


def _without(row: Mapping[str, Any], record: int) -> dict[str, Any]:
    left = {"record", "response"} | ({"first"} if record == 1 else set())
    return {key: value for key, value in row.items() if key not in left}


def write_first_version(rows: Rows, path: Path) -> Path:
    """Write records as Parquet of the first version: numbers nested in text, none of the first tokens."""
    table: dict[str, Any] = {name: [row.get(name) for row in rows] for name in _PLAIN if name != "record"}
    table["record"] = pa.array([1] * len(rows), pa.int32())
    table["response"] = [row["response"] for row in rows]
    table["flags"] = pa.array([row["flags"] for row in rows], pa.list_(pa.string()))
    for name in (*MEASURES, "x_sem", "x_mr", "x_mr_floor", "flip"):
        table[name] = pa.array([row["distances"].get(name) for row in rows], pa.float64())
    table["layers"] = pa.array([row["layers"] for row in rows], pa.list_(pa.float64()))
    for name in (*_NESTED, "raw", "tokens"):
        table[name] = [None if row.get(name) is None else json.dumps(row[name]) for row in rows]
    pq.write_table(pa.table(table), path)
    return path


def _plain(documents: int, variants: int, controls: int, repeats: int, signed: str) -> dict[str, Any]:
    """Columns that are the same for every model, and where each role's rows are."""
    kinds = [("canonical", "canonical", "canonical", "", None, None)]
    kinds += [(id, "variant", f, operator, s, feature) for id, f, operator, s, feature in keys(variants)]
    kinds += [
        (f"control{k + 1}", "control", "control", "other_document", None, None) for k in range(controls)
    ]
    kinds += [(f"repeat{k + 1}", "repeat", "repeat", "", None, None) for k in range(repeats)]
    size = len(kinds)
    ids = [f"d{d:05d}" for d in range(documents)]
    first = [True] + [False] * (size - 1)

    def tiled(values: Sequence[Any], kind: Any = None) -> pa.Array:
        return pa.array(list(values) * documents, kind or pa.string())

    def canonical_only(value: str) -> pa.Array:
        return tiled([value if is_first else None for is_first in first])

    columns: dict[str, Any] = {name: pa.nulls(size * documents, pa.string()) for name in _PLAIN}
    columns |= {
        "record": pa.array(np.full(size * documents, 2, dtype=np.int32)),
        "document": pa.array([name for name in ids for _ in kinds]),
        "variant": tiled([kind[0] for kind in kinds]),
        "role": tiled([kind[1] for kind in kinds]),
        "family": tiled([kind[2] for kind in kinds]),
        "operator": tiled([kind[3] for kind in kinds]),
        "strength": tiled([kind[4] for kind in kinds], pa.float64()),
        "feature": tiled([kind[5] for kind in kinds]),
        "language": tiled(["en"] * size),
        "text": pa.array([f"What is {name}, said as {kind[0]}?" for name in ids for kind in kinds]),
        "partner": pa.array(
            [
                ids[(d + int(kind[0].removeprefix("control"))) % documents] if kind[1] == "control" else None
                for d in range(documents)
                for kind in kinds
            ],
            pa.string(),
        ),
        "repeat": tiled([None] * (size - repeats) + list(range(1, repeats + 1)), pa.int32()),
        "prompt_hash": pa.array([f"{d * size + k:016x}" for d in range(documents) for k in range(size)]),
        "prompt_change": tiled([1.5 if kind[1] == "variant" else None for kind in kinds], pa.float64()),
        "text_reason": tiled([""] * size),
        "signature": canonical_only(signed),
        "families": canonical_only(json.dumps(families(variants))),
        "measures": canonical_only(json.dumps(MEASURES)),
        "model": canonical_only(json.dumps(described())),
        "rejects": canonical_only("[]"),
        "signals": tiled(['{"own_logprob": -29.5, "own_entropy": 4.8}'] * size),
    }
    return {"columns": columns, "roles": np.tile([kind[1] for kind in kinds], documents), "size": size}


def _table(plain: Mapping[str, Any], rng: np.random.Generator, level: float, missing: float) -> pa.Table:
    """Draw one model's numbers: document effects, noise on top, controls around 0.6, repeats at 0."""
    roles = plain["roles"]
    rows, size = len(roles), plain["size"]
    scale = np.select([roles == "variant", roles == "control"], [0.6 * level, 0.6], 0.0)
    variant = roles == "variant"
    measured = roles != "canonical"
    columns = dict(plain["columns"])
    lost = (rng.random(rows) < missing) & measured

    def numbers(values: np.ndarray, known: np.ndarray) -> pa.Array:
        return pa.array(values, mask=~known)

    for name in (*MEASURES, "x_sem"):
        document = np.repeat(rng.gamma(4.0, 0.25, size=rows // size), size)
        values = np.clip(scale * document * rng.gamma(2.0, 0.5, size=rows), 0.0, 1.0)
        known = ~lost & (name != "x_sem") if name in ("x_act", "x_prob") else np.full(rows, name != "x_sem")
        columns[name] = numbers(values, known)
    mirrored = variant & (rng.random(rows) >= missing)
    columns["x_mr"] = numbers(np.clip(rng.normal(0.05, 0.2, rows), -1.0, 1.0), mirrored)
    columns["x_mr_floor"] = numbers(np.clip(rng.normal(0.0, 0.1, rows), -1.0, 1.0), mirrored)
    columns["flip"] = numbers((rng.random(rows) < 0.2).astype(float), variant)
    columns["correct"] = numbers((rng.random(rows) < 0.6).astype(np.int8), roles != "control")
    for part, names in _SPREAD.items():
        for name in names:
            if part == "tokens":
                values = rng.integers(5, 60, rows).astype(np.int32)
                columns[f"tokens_{name}"] = pa.array(values)
            else:
                drawn = rng.normal(0.0, 1.0, rows)
                # Raw deltas have a sign, distances have none.
                drawn = drawn if part == "raw" else np.abs(drawn)
                columns[f"{part}_{name}"] = numbers(drawn, measured & ~lost)
    columns["reasons"] = _REASONS.take(pa.array(lost + 2 * (variant & ~mirrored)))
    hashes = pa.array(rng.integers(0, 2**62, rows)).cast(pa.string())
    columns["response_hash"] = hashes
    columns["response"] = pc.binary_join_element_wise("It is", hashes, " ")
    marked = rng.random(rows) < 0.1
    offsets = np.concatenate([[0], np.cumsum(marked)]).astype(np.int32)
    columns["flags"] = pa.ListArray.from_arrays(
        pa.array(offsets), pa.array(["truncated"] * int(marked.sum()), pa.string())
    )
    shape = (rows, 3)
    columns["layers"] = pa.ListArray.from_arrays(
        pa.array(np.arange(rows + 1, dtype=np.int32) * shape[1]), pa.array(rng.random(shape).ravel())
    )
    return pa.table(columns)


def host_files(results: dict[str, Any], folder: Path, name: str) -> Path:
    """Let the host write the files of a run that it has made; return the model's folder."""
    from lm_eval.loggers import EvaluationTracker

    from sago_harness.scores.table import read_samples, write_parquet

    tracker = EvaluationTracker(output_path=str(folder))
    tracker.general_config_tracker.model_name = name
    tracker.general_config_tracker.model_name_sanitized = name
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for task in results["configs"]:
        tracker.save_results_samples(task_name=task, samples=samples[task])
    for path in (folder / name).glob("samples_*.jsonl"):
        records = path.name.replace("samples_", "records_", 1)
        write_parquet(read_samples(path), path.with_name(records).with_suffix(".parquet"))
    return folder / name
