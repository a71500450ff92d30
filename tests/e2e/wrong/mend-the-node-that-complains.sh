#!/bin/sh
# Mends the node whose ranks complain, which is not the one whose hosts file is wrong. Usage: JOB
set -e
sed -i "/ $(hostname)\$/d" /etc/hosts
echo "$(ip -o -4 addr show scope global | awk '{sub("/.*", "", $4); print $4; exit}') $(hostname)" >> /etc/hosts
sed -i '/NCCL_SOCKET_IFNAME/d' /home/alice/train.env
sleep 10
scontrol requeue 1001
