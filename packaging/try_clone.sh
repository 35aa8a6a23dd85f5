#!/usr/bin/env bash
# Try the README's two commands on a clone of this checkout, in a Debian with python3, make and git and nothing else.
# Usage, as root on Debian or Ubuntu:
#     try_clone.sh [SUITE]       bookworm, trixie (the default), forky, …
# It prints what each command took in time, disk and system packages, and fails if one of them does.
# Needs debootstrap.  The bare Debian is kept in build/bare for the next time, and beside it the last trial.
set -euo pipefail
cd "$(dirname "$0")/.."
suite=${1:-trixie}
bare=$PWD/build/bare/$suite
die() { echo "try_clone: $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || die "run it as root: it enters another file system"
if [ -z "${RCV_IN_NAMESPACE:-}" ]; then # mounts and processes go with the namespace, however this ends
    RCV_IN_NAMESPACE=1 exec unshare --mount --pid --fork --kill-child bash "$0" "$suite"
fi

if [ ! -e "$bare/rcv-ready" ]; then
    command -v debootstrap >/dev/null || die "debootstrap is missing: apt-get install debootstrap"
    rm -rf "$bare"
    mkdir -p "$bare"
    echo "making a bare Debian $suite"
    debootstrap --variant=minbase "$suite" "$bare" "${RCV_MIRROR:-http://deb.debian.org/debian}" >/dev/null
    touch "$bare/rcv-ready"
fi

root=$PWD/build/bare/with-clone
rm -rf --one-file-system "$root"
cp -a "$bare" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
# How this machine reaches the network: resolver, proxies, and certificates of its own.
for file in /etc/resolv.conf /etc/hosts /etc/apt/apt.conf.d/*prox*; do
    [ ! -e "$file" ] || cp -L "$file" "$root$file"
done
network=()
while IFS= read -r name; do network+=("$name=${!name}"); done < <(compgen -e | grep -xiE 'https?_proxy|no_proxy')
if [ -e "${PIP_CERT:-${SSL_CERT_FILE:-}}" ]; then
    cp -L "${PIP_CERT:-$SSL_CERT_FILE}" "$root/etc/network-certificates.crt"
    network+=(PIP_CERT=/etc/network-certificates.crt)
fi
there() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/home LANG=C.UTF-8 "${network[@]}" "$@"; }

there apt-get -qq update
there env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3 make git >/dev/null
git clone -q . "$root/opt/rcv" # a clone, and nothing beside it

packages() { there dpkg-query --show --showformat '${Package}\n' | sort; }
before=$(packages)
for command in "make run" "make test"; do
    begin=$SECONDS
    there bash -c "cd /opt/rcv && $command" || die "'$command' failed on $suite with $(there python3 -V)"
    after=$(packages)
    added=$(comm -13 <(echo "$before") <(echo "$after"))
    before=$after
    echo "try_clone: '$command' on $suite, $(there python3 -V): $((SECONDS - begin)) s," \
        "$(du -sm "$root/opt/rcv/.venv" | cut -f1) MB in .venv, system packages: $(echo ${added:-none})"
done
