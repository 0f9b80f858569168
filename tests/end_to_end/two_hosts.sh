#!/bin/bash
# Two "hosts" on one machine, nodea (10.9.0.1) and nodeb (10.9.0.2), joined by a pair of virtual
# interfaces, called link0 on both. Needs root.
#
#     two_hosts.sh FOLDER COMMAND...
#
# runs COMMAND on nodea. Each host has its own network, name, processes and shared memory, and sees only
# the messages of the other on the link; files are shared, as on a cluster. With SHARE_MEMORY=1 they have only separate networks
# and names. FOLDER gets `agent`, which a launcher can use in place of ssh. Without namespaces, it ends with exit code 77.
#
# All of it is in a namespace of processes that ends with this script, however it ends: with its first process the kernel
# ends all others, and what they were in, interfaces and mounts, goes with them.
set -euo pipefail
here=$(realpath "$0")
if [ "${1:-}" != inside ]; then
    unshare --net --uts --ipc --pid --fork --mount true 2>/dev/null || exit 77
    # Whoever has started this may be killed.
    exec setpriv --pdeathsig KILL unshare --pid --fork --kill-child --mount-proc bash "$here" inside "$@"
fi
folder=$2
shift 2

isolated=(--pid --fork --kill-child --ipc --mount-proc)
[ -z "${SHARE_MEMORY:-}" ] || isolated=()

# Starts a host, and sets `host` to its first process, which is called host-NAME, does nothing but bury the dead, and is at
# work once there is the file NAME.
start_host() {
    local name=$1
    unshare --net --uts --mount "${isolated[@]}" bash -c "
        hostname $name
        # Nobody else can have its addresses, and to ask for them takes two seconds.
        echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad
        ip link set lo up
        mount -t sysfs sysfs /sys
        ${isolated:+mount -t tmpfs tmpfs /dev/shm}
        touch '$folder/$name'
        exec -a host-$name bash -c 'sleep infinity & wait'" &
    until [ -e "$folder/$name" ]; do
        kill -0 $! || exit 77
        sleep 0.02
    done
    host=$!
    [ ${#isolated[@]} = 0 ] || host=$(tr -d ' ' < /proc/$host/task/$host/children)
}

# The rest of its words on a host, in the folder that this is in.
on() {
    local spaces=(--net --uts --mount)
    [ ${#isolated[@]} = 0 ] || spaces+=(--ipc --pid)
    nsenter --target "$1" "${spaces[@]}" -- bash -c 'cd "$0" && exec "$@"' "$PWD" "${@:2}"
}

start_host nodea
nodea=$host
start_host nodeb
nodeb=$host
# With one name on both, so that an MPI can be configured to use it.
ip link add link0 netns "$nodea" type veth peer name link0 netns "$nodeb" || exit 77
on "$nodea" ip address add 10.9.0.1/24 dev link0
on "$nodea" ip link set link0 up
on "$nodeb" ip address add 10.9.0.2/24 dev link0
on "$nodeb" ip link set link0 up
# An MPI that starts before an interface or one of its addresses can be used takes another, and fails.
for host in "$nodea" "$nodeb"; do
    until [[ $(on "$host" ip -brief link show link0) = *' UP '* ]] && [ -z "$(on "$host" ip address show tentative)" ]; do
        sleep 0.05
    done
done

cat > "$folder/agent" <<END
#!/bin/bash
exec python3 '${here%/*}/agent.py' "\$@"
END
chmod +x "$folder/agent"
on "$nodeb" python3 "${here%/*}/agent.py" serve 10.9.0.2 "$folder/serves" &
until [ -e "$folder/serves" ]; do sleep 0.02; done
code=0
on "$nodea" "$@" || code=$?

[ ${#isolated[@]} != 0 ] || exit $code

# Processes that still run on a host, except for its own and zombies. A process that waits for a message needs time to end: a
# connection retries after pauses that double, after ten seconds of silence another ten.
rest() {
    on "$1" ps -A -o stat=,args= | grep -v -e '^Z' -e ' host-node' -e ' sleep infinity$' -e 'agent.py serve' -e ' ps -A' || true
}
for _ in {1..600}; do
    left=$(rest "$nodea"; rest "$nodeb")
    [ -n "$left" ] || exit $code
    sleep 0.1
done
echo "still running: $left" >&2
exit 78
