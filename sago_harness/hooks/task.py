"""``SagoTask``: a host task whose documents expand into sets of variants.

One document becomes its canonical prompt, its variants, its chance controls and, on
request, canonical repeats, all as requests of the document. So ``--limit``, ``--samples``,
ranks and caches act on whole documents. Variants change only the fields that the task
declares; few-shot examples, options and template stay as they are.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.registry import get_aggregation
from lm_eval.api.task import ConfigurableTask

from sago_harness import pipeline
from sago_harness.axes import measures_for
from sago_harness.axes.answers import gold_answers
from sago_harness.axes.encoders import Encoder, Missing, baseline, load_encoder
from sago_harness.axes.encoders.spec import default_spec, parse_spec
from sago_harness.axes.representation.dataset import Comparison, compare_documents, kept_states
from sago_harness.data import Document, Variant, VariantSet
from sago_harness.documents.bundles import bundle_documents
from sago_harness.documents.identity import name_rows, partners
from sago_harness.errors import SagoError
from sago_harness.hooks import dataset, health, plugin
from sago_harness.hooks.documents import ID, make_document, named_rows
from sago_harness.hooks.metrics import document_values, level_stderr, level_value
from sago_harness.hooks.origin import origin_of
from sago_harness.hooks.payload import keeps_states, payload_of
from sago_harness.hooks.requests import REQUEST_TYPE
from sago_harness.hooks.sampler import TaskSampler
from sago_harness.hooks.spec import read_spec
from sago_harness.hooks.template import system_safe
from sago_harness.jsonsafe import clean_text, dumps, json_safe
from sago_harness.logs import warn_once
from sago_harness.scores.columns import PEOPLES, Column, task_columns
from sago_harness.scores.composite import TaskScores
from sago_harness.scores.profile import LayerProfile, layer_profile
from sago_harness.signature import encoder_label, task_signature
from sago_harness.variants.base import OTHER_FAMILIES

log = logging.getLogger(__name__)

#: Split name of the few-shot pool.
POOL = "sago_fewshot"


class SagoTask(ConfigurableTask):  # type: ignore[misc]
    """A generation task measured for stability.

    Parameters
    ----------
    config : dict
        A task's YAML, with this project's keys (see ``hooks/spec.py``).

    Raises
    ------
    SagoError
        For a key that is wrong or data that is not at hand, in one line.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        plugin.load()
        settings = dict(config or {})
        settings.pop("class", None)
        self.spec = read_spec(settings)
        self._refuse_repeats(settings.get("repeats", 1))
        # The host's own default, where a YAML states no version.
        version = (settings.get("metadata") or {}).get("version", self.VERSION)
        self.origin = origin_of(self.spec, str(version), settings)
        self.families = self.origin.families(self.spec.language)
        kind = parse_spec(self.spec.encoder or default_spec(self.spec.language)).kind
        self.measures = {measure.name: measure.axis for measure in measures_for(kind)}
        self._raw_source = dataset.Source.of(self.spec, settings)
        rows = self._raw_source.rows()
        own = self.origin.beside(rows, self.spec.language)
        self._check_families(rows, own)
        self.columns: list[Column] = task_columns(
            self.measures,
            gold=any(gold_answers(row.get(self.spec.answers or "")) for row in rows),
            extracts=bool(self.spec.extract),
            own_families=own,
            scored=bool(self.families),
            representation=self.spec.representation,
        )
        self.own_families = own
        settings["metric_list"] = [
            {"metric": name, "aggregation": f"sago_{name}", "higher_is_better": column.higher_is_better}
            for column in self.columns
            for name in (column.name, f"{column.name}_stderr")
        ]
        settings["filter_list"] = [
            {"name": "none", "filter": [{"function": "sago", **self._filter_options()}]}
        ]
        # The host would load the few-shot split by name; ours is made in `download`.
        settings["fewshot_split"] = POOL
        self._predict_only = False
        self._rendering: dict[str, Any] = {}
        self._scores: TaskScores | None = None
        self._own_scores: dict[str, TaskScores] = {}
        self._profiles: dict[str, LayerProfile] = {}
        self._compared: dict[str, Comparison] = {}
        self._representation: dict[str, Any] = {}
        self._health: dict[str, float] = {}
        self._model: dict[str, Any] = {}
        self._sets: dict[str, VariantSet] = {}
        self._partners: dict[str, list[str]] = {}
        self._bundles: dict[str, int] = {}
        self._asked_for: tuple[int | None, list[int] | None] = (None, None)
        self._keeps: set[str] = set()
        self._rows_by_id: dict[str, Mapping[str, Any]] = {}
        super().__init__(config=settings)
        in_order = self._raw_source.first_n
        self.sampler = TaskSampler(
            list(self.dataset[POOL]),
            task=self.spec.task,
            id_key=ID,
            content=self._example_content,
            in_order=in_order,
        )

    # ------------------------------------------------------------------ documents

    def download(self, dataset_kwargs: Any = None, **_: Any) -> None:
        """Make the splits from the rows: the documents, drawn by their names, and the few-shot pool."""
        import datasets

        rows = self._raw_source.rows()
        fields = [vary.field for vary in self.spec.vary]
        names = name_rows(rows, fields, self._raw_source.id_field)
        duplicates = sum("#" in name for name in names)
        if duplicates:
            log.info(
                "[%s] %d documents share an id with an earlier one: numbered", self.spec.task, duplicates
            )
        named = [{**row, ID: name} for row, name in zip(rows, names, strict=True)]
        chosen = named_rows(self._raw_source, self.spec.seed)
        pool = self._raw_source.pool_rows()
        named_pool = (
            named
            if pool is None
            else [
                {**row, ID: f"{POOL}:{name}"}
                for row, name in zip(pool, name_rows(pool, fields, self._raw_source.id_field), strict=True)
            ]
        )
        self.dataset = datasets.DatasetDict(
            {
                self.config.test_split: datasets.Dataset.from_list(dataset.uniform(chosen, fields)),
                POOL: datasets.Dataset.from_list(dataset.uniform(named_pool, fields)),
            }
        )

    def document(self, row: Mapping[str, Any]) -> Document:
        """Return what varying needs of a row; a row that cannot be varied carries the reason."""
        return make_document(row, self.spec, self.origin.varies, self._raw_source.is_users_file)

    def _varied_fields(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(row.get(vary.field) for vary in self.spec.vary)

    def _example_content(self, row: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """What tells two examples apart; None for a row without text or without an answer."""
        content = self._varied_fields(row)
        filled = all(isinstance(value, str) and value.strip() for value in content)
        return content if filled and str(self.doc_to_target(row)).strip() else None

    def _with_fields(self, row: Mapping[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
        """Return the row with its varied parts replaced, and nothing else."""
        changed = dict(row)
        for vary in self.spec.vary:
            before, _, after = vary.split(row[vary.field])
            changed[vary.field] = before + fields[vary.field] + after
        return changed

    def doc_iterator(
        self,
        *,
        rank: int = 0,
        limit: int | None = None,
        world_size: int = 1,
        samples: list[int] | None = None,
    ) -> Iterator[tuple[int, Any]]:
        """Yield the documents of a process: whole bundles, in the order of the documents."""
        if world_size > 1:
            # Under --cache_requests the host builds without its limit, and evaluates with it.
            limit, samples = limit or self._asked_for[0], samples or self._asked_for[1]
        numbered = list(super().doc_iterator(rank=0, limit=limit, world_size=1, samples=samples))
        if world_size > 1:
            names = [str(row[ID]) for _, row in numbered]
            bundles = bundle_documents(names, self.spec.seed, self.spec.bundle, world_size)
            numbered = [
                pair for pair, name in zip(numbered, names, strict=True) if bundles[name] % world_size == rank
            ]
        yield from numbered

    # ------------------------------------------------------------------ requests

    def build_all_requests(self, **kwargs: Any) -> None:
        """Expand documents; remember how the host renders prompts, and who is whose control."""
        # The host lets it be set after a task is made.
        self._refuse_repeats(self.config.repeats)
        encoder = load_encoder(self.spec.encoder, self.spec.language)
        if isinstance(encoder, Missing) and self.spec.encoder and not self._predict_only:
            # Asked for by name: a run without it is not what was wanted.
            raise SagoError(f"task {self.spec.task!r}: {encoder.message}")
        if isinstance(encoder, Missing) and not self._predict_only:
            warn_once(
                f"{encoder.message}; until then x_bert/x_sem, and every score that needs it, is unscored"
            )
        chat_template = kwargs.get("chat_template")
        if chat_template is not None:
            kwargs["chat_template"] = system_safe(chat_template)
        self._rendering = {
            key: kwargs.get(key)
            for key in ("system_instruction", "apply_chat_template", "fewshot_as_multiturn", "chat_template")
        }
        self._check_samples(kwargs.get("samples"))
        self._asked_for = (kwargs.get("limit"), kwargs.get("samples"))
        everywhere = self.doc_iterator(
            rank=0, world_size=1, limit=kwargs.get("limit"), samples=kwargs.get("samples")
        )
        rows = [row for _, row in everywhere]
        documents = [self.document(row) for row in rows]
        if kwargs.get("world_size", 1) > len(rows):
            raise SagoError(
                f"task {self.spec.task!r}: {kwargs['world_size']} processes for {len(rows)} documents: "
                "use at most one process a document"
            )
        self._rows_by_id = {document.id: row for document, row in zip(documents, rows, strict=True)}
        self._bundles = bundle_documents(
            [document.id for document in documents],
            self.spec.seed,
            self.spec.bundle,
            int(kwargs.get("world_size", 1)),
        )
        if self.spec.representation and not self._predict_only:
            self._keeps = keeps_states(self._bundles, self.spec.representation_documents)
        self._partners = partners(
            [document.id for document in documents],
            [document.text if not document.reason else "" for document in documents],
            [document.cluster for document in documents],
            self.spec.controls,
            self.spec.seed,
        )
        asked = [document.id for document in documents if not document.reason]
        health.say_partners(self.spec.task, [len(self._partners[name]) for name in asked], self.spec.controls)
        generation = self.config.generation_kwargs or {}
        health.say_sampling(generation, self.spec.canonical_repeats)
        self.origin.check(documents)
        self._sets = {document.id: self.origin.variants(document) for document in documents}
        health.say_rejects(self.spec.task, self._sets.values())
        self.signature = task_signature(
            self.spec,
            self.origin,
            list(self._sets.values()),
            families=self.families,
            version=self.VERSION,
            shots=self.config.num_fewshot or 0,
            template=bool(kwargs.get("apply_chat_template")),
            generation=generation,
            prompts=self._prompt_facts(rows),
            scoring=[self.spec.match, list(map(dict, self.spec.extract)), self._golds(rows)],
            encoder=encoder_label(encoder, self._baseline(encoder)),
        )
        if not kwargs.get("cache_requests"):
            super().build_all_requests(**kwargs)
            return
        # The host's request cache knows a task by its name and shot count only, and would serve
        # another recipe's prompts; under this name it knows everything the requests depend on.
        name = self.config.task
        self.config.task = f"{name}-{self._requests_key(rows, kwargs)}"
        try:
            super().build_all_requests(**kwargs)
        finally:
            self.config.task = name
        for instance in self._instances:
            instance.task_name = name

    def _check_families(self, rows: Sequence[Mapping[str, Any]], own: Sequence[str]) -> None:
        """Refuse a run that has nothing to show, and say what it cannot show."""
        if not self.families and not set(own) - {"control"}:
            raise SagoError(
                f"task {self.spec.task!r}: recipe {self.origin.name!r} only takes variants that documents "
                "bring, and these bring none: name another recipe in --metadata"
            )
        brought = dataset.brought_families(rows) - set(OTHER_FAMILIES)
        unscored = sorted(brought - set(self.families))
        if unscored and not self.spec.pack:
            warn_once(
                f"task {self.spec.task!r}: variants of family {', '.join(unscored)} are recorded "
                f"but in no score: recipe {self.origin.name!r} has none of that family"
            )
        if self.spec.negatives and "control" not in own:
            warn_once(
                f"task {self.spec.task!r}: negatives: there is no edit that changes the meaning in language "
                f"{self.spec.language!r}"
            )

    def _refuse_repeats(self, repeats: Any) -> None:
        if repeats != 1:
            raise SagoError(
                f"task {self.spec.task!r}: repeats={repeats} is refused: "
                "ask for canonical_repeats in --metadata instead"
            )

    def _check_samples(self, samples: Sequence[int] | None) -> None:
        count = len(self.eval_docs)
        outside = [index for index in samples or () if not 0 <= index < count]
        if outside:
            raise SagoError(
                f"task {self.spec.task!r}: --samples names {outside[0]}, but there are {count} documents, "
                f"0 to {count - 1}"
            )

    def _prompt_facts(self, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
        """What prompts are made of beside variants and the model's template.

        One prompt rendered without a template shows description, delimiters and examples.
        """
        plain = {**self._rendering, "apply_chat_template": False, "chat_template": None}
        plain["fewshot_as_multiturn"] = False
        shots = self.config.num_fewshot or 0
        return [
            self.fewshot_context(rows[0], num_fewshot=shots, gen_prefix=self.doc_to_prefix(rows[0]), **plain),
            str(self.config.doc_to_text),
            bool(self._rendering["fewshot_as_multiturn"]) if self._rendering["apply_chat_template"] else None,
            self._rendering["system_instruction"],
            sorted(self._partners.items()),
            self.spec.canonical_repeats,
            [self.spec.pooling, self.spec.layers],
        ]

    def _golds(self, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
        return [[row[ID], gold_answers(row.get(self.spec.answers or ""))] for row in rows]

    def _baseline(self, encoder: Encoder | Missing) -> float | None:
        return None if isinstance(encoder, Missing) else baseline(encoder, self.spec.language)

    def _requests_key(self, rows: Sequence[Mapping[str, Any]], kwargs: Mapping[str, Any]) -> str:
        """Hash of what a document's requests and their payloads are made of."""
        shots = self.config.num_fewshot or 0
        content = [
            self.signature.as_dict(),
            str(self.signature),
            self.dump_config(),
            rows,
            list(self.dataset[POOL]) if shots else [],
            self.sampler.seed if shots else None,
            [kwargs.get("samples"), kwargs.get("limit"), sorted(self._bundles.items()), sorted(self._keeps)],
        ]
        return hashlib.sha256(dumps(content).encode()).hexdigest()[:16]

    def fewshot_context(self, doc: Mapping[str, Any], num_fewshot: int, **kwargs: Any) -> Any:
        """Render a prompt; the document itself is never among its examples."""
        # A variant is left out by what its document was before it was varied.
        self.sampler.leave_out(doc.get(ID), self._varied_fields(self._rows_by_id.get(str(doc.get(ID)), doc)))
        return super().fewshot_context(doc, num_fewshot=num_fewshot, **kwargs)

    def construct_requests(self, doc: Mapping[str, Any], ctx: Any, **kwargs: Any) -> list[Instance]:
        """Return the document's requests: canonical, variants, controls, repeats, in this order."""
        document = self.document(doc)
        # Under --cache_requests the host builds every document, whatever the limit.
        made = self._sets.get(document.id) or self.origin.variants(document)
        for reject in made.rejects:
            log.debug("[%s] %s: variant %s: %s", self.spec.task, document.id, reject.id, reject.reason)
        canonical = payload_of(document, made.variants[0], "canonical", ctx, self.spec)
        canonical["signature"] = str(self.signature)
        canonical["families"] = dict(self.families)
        canonical["measures"] = list(self.measures)
        canonical["rejects"] = [[r.id, r.family, r.operator, r.reason] for r in made.rejects]
        requests = [(ctx, canonical)]
        if document.reason:
            canonical["reason"] = document.reason
        else:
            for variant in made.variants[1:]:
                prompt = self._render(self._with_fields(doc, variant.fields))
                requests.append((prompt, payload_of(document, variant, "variant", prompt, self.spec)))
            requests += self._controls(document) + self._repeats(document, made.variants[0], ctx)
        for _, payload in requests:
            payload["bundle"] = self._bundles.get(document.id, 0)
            payload["wanted"][3] = document.id in self._keeps
        gen_kwargs = self.config.generation_kwargs or {}
        return [
            Instance(
                request_type=REQUEST_TYPE,
                doc=doc,
                arguments=(prompt, dict(gen_kwargs), payload),
                idx=index,
                metadata=kwargs["metadata"],
            )
            for index, (prompt, payload) in enumerate(requests)
        ]

    def _render(self, row: Mapping[str, Any]) -> Any:
        prompt = self.fewshot_context(
            row,
            num_fewshot=self.config.num_fewshot or 0,
            gen_prefix=self.doc_to_prefix(row),
            **self._rendering,
        )
        return clean_text(prompt) if isinstance(prompt, str) else prompt

    def _controls(self, document: Document) -> list[tuple[Any, dict[str, Any]]]:
        """Other documents' canonical prompts, rendered exactly as those documents render them."""
        requests = []
        for number, partner in enumerate(self._partners.get(document.id, ()), start=1):
            row = self._rows_by_id[partner]
            other = self.document(row)
            variant = Variant(f"control{number}", "control", "other_document", other.fields)
            prompt = self._render(row)
            payload = payload_of(document, variant, "control", prompt, self.spec)
            payload["partner"] = partner
            requests.append((prompt, payload))
        return requests

    def _repeats(self, document: Document, canonical: Variant, ctx: Any) -> list[tuple[Any, dict[str, Any]]]:
        requests = []
        for number in range(1, self.spec.canonical_repeats + 1):
            variant = Variant(f"repeat{number}", "repeat", "", canonical.fields)
            payload = payload_of(document, variant, "repeat", ctx, self.spec)
            payload["repeat"] = number
            requests.append((ctx, payload))
        return requests

    # ------------------------------------------------------------------ results

    def _filter_options(self) -> dict[str, Any]:
        return {
            "task": self.spec.task,
            "measures": list(self.measures),
            "language": self.spec.language,
            "encoder": self.spec.encoder,
            "answers": self.spec.answers,
            "match": self.spec.match,
            "extract": [dict(step) for step in self.spec.extract],
        }

    def override_metric(self, metric_name: str) -> None:
        """Take the host's ``--predict_only``: nothing is measured, responses are kept."""
        self._predict_only = metric_name == "bypass"
        super().override_metric(metric_name)

    def apply_filters(self) -> Any:
        """Measure, unless only predictions are asked for."""
        if self._predict_only:
            for instance in self._instances:
                instance.filtered_resps["none"] = str(instance.resps[0])
            return None
        done = super().apply_filters()
        # What the numbers depend on beside the weights: dtype, attention, batch size ...
        described = (getattr(instance.resps[0], "measured", {}).get("model") for instance in self._instances)
        self._model = next(filter(None, described), {})
        return done

    def process_results(self, doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
        """Reduce a document's records to its values; every key for every document, null where unscored."""
        if self._predict_only:
            return {"bypass": None}
        records = [json.loads(record) for record in results]
        values = pipeline.reduce(records, self.measures, self.families, self.own_families)
        return document_values(self.columns, values, self._states(records, results))

    def _states(self, records: Sequence[Mapping[str, Any]], results: Sequence[str]) -> dict[str, Any] | None:
        """Return the hidden states of a document whose states are kept."""
        document = records[0]["document"]
        if document not in self._keeps:
            return None
        vectors = [getattr(line, "vectors", None) for line in results]
        # Where nothing forms a score, what people brought is what is measured.
        scored = list(self.families) or [family for family in self.own_families if family in PEOPLES]
        return kept_states(document, records, vectors, scored)

    def aggregation(self) -> dict[str, Callable[[list[Any]], Any]]:
        """Return the registered aggregations; coverage and health are logged on the way."""
        if self._predict_only:
            return super().aggregation()  # type: ignore[no-any-return]
        functions: dict[str, Callable[[list[Any]], Any]] = {}
        for column in self.columns:
            functions[column.name] = partial(self._aggregate, column)
            functions[f"{column.name}_stderr"] = get_aggregation(f"sago_{column.name}_stderr")
            if column.kind == "dataset":
                functions[f"{column.name}_stderr"] = partial(self._aggregate_stderr, column)
        return functions

    def _aggregate(self, column: Column, items: list[Any]) -> Any:
        if column.kind == "mean" and column.base in {*self.measures, "x_mr"}:
            health.say_coverage(self.spec.task, column.name, items)
        if column.kind == "composite" and column.base == "sago_core":
            self._note_scores(column.family, items)
        if column.kind == "dataset":
            return level_value(self._compare(items)[column.name].value)
        return get_aggregation(f"sago_{column.name}")(items)

    def _aggregate_stderr(self, column: Column, items: list[Any]) -> Any:
        return level_stderr(self._compare(items)[column.name].value)

    def _compare(self, items: Sequence[Any]) -> dict[str, Comparison]:
        """Compare the hidden states over the documents, once for all columns."""
        if not self._compared:
            self._compared = compare_documents(items, self.spec.representation)
            health.say_compared(self.spec.task, self._compared)
            self._representation = health.representation_of(self._compared, len(self._keeps), items)
        return self._compared

    def _note_scores(self, family: str, items: Sequence[Any]) -> None:
        """Keep the scores for the results file, and say how the responses look, once."""
        scores = pipeline.score(items, self.measures)
        self._profiles[family] = layer_profile([item["layers"] for item in items])
        if family == ("" if self.families else self.own_families[0]):
            self._health = health.health_shares(items)
            health.say_health(self.spec.task, items, scores, self.measures)
        if family:
            self._own_scores[family] = scores
        else:
            self._scores = scores

    def dump_config(self) -> dict[str, Any]:
        """Add the signature and the counts to what the host writes of the task."""
        config: dict[str, Any] = super().dump_config()
        own: dict[str, Any] = {}
        if hasattr(self, "signature"):
            own["signature"] = self.signature.as_dict()
        if self._scores is not None or self._own_scores:
            own |= health.results_of(self._scores, self._health, self._own_scores, self._profiles)
        if self._representation:
            own["representation"] = self._representation
        if self._model:
            own["model"] = self._model
        config["metadata"] = {**(config.get("metadata") or {}), "sago": json_safe(own)}
        return config
