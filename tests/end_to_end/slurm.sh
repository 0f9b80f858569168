#!/bin/bash
# Slurm with two nodes, nodea and nodeb, on one machine of which nothing changes: Debian's packages in an overlay of its root,
# that only this script and its processes see. Needs root.
#
#     slurm.sh FOLDER SHARED...
#
# FOLDER has the packages in `deb` (`slurm.sh packages` lists their names) and gets `ready` once both nodes wait for jobs. Then
# the process slurm-nodea is on the node where users log in. SHARED are folders that jobs see and change as they are. The
# nodes have separate networks, names, processes, shared memory and /tmp. All of it ends with this script, however it ends.
set -euo pipefail
# pivot_root is here, but a user's PATH may lack it.
PATH=$PATH:/usr/sbin:/sbin
packages=(slurmctld slurmd slurm-client munge libmunge2 slurm-wlm-basic-plugins libhwloc15 liblua5.1-0 libpmix2
    libevent-core-2.1-7 libevent-pthreads-2.1-7)
if [ "${1:-}" = packages ]; then
    echo "${packages[@]}"
    exit
fi
if [ "${1:-}" != inside ]; then
    # Whoever has started this may be killed.
    exec setpriv --pdeathsig KILL \
        unshare --net --uts --ipc --mount --pid --fork --kill-child --mount-proc bash "$0" inside "$@"
fi
folder=$2
shift 2

# The machine's own files are the lower layer, changes are in memory.
mkdir -p "$folder/tree"
mount -t tmpfs tmpfs "$folder/tree"
cd "$folder/tree"
mkdir up work root
mount -t overlay overlay -o "lowerdir=/,upperdir=$PWD/up,workdir=$PWD/work" root
for package in "$folder"/deb/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar --extract --keep-directory-symlink --directory root
done
# First, because shared folders may be below it.
mount -t tmpfs tmpfs root/tmp
for shared in "$folder" "$@"; do
    mkdir -p "root$shared"
    mount --bind "$shared" "root$shared"
done
mkdir -p root/{proc,dev,sys,old} root/run/munge root/var/{log,lib}/munge root/var/spool/{slurmctld,slurmd} root/var/log/slurm \
    root/etc/munge root/etc/slurm
mount --rbind /dev root/dev
mount --rbind /sys root/sys
mount -t proc proc root/proc
mount -t tmpfs tmpfs root/dev/shm
cd root
pivot_root . old
cd /
umount --lazy /old

# nodeb: a process that buries the dead, until all of this ends.
hostname nodea
ip link set lo up
unshare --net --uts --ipc --mount --pid --fork --kill-child --mount-proc bash -c '
    hostname nodeb
    ip link set lo up
    # Steps and MPIs have files of the same names on each node.
    mkdir /run/own
    for own in /dev/shm /var/spool/slurmd /run/own; do mount -t tmpfs tmpfs $own; done
    for shared; do
        case $shared in /tmp/*)
            mkdir -p "/run/own${shared#/tmp}"
            mount --bind "$shared" "/run/own${shared#/tmp}" ;;
        esac
    done
    mount --rbind /run/own /tmp
    touch /run/nodeb
    exec -a slurm-nodeb bash -c "sleep infinity & wait"' nodeb "$folder" "$@" &
until [ -e /run/nodeb ]; do
    kill -0 $!
    sleep 0.02
done
nodeb=$(tr -d ' ' < /proc/$!/task/$!/children)
on_nodeb() {
    nsenter --target "$nodeb" --net --uts --ipc --mount --pid -- "$@"
}
# Slurm wants addresses that are not those of the loopback interface.
ip link add link0 type veth peer name link0 netns "$nodeb"
ip address add 10.9.0.1/24 dev link0
ip link set link0 up
on_nodeb ip address add 10.9.0.2/24 dev link0
on_nodeb ip link set link0 up
# Ranks that start before take the loopback interface for the network.
for node in env on_nodeb; do
    until [[ $($node ip -brief link show link0) = *' UP '* ]] && [ -z "$($node ip address show tentative)" ]; do
        sleep 0.02
    done
done
printf '127.0.0.1 localhost\n10.9.0.1 nodea\n10.9.0.2 nodeb\n' > /etc/hosts

# The packages' own scripts would do this. Debian calls the programs slurmd-wlm and so on, and gives libpmix a folder where
# Slurm's plugin does not look.
for program in slurmctld slurmd slurmstepd; do
    ln -sf $program-wlm /usr/sbin/$program
done
for library in /usr/lib/*/pmix2/lib/libpmix.so.2.*; do
    ln -sf "${library##*/}" "${library%/*}/libpmix.so"
    ln -sf "$library" "${library%/pmix2/*}/libpmix.so"
done
head -c 1024 /dev/urandom > /etc/munge/munge.key
chmod 400 /etc/munge/munge.key
chmod 700 /etc/munge /var/log/munge
chmod 711 /var/lib/munge
chmod 755 /run /run/munge /var /etc /
printf 'CgroupPlugin=cgroup/v1\nConstrainCores=no\n' > /etc/slurm/cgroup.conf
# MpiDefault is Slurm's default.
cat > /etc/slurm/slurm.conf <<END
ClusterName=trial
SlurmctldHost=nodea
SlurmUser=root
AuthType=auth/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.%n.pid
SlurmdSpoolDir=/var/spool/slurmd
StateSaveLocation=/var/spool/slurmctld
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/%n.log
NodeName=nodea,nodeb CPUs=2 State=UNKNOWN
PartitionName=all Nodes=nodea,nodeb Default=YES MaxTime=INFINITE State=UP
END
munged --force
until [ -S /run/munge/munge.socket.2 ]; do sleep 0.05; done
slurmctld
slurmd
on_nodeb slurmd
for _ in {1..300}; do
    if [ "$(sinfo --noheader --format %T 2>/dev/null || true)" = idle ]; then
        touch "$folder/ready"
        # The script becomes the first process, which buries the dead.
        exec -a slurm-nodea bash -c 'sleep infinity & wait'
    fi
    sleep 0.1
done
echo 'the nodes were never ready:' >&2
sinfo >&2 || true
tail -n 20 /var/log/slurm/*.log >&2
exit 1
