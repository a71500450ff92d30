#!/bin/bash
# A GPU asks for a reset: no new work, evidence, the job elsewhere, reset, back to work.
# Usage: drain-and-reset.sh NODE GPU
set -euo pipefail

node=$1
gpu=$2

scontrol update nodename="$node" state=drain reason="gpu$gpu needs a reset"

evidence=/tmp/evidence-$node-gpu$gpu
mkdir -p "$evidence"
dmesg -T > "$evidence/dmesg.txt"
nvidia-smi -q -i "$gpu" > "$evidence/nvidia-smi.txt" || true

for job in $(squeue -h -w "$node" -o %i); do
    scontrol requeue "$job"
done

# The node is drained when nothing runs on it any more.
for _ in $(seq 60); do
    state=$(sinfo -h -n "$node" -o %t)
    [ "$state" = drain ] && break
    sleep 10
done

# A reset in the middle of a burst of errors is wasted: wait until the log is quiet for a minute.
quiet_since=$(dmesg | wc -l)
while sleep 60; do
    lines=$(dmesg | wc -l)
    [ "$lines" -eq "$quiet_since" ] && break
    quiet_since=$lines
done

# The driver refuses while anybody has the GPU open: monitoring, or persistence.
trap 'systemctl start nvidia-dcgm dcgm-exporter' EXIT
systemctl stop dcgm-exporter nvidia-dcgm
nvidia-smi -i "$gpu" -pm 0
nvidia-smi -i "$gpu" -r
nvidia-smi -i "$gpu" -pm 1

if nvidia-smi -i "$gpu" --query-gpu=name --format=csv,noheader; then
    scontrol update nodename="$node" state=resume
else
    logger -t drain-and-reset "gpu$gpu of $node did not come back: it stays drained"
    exit 1
fi
