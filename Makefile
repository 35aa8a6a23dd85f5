# Two commands matter: `make run` and `make test`.  Both set up what they need in .venv first.
PYTHON ?= python3
VENV ?= .venv
FOLDER ?= sample_traces/matmul_tiled
BENCH ?=
JOBS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1))) # tests that wait for a process leave a processor to others
SEED ?= $(shell date +%s)
MINUTES ?= 40
FUZZ ?=
RAW ?=
PACKAGES ?= all
export QT_LOGGING_RULES ?= qt.qpa.*=false

.PHONY: run test test-real lint bench precision fuzz raw docs site packages man samples clean setup

run: ## open the viewer on FOLDER, a sample by default
	@bash packaging/setup.sh run
	@$(VENV)/bin/rcv "$(FOLDER)"

test: ## run the tests, without a display, in any order; JOBS=0: in one process, TESTS=…: some, SEED=…: that order
	@bash packaging/setup.sh test
	@QT_QPA_PLATFORM=offscreen $(VENV)/bin/python -m tests.support.limited $(MINUTES) \
		-n $(JOBS) --dist loadfile --no-loadscope-reorder --max-worker-restart 5 --order-seed $(SEED) $(TESTS)

test-real: ## run the tests on real captures, in RCV_SHARED or ../shared, which do not come with a clone
	@$(MAKE) --no-print-directory test TESTS=$(or $(TESTS),tests/real)

lint: ## check style and types
	@bash packaging/setup.sh test
	@$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check . && $(VENV)/bin/mypy

bench: ## measure against the budgets; BENCH=--full for the largest folder
	@bash packaging/setup.sh test
	@QT_QPA_PLATFORM=offscreen $(VENV)/bin/python -m bench $(BENCH)

fuzz: ## feed 1,000,000 mutated inputs to readers, formulas, filters, commands and calls; FUZZ="--seed 7"
	@bash packaging/setup.sh test
	@QT_QPA_PLATFORM=offscreen $(VENV)/bin/python -m tests.fuzz $(FUZZ)

raw: ## real captures to raw streams and back, and 400,000 damaged streams with indexes checked; RAW="--seed 7"
	@bash packaging/setup.sh test
	@$(VENV)/bin/python -m tests.real.formats.sqtt.round_trip
	@$(VENV)/bin/python -m tests.formats.sqtt.mangled --checked --family gfx9 $(RAW)
	@$(VENV)/bin/python -m tests.formats.sqtt.mangled --checked --family rdna $(RAW)

precision: ## measure attribution and predictions against the simulator's truth, as in docs/attribution.md and prediction.md
	@bash packaging/setup.sh test
	@$(VENV)/bin/python -m tests.support.attribution_truth $(NAMES)
	@[ -n "$(NAMES)" ] || [ ! -d "$${RCV_SHARED:-../shared}" ] || $(VENV)/bin/python -m tests.real.attribution_truth
	@$(VENV)/bin/python -m tests.support.prediction_truth $(PAIRS)

docs: ## write the references and the README's pictures again
	@bash packaging/setup.sh test
	@QT_QPA_PLATFORM=offscreen $(VENV)/bin/python packaging/reference.py --pictures

site: ## write the documentation as a site, build/site; a link that leads nowhere is an error
	@bash packaging/setup.sh test
	@$(VENV)/bin/python -m pip install -q --disable-pip-version-check -e '.[docs]'
	@$(VENV)/bin/python -m mkdocs build --quiet && echo build/site/index.html

packages: ## build what people install without Python, build/packages; PACKAGES=deb: that alone
	@test -x build/venv/bin/pyinstaller || { $(PYTHON) -m venv build/venv && \
		build/venv/bin/pip install -q --disable-pip-version-check '.[window,fast]' pyinstaller; }
	@build/venv/bin/python packaging/build.py $(PACKAGES)

man: ## write the manual page, build/man/rcv.1
	@bash packaging/setup.sh test
	@$(VENV)/bin/python packaging/man_page.py

SHIPPED = matmul_tiled pc_sampling placeholder
samples: ## write sample_traces again
	@bash packaging/setup.sh run
	@rm -rf $(addprefix sample_traces/,$(SHIPPED))
	@$(VENV)/bin/python -m rcv_py synth $(SHIPPED) --out sample_traces

setup:
	@bash packaging/setup.sh test

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis
