#!/bin/sh
# Kills whatever is on the GPUs, whosever it is.
nvidia-smi --query-compute-apps=pid --format=csv,noheader | xargs kill -9
