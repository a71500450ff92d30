#!/bin/bash
# Takes a GPU out whose memory wants a reset, or has no spare rows left.
set -euo pipefail
rows=$(nvidia-smi --query-remapped-rows=gpu_bus_id,remapped_rows.pending,remapped_rows.failure \
    --format=csv,noheader) || { echo "UNKNOWN: no rows ($?)"; exit 3; }
while IFS=', ' read -r bus pending failed; do
    if (( pending > 0 )); then echo "CRITICAL: $bus waits for a reset"; exit 2; fi
    if (( failed > 0 )); then echo "CRITICAL: $bus has no spare rows"; exit 2; fi
done <<<"$rows"
echo "OK: $(wc -l <<<"$rows") GPUs"
