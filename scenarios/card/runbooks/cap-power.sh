#!/bin/sh
# One GPU is too hot: draw less power until its cooling is mended. Usage: cap-power.sh GPU
set -eu

gpu=$1
watts=250

nvidia-smi -i "$gpu" --query-gpu=temperature.gpu,power.draw,clocks.sm --format=csv
nvidia-smi -i "$gpu" -pl "$watts"

# Give it time, then see whether it helped.
sleep 60
nvidia-smi -i "$gpu" --query-gpu=temperature.gpu,power.draw,clocks.sm --format=csv
logger -t cap-power "GPU $gpu is capped at $watts W: look at its heat sink"
