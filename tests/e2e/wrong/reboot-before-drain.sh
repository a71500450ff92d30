#!/bin/sh
# Reboots under the job.
sudo /sbin/shutdown -r now
