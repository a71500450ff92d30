#!/bin/sh
# Resets at once: the job is still on the GPU.
systemctl stop dcgm-exporter nvidia-dcgm
nvidia-smi -i "$2" -pm 0
nvidia-smi -i "$2" -r
systemctl start nvidia-dcgm dcgm-exporter
