# Needs python3 (3.11 or newer) and make, nothing else: `make report` and `make test` set up the rest
# in .venv. PYTHON=... names another interpreter, DUMP=... and OUT=... another dump and folder.

.DEFAULT_GOAL := help
.PHONY: locks docs guide successor installation resolution owner walks workflows help report serve test test-replay test-dask check architecture format bundle coverage browser screenshots bench score fuzz clean

DUMP ?= examples/transformer.tar.zst
OUT ?= report
WORKERS ?= 2
SECONDS ?= 60
TARGETS ?= $(notdir $(wildcard fuzz/corpus/*))
FOUND ?= .fuzz
ZENSICAL ?= 0.0.73
WALKED = tests/site tests/hostile tests/benchmarks tests/properties tests/packaging \
	tests/analysis/steps/test_steps_of_dumps.py \
	tests/records/test_stored_sketches.py tests/cli/test_terminal.py
BROWSED = $(addprefix tests/site/test_,$(addsuffix .py,browser real parts search reader compared single \
	embedded offline links words history texts code instructions partitioned timeline pictures scrolling))
export PYTHON
# Each process that a test starts would compile the package anew, three seconds of work.
unexport PYTHONDONTWRITEBYTECODE

# The slowest first: it takes as long as all others together.
CHECKS = $(addprefix check-,types frontend documents lint format floors)

VENV := .venv
RUN := $(VENV)/bin/
ENVIRONMENT := pyproject.toml scripts/environment scripts/fetch_pip.py

help:  ## Show this help
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1	\2/p' Makefile | expand -t 18

report: $(VENV)/.ready  ## Build the report of a real dump (examples/) and say which file to open
	@$(RUN)xlareport build "$(DUMP)" --out "$(OUT)"

serve: $(VENV)/.ready  ## Show that report on http://127.0.0.1:8000 and follow its changes
	@test -f "$(OUT)/mkdocs.yml" || $(RUN)xlareport build "$(DUMP)" --out "$(OUT)"
	@cd "$(OUT)" && "$(CURDIR)/$(RUN)mkdocs" serve

test: check browser  ## Check and test everything: sources, pages in a browser, the built wheel
	$(RUN)python scripts/frontend.py test
	$(RUN)pytest -n $(WORKERS) --dist loadfile

test-replay: $(VENV)/.ready-replay  ## Test what runs programs of a dump; needs jax, which it installs
	$(RUN)pytest tests/replay tests/cli/test_replay.py tests/test_captured_block.py

test-dask: $(VENV)/.ready-dask  ## Test reports by a cluster; installs Dask and a server of S3
	$(RUN)pytest tests/fleet

walks: browser  ## Walk whole reports in a browser, try all examples, install with pip: what `make test` spares
	XLAREPORT_LONG_WALKS=1 $(RUN)pytest -n $(WORKERS) --dist loadfile $(WALKED)

workflows: $(VENV)/.ready-test  ## Run the jobs of the workflows, the action and the recipes on this machine, step by step
	XLAREPORT_LONG_WALKS=1 $(RUN)pytest tests/workflows

successor: browser  ## Build sites of the tests with Zensical instead of MkDocs, and test them in a browser
	test -d build/zensical || $(RUN)python -m venv build/zensical
	build/zensical/bin/pip install --quiet 'zensical==$(ZENSICAL)'
	XLAREPORT_ZENSICAL=$(CURDIR)/build/zensical/bin/zensical $(RUN)pytest -n $(WORKERS) --dist loadfile $(BROWSED)

installation: $(VENV)/.ready-test  ## Install the wheel with uv for each of PYTHONS="python3.11 ..." and use it
	$(RUN)pip install --quiet uv
	$(RUN)python scripts/installation.py $(PYTHONS)

resolution: $(VENV)/.ready-test  ## Resolve the package for each platform from wheels, without installing it
	$(RUN)pip install --quiet uv
	$(RUN)python scripts/resolution.py

owner:  ## Put the public address of the repository everywhere: make owner OWNER=name
	@test -n "$(OWNER)" || { echo "make owner OWNER=name"; exit 2; }
	git grep -lw OWNER -- README.md pyproject.toml recipes site_src docs/site | xargs sed -i 's/\bOWNER\b/$(OWNER)/g'

check:  ## Lint, formatting, types and floors, several at a time
	@$(MAKE) --no-print-directory --keep-going --output-sync --jobs=$(WORKERS) $(CHECKS)

.PHONY: $(CHECKS)
$(CHECKS): $(VENV)/.ready-test
check-types:
	$(RUN)mypy
check-frontend:
	$(RUN)python scripts/frontend.py check
check-lint:
	$(RUN)ruff check
check-format:
	$(RUN)ruff format --check
check-floors:
	$(RUN)lint-imports
check-documents:
	$(RUN)python scripts/architecture.py --check
	$(RUN)python scripts/picture_style.py --check
	$(RUN)python scripts/findings_guide.py --check
	$(RUN)python scripts/report_schema.py --check

architecture: $(VENV)/.ready-test  ## Write docs/architecture.md anew from the code
	$(RUN)python scripts/architecture.py

guide: $(VENV)/.ready-test  ## Write the rules' sections of the guide to findings anew from their docstrings
	$(RUN)python scripts/findings_guide.py

schema: $(VENV)/.ready-test  ## Write report.schema.json anew from the records
	$(RUN)python scripts/report_schema.py

docs: $(VENV)/.ready  ## Build the documentation site, with live reports, into build/docs
	$(RUN)pip install --quiet '.[docs]'
	$(RUN)python scripts/documentation.py

locks: $(VENV)/.ready-test  ## Lock what the package and a release need, with hashes
	$(RUN)pip install --quiet uv
	$(RUN)uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 pyproject.toml -o requirements/runtime.txt
	$(RUN)uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 requirements/release.in -o requirements/release.txt

format: $(VENV)/.ready-test  ## Put the sources into the house's format
	$(RUN)ruff format
	$(RUN)ruff check --fix
	$(RUN)python scripts/frontend.py format

bundle: $(VENV)/.ready-test  ## Bring frontend/src into the scripts that the package ships
	$(RUN)python scripts/picture_style.py
	$(RUN)python scripts/frontend.py bundle

coverage: browser  ## Measure which lines of Python, and how much of the page scripts, the tests run
	rm -rf build/coverage build/script-coverage
	XLAREPORT_SCRIPT_COVERAGE=build/script-coverage $(RUN)coverage run -m pytest -n $(WORKERS) --dist loadfile
	$(RUN)python scripts/script_coverage.py build/script-coverage
	$(RUN)coverage combine --quiet
	$(RUN)coverage report

browser: $(VENV)/.ready-test  ## Install the browser that some tests drive (Debian, as root)
	@scripts/browser $(VENV)

screenshots: browser  ## Take the pictures of docs/tour.md and README.md anew
	@$(RUN)xlareport build examples/transformer.tar.zst --out build/screenshots --quiet
	@$(RUN)python scripts/screenshots.py build/screenshots/site docs/screenshots

bench: $(VENV)/.ready-test  ## Measure: one table for each benchmarks/bench_*.py
	@set -e; for script in benchmarks/bench_*.py; do $(RUN)python "$$script"; done

score: $(VENV)/.ready-test  ## Score what is guessed: one table for each benchmarks/score_*.py
	@set -e; for script in benchmarks/score_*.py; do $(RUN)python "$$script"; done
	@$(RUN)python benchmarks/publish.py

fuzz: $(VENV)/.ready-fuzz  ## Fuzz every parser for SECONDS=60 each, or TARGETS="hlo_text names"
	@set -e; for target in $(TARGETS); do \
		mkdir -p "$(FOUND)/$$target"; \
		PYTHONPATH=generator:fuzz $(RUN)python fuzz/run.py $$target -max_total_time=$(SECONDS) \
			-runs=1000000 -artifact_prefix="$(FOUND)/$$target/" "$(FOUND)/$$target"; \
	done

clean:  ## Remove the environment, the report and every cache
	rm -rf $(VENV) report site dist build .pytest_cache .mypy_cache .ruff_cache \
		.import_linter_cache .hypothesis .fuzz frontend/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.ready: $(ENVIRONMENT)
	@scripts/environment $(VENV)
	@touch $@

$(VENV)/.ready-fuzz: $(ENVIRONMENT)
	@scripts/environment $(VENV) fuzz
	@touch $@ $(VENV)/.ready

$(VENV)/.ready-replay: $(ENVIRONMENT)
	@scripts/environment $(VENV) test,replay
	@touch $@ $(VENV)/.ready $(VENV)/.ready-test

$(VENV)/.ready-dask: $(ENVIRONMENT)
	@scripts/environment $(VENV) test,dask,s3,store
	@touch $@ $(VENV)/.ready $(VENV)/.ready-test

$(VENV)/.ready-test: $(ENVIRONMENT)
	@scripts/environment $(VENV) test
	@touch $@ $(VENV)/.ready
