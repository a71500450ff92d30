#!/bin/bash
# Counts the links of NVIDIA's devices that run as wide and as fast as they can.
PATH=/sbin:/usr/sbin:/bin:/usr/bin
states=$(sudo lspci -vvv -d 10de: | grep LnkSta: | sort | uniq -c)
good=$(awk '/32GT\/s \(ok\), Width x16 \(ok\)/ {n += $1} END {print n + 0}' <<<"$states")
switches=$(awk '/16GT\/s \(ok\), Width x2 \(ok\)/ {n += $1} END {print n + 0}' <<<"$states")
echo "$good GPUs, $switches switches"
[ "$good" -eq 8 ] && [ "$switches" -eq 4 ]
