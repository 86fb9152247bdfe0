# The two commands of a fresh machine are `make verify` and `make test`; both set up .venv when it is missing or stale.
.DEFAULT_GOAL := help
.PHONY: help setup browser verify test test-pythons test-clients client-access plan-real what-if-real example coverage-tests sweeps bench-tests lint defects defects-on-classes fuzz fuzz-real golden real-broker broker-conf audit-real probe-real probe-rust behind-proxy client-habits proxy-stores replay-on-real replay-on-classes fresh-stores golden-schedules crash-sweep verdicts any-length any-number liveness coverage rules map properties protocol releases pages bench-broker bench-wire soak-wire soak-watch bench-explicit bench-large bench-huge bench-forgetting bench-liveness bench-portfolio bench-tlc bench-spark bench-guided bench-probabilities bench-audit bench-real-classes bench-sweep bench-what-if bench-what-if-exact arbitrary-traces cluster-kills format lock wheel clean tables bench-tables bench-filesystems filesystem-kills

BIN := .venv/bin
RELEASES ?= 4.3.2 4.5.1 4.7.1 4.9.7 5.0.0 5.1.4 5.3.3 5.4.0 5.5.0 5.5.1

# Spark's workers run this project's Python, and Spark listens to this machine only.
export PYSPARK_PYTHON := $(CURDIR)/$(BIN)/python
export PYSPARK_DRIVER_PYTHON := $(CURDIR)/$(BIN)/python
export SPARK_LOCAL_IP ?= 127.0.0.1

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## build .venv from requirements.lock (nothing to do when it is up to date)
	@setup/install.sh

browser: setup ## put the browser in which the tests open the report into .venv (CHROMIUM=PATH for another one)
	@$(BIN)/python setup/install_browser.py

verify: setup ## the main job: search, cross-check, audit, lockstep, mutants, simulate, judge; writes report/index.html
	@$(BIN)/halfcheck verify

# The tests start many processes; what one of them has compiled to bytecode, the others find. In a fresh clone, one collects
# the tests before three do, each of which would compile all of it.
test coverage-tests sweeps bench-tests: export PYTHONDONTWRITEBYTECODE :=
test coverage-tests sweeps bench-tests: export PYTHONPYCACHEPREFIX := $(CURDIR)/build/bytecode
test: setup ## all tests but the sweeps on some processes, beside them all linters and the fetching of the browser; each can fail it
	@mkdir -p build; \
	collected=$(PYTHONPYCACHEPREFIX)$(CURDIR)/tests; \
	$(MAKE) --no-print-directory browser & fetching=$$!; \
	{ $(MAKE) --no-print-directory lint > build/lint.log 2>&1 || { cat build/lint.log >&2; false; }; } & linting=$$!; \
	[ -d $$collected ] || $(BIN)/pytest --collect-only -qq > build/collected.log; \
	$(BIN)/pytest -n 4; tested=$$?; wait $$fetching && wait $$linting && exit $$tested

test-pythons: setup ## the quick part of the tests on the oldest and the newest Python that is promised, which uv brings where they are missing
	@$(BIN)/python -m tests.pythons

coverage-tests: browser ## the tests of `make test` once more, with branch coverage shown; takes twice as long and more
	$(BIN)/pytest -n 3 --cov --cov-branch --cov-report=term-missing:skip-covered

sweeps: export HALFCHECK_COMPILE := well
sweeps: browser ## the large forms of what `make test` asks of a small part: whole instances, many edits, deep searches (ARGS=FILE)
	$(BIN)/pytest -n 3 -m sweep $(ARGS)

bench-tests: browser ## the processor seconds of each test file; writes benchmarks/tests/RESULTS.md and the order of `make test`
	$(BIN)/python -m benchmarks.tests $(ARGS)

lint: setup ## formatting, lint, types and the import rules between folders
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

defects: setup ## search for the known defects and play them again; writes docs/generated/defects.md (ARGS=B01 for one of them)
	$(BIN)/python -m fuzz.defects $(ARGS)
	$(BIN)/python -m model_check.defects $(ARGS)

defects-on-classes: setup ## ask RocketMQ's own classes for the known defects; writes docs/generated/defects.md (ARGS=B01 for one of them; wants Maven)
	@$(BIN)/python -m fuzz.defects.on_classes $(ARGS)

fuzz: setup ## 5,000 schedules of specification and broker a profile, every state of a small instance, the mutants
	@for profile in 4.5.1 4.9.7 5.3.3 5.4.0 5.5.0 5.5.1; do \
	    $(BIN)/halfcheck fuzz --profile $$profile --examples 5000 --steps 100 --visit-all --out build/fuzz || exit $$?; \
	done
	@$(BIN)/halfcheck fuzz --mutants

fuzz-real: setup ## RocketMQ's own classes of RELEASES beside specification and broker (ARGS="--examples 5000 --steps 150"; wants Maven)
	@for release in $(RELEASES); do $(BIN)/halfcheck fuzz --real $$release --out build/fuzz $(ARGS) || exit $$?; done

golden: setup ## hold the reference broker against every golden store, byte by byte (ARGS=5.3.3/ten for one)
	@$(BIN)/python -m conformance.golden $(ARGS)

real-broker: setup ## lead a real broker through a scenario and keep its store (VERSION=5.5.0 SCENARIO=late, ARGS="--set k=v"; wants Maven)
	@$(BIN)/python -m real_brokers.rocketmq $(VERSION) $(SCENARIO) $(ARGS)

broker-conf: setup ## have 5,000 generated broker.conf files read by java.util.Properties and by MixAll of real releases, and compare; writes benchmarks/broker_conf/RESULTS.md (ARGS="FILES SEED"; wants Maven)
	@$(BIN)/python -m real_brokers.broker_conf $(ARGS)

replay-on-classes: setup ## play the counterexamples on RocketMQ's own classes; writes docs/generated/on-real-classes.md (wants Maven)
	@$(BIN)/python -m halfcheck.verdicts.on_real_classes

fresh-stores: setup ## lead real brokers of 5.5.0 and 5.5.1 through all scenarios, and audit each store; an hour (ARGS="5.4.0" for another; wants Maven)
	@$(BIN)/python -m benchmarks.real_stores $(ARGS)

test-clients: setup ## lead real Java, Go and gRPC clients through a scenario against our broker (ARGS="java-4.9.7 go grpc-node", ARGS=--real against real ones and a real proxy; wants Maven, Go, npm and cargo)
	@$(BIN)/python -m tests.wire.clients $(ARGS)

example: setup ## carry out the README of the example project (docs/example/order_service), in a fresh environment with the wheel (wants Maven and Go)
	@$(BIN)/python -m tests.example

audit-real: setup ## audit real brokers over the network and offline at the same moments, and hold what is foretold; writes docs/generated/audited-brokers.md (ARGS="5.3.3 late", "5.5.1 two_masters" or rocketmq-rust; wants Maven, and cargo)
	@$(BIN)/python -m real_brokers.audit $(ARGS)

what-if-real: setup ## lead real brokers under a workload, simulate the same, and hold each measure in its interval; writes docs/generated/how-often-on-real-brokers.md (ARGS="5.3.3 kills", ARGS=advice for what sweeps advise, ARGS=--kept for the runs that are kept; wants Maven)
	@$(BIN)/python -m real_brokers.what_if $(ARGS)

probe-real: setup ## start a real broker and probe it (VERSION=5.3.3, ARGS="--scenario immune --profile 5.3.3+heeds_settled_originals"; wants Maven)
	@$(BIN)/python -m real_brokers.probe $(VERSION) $(ARGS)

probe-rust: setup ## build rocketmq-rust, probe it, and stage what it does differently; writes docs/generated/rust-broker.md (ARGS="--scenario kill"; wants cargo)
	@$(BIN)/python -m real_brokers.rocketmq_rust $(ARGS)

client-access: setup ## read messages from real brokers of 4.9.7 and 5.3.3 with access control and TLS, and be refused by them (ARGS="5.5.0" for another; wants Maven)
	@$(BIN)/python -m real_brokers.access $(ARGS)

plan-real: setup ## plan for halves of real brokers of 5.3.3 and 5.5.1, send it, and break each guarantee that it may break; writes docs/generated/plans-on-real-brokers.md (ARGS="5.4.0" for another; wants Maven)
	@$(BIN)/python -m real_brokers.plan $(ARGS)

behind-proxy: setup ## look for defects with real clients behind a real proxy; writes docs/generated/behind-a-proxy.md (ARGS=restarted_proxy for one; wants Maven)
	@$(BIN)/python -m real_brokers.proxy $(ARGS)

client-habits: setup ## lead clients through what they break by themselves; writes docs/generated/clients.md (ARGS="grpc-node --habit sends_again"; wants Maven, Go, npm, cargo)
	@$(BIN)/python -m real_brokers.habits $(ARGS)

proxy-stores: setup ## lead a client before a real proxy, say the same to ours, and compare the stores (ARGS=--kept for those that are kept; wants Maven)
	@$(BIN)/python -m real_brokers.proxy.stores $(ARGS)

replay-on-real: setup ## play the counterexamples on the real brokers; writes docs/generated/on-real-brokers.md (ARGS="--release 5.3.3"; wants Maven)
	@$(BIN)/python -m real_brokers.probe.replay $(ARGS)

golden-schedules: setup ## extract the schedule files of the golden stores anew out of the stores and their logs
	@$(BIN)/python -m conformance.golden --schedules $(ARGS)

crash-sweep: setup ## crash each walk-through at every write, by process, torn and by power (ARGS="five-outcomes --seed 7")
	@$(BIN)/python -m tests.seeds.crash_sweep $(ARGS)

verdicts: setup ## search all that the table of verdicts speaks of, and compare (ARGS=--update writes it and docs/generated/verdicts.md anew)
	@$(BIN)/halfcheck verdicts $(ARGS)

any-length: setup ## every state compared with what forgetting makes of it, with each fault; writes docs/generated/any-length.md
	@$(BIN)/python -m model_check.any_length

any-number: setup ## each step of many transactions compared with one among others, its verdicts, what a solver proves; writes docs/generated/any-number.md; an hour
	@$(BIN)/python -m model_check.any_number.worlds
	@$(BIN)/python -m model_check.verdicts.among_others
	@$(BIN)/python -m model_check.any_number.obligations
	@$(BIN)/python -m model_check.any_number.unbounded.proofs

liveness: setup ## what must happen in the end, in each version and some environments; writes docs/generated/liveness.md
	@$(BIN)/python -m model_check.liveness.page

coverage: setup ## which rules of the specification no version needs in any environment; writes docs/generated/coverage.md
	$(BIN)/halfcheck coverage --page docs/generated/coverage.md $(ARGS)

rules: setup ## which functions model each Java method, and which implement it; writes docs/generated/rules.md
	@$(BIN)/python -m conformance.rules_page

map: setup ## what is in each package, out of their docstrings; writes docs/map.md
	@$(BIN)/python -m docs.map

tables: setup ## the tables that others may query, and ten questions; writes docs/tables.md
	@$(BIN)/python -m docs.tables

properties: setup ## the guarantees and their clauses; writes docs/properties.md
	@$(BIN)/python -m docs.properties

protocol: setup ## compile the gRPC protocol's .proto files into the descriptors that halfcheck broker reads
	@$(BIN)/python -m wire.proxy.protocol

releases: setup ## which releases of RocketMQ changed what a rule or a defect speaks of (ARGS=5.5.2 for a new one; wants Maven)
	@$(BIN)/python -m conformance.release_gate $(ARGS)
	@$(if $(ARGS),,$(BIN)/python -m real_brokers.habits.releases)

pages: rules map properties tables coverage defects any-length any-number liveness ## all generated pages of docs/, with the searches that they take
	@$(BIN)/halfcheck verdicts --update

bench-explicit: export PYTHONDONTWRITEBYTECODE :=
bench-explicit: export PYTHONPYCACHEPREFIX := $(CURDIR)/build/bytecode
bench-explicit: setup ## run the explicit search beside Stateright and TLC; writes benchmarks/explicit/RESULTS.md (ARGS="--before FOLDER" for another checkout in turn)
	$(BIN)/python -m benchmarks.explicit $(ARGS)

bench-large: setup ## search an instance of 50 million states and more, one thread and two (ARGS="5 INSTANCE PROFILE FAULTS")
	$(BIN)/python -m benchmarks.explicit.large $(ARGS)

bench-huge: setup ## one search from end to end, then killed half way and resumed (ARGS="INSTANCE PROFILE FAULTS")
	$(BIN)/python -m benchmarks.explicit.huge $(ARGS)

bench-forgetting: setup ## what forgetting costs; writes benchmarks/explicit/RESULTS_FORGETTING.md (ARGS=ROUNDS)
	$(BIN)/python -m benchmarks.explicit.forgetting $(ARGS)

bench-liveness: setup ## what it takes to decide what must happen in the end; writes benchmarks/liveness/RESULTS.md (ARGS=REPEATS)
	$(BIN)/python -m benchmarks.liveness $(ARGS)

bench-portfolio: setup ## hold what 150 drawn profiles are said to give against larger instances; goes on where it was stopped; writes benchmarks/portfolio/RESULTS.md (ARGS="PROFILES SEED")
	@nice $(BIN)/python -m benchmarks.portfolio $(ARGS)

bench-tlc: setup ## let TLC search exported instances, one of them above a million states, beside the compiled search
	$(BIN)/python -m benchmarks.tlc

bench-broker: setup ## transactions and check rounds of the reference broker on files; writes benchmarks/broker/RESULTS.md
	$(BIN)/python -m benchmarks.broker $(ARGS)

bench-what-if: setup ## transactions a minute that a simulation of traffic takes, beside the broker alone; writes benchmarks/what_if/RESULTS.md (ARGS="REPEATS TRANSACTIONS --python NAME=PATH")
	$(BIN)/python -m benchmarks.what_if $(ARGS)

bench-what-if-exact: setup ## simulated traffic of ten worlds held against their Markov chains; writes benchmarks/what_if/exact/RESULTS.md (ARGS=RUNS)
	$(BIN)/python -m benchmarks.what_if.exact $(ARGS)

bench-sweep: setup ## seconds that a sweep of 60 points takes, and the same one with its worker and driver killed; writes benchmarks/what_if/sweep/RESULTS.md (ARGS=TRANSACTIONS)
	$(BIN)/python -m benchmarks.what_if.sweep $(ARGS)

bench-wire: setup ## transactions a second through a broker on the wire, by Java clients and by a generator; writes benchmarks/wire/RESULTS.md (ARGS=SECONDS, ARGS=grpc for gRPC clients; wants Maven)
	$(BIN)/python -m benchmarks.wire $(ARGS)

soak-wire: setup ## an hour of Java clients against a broker on the wire, and whether it grew; writes benchmarks/wire/SOAK.md (ARGS="MINUTES RATE PROFILE", ARGS=grpc for gRPC clients; wants Maven)
	$(BIN)/python -m benchmarks.wire.soak $(ARGS)

soak-watch: setup ## watch a real broker beside its Java load for an hour; writes benchmarks/watch/RESULTS.md (ARGS="MINUTES RATE RELEASE"; wants Maven, and prometheus to be read)
	@$(BIN)/python -m benchmarks.watch $(ARGS)

bench-spark: setup ## 1, 2, 4, 8 and 10 million traces from nothing to the report; writes benchmarks/spark/RESULTS.md and WORLDS.md (ARGS="TRACES ..." or worlds)
	$(BIN)/python -m benchmarks.spark $(ARGS)

bench-tables: setup ## 1, 10 and 100 million tiny traces written as tables, and what a thousand million would take; writes benchmarks/tables/RESULTS.md (ARGS="TRACES ...")
	$(BIN)/python -m benchmarks.tables $(ARGS)

bench-filesystems: setup ## the pipeline on a folder, an S3 server and HDFS side by side; writes benchmarks/filesystems/RESULTS.md (ARGS="REPETITIONS TRACES MEGABYTES"; wants Maven)
	$(BIN)/python -m benchmarks.filesystems $(ARGS)

filesystem-kills: setup ## drivers, workers and servers killed at random moments on S3 and HDFS; writes benchmarks/filesystems/KILLS.md (ARGS="SEED KILLS"; wants Maven)
	@$(BIN)/python -m benchmarks.filesystems.kills $(ARGS)

bench-guided: setup ## what guided walks meet against weighted ones, and what their intervals hold; writes benchmarks/guided/RESULTS.md (ARGS="SEEDS REPETITIONS")
	$(BIN)/python -m benchmarks.guided $(ARGS)

bench-probabilities: setup ## exact probabilities of ten worlds against Storm and walks, rare ones against split walks; writes benchmarks/probabilities/RESULTS.md and RARE.md (ARGS="WALKS"; wants PyPI once)
	$(BIN)/python -m benchmarks.probabilities $(ARGS)
	$(BIN)/python -m benchmarks.probabilities.rare

bench-audit: export PYTHONDONTWRITEBYTECODE :=
bench-audit: export PYTHONPYCACHEPREFIX := $(CURDIR)/build/bytecode
bench-real-classes: setup ## steps a second of the lockstep with RocketMQ's own classes; writes benchmarks/real_classes/RESULTS.md (ARGS=SCHEDULES; wants Maven)
	$(BIN)/python -m benchmarks.real_classes $(ARGS)

bench-audit: setup ## audit stores of 1, 2 and 4 GB on two cores; writes benchmarks/audit/RESULTS.md (ARGS="4" for one; ARGS="running" for running brokers, which wants Maven)
	$(BIN)/python -m benchmarks.audit $(ARGS)

arbitrary-traces: setup ## judge arbitrary event sequences both ways, and compare (ARGS="SEQUENCES SEED")
	@$(BIN)/python -m tests.spark_trace_analysis.arbitrary_traces $(ARGS)

cluster-kills: setup ## simulate, analyze and audit on a Spark cluster, executors, workers and drivers killed; writes benchmarks/spark/KILLS.md (ARGS=SEED)
	@$(BIN)/python -m tests.spark_trace_analysis.cluster.cluster_kills $(ARGS)

format: setup ## rewrite the sources in the house format, with the safe lint fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: setup ## resolve pyproject.toml anew into requirements.lock (ARGS=--upgrade for newer versions)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --extra dev \
	    --no-header --no-emit-index-url --no-emit-find-links --output-file requirements.lock $(ARGS) pyproject.toml

wheel: setup ## build build/dist/halfcheck-VERSION-py3-none-any.whl, with the stores of real brokers in it (DIST=DIR for elsewhere)
	@rm -rf build/lib build/bdist.*
	@$(BIN)/uv build --quiet --offline --wheel --no-build-isolation --python $(BIN)/python --out-dir $(or $(DIST),build/dist) .

clean: ## remove .venv, the report and every cache
	rm -rf docs/example/order_service/build docs/example/order_service/java/target docs/example/order_service/go/go.sum control_clients/java/target
	rm -rf .venv build report .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
