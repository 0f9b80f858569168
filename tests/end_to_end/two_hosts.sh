#!/bin/bash
# Two "hosts" on one machine: network and host-name namespaces, joined by a pair of virtual interfaces. Needs root.
#
#     two_hosts.sh AGENT COMMAND...
#
# runs COMMAND on the host nodea (10.9.0.1) and writes to the file AGENT what a launcher can use in place of ssh:
# AGENT HOST COMMAND runs a command there, 10.9.0.2 being nodeb. Without namespaces it ends with exit code 77.
set -euo pipefail
if [ "${1:-}" != inside ]; then
    unshare --net --uts true 2>/dev/null || exit 77
    exec unshare --net --uts bash "$0" inside "$@"
fi
agent=$2
shift 2
hostname nodea
ip link set lo up
ip link add v0 type veth peer name v1 || exit 77
unshare --net --uts sleep 600 &
other=$!
trap 'kill $other' EXIT
# It is another namespace only once `unshare` has become `sleep`.
until [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
nsenter --target $other --uts hostname nodeb
ip link set v1 netns $other
ip address add 10.9.0.1/24 dev v0
ip link set v0 up
nsenter --target $other --net bash -c 'ip link set lo up; ip address add 10.9.0.2/24 dev v1; ip link set v1 up'
cat > "$agent" <<END
#!/bin/bash
while [[ \$1 == -* ]]; do shift; done
host=\$1
shift
case \$host in
    10.9.0.2 | nodeb) exec nsenter --target $other --net --uts -- bash -c "\$*" ;;
    *) exec bash -c "\$*" ;;
esac
END
chmod +x "$agent"
"$@"
