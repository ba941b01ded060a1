#!/bin/sh
# Debian packages that the tests use: installed when root on a Debian system, otherwise named when missing.
set -eu

# command:package
wanted='ip:iproute2 bwrap:bubblewrap chromium:chromium'

missing=''
for pair in $wanted; do
    command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair##*:}"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq
    # shellcheck disable=SC2086  # a list of package names
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
else
    echo "system-packages: not installed (tests that need them are skipped and say so):$missing" >&2
fi
