#!/bin/sh
# Every InfiniBand port is up at 400 Gb/s, and tools may send management datagrams.
read -r version </sys/class/infiniband_mad/abi_version || exit 3
[ "$version" -ge 5 ] || exit 3
bad=0
for port in /sys/class/infiniband/*/ports/*; do
    read -r number state <"$port/state"
    read -r rate rest <"$port/rate"
    if [ "$state" != ACTIVE ] || [ "$rate" != 400 ]; then
        device=${port#/sys/class/infiniband/}
        echo "${device%%/*}: $state at $rate"
        bad=1
    fi
done
exit $bad
