# What only those who maintain the project call; the Makefile reads it.
# BENCH_ARGS=--quick  a minute, writes nothing;  --large also takes what lasts minutes each

.PHONY: pictures javascript links constraints bench formal

pictures: test-env ## take the README's picture anew, in a real browser
	NEUROVIZ_PICTURES=docs/pictures $(RUN) -m pytest tests/test_browser.py
javascript: ## build the scripts of panels and of the site anew (needs node)
	cd web && npm ci --no-audit --no-fund --ignore-scripts && npm run build
links: env ## write the repository's address (pyproject.toml) wherever else it stands
	$(RUN) -m tools.links
constraints: ## resolve the versions in constraints.txt anew (torch stays)
	$(PYTHON) -m tools.constraints
bench: test-env ## run all benchmarks and write their tables (beyond/benchmarks/README.md), some minutes
	cd beyond && OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 ../$(RUN) -m benchmarks $(BENCH_ARGS)
formal: ## check the proofs in beyond/formal/ with Coq (Debian: coq, libcoq-mathcomp-algebra)
	@mkdir -p build/formal && cp beyond/formal/*.v build/formal
	cd build/formal && for file in *.v; do coqc -q -w none $$file || exit 1; done
