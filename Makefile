# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# demo: explain and replay the captures that are shipped. install: that, ns-3 and the kernel's lab. test: the checks, in a quarter
# of an hour from a bare machine. test-full: the long ones too.
.DELETE_ON_ERROR:
.PHONY: demo install install-core man wheel debs crates abi release site ns3 ns3-build ns3-test dev dev-python test test-full pages-test try core-build core-test core-sanitize reference rust-test rust-fuzz rust-bench \
  core-fuzz capture-build capture-replay capture-fuzz text-fuzz lab-guests bench lint lint-files fmt clean

# each name is in Debian 12 and in Debian 13
BUILD_PACKAGES := g++ cmake ninja-build libpcap-dev zlib1g-dev python3 python3-dev python3-venv
NS3_PACKAGES := libns3-dev ns3 libgsl-dev libsqlite3-dev libxml2-dev nlohmann-json3-dev
BENCH_PACKAGES := libbenchmark-dev tcpdump tcptrace tshark
# tcplearn lab: its machine, the compiler of the guest's kernel, and the library that the kernel's own tools load
LAB_PACKAGES := qemu-system-x86 gcc-12 make libelf-dev xz-utils
# tcplearn first-rto: compiler, loader and headers of its BPF program
BPF_PACKAGES := clang bpftool libbpf-dev
# iproute2 makes the emulated networks, which ping and curl try; chromium opens the reports; groff and mandoc read the manual pages
TEST_PACKAGES := iproute2 iputils-ping curl chromium libclang-rt-dev llvm pkg-config tshark shellcheck groff man-db mandoc hping3 traceroute tcptraceroute

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Python compiles what it imports, a small part of all; without this each process would compile it again.
unexport PYTHONDONTWRITEBYTECODE
PIP_INSTALL := $(BIN)/pip install -q --disable-pip-version-check --no-compile
NATIVE := $(shell find core/include core/src python/src/native -name '*.h' -o -name '*.hpp' -o -name '*.c' -o -name '*.cpp')
# A hash of these names: a file that is gone changes it.
names = $(firstword $(shell printf '%s\n' $(sort $(1)) | cksum))
# an editable installation knows the modules that there were: others, and it is done again
MODULES := build/.modules-$(call names,$(shell find python/src/tcplearn -name '*.py'))
FUZZ_SECONDS ?= 15
CLONES := $(BIN)/jscpd --config .jscpd.json
CLONES_RENAMED := $(CLONES) --ignore-identifiers --min-tokens 90

demo: $(BIN)/tcplearn
	@mkdir -p out
	$(BIN)/tcplearn explain examples/captures/requests.pcap.gz --report out/demo.html
	@echo
	@echo "Second, for those who study timers: which estimator would have predicted RTT and RTO best, on another capture."
	@echo "It does not say what to set; that is what explain is for."
	$(BIN)/tcplearn replay examples/captures/access-link.pcap.gz --report out/demo-replay.html

install: $(BIN)/tcplearn ns3 $(VENV)/.lab man

# where `man tcplearn-replay` finds them once $(BIN) is in PATH
MANDIR ?= $(VENV)/share/man
man: $(BIN)/tcplearn
	$(BIN)/python -m tcplearn.cli.man $(MANDIR)/man1

# libtcplearn: static, shared, headers, pkg-config and CMake files. Needs a C compiler and CMake alone.
PREFIX ?= /usr/local
install-core:
	cmake -S core -B build/core-install -DTCPLEARN_TESTS=OFF -DTCPLEARN_WERROR=OFF \
	  -DCMAKE_INSTALL_PREFIX="$(abspath $(PREFIX))" >/dev/null
	cmake --build build/core-install
	DESTDIR="$(DESTDIR)" cmake --install build/core-install >/dev/null
	@echo "libtcplearn: $(abspath $(PREFIX))"

# dist/: the source distribution, and made from it the wheel for this Python, with libpcap and what that loads inside
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
SDIST := dist/tcplearn-$(VERSION).tar.gz
WHEEL_BIN := build/wheel-env/bin
# of the same commit always the same bytes
wheel debs: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct)
wheel: build/wheel-env/.installed
	rm -rf build/wheels $(SDIST)
	$(WHEEL_BIN)/python -c 'from scikit_build_core.build import build_sdist; build_sdist("dist")' >/dev/null
	$(WHEEL_BIN)/pip wheel -q --disable-pip-version-check --no-cache-dir --no-deps --no-build-isolation -w build/wheels $(SDIST)
	PATH="$(abspath $(WHEEL_BIN)):$$PATH" $(WHEEL_BIN)/auditwheel repair -w dist build/wheels/*.whl
	@ls -l dist/*.whl $(SDIST)

# dist/: the crates of Rust, each compiled as its users get it
crates:
	packaging/crates

# wheels and packages of Debian 12 and 13, a list of what is in them, checksums; each is tried on bare Debian: see packaging/release
release:
	packaging/release

# the site in build/site/html/VERSION, of the pages of the repository; a link that leads nowhere is an error
site: build/site-env/.installed
	build/site-env/bin/python site/stage.py build/site/pages
	NO_MKDOCS_2_WARNING=1 build/site-env/bin/mkdocs build -q -f site/mkdocs.yml -d $(CURDIR)/build/site/html/$(VERSION)
	build/site-env/bin/python site/versions.py build/site/html
	@echo "the site is in build/site/html: python3 -m http.server -d build/site/html"

build/site-env/.installed: python/requirements-site.txt
	$(PYTHON) -m venv build/site-env
	build/site-env/bin/pip install -q --disable-pip-version-check -r $<
	@touch $@

# the functions and structs of the shared library against those in core/libtcplearn.abi, which are the last release's; ACCEPT=1
# stores today's in their place
abi:
	tools/system-packages abigail-tools cmake ninja-build g++
	cmake -S core -B build/abi -G Ninja -DCMAKE_BUILD_TYPE=Debug -DTCPLEARN_TESTS=OFF -DCMAKE_C_FLAGS=-ffile-prefix-map=$(CURDIR)=. >/dev/null
	ninja -C build/abi --quiet
	$(if $(ACCEPT),abidw --no-show-locs --no-comp-dir-path --no-corpus-path --headers-dir core/include/tcplearn \
	  --drop-private-types build/abi/libtcplearn.so >core/libtcplearn.abi)
	abidiff --no-added-syms core/libtcplearn.abi build/abi/libtcplearn.so

# with the packages that build it alone
build/wheel-env/.installed: python/requirements-wheel.txt
	tools/system-packages $(BUILD_PACKAGES) clang libbpf-dev
	$(PYTHON) -m venv build/wheel-env
	$(WHEEL_BIN)/pip install -q --disable-pip-version-check -r $<
	@touch $@

# dist/: Debian packages for this Debian. Needs no environment of Python; debian/rules makes one.
DEB_PACKAGES := build-essential clang cmake debhelper dh-dkms fakeroot libbpf-dev libpcap-dev ninja-build python3-dev python3-venv zlib1g-dev lintian
DEB_SOURCES := core examples experiments LICENSES linux ns3 packaging paths python/CMakeLists.txt python/requirements.txt python/src \
  pyproject.toml README.md vectors
DEB_TREE := build/debs/tcplearn-$(VERSION)
debs:
	tools/system-packages $(DEB_PACKAGES)
	rm -rf build/debs && mkdir -p $(DEB_TREE) dist
	tar -c --exclude=__pycache__ --exclude='*.so' --exclude=runs.parquet $(DEB_SOURCES) | tar -x -C $(DEB_TREE)
	cp -r packaging/debian $(DEB_TREE)/debian
	cp packaging/live/live.toml $(DEB_TREE)/debian/
	cp packaging/live/tcplearn-live.service $(DEB_TREE)/debian/tcplearn.tcplearn-live.service
	cd $(DEB_TREE) && dpkg-buildpackage --unsigned-source --unsigned-changes --build=binary
	lintian --allow-root --fail-on error,warning build/debs/*.deb
	mv build/debs/*.deb dist/
	@ls -l dist/*.deb

# `tcplearn simulate` builds it again by itself where a source has changed
ns3: build/ns3/.packages
	@test -f build/ns3/build.ninja || cmake -S ns3 -B build/ns3 -G Ninja >/dev/null
	@ninja -C build/ns3 --quiet tcplearn-ns3

build/ns3/.packages: Makefile
	tools/system-packages g++ cmake ninja-build $(NS3_PACKAGES)
	@mkdir -p $(@D)
	@touch $@

ns3-build: ns3
	@ninja -C build/ns3 --quiet

NS3_FILES := $(shell find core/include core/src ns3 vectors -type f) Makefile
NS3_PASSED := build/passed/ns3-test-$(call names,$(NS3_FILES))
ns3-test: $(NS3_PASSED)
$(NS3_PASSED): $(NS3_FILES) | ns3-build
	ctest --test-dir build/ns3 --output-on-failure --no-tests=error -j $(JOBS) $(call JUNIT,ns3)
	@mkdir -p $(@D) && touch $@

$(VENV)/.packages: python/requirements.txt
	tools/system-packages $(BUILD_PACKAGES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Python packages and the native part: a few minutes the first time"
	$(PIP_INSTALL) -r python/requirements.txt
	@touch $@

$(VENV)/.lab: $(VENV)/.packages Makefile
	tools/system-packages $(LAB_PACKAGES) $(BPF_PACKAGES)
	@touch $@

$(BIN)/tcplearn: $(VENV)/.packages pyproject.toml python/CMakeLists.txt core/CMakeLists.txt $(NATIVE) $(MODULES)
	$(PIP_INSTALL) --no-build-isolation --no-deps \
	  --config-settings=cmake.define.TCPLEARN_WERROR=ON -e .
	@touch $@

$(MODULES):
	@mkdir -p $(@D)
	@rm -f build/.modules-*
	@touch $@

dev: install $(VENV)/.dev

dev-python: $(BIN)/tcplearn $(VENV)/.lab $(VENV)/.dev man

$(VENV)/.dev: python/requirements-dev.txt $(VENV)/.packages Makefile | $(BIN)/tcplearn
	tools/system-packages $(TEST_PACKAGES) $(BENCH_PACKAGES)
	$(PIP_INSTALL) -r python/requirements-dev.txt
	@touch $@

# What needs no package but the compilers is built while the other packages are installed; then what is left is built,
# then it is checked: as many at a time as there are processors, each timed (tools/test-times). What one check builds no
# other builds: they run beside each other. Many tests wait for what they started, so pytest has two processes more.
JOBS := $(shell nproc)
PYTESTS = $$(($(JOBS) + 2))
TOGETHER := $(MAKE) --no-print-directory -j $(JOBS) --output-sync=target
JUNIT = --output-junit $(CURDIR)/build/times/$(1).xml
BUILDS := packages python-build core-build ns3-build dev-python capture-build
CHECKS := lab-guests reference lint core-sanitize core-test rust-test ns3-test capture-replay
.PHONY: packages python-build $(addprefix timed-,$(BUILDS) $(CHECKS))
$(addprefix timed-,$(BUILDS) $(CHECKS)): timed-%:
	@tools/timed $* $(MAKE) --no-print-directory $*
timed-ns3-build timed-capture-build: timed-packages
timed-dev-python: timed-packages timed-python-build

packages:
	@tools/system-packages $(BUILD_PACKAGES) $(NS3_PACKAGES) $(LAB_PACKAGES) $(BPF_PACKAGES) $(TEST_PACKAGES) $(BENCH_PACKAGES)
	@tools/cargo --version >/dev/null # of Debian, if there is none

python-build: $(BIN)/tcplearn

test:
	@rm -rf build/times
	@tools/timed build-packages tools/system-packages $(BUILD_PACKAGES)
	@$(TOGETHER) $(addprefix timed-,$(BUILDS))
	@$(TOGETHER) $(addprefix timed-,$(CHECKS))
	@tests=$$(tools/tests-to-run) || exit; code=0; \
	if [ -z "$$tests" ]; then echo "pytest: passed with these files (make test ALL=1 runs it all the same)"; \
	else tools/timed pytest $(BIN)/pytest -n $(PYTESTS) -rs -m "not full" --junitxml build/times/pytest.xml $$tests || code=$$?; fi; \
	if [ -n "$$tests" ] && [ $$code -le 1 ]; then tools/tests-to-run --passed; fi; \
	tools/test-times; exit $$code

test-full: export ALL := 1
test-full: test
	ctest --test-dir build/core --output-on-failure --no-tests=error -L reference -j $(JOBS)
	core/tests/run_portable.sh
	$(TOGETHER) core-fuzz capture-fuzz text-fuzz FUZZ_SECONDS=300 TEXT_FUZZ_SECONDS=60 FUZZ_SEED=0
	$(BIN)/pytest -n $(PYTESTS) -rs -m full --durations=30

# whole pages of experiments
pages-test: dev
	$(BIN)/pytest -n $(JOBS) -m pages

core-build:
	@cmake -S core -B build/core -G Ninja >/dev/null
	@cmake -S core -B build/core-sanitize -G Ninja -DTCPLEARN_SANITIZE=ON -DTCPLEARN_CHECK_RANGES=ON >/dev/null
	@cmake --build build/core >/dev/null
	@cmake --build build/core-sanitize >/dev/null

# A check that has passed is run again when what it was made of has changed: its stamp is in build/passed.
CORE_FILES := $(shell find core vectors examples docs/algorithms -type f)
CORE_NAMES := $(call names,$(CORE_FILES))
core-test: build/passed/core-test-$(CORE_NAMES)
build/passed/core-test-$(CORE_NAMES): $(CORE_FILES) Makefile | core-build
	ctest --test-dir build/core --output-on-failure --no-tests=error -LE reference -j $(JOBS) $(call JUNIT,core)
	@mkdir -p $(@D) && touch $@

core-sanitize: build/passed/core-sanitize-$(CORE_NAMES)
build/passed/core-sanitize-$(CORE_NAMES): $(CORE_FILES) Makefile | core-build
	ctest --test-dir build/core-sanitize --output-on-failure --no-tests=error -L fast -j $(JOBS) $(call JUNIT,core-sanitize)
	@mkdir -p $(@D) && touch $@

RUST_FILES := $(shell find rust core/include core/src vectors -type f -not -path 'rust/*/core/*')
RUST_PASSED := build/passed/rust-test-$(call names,$(RUST_FILES))
rust-test: $(RUST_PASSED)
$(RUST_PASSED): $(RUST_FILES) tools/cargo Makefile
	tools/cargo test -q --locked
	@mkdir -p $(@D) && touch $@

# hostile calls of the crate's retry timer; SEED=NUMBER repeats an input that was found
MINUTES ?= 1
rust-fuzz:
	FUZZ_MINUTES=$(MINUTES) $(if $(SEED),FUZZ_SEED=$(SEED)) tools/cargo test -q --locked --release -p tcplearn --test fuzz_retry -- \
	  --ignored --nocapture for_minutes

# what a request costs, also with other crates, which need Rust 1.92; its lock file names the version of tcplearn, which may be new
rust-bench:
	tools/cargo run -q --release --manifest-path bench/Cargo.toml

# The vectors are what the independent reference answers: a matter of these files alone, so that it runs where they are
# not those that it passed with (make test-full: always).
REFERENCE := $(sort $(shell find vectors -name '*.py' -o -name '*.csv') core/tools/exp_tables.py \
  $(shell find core/include -name '*_table*.h'))
reference: core-build
	@now=$$(sha256sum $(REFERENCE) | sha256sum | cut -d ' ' -f 1); \
	if [ "$$now" = "$$(cat vectors/reference.sha256)" ]; then echo "reference: passed with these files"; exit; fi; \
	ctest --test-dir build/core --output-on-failure --no-tests=error -L reference -j $(JOBS) $(call JUNIT,reference) && \
	  echo "$$now" >vectors/reference.sha256

# the guests of the lab and their modules, which its tests would otherwise wait for
lab-guests: dev-python
	$(BIN)/python -c 'from tcplearn.lab import machine; machine.prepare(machine.cache_folder(), programs=True)'

# one algorithm with its presets, of any kind, while it is written: make try E=median
TRY_TESTS := test_vectors test_algorithms test_properties test_loss test_resend test_startup test_first_rto list_algorithms
try: $(BIN)/tcplearn $(VENV)/.dev
	@test -n "$(E)" || { echo "make try E=ALGORITHM"; exit 2; }
	@cmake -S core -B build/core -G Ninja >/dev/null
	@cmake --build build/core --target $(TRY_TESTS)
	@kinds=$$(build/core/tests/list_algorithms | awk -v name=$(E) '{ sub("/.*", "", $$2) } $$2 == name { print $$1 }' | uniq); \
	test -n "$$kinds" || { echo "no algorithm is called $(E): has it a line in its list.h?"; exit 2; }; \
	for kind in $$kinds; do \
	  of=$$(echo $$kind | tr - _); \
	  case $$kind in \
	  estimator) $(PYTHON) -B vectors/gen/generate.py --check $(E) && build/core/tests/test_properties $(E) ;; \
	  *) $(PYTHON) -B vectors/gen/generate_$$of.py --check && build/core/tests/test_$$of ;; \
	  esac || exit; \
	done
	build/core/tests/test_vectors vectors $(E)
	build/core/tests/test_algorithms vectors
	core/tests/check_docs.sh . build/core/tests/list_algorithms $(E)
	$(BIN)/pytest -q python/tests/test_contract.py python/tests/test_vectors.py -k "$(E)"
	$(BIN)/clang-format --dry-run -Werror core/include/tcplearn/*/*.h
	$(BIN)/ruff check -q vectors/gen
	$(BIN)/ruff format -q --check vectors/gen
	@$(CLONES) core/include vectors/gen >build/try.clones 2>&1 || { cat build/try.clones; exit 1; }
	@$(CLONES_RENAMED) core/include vectors/gen >build/try.clones 2>&1 || { cat build/try.clones; exit 1; }

core-fuzz: dev
	core/tests/run_fuzz.sh $(FUZZ_SECONDS) build/core-fuzz

CAPTURE_SOURCES := $(wildcard python/src/native/capture/*.cpp python/src/native/explain/*.cpp)
CAPTURE_HEADERS := $(wildcard python/src/native/capture/*.h python/src/native/explain/*.h) python/src/native/columns.h
CAPTURE_FLAGS := -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -Icore/include
build/capture-fuzz/fuzz_capture: $(CAPTURE_SOURCES) $(CAPTURE_HEADERS) $(wildcard core/src/*)
	@tools/system-packages $(BUILD_PACKAGES) $(BPF_PACKAGES) $(TEST_PACKAGES)
	@mkdir -p $(@D)
	for file in $(wildcard core/src/*.c); do clang $(CAPTURE_FLAGS) -c $$file -o $(@D)/$$(basename $$file .c).o || exit 1; done
	printf '#include "%s"\n' $(abspath $(CAPTURE_SOURCES)) >$(@D)/all.cpp
	clang++ -std=c++17 $(CAPTURE_FLAGS) -fsanitize=fuzzer -Ipython/src/native $(@D)/all.cpp \
	  $(patsubst core/src/%.c,$(@D)/%.o,$(wildcard core/src/*.c)) -lpcap -lz -o $@

capture-build: build/capture-fuzz/fuzz_capture

# The corpus and a few seconds of a fixed seed: each packet reader under the sanitizers.
REPLAY_FILES := $(shell find python/tests -name "make_*.py" -o -name "wire*.py") Makefile
REPLAY_PASSED := build/passed/capture-replay-$(call names,$(REPLAY_FILES))
capture-replay: $(REPLAY_PASSED)
$(REPLAY_PASSED): build/capture-fuzz/fuzz_capture $(REPLAY_FILES)
	@rm -rf build/capture-fuzz/replayed && mkdir -p build/capture-fuzz/replayed build/capture-fuzz/seeds
	$(BIN)/python python/tests/traces/make_corpus.py build/capture-fuzz/seeds
	$< -runs=20000 -seed=1 -max_len=8192 -timeout=10 -verbosity=0 -artifact_prefix=build/capture-fuzz/ \
	  build/capture-fuzz/replayed build/capture-fuzz/seeds
	@mkdir -p $(@D) && touch $@

capture-fuzz: build/capture-fuzz/fuzz_capture
	@mkdir -p build/capture-fuzz/seeds build/capture-fuzz/corpus
	$(BIN)/python python/tests/traces/make_corpus.py build/capture-fuzz/seeds
	$< -max_total_time=$(FUZZ_SECONDS) -max_len=8192 -timeout=10 -verbosity=0 -print_final_stats=1 \
	  -artifact_prefix=build/capture-fuzz/ build/capture-fuzz/corpus build/capture-fuzz/seeds

# the readers that are in Python; each of them for so long
TEXT_FUZZ_SECONDS ?= 3
TEXT_FORMATS := csv flent kernel-log mlab numbers ping qlog ss any
# 0: another each time
FUZZ_SEED ?= 1
TEXT_FUZZERS := $(addprefix text-fuzz-,$(TEXT_FORMATS))
.PHONY: $(TEXT_FUZZERS)
text-fuzz: $(TEXT_FUZZERS)
$(TEXT_FUZZERS): text-fuzz-%: dev
	@rm -rf build/text-fuzz/seeds/$* && mkdir -p build/text-fuzz/corpus/$*
	$(BIN)/python python/tests/traces/fuzz_text.py $* --seeds build/text-fuzz/seeds/$*
	$(BIN)/python python/tests/traces/fuzz_text.py $* -max_total_time=$(TEXT_FUZZ_SECONDS) -seed=$(FUZZ_SEED) -max_len=8192 \
	  -timeout=10 -rss_limit_mb=2048 -verbosity=0 -print_final_stats=1 -artifact_prefix=build/text-fuzz/$*- \
	  build/text-fuzz/corpus/$* build/text-fuzz/seeds/$*

bench: dev
	$(BIN)/python bench/run.py $(BENCH)

# runs where a file of the repository is not what it passed with; always where there is no repository
lint: dev
	@git ls-files --error-unmatch Makefile >/dev/null 2>&1 || exec $(MAKE) --no-print-directory lint-files; \
	now=$$(git ls-files -co --exclude-standard -z | xargs -0 sha256sum 2>&1 | sha256sum); \
	if [ "$$now" = "$$(cat build/passed/lint 2>/dev/null)" ]; then echo "lint: passed with these files"; exit; fi; \
	$(MAKE) --no-print-directory lint-files && mkdir -p build/passed && echo "$$now" >build/passed/lint

lint-files: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --config pyproject.toml
	$(CLONES) .
	$(CLONES_RENAMED) .
	tools/check-lengths
	find core python/src/native examples ns3 -name '*.h' -o -name '*.hpp' -o -name '*.c' -o -name '*.cpp' -o -name '*.cc' | xargs $(BIN)/clang-format --dry-run -Werror
	shellcheck -x -P SCRIPTDIR tools/system-packages tools/cargo packaging/crates tools/timed tools/versions packaging/release packaging/trial/on-bare linux/lab/guest-init packaging/completions/tcplearn packaging/debian/tcplearn.p*[tm] $$(find . -name '*.sh' -not -path './$(VENV)/*' -not -path './build/*')

fmt: dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	find core python/src/native examples ns3 -name '*.h' -o -name '*.hpp' -o -name '*.c' -o -name '*.cpp' -o -name '*.cc' | xargs $(BIN)/clang-format -i

docs/images/answer.svg: $(BIN)/tcplearn # README's picture
	$(BIN)/tcplearn explain examples/captures/requests.pcap.gz -q --pictures out/pictures >/dev/null
	cp out/pictures/answer.svg $@

docs/images/live-day.png: $(BIN)/tcplearn # the picture of docs/live-guard.md
	@mkdir -p out
	$(BIN)/python python/tests/live/guard_trial.py report out/live-day.html
	chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --screenshot=$(abspath $@) --window-size=900,790 \
	  file://$(abspath out/live-day.html) 2>/dev/null

clean:
	rm -rf build out $(VENV)
