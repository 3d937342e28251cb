# `make` lists the targets. All that is installed goes into .venv.
.NOTPARALLEL:
.DEFAULT_GOAL := help
SHELL := /bin/sh

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input
# Says how far it is, as this takes a minute.
INSTALL := $(BIN)/python scripts/install.py
INSTALL_PIP := $(PIP) install --require-hashes -r requirements/installer.txt
# The project itself comes last: its dependencies are there by then, and so is what builds it.
INSTALL_SELF := $(PIP) install --no-deps --no-build-isolation --editable .
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header $(if $(UPGRADE),--upgrade)

# Tests start hundreds of commands: what Python compiled for one serves the next.
unexport PYTHONDONTWRITEBYTECODE

# Long runs may take their time; else a test that waits for ever fails.
PATIENT := --longest 0 -o faulthandler_timeout=0

WORKFLOWS := $(wildcard examples/workflows/.github/workflows/*.yml)
FORMS := $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))

# Folders with the laws of `make quick`; what is slow there is marked.
QUICK := tests/document tests/planning tests/guards tests/kinds tests/workspace tests/api tests/applying \
	tests/report tests/test_house.py tests/test_registries.py

# `KEEP=NAME`: what a target prints is kept in docs/evidence/NAME.md too.
keep = $(if $(KEEP),$(BIN)/python scripts/keep_evidence.py $(KEEP) --)

headline = @printf '\n== %s\n' "$(1)"

.PHONY: help demo quick test lint types floors static unit coverage image docs pages release sbom schemas lock bench conformance campaign \
	fuzz policies canary mutation recipes deletion compare format clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1: /p' Makefile | while IFS= read -r line; do \
		printf '  make %-11s %s\n' "$${line%%: *}" "$${line#*: }"; done

demo: $(VENV)/.runtime ## validate, plan, apply, drift and heal on a copy of examples/
	@$(BIN)/python scripts/demo.py

quick: $(VENV)/.dev ## in under a minute: the laws that a change of the code breaks first, few examples each
	@$(BIN)/pytest --quiet --numprocesses 2 -m 'not slow' --hypothesis-profile quick $(QUICK) $(PYTEST_ARGS)

test: lint types floors static unit ## all that must pass before a change goes in

lint: $(VENV)/.dev ## style of the Python code
	$(call headline,Lint: ruff)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(VENV)/.dev ## types of the Python code
	$(call headline,Types: mypy)
	@$(BIN)/mypy

floors: $(VENV)/.dev ## which part may import which
	$(call headline,Floors: import-linter)
	@$(BIN)/lint-imports

static: $(VENV)/.dev ## shell scripts, the action, the workflows, the issue forms and the Dockerfile
	$(call headline,Shell scripts: shellcheck)
	@$(BIN)/shellcheck .ci/run examples/workflows/pipeline.sh
	$(call headline,Action and workflows: their schemas and zizmor)
	@$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml
	@$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows $(WORKFLOWS)
	@$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms $(FORMS)
	@$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	@$(BIN)/zizmor --offline --no-progress --quiet --persona pedantic action.yml $(WORKFLOWS)
	$(call headline,Dockerfile: hadolint)
	@$(BIN)/hadolint Dockerfile

unit: $(VENV)/.dev ## the tests; PYTEST_ARGS are passed on
	$(call headline,Tests: pytest)
	@$(BIN)/pytest --numprocesses 3 $(PYTEST_ARGS)

coverage: $(VENV)/.dev ## the tests once more, for the branches that they take; takes half as long again
	@$(BIN)/pytest --numprocesses 3 --cov --cov-report term $(PYTEST_ARGS)

image: $(VENV)/.dev ## build and run the image, install hook and action; IMAGE_BUILDS=2 builds twice
	$(call headline,Image hook and action: as they are delivered)
	@IMAGE_BUILDS=$${IMAGE_BUILDS:-1} TRY_REPO=$${TRY_REPO-1} REAL_INSTALL=$${REAL_INSTALL-1} \
		$(BIN)/pytest --numprocesses 0 $(PATIENT) tests/delivery/test_image_build.py \
		tests/delivery/test_pre_commit.py tests/delivery/test_action.py

docs: $(VENV)/.dev ## build the site of docs/ into build/site, which asks no other host for anything
	@# With --quiet it would not be strict.
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo 'build/site: look at it with `python3 -m http.server -d build/site`'

pages: $(VENV)/.dev ## check every page of the site in a browser, for all readers; needs chromium, takes minutes
	@ALL_PAGES=1 $(BIN)/pytest --numprocesses 0 $(PATIENT) tests/delivery/test_docs_site.py

release: $(VENV)/.dev ## check what is released, a dry run; PUBLISH=1 tags and builds dist/; BASE, MISSING_IMAGE=1
	@$(BIN)/python scripts/release.py --base "$(BASE)" $(if $(PUBLISH),--publish) \
		$(if $(MISSING_IMAGE),--allow-missing-image)

sbom: $(VENV)/.dev ## write the bill of materials of the lock to build/sbom.json
	@mkdir -p build
	@$(BIN)/cyclonedx-py requirements --output-reproducible --pyproject pyproject.toml \
		--output-file build/sbom.json requirements/runtime.txt

schemas: $(VENV)/.runtime ## write schemas/, the pages that the program knows, and the command tree again
	@$(BIN)/python scripts/write_schemas.py
	@$(BIN)/python scripts/write_tree.py
	@$(BIN)/python scripts/write_openapi.py
	@$(BIN)/python scripts/write_reference.py
	@$(BIN)/python scripts/write_endpoints.py
	@$(BIN)/python scripts/write_pages.py

lock: ## lock the dependencies again, UPGRADE=1 to the newest; needs uv (pip install uv)
	@PATH="$$PWD/$(BIN):$$PATH"; command -v uv >/dev/null || \
		{ echo 'make lock needs uv: pip install uv' >&2; exit 1; }; set -ex; \
	$(LOCK) pyproject.toml -o requirements/runtime.txt; \
	$(LOCK) --group installer -o requirements/installer.txt; \
	$(LOCK) --group build -c requirements/runtime.txt -o requirements/build.txt; \
	$(LOCK) pyproject.toml --extra rules -c requirements/runtime.txt -o requirements/rules.txt; \
	$(LOCK) pyproject.toml --extra remote --extra rules -c requirements/runtime.txt \
		-o requirements/remote.txt; \
	$(LOCK) --group bench -o requirements/bench.txt; \
	$(LOCK) pyproject.toml --group dev -c requirements/runtime.txt -c requirements/build.txt \
		-o requirements/dev.txt

# Tools to measure ours beside, in a place of their own; a benchmark says which it had to leave out.
build/peers/.done: requirements/bench.txt requirements/installer.txt | $(BIN)/python
	@mkdir -p build
	@$(BIN)/python -m venv --clear build/peers
	@build/peers/bin/python -m pip --quiet --disable-pip-version-check --no-input install \
		--require-hashes -r requirements/bench.txt
	@touch $@

bench: $(VENV)/.dev ## measure, next to other tools; prints ratios, takes minutes; BENCH="peers small" KEEP=NAME
	@$(MAKE) --no-print-directory build/peers/.done || echo 'The peers could not be installed'
	@$(keep) $(BIN)/python -m benchmarks $(BENCH)

conformance: $(VENV)/.dev ## long run of generated requests against the emulator
	@CONFORMANCE_EXAMPLES=$${CONFORMANCE_EXAMPLES:-300} $(BIN)/pytest --numprocesses 2 $(PATIENT) \
		tests/emulator/test_emulated_schemathesis.py

campaign: $(VENV)/.dev ## kill, break, race and edit applies, for hours; CAMPAIGN="kill:1000 lost:500"
	@$(keep) $(BIN)/python tests/campaigns/run_campaigns.py $(CAMPAIGN)
	@ALL_SLIPS=1 $(BIN)/pytest -q tests/test_slips.py

fuzz: $(VENV)/.dev ## fuzz manifests and answers; FUZZ_INPUTS, FUZZ_SEED, FUZZ_SECONDS
	@PYTHONPATH=tests $(keep) $(BIN)/python tests/fuzz/campaign.py

policies: $(VENV)/.dev ## log policies: our evaluator against the emulator's matching; POLICY_CASES, POLICY_SEED
	@$(keep) $(BIN)/python tests/features/policy_samples/policy_campaign.py

canary: $(VENV)/.dev ## failing runs and hostile texts at length; CANARY_RUNS, FOREIGN_TEXTS
	@CANARY_RUNS=$${CANARY_RUNS:-1000} FOREIGN_TEXTS=$${FOREIGN_TEXTS:-1000000} \
		$(keep) $(BIN)/pytest --numprocesses 0 $(PATIENT) tests/security

mutation: $(VENV)/.dev ## break merge, planning, guards, journal, alerts and redaction on purpose; PART=journal
	@$(keep) $(BIN)/python scripts/run_mutation.py $(PART)

recipes: $(VENV)/.dev ## leave out each file of each task of CONTRIBUTING, and tell where no law notices; RECIPES="guard"
	@$(BIN)/python tests/recipes/leave_out.py $(RECIPES)

deletion: $(VENV)/.dev ## delete each feature in a copy, and show that the rest works; FEATURES="watch audit"
	@$(BIN)/python scripts/delete_features.py $(FEATURES)

compare: $(VENV)/.dev ## show that the work tree does what commit BASE did; COMPARE="--only 'codes: M1*'"
	@PYTHONPATH=tests $(BIN)/python scripts/compare_commits.py $(BASE) $(COMPARE)

# The YAML language server, for tests/editors; npm is a Debian package.
build/editors/.done: tests/editors/package.json tests/editors/package-lock.json
	@mkdir -p build/editors
	@cp tests/editors/package.json tests/editors/package-lock.json build/editors/
	@npm ci --prefix build/editors --ignore-scripts --no-audit --no-fund --silent
	@touch $@

format: $(VENV)/.dev ## put the Python code into its one form
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

clean: ## remove what the targets made
	rm -rf $(VENV) build dist mutants .coverage .coverage.* .hypothesis .import_linter_cache \
		.mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@for python in $(PYTHON) python3.14 python3.13 python3.12 python3.11; do \
		if "$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' \
			2>/dev/null; then \
			printf 'Making %s with %s\n' '$(VENV)' "$$("$$python" --version)"; \
			exec "$$python" -m venv $(VENV); \
		fi; \
	done; \
	echo 'Python 3.11 or newer, with venv, is needed: make PYTHON=/path/to/python' >&2; exit 1

$(VENV)/.runtime: requirements/runtime.txt requirements/build.txt requirements/installer.txt \
		pyproject.toml | $(BIN)/python
	@echo 'Installing reconciler and what it needs (once, about a minute): first the installer'
	@$(INSTALL_PIP)
	@$(INSTALL) --require-hashes -r requirements/runtime.txt -r requirements/build.txt
	@echo '  and reconciler itself'
	@$(INSTALL_SELF)
	@touch $@

$(VENV)/.dev: requirements/dev.txt requirements/installer.txt pyproject.toml | $(BIN)/python
	@echo 'Installing reconciler and the tools of its tests (once, minutes): first the installer'
	@$(INSTALL_PIP)
	@$(INSTALL) --no-compile --require-hashes -r requirements/dev.txt
	@echo '  and reconciler itself'
	@$(INSTALL_SELF)
	@touch $(VENV)/.runtime $@
