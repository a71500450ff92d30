#!/bin/bash
# A job's ranks do not come together. Mend what its log and this node's files say, one thing after
# the other, until it runs. Usage: mend-nccl-init.sh JOB, on a node of the job.
set -euo pipefail

job=$1
self=$(hostname)
log=$(ls -t /var/log/slurm-*.out | head -n 1)
id=${log##*slurm-}
id=${id%.out}

state() { scontrol show job "$id" | grep -o 'JobState=[A-Z_]*' | cut -d= -f2; }
owner() { scontrol show job "$id" | sed -n 's/.*UserId=\([a-z]*\).*/\1/p'; }
address() { ip -o -4 addr show up scope global | awk '{sub("/.*", "", $4); print $4; exit}'; }
interface() { ip -o -4 addr show up scope global | awk '{print $2; exit}'; }

# The node's own name has to lead to an address that others can reach.
mend_hosts() {
    case $(getent hosts "$self" || true) in
    127.* | ::1* | '')
        sed -i "/^127\..*[[:space:]]$self\$/d" /etc/hosts
        echo "$(address) $self" >> /etc/hosts
        logger -t mend-nccl-init "$self had no address of its own in /etc/hosts"
        ;;
    *) return 1 ;;
    esac
}

# NCCL has to be told an interface that is there.
mend_interface() {
    local settings wanted
    settings=/home/$(owner)/$job.env
    wanted=$(sed -n 's/^export NCCL_SOCKET_IFNAME=//p' "$settings")
    if [ -n "$wanted" ] && ! ip link show "$wanted" > /dev/null 2>&1; then
        sed -i "s/^export NCCL_SOCKET_IFNAME=.*/export NCCL_SOCKET_IFNAME=$(interface)/" "$settings"
        logger -t mend-nccl-init "$job was told $wanted, which is not there"
    else
        return 1
    fi
}

for _ in $(seq 20); do
    case $(state) in
    RUNNING)
        # It may only be on its way to the next failure.
        sleep 30
        [ "$(state)" = RUNNING ] && exit 0
        ;;
    PENDING) sleep 10 ;;
    *)
        if mend_hosts || mend_interface; then
            scontrol requeue "$id"
        else
            logger -t mend-nccl-init "$job fails for a reason that is not known here: see $log"
            exit 1
        fi
        ;;
    esac
done
exit 1
