#!/bin/sh
# Memory runs full: put the job back while its last checkpoint is good, before it dies of it.
# Usage: requeue-before-full.sh NODE GPU
set -eu

node=$1
gpu=$2

nvidia-smi -i "$gpu" --query-compute-apps=pid,used_memory --format=csv
for job in $(squeue -h -w "$node" -o %i); do
    scontrol requeue "$job"
done
