#!/bin/sh
# Resets at once: the job is still on the GPU.
nvidia-smi -i "$2" -pm 0
nvidia-smi -i "$2" -r
