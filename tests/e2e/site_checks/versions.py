#!/usr/bin/env python3
"""Driver, library, toolkit, packages and kernel fit each other, and no GPU is missing."""

import re
import subprocess
import sys
from pathlib import Path


def said(line):
    done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


wrong = []
on_bus = said("lspci | grep -i nvidia | grep -ci 3d")
listed = said("nvidia-smi -L | grep -c UUID")
if on_bus != listed:
    wrong.append(f"{on_bus} GPUs on the bus, {listed} listed")
if said("systemctl is-active nvidia-fabricmanager") != "active":
    wrong.append("no fabric manager")
module = re.search(r"(\d+)\.\d+\.\d+", Path("/proc/driver/nvidia/version").read_text())
package = said("dpkg-query -W -f='${Version}' 'nvidia-utils-*'")
if module is None or not package.startswith(module[0]):
    wrong.append(f"package {package}")
highest = re.search(r"CUDA Version: ([\d.]+)", said("nvidia-smi"))
toolkit = re.search(r"release ([\d.]+)", said("nvcc --version"))
if highest and toolkit and float(toolkit[1]) > float(highest[1]):
    wrong.append(f"toolkit {toolkit[1]}")
kernel = Path("/proc/sys/kernel/osrelease").read_text().strip()
if said("uname -r") != kernel or kernel not in Path("/proc/version").read_text():
    wrong.append(f"kernel {kernel}")
if kernel not in said("dkms status"):
    wrong.append("no module for this kernel")
print("; ".join(wrong) or "fit")
sys.exit(bool(wrong))
