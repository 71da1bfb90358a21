# Works from a fresh clone with Python 3.11 to 3.13 (on Debian, apt for the browser of the tests).

PYTHON ?= python3
PORT ?= 8501
BIN := .venv/bin
# Compiled files are kept: tests start hundreds of processes.
TESTS := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest
# A file of tests at a time, in two processes; the rest in three, since its tests often wait for a browser or a server.
BY_FILE := --dist loadfile --no-loadscope-reorder

# All threads of a server share two of glibc's arenas: with one for each, what is freed is of little use to the others.
SERVE := MALLOC_ARENA_MAX=2 $(BIN)/streamlit run app.py --server.port $(PORT)

.PHONY: screenshots help run demo test check rest trust lint bench gpu-check docs clean

run: .venv/run.stamp  ## set everything up and serve the app
	$(SERVE)

demo: .venv/run.stamp  ## set everything up and serve a hosted demo, prepared: about two minutes before /ready says so
	BLINDSPOT_MODE=demo $(SERVE)

test: .venv/dev.stamp lint  ## lint, types and the first tier of tests: six minutes on two cores
	$(TESTS) -n 2 $(BY_FILE) --tier first

check: test rest  ## that and all other tests but the longest: half an hour

rest: .venv/dev.stamp  ## what check has beyond test: browser, servers, real data, whole-app matrices, hostile inputs
	@command -v chromium >/dev/null 2>&1 || bash .ci/install_chromium
	$(TESTS) -n 3 $(BY_FILE) --tier rest

trust: .venv/dev.stamp  ## the long tests: kills, crowds, simulations, a real server
	$(TESTS) --tier trust -rP

lint: .venv/dev.stamp  ## ruff, spelling and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/mypy --num-workers auto  # the package
	$(BIN)/mypy app.py pages

bench: .venv/run.stamp  ## measure how fast it is here
	$(BIN)/python -m blindspot bench

gpu-check:  ## check and measure the GPU of a machine that has torch and sentence-transformers (ARGS=--short)
	PYTHONPATH=core $(PYTHON) -m benchmarks.gpu_check $(ARGS)

docs: .venv/dev.stamp  ## build the documentation into site/
	$(BIN)/mkdocs build --quiet

screenshots: .venv/dev.stamp  ## take those of README and documentation anew, light and dark
	$(BIN)/python docs/screenshots.py

clean:  ## remove .venv and site
	rm -rf .venv site

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' Makefile | expand -t 14

.venv/made.stamp:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else f"Blindspot needs Python 3.11 to 3.13, {sys.executable} is {v[0]}.{v[1]}: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	$(PYTHON) -m venv .venv
	@touch $@

.venv/run.stamp: .venv/made.stamp requirements.txt constraints.txt pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -e .  # the command blindspot
	@touch $@

.venv/dev.stamp: .venv/run.stamp requirements-dev.txt requirements-backends.txt requirements-cluster.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@
