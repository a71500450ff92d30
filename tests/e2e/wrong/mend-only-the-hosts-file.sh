#!/bin/sh
# Mends the first thing that is wrong, and leaves before the second one shows. Usage: JOB
set -e
sed -i "s/^127\.0\.1\.1 n1\$/10.0.0.2 n1/" /etc/hosts
sleep 10
scontrol requeue 1001
