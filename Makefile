# Every target makes its own virtual environment and is safe to repeat.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STUB   := src/imtorque/_native.pyi
CXXFILES = $(wildcard native/*/*.?pp tests/native/*.cpp)
NATIVE := CMakeLists.txt pyproject.toml $(wildcard native/*/*)
PIP     = $(BIN)/python -m pip --quiet --disable-pip-version-check

.PHONY: demo explore test test-rest test-failed test-all test-torch test-napari test-installed coverage check names bench page docs site gallery \
    screenshots napari-screenshot sanitize fuzz wheels wheel-aarch64 wheel-windows sdist format stubs clean

demo: $(VENV)/ready
	$(BIN)/imtorque demo --out out/demo

explore: $(VENV)/test
	$(BIN)/imtorque explore sample:hopper

# The tests without a mark (pyproject.toml lists the marks), in under three minutes on two cores; each property is tried
# on fewer examples. test-rest: the marked ones, properties on all examples, and which twenty took longest.
# With CI=true what the tests reach is counted, which takes them a fifth longer.
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto
COUNTED := --cov=src/imtorque --cov-report=
test: $(VENV)/test
	HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-quick} $(PYTEST) $(if $(CI),$(COUNTED)) --doctest-modules src tests
	$(if $(CI),$(BIN)/coverage report --fail-under=90 --format=total)

test-rest: $(VENV)/test
	$(PYTEST) $(if $(CI),$(COUNTED) --cov-append) --durations=20 -m "browser or cluster or docs or bench or slow or hypothesis" tests reproduce

# Those that failed last, alone: a browser or a cluster that starved beside other tests passes here, a fault does not.
test-failed: $(VENV)/test
	$(BIN)/python -m pytest -m "" --last-failed --last-failed-no-failures none tests reproduce

test-all:
	$(MAKE) --no-print-directory CI=true test
	$(MAKE) --no-print-directory CI=true test-rest
	$(MAKE) --no-print-directory coverage

# The operators on tensors, in an environment of their own: torch brings 5 GB. only=--last-failed tries those again.
test-torch: .venv-torch/ready
	.venv-torch/bin/python -m pytest -n 2 -m "" $(only) --doctest-modules src/imtorque/torch tests/tensors \
	    "tests/test_examples.py::test_runs_and_has_its_image_in_the_gallery[plot_17_adjoint]" \
	    "tests/test_examples.py::test_runs_and_has_its_image_in_the_gallery[plot_18_torque_layer]"

# The public names and their signatures, in docs/public_names.txt.
names: $(VENV)/test
	$(BIN)/python docs/write_names.py docs/public_names.txt

# What test and test-rest after it reached.
coverage: $(VENV)/test
	$(BIN)/coverage report --fail-under=95 --format=total

check: $(VENV)/check build/_native.pyi
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/clang-format --dry-run --Werror $(CXXFILES)
	diff -u $(STUB) build/_native.pyi || { echo "the stub is not that of the kernels: make stubs"; exit 1; }
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/python docs/write_names.py build/public_names.txt
	diff -u docs/public_names.txt build/public_names.txt || { echo "public names have changed: say so in CHANGELOG.md, then make names"; exit 1; }
	@echo "code lines: src $$(cat $$(git ls-files 'src/*.py') | grep -cve '^\s*\(#.*\)\?$$'), native $$(cat native/*/* | grep -cve '^\s*\(//.*\)\?$$')"

format: $(VENV)/check
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i $(CXXFILES)

# The kernels' typed face, as they declare it; without what no type checker reads: ranks, order, device.
stubs: build/_native.pyi
	cp build/_native.pyi $(STUB)

build/_native.pyi: $(VENV)/check
	@mkdir -p build
	$(BIN)/python -m nanobind.stubgen --quiet -m imtorque._native -o $@.full
	sed -E 's/Annotated\[(NDArray\[numpy\.[a-z0-9_]+\]), dict\([^]]*\)\]/\1/g; s/Annotated, //' $@.full > $@
	$(BIN)/ruff format --quiet --config pyproject.toml --config format.skip-magic-trailing-comma=true --no-respect-gitignore $@

bench: $(VENV)/bench
	$(BIN)/python benchmarks/run.py

# The explorer as one file that needs no server, build/page/explorer.html: the kernels as WebAssembly. By Debian's
# emscripten and esbuild; where they are absent it is left out, and so it is from the site.
WASM_FLAGS := -std=c++17 -O3 -msimd128 -ffp-contract=off -fno-trapping-math -fno-math-errno -Wno-pass-failed -Inative
WASM_KERNELS := web/kernels.cpp $(wildcard native/core/*.cpp) $(addprefix native/edges/, \
    canny.cpp candidates.cpp gradient_rows.cpp hysteresis.cpp shape_forces.cpp suppress.cpp thresholds.cpp)
ifneq ($(and $(shell command -v em++),$(shell command -v esbuild)),)
page: build/page/explorer.html
else
page:
	@echo "make page: left out, for em++ or esbuild is missing (apt-get install emscripten esbuild)"
endif

build/page/%.o: %.cpp $(wildcard native/*/*.hpp)
	@mkdir -p $(@D)
	em++ $(WASM_FLAGS) -c $< -o $@

build/page/kernels.wasm: $(WASM_KERNELS:%.cpp=build/page/%.o)
	em++ -O3 -sSTANDALONE_WASM --no-entry -sALLOW_MEMORY_GROWTH=1 -sEXPORTED_FUNCTIONS=_malloc,_free $^ -o $@

build/page/explorer.html: build/page/kernels.wasm $(wildcard web/*.js web/*.py src/imtorque/explorer/page/*) | $(VENV)/test
	$(BIN)/python web/build.py $@

# The site, in build/docs/index.html; a warning is an error. Nothing is loaded from other sites.
docs: $(VENV)/docs page
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@! grep -rlE --include='*.html' 'src="https?://' build/docs || { echo "these pages load from other sites"; exit 1; }
	@echo "Look at: build/docs/index.html"

# The site of this version beside those of others, in build/site.
site: docs
	$(BIN)/python docs/publish.py build/docs build/site

gallery: $(VENV)/test
	$(BIN)/python docs/render_gallery.py

# The explorer's main states, in docs/explorer; needs chromium.
screenshots: $(VENV)/test
	$(BIN)/python docs/render_explorer.py

# The kernels under address and undefined-behaviour sanitizers, in an environment of their own; their threads under the
# thread sanitizer, which Python cannot run under.
sanitize: export ASAN_OPTIONS = detect_leaks=0
sanitize: .venv-sanitize/ready build/sanitize/parallel_program build/sanitize/kernel_program
	build/sanitize/parallel_program
	build/sanitize/kernel_program | diff tests/native/kernel_sums.txt -
	LD_PRELOAD="$(shell $(CXX) -print-file-name=libasan.so) $(shell $(CXX) -print-file-name=libstdc++.so.6)" \
	    .venv-sanitize/bin/python -m pytest -q -m "" -p no:cacheprovider @tests/native/kernel_tests.txt

build/sanitize/parallel_program: tests/native/parallel_program.cpp $(wildcard native/core/parallel.*)
	@mkdir -p build/sanitize
	$(CXX) -std=c++17 -O1 -g -DNO_FORK -fsanitize=thread -pthread -Inative $(filter %.cpp,$^) -o $@

# The plugin for napari, in an environment of its own, on a screen that is not there (Xvfb) where there is none.
SCREEN := $(if $(DISPLAY),,$(shell command -v xvfb-run > /dev/null && echo "xvfb-run -a -s '-screen 0 1400x900x24'"))
PLUGIN := plugins/napari-imtorque
test-napari: .venv-napari/ready
	cd $(PLUGIN) && $(SCREEN) ../../.venv-napari/bin/python -m pytest -q -p no:cacheprovider

napari-screenshot: .venv-napari/ready
	$(SCREEN) .venv-napari/bin/python $(PLUGIN)/render_napari.py docs/napari.png

# The tests against a wheel in an environment of its own, with the newest or the oldest dependencies we allow.
DEPENDENCIES ?= newest
INSTALLED := .venv-installed/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
test-installed:
	$(PYTHON) -m venv --clear .venv-installed
	$(INSTALLED)/python -m pip --quiet install uv
	$(INSTALLED)/python -m uv pip install --quiet --python $(INSTALLED)/python --group test . \
	    --resolution $(if $(filter oldest,$(DEPENDENCIES)),lowest-direct,highest)
	$(INSTALLED)/python wheels/smoke.py
	$(INSTALLED)/python -m pytest -q -n auto -m "not (bench or slow)" tests

sdist: .venv-wheels/ready
	.venv-wheels/bin/python -m build --sdist

# Damaged files for every reader, and requests to the explorer, for so many seconds; what is found lies in build/fuzz/found.
SECONDS ?= 60
fuzz: $(VENV)/test
	$(BIN)/python fuzz/run.py --seconds $(SECONDS)

# Wheels for the Pythons that are here, each tried alone, in build/wheels.
wheels: .venv-wheels/ready
	.venv-wheels/bin/python wheels/build.py

# Those for another processor and another system, by Debian's cross compilers, tried under emulation (CONTRIBUTING.md
# says what to install). Their Python files are those of the wheel made here.
wheel-aarch64: build/cross/calls.pickle
wheel-aarch64 wheel-windows: wheel-%: .venv-wheels/ready
	.venv-wheels/bin/python wheels/cross.py $*

# What the tests of kernels ask of them here, and what they get: an emulated processor must give the same bits.
build/cross/calls.pickle: $(VENV)/test tests/native/kernel_tests.txt $(wildcard wheels/*.py)
	@mkdir -p build/cross
	PYTHONPATH=wheels CALLS=$@ HYPOTHESIS_PROFILE=emulated \
	    $(BIN)/python -m pytest -q -m "" -p no:cacheprovider -p record @tests/native/kernel_tests.txt

# Kernels called by several threads at once, without Python.
build/sanitize/kernel_program: tests/native/kernel_program.cpp $(filter-out native/bindings/%,$(wildcard native/*/*.cpp))
	@mkdir -p build/sanitize
	$(CXX) -std=c++17 -O1 -g -ffp-contract=off -Wno-psabi -fsanitize=thread -pthread -Inative $^ -o $@

clean:
	rm -rf $(VENV) .venv-sanitize .venv-torch .venv-wheels .venv-installed .venv-napari build out

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade "pip>=25.1"
	$(PIP) install "scikit-build-core>=0.10" "nanobind>=2.4" cmake ninja

# Compiler warnings are errors here, so `make check` and `make test` see them.
$(VENV)/ready: $(BIN)/python $(NATIVE)
	$(PIP) install --no-build-isolation --editable . -C cmake.define.IMTORQUE_WERROR=ON
	@touch $@

$(VENV)/test $(VENV)/check $(VENV)/bench $(VENV)/docs: $(VENV)/%: $(VENV)/ready
	$(PIP) install --group $* --editable reproduce
	@touch $@

.venv-wheels/ready: pyproject.toml
	$(PYTHON) -m venv .venv-wheels
	.venv-wheels/bin/python -m pip --quiet install --upgrade "pip>=25.1"
	.venv-wheels/bin/python -m pip --quiet install --group wheels
	@touch $@

.venv-napari/ready: $(NATIVE) $(PLUGIN)/pyproject.toml
	$(PYTHON) -m venv .venv-napari
	.venv-napari/bin/python -m pip --quiet install --upgrade "pip>=25.1"
	.venv-napari/bin/python -m pip --quiet install "scikit-build-core>=0.10" "nanobind>=2.4" cmake ninja hatchling editables
	.venv-napari/bin/python -m pip --quiet install --no-build-isolation --editable ".[rois]" --editable $(PLUGIN)
	cd $(PLUGIN) && ../../.venv-napari/bin/python -m pip --quiet install --group test
	@touch $@

.venv-torch/ready: $(NATIVE)
	$(PYTHON) -m venv .venv-torch
	.venv-torch/bin/python -m pip --quiet install --upgrade "pip>=25.1"
	.venv-torch/bin/python -m pip --quiet install "scikit-build-core>=0.10" "nanobind>=2.4" cmake ninja
	.venv-torch/bin/python -m pip --quiet install --group torch
	.venv-torch/bin/python -m pip --quiet install --no-build-isolation --editable ".[torch]" -C build-dir=build/torch
	@touch $@

.venv-sanitize/ready: $(NATIVE)
	$(PYTHON) -m venv .venv-sanitize
	.venv-sanitize/bin/python -m pip --quiet install --upgrade "pip>=25.1"
	.venv-sanitize/bin/python -m pip --quiet install "scikit-build-core>=0.10" "nanobind>=2.4" cmake ninja
	.venv-sanitize/bin/python -m pip --quiet install --group test
	.venv-sanitize/bin/python -m pip --quiet install --no-build-isolation --editable . \
	    -C build-dir=build/sanitize -C cmake.build-type=Debug -C cmake.define.IMTORQUE_SANITIZE=ON
	@touch $@
