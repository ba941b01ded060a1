#!/bin/sh
# Builds a real Ollama for the tests, outside the tree, and prints the path of its binary.
# Cached and keyed by version: a second run only prints. docs/ollama.md says what the tests do with it.
set -eu

version=0.17.4
# Brings miniaudio.h, which Ollama's llama.cpp includes and which neither Ollama nor Debian ships.
malgo=github.com/gen2brain/malgo@v0.11.24

cache="${REFLEXION_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/reflexion}/ollama-$version"
binary="$cache/ollama"

say() {
    echo "install-ollama: $*" >&2
}

fail() {
    say "$*"
    exit 1
}

if [ -x "$binary" ]; then
    echo "$binary"
    exit 0
fi

command -v go >/dev/null 2>&1 || fail "no Go toolchain: install Go 1.24 or newer and run this again"
command -v "${CC:-gcc}" >/dev/null 2>&1 || fail "no C compiler (${CC:-gcc}): install gcc, or name yours in CC"
command -v "${CXX:-g++}" >/dev/null 2>&1 || fail "no C++ compiler (${CXX:-g++}): install g++, or name yours in CXX"

# header:package
missing=''
for pair in nlohmann/json.hpp:nlohmann-json3-dev stb/stb_image.h:libstb-dev; do
    echo "#include <${pair%%:*}>" | "${CXX:-g++}" -E -x c++ - >/dev/null 2>&1 || missing="$missing ${pair##*:}"
done
if [ -n "$missing" ]; then
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
        fail "headers missing: install the packages that Debian calls$missing, and run this again"
    fi
    say "installing the headers$missing"
    apt-get update -qq >&2
    # shellcheck disable=SC2086  # a list of package names
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
fi

mkdir -p "$cache"
# Inside the cache folder, so that the last step is a rename on one file system.
build="$(mktemp -d "$cache/build.XXXXXX")"
trap 'rm -rf "$build"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# What a user has set for his own Go work must not steer this build: a vendor flag or another target would end it.
unset GOOS GOARCH
export GOFLAGS=-mod=mod GOWORK=off CGO_ENABLED=1 GOBIN="$build/bin"

cd "$build"
go mod download "$malgo"
# The same path every time: it is part of the flags, and Go builds all of it again when they change.
mkdir -p "$cache/include/miniaudio"
cp -f "$(go env GOMODCACHE)/$malgo/miniaudio.h" "$build/miniaudio.h"
mv -f "$build/miniaudio.h" "$cache/include/miniaudio/miniaudio.h"

# Without -march=native the result is ten times slower.
flags="-O3 -march=native -I$cache/include"
say "building Ollama $version; this takes minutes"
CGO_CFLAGS="$flags" CGO_CXXFLAGS="$flags" go install \
    "-ldflags=-X=github.com/ollama/ollama/version.Version=$version" "github.com/ollama/ollama@v$version" \
    >"$build/log" 2>&1 || {
    tail -n 40 "$build/log" >&2
    fail "the build failed; its last lines are above"
}

mv -f "$build/bin/ollama" "$binary"
echo "$binary"
