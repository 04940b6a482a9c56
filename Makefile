# theorylab: `make book` and `make test` set up everything they need on a fresh clone.

PYTHON ?= $(shell command -v python3.11 || echo python3)
VENV   ?= .venv
BIN    := $(VENV)/bin
BUILD  := _build
WORKERS ?= 2

# A rerun: its run, its chapters (all if empty) and the folder of its records and site.
SCALE    ?= gpu
DEVICE   ?= cuda
SEED     ?= 0
CHAPTERS ?=
RUN      := $(SCALE)-$(subst :,,$(DEVICE))-seed$(SEED)
RERUN    := $(BUILD)/rerun-$(RUN)

SETUP   := $(VENV)/.package
SOURCES := $(shell find src -name '*.py' -o -name '*.csv' -o -name '*.json' | sort)
PAGES   := $(shell find chapters _ext benchmarks/results -type f -not -path '*/.*' -not -name '*.pyc' | sort) _config.yml _toc.yml
BOOKS   := $(wildcard chapters/*.ipynb)

# Tests compute every claim anew; the pages of the site find the records by themselves.
unexport THEORYLAB_RECORDS THEORYLAB_SCALE THEORYLAB_DEVICE THEORYLAB_SEED THEORYLAB_CHAPTERS

.PHONY: help setup book test unit notebooks site-test pdf serve execute rerun bench lint types clean

help:  ## What can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 14

setup: $(SETUP)  ## The virtual environment with pinned versions

$(VENV)/.requirements: requirements.txt
	$(PYTHON) -c 'import sys; assert sys.version_info[:2] == (3, 11), "theorylab needs Python 3.11; name one with make PYTHON=..."'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

$(SETUP): $(VENV)/.requirements pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

book: $(BUILD)/.book  ## Verify every claim, execute the notebooks, build the site
	@echo "The book is in $(BUILD)/html: open $(CURDIR)/$(BUILD)/html/index.html or run 'make serve'."

$(BUILD)/.book: $(SETUP) $(SOURCES) $(PAGES)
	$(BIN)/theorylab verify --resume --records $(BUILD)/records --workers $(WORKERS)
	$(BIN)/jupyter-book build -W -n --keep-going . || { rm -rf $(BUILD)/.doctrees; exit 1; }
	touch $@

test: unit notebooks  ## Unit tests, then every notebook compared cell by cell

unit: $(SETUP)  ## Unit tests
	$(BIN)/python -m pytest tests --ignore=tests/site

notebooks: $(SETUP)  ## nbval, strict, on all chapters
	$(BIN)/python -m pytest -p no:cacheprovider --nbval --nbval-cell-timeout=1800 $(BOOKS)

site-test: $(SETUP)  ## Drive the built site in a browser (needs Chromium and `make book`)
	$(BIN)/python -m pytest tests/site

pdf: book  ## The whole book as one PDF (needs Chromium)
	$(BIN)/python tools/print_book.py

serve: book  ## Serve the built site on http://localhost:8000
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory $(BUILD)/html 8000

execute: $(SETUP)  ## Execute all notebooks in place
	$(BIN)/python tools/execute.py $(BOOKS)

# A verdict that is not the expected one (status 1) is shown on the site; it does not stop it.
rerun: $(SETUP)  ## A site of another run: make rerun SCALE=gpu DEVICE=cuda [CHAPTERS=...] [SEED=...]
	$(BIN)/theorylab verify $(CHAPTERS) --records $(RERUN)/records --resume --workers $(WORKERS) || [ $$? -eq 1 ]
	$(BIN)/theorylab verify $(CHAPTERS) --records $(RERUN)/records --resume --workers $(WORKERS) \
	  --scale $(SCALE) --device $(DEVICE) --seed $(SEED) || [ $$? -eq 1 ]
	$(BIN)/theorylab compare $(RERUN)/records/ci-cpu-seed0 $(RERUN)/records/$(RUN) || [ $$? -eq 1 ]
	THEORYLAB_RECORDS=$(CURDIR)/$(RERUN)/records THEORYLAB_CHAPTERS="$(CHAPTERS)" \
	  THEORYLAB_SCALE=$(SCALE) THEORYLAB_DEVICE=$(DEVICE) THEORYLAB_SEED=$(SEED) \
	  $(BIN)/jupyter-book build -W -n --keep-going --path-output $(RERUN) .
	@echo "The rerun is in $(RERUN)/_build/html, compared with the book on its page 'Rerun it'."

bench: $(SETUP)  ## Benchmarks beside named peers (installs the peers)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r benchmarks/requirements.txt
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

lint: $(SETUP)  ## ruff and import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(SETUP)  ## pyright
	$(BIN)/pyright --pythonpath $(BIN)/python

clean:  ## Remove what was built, but not the environment
	rm -rf $(BUILD) .pytest_cache .ruff_cache .hypothesis .benchmarks
