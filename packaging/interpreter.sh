#!/bin/sh
# Compile the interpreter of the tree for glibc 2.28, whatever this machine has: interpreter.sh SOURCES WORK OUT
#
# SOURCES is a directory with the files of sources.toml. The compiler is zig's, from the package ziglang of the Python
# in $PYTHON: it links against the symbols of the glibc that its target names.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sources=$(cd "$1" && pwd)
mkdir "$2"
work=$(cd "$2" && pwd)
out=$3
python=$(command -v "${PYTHON:-python3}")
jobs=$(nproc)
zig=$("$python" -m ziglang version)
grep -q "^ziglang==$zig " "$here/builders.lock" || { echo "interpreter: builders.lock does not have ziglang $zig" >&2; exit 1; }

unpacked() { # NAME: check and unpack a source; print its directory
  "$python" - "$here/sources.toml" "$sources" "$work" "$1" <<'END'
import hashlib, pathlib, sys, tarfile, tomllib
table, sources, work, name = sys.argv[1:]
source = tomllib.loads(pathlib.Path(table).read_text())[name]
file = pathlib.Path(sources, source["file"])
if hashlib.sha256(file.read_bytes()).hexdigest() != source["sha256"]:
    sys.exit(f"interpreter: {file} is not the file of sources.toml")
with tarfile.open(file) as archive:
    archive.extractall(work, filter="data")
    print(pathlib.Path(work, archive.getnames()[0].split("/")[0]))
END
}

mkdir "$work/bin" "$work/lib" "$work/include"
# OpenSSL keeps the name of its compiler and the flags in itself, so these have no path.
cat >"$work/bin/zig-cc" <<END
#!/bin/sh
exec "$python" -m ziglang cc -target x86_64-linux-gnu.2.28 -ffile-prefix-map="$work=/usr/src" "\$@"
END
cat >"$work/bin/zig-ar" <<END
#!/bin/sh
exec "$python" -m ziglang ar "\$@"
END
chmod +x "$work/bin/zig-cc" "$work/bin/zig-ar"
export PATH="$work/bin:$PATH" CC=zig-cc AR=zig-ar RANLIB=true CFLAGS="-O3 -g0 -fPIC" SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-0}"

cd "$(unpacked zlib)"
CHOST=x86_64 ./configure --static >/dev/null
make -s -j"$jobs" libz.a >/dev/null
cp libz.a "$work/lib"
cp zlib.h zconf.h "$work/include"

cd "$(unpacked bzip2)"
make -s libbz2.a CC="$CC" AR="$AR" RANLIB=true CFLAGS="$CFLAGS -D_FILE_OFFSET_BITS=64"
cp libbz2.a "$work/lib"
cp bzlib.h "$work/include"

cd "$(unpacked xz-utils)"
./configure --quiet --host=x86_64-linux-gnu --prefix="$work" --disable-shared --disable-xz --disable-xzdec \
  --disable-lzmadec --disable-lzmainfo --disable-lzma-links --disable-scripts --disable-doc --disable-nls
make -s -j"$jobs" install >/dev/null 2>&1

cd "$(unpacked openssl)" # certificates where Debian has them; the launcher names those of other distributions
./Configure linux-x86_64 no-shared no-tests no-apps no-docs no-module no-legacy no-engine \
  --prefix=/usr --openssldir=/etc/ssl >/dev/null
make -s -j"$jobs" build_libs >/dev/null 2>&1
cp libssl.a libcrypto.a "$work/lib"
cp -R include/openssl "$work/include"

cd "$(unpacked python)" # without what kraftops does not import, and what needs further libraries
sed -i 's/DATE __DATE__/DATE "Jan  1 2026"/; s/TIME __TIME__/TIME "00:00:00"/' Modules/getbuildinfo.c
export CPPFLAGS="-I$work/include" LDFLAGS="-L$work/lib -s"
export ZLIB_CFLAGS="-I$work/include" ZLIB_LIBS="-L$work/lib -lz" BZIP2_CFLAGS="-I$work/include" \
  BZIP2_LIBS="-L$work/lib -lbz2" LIBLZMA_CFLAGS="-I$work/include" LIBLZMA_LIBS="-L$work/lib -llzma"
for module in _ctypes _sqlite3 _tkinter _curses _curses_panel _dbm _gdbm _uuid readline; do
  export "py_cv_module_$module=n/a"
done
./configure --quiet --prefix=/usr/lib/kraftops --with-openssl="$work" --without-ensurepip --without-readline \
  --disable-test-modules
make -s -j"$jobs" >/dev/null 2>&1
make -s install DESTDIR="$work/installed" >/dev/null
mv "$work/installed/usr/lib/kraftops" "$out"
zig-cc -O3 -g0 -fPIC -shared -s -o "$out/lib/libcrc32c.so" "$here/crc32c.c"
mkdir "$out/licenses"
for licence in "$work"/*/LICENSE "$work"/*/LICENSE.txt "$work"/*/COPYING.0BSD; do
  if [ -f "$licence" ]; then cp "$licence" "$out/licenses/$(basename "$(dirname "$licence")")"; fi
done
# Without the path of this build, two builds have the same bytes; byte code is compiled from what is left.
find "$out" \( -name '_sysconfigdata*.py' -o -name Makefile \) -exec sed -i "s|$work|/usr/src|g" {} +
find "$out" -name __pycache__ -prune -exec rm -r {} +
