#!/bin/sh
# Unpack Debian's nvtop (component contrib) and the library it needs below a folder, without root and
# without touching the system's package state: get_nvtop.sh FOLDER. Prints the program's path.
#
# The mirror and the release are the system's own. Elsewhere than on Debian it fails, saying why.
set -eu
folder=${1:?usage: get_nvtop.sh FOLDER}
mkdir -p "$folder"
into=$(cd "$folder" && pwd)
program=$into/root/usr/bin/nvtop
if [ -x "$program" ]; then echo "$program"; exit 0; fi

. /etc/os-release
if [ "${ID:-}" != debian ]; then
    echo "get_nvtop.sh: this system is ${ID:-unknown}, not Debian; install nvtop by its own means" >&2
    exit 1
fi
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
    sed -n -e 's/^URIs: *\([^ ]*\/debian\/*\)\( .*\)\{0,1\}$/\1/p' \
           -e 's/^deb .*\(https\{0,1\}:[^ ]*\/debian\/*\) .*/\1/p' | head -n 1)
if [ -z "$mirror" ]; then
    echo "get_nvtop.sh: no Debian mirror in /etc/apt; expected 'URIs:' or a 'deb' line" >&2
    exit 1
fi

mkdir -p "$into/state/lists/partial" "$into/cache/archives/partial" "$into/download" "$into/root"
echo "deb $mirror $VERSION_CODENAME main contrib" > "$into/sources.list"
: > "$into/state/status"
private="-q -o Dir::Etc::sourcelist=$into/sources.list -o Dir::Etc::sourceparts=-
    -o Dir::State=$into/state -o Dir::State::status=$into/state/status -o Dir::Cache=$into/cache
    -o APT::Sandbox::User= -o Acquire::Languages=none"
# shellcheck disable=SC2086  # the options are words
{
    apt-get $private update
    cd "$into/download"
    apt-get $private download nvtop libncursesw6 libtinfo6
} >&2
for package in "$into"/download/*.deb; do
    dpkg-deb -x "$package" "$into/root"
done
echo "$program"
