#!/usr/bin/env bash
# Fuzzes the engine with libFuzzer: run.sh SECONDS. Needs a nightly toolchain, cargo-fuzz (`cargo install
# cargo-fuzz`), a C++ compiler and the project's virtual environment.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../../.. && pwd)
python=${PYTHON:-$root/.venv/bin/python}
PYTHONHOME=$("$python" -c 'import sys; print(sys.base_prefix)')
site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
libraries=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("LIBDIR"))')
mkdir -p corpus/scan
if [ -z "$(ls -A corpus/scan)" ]; then
  (cd "$root" && "$python" -m tests.helpers.engine.libfuzzer seeds "$OLDPWD/corpus/scan")
fi
mkdir -p target artifacts
cat >target/pyo3.txt <<END
implementation=CPython
version=3.11
shared=true
target_abi=CPython-abi3-3.11
lib_name=python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
lib_dir=$libraries
build_flags=
suppress_build_script_link_lines=false
END
PYO3_CONFIG_FILE=$PWD/target/pyo3.txt cargo +nightly fuzz build --sanitizer none --fuzz-dir . scan
export PYTHONHOME PYTHONPATH=$root:$root/core:$root/cli:$root/shell:$site LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
exec target/x86_64-unknown-linux-gnu/release/scan corpus/scan -artifact_prefix=artifacts/ -max_len=4096 \
  -timeout=10 -rss_limit_mb=2048 -max_total_time="${1:-60}" -print_final_stats=1 -use_value_profile=1
