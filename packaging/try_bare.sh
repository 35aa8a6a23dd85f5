#!/usr/bin/env bash
# Try what was built where nothing is installed.  Usage, as root on Debian or Ubuntu:
#     try_bare.sh deb FILE.deb [SUITE]       in a Debian of its own, with the packages that it depends on alone
#     try_bare.sh folder FOLDER [SUITE]      an AppDir or an unpacked archive, there, with libraries of a desktop
#     try_bare.sh appimage FILE [SUITE]      an AppImage, there: what it unpacks itself to must be started again
#     try_bare.sh wheel FILE.whl             in a fresh environment of python3
# It must start, read, draw, and show a window on a virtual display that a signal closes, without this checkout and
# without a variable from here.  A minute or two; the bare Debian is kept in build/bare for the next time.
# Needs debootstrap (but for a wheel) and xvfb.
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:?deb, folder, appimage or wheel}
thing=$(readlink -f "${2:?a file or a folder}")
suite=${3:-bookworm}
bare=$PWD/build/bare/$suite
sample=$PWD/sample_traces/matmul_tiled
display=:${RCV_DISPLAY:-93}
# What Qt looks for by name on every desktop.
desktop=(libegl1 libgl1 libfontconfig1 libdbus-1-3 libglib2.0-0 libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4
    libxcb-image0 libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-xinerama0 libxcb-xkb1)

scratch=$(mktemp -d /tmp/rcv-bare.XXXXXX)
chmod 755 "$scratch"
mounted=() screen=
tidy() {
    [ -z "$screen" ] || kill "$screen" 2>/dev/null || true
    for ((at = ${#mounted[@]} - 1; at >= 0; at--)); do umount "${mounted[at]}" || umount -l "${mounted[at]}"; done
    rm -rf --one-file-system "$scratch"
}
trap tidy EXIT
die() { echo "try_bare: $*" >&2; exit 1; }

bind() {
    mkdir -p "$root$1"
    mount --bind "$1" "$root$1"
    mounted+=("$root$1")
}

enter_bare() { # a Debian that has nothing but its base system, in $root
    command -v debootstrap >/dev/null || die "debootstrap is missing: apt-get install debootstrap"
    if [ ! -e "$bare/rcv-ready" ]; then
        rm -rf "$bare"
        mkdir -p "$bare"
        debootstrap --variant=minbase "$suite" "$bare" "${RCV_MIRROR:-http://deb.debian.org/debian}" >/dev/null
        touch "$bare/rcv-ready"
    fi
    root=$scratch/root
    cp -a "$bare" "$root"
    [ ! -e "$root/usr/bin/python3" ] || die "this Debian has a Python, so it proves nothing"
    for file in /etc/resolv.conf /etc/hosts /etc/apt/apt.conf.d/*prox*; do
        [ ! -e "$file" ] || cp -L "$file" "$root$file"
    done
    bind /proc
    bind /dev
    bind /tmp/.X11-unix
    bind "$PWD/sample_traces"
    front=(chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8)
    "${front[@]}" DEBIAN_FRONTEND=noninteractive apt-get -qq update
}

install_there() { "${front[@]}" DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null; }

mkdir -p /tmp/.X11-unix
case $what in
deb)
    enter_bare
    cp "$thing" "$root/rcv.deb"
    install_there /rcv.deb
    program=rcv
    ;;
folder)
    enter_bare
    install_there "${desktop[@]}"
    cp -a "$thing" "$root/opt/rcv"
    program=/opt/rcv/rcv
    [ ! -e "$root/opt/rcv/AppRun" ] || program=/opt/rcv/AppRun
    ;;
appimage)
    enter_bare
    install_there "${desktop[@]}"
    cp "$thing" "$root/opt/rcv.AppImage"
    program=/opt/rcv.AppImage
    ;;
wheel)
    root=
    front=(env -i PATH=/usr/bin:/bin HOME="$scratch" LANG=C.UTF-8)
    python3 -m venv "$scratch/env"
    (cd / && "$scratch/env/bin/pip" install -q "$thing[window]")
    program=$scratch/env/bin/rcv
    ;;
*) die "what is $what? deb, folder, appimage or wheel" ;;
esac

cd /
picture=/rcv-try.png
[ -n "$root" ] || picture=$scratch/rcv-try.png
"${front[@]}" "$program" --version
"${front[@]}" "$program" triage "$sample" --top 1
[ "$what" != appimage ] || [ "$(ls "$root/root/.cache/rcv/appimage" | wc -l)" = 2 ] || die "it was not unpacked once"
"${front[@]}" QT_QPA_PLATFORM=offscreen "$program" shot "$sample" --panel window --out "$picture"
[ "$(stat -c %s "$root$picture")" -gt 10000 ] || die "the picture is empty"

Xvfb "$display" -screen 0 1600x1000x24 >/dev/null 2>&1 &
screen=$!
for _ in $(seq 50); do [ ! -e "/tmp/.X11-unix/X${display#:}" ] || break; sleep 0.1; done
log=/rcv-try.log
[ -n "$root" ] || log=$scratch/rcv-try.log
"${front[@]}" "DISPLAY=$display" "$program" "$sample" --log "$log" &
shown=$!
for _ in $(seq 300); do ! grep -qs "all waves were read" "$root$log" || break; sleep 0.2; done
cat "$root$log"
grep -q "all waves were read" "$root$log" || die "the window did not show the sample"
kill -TERM "$shown"
code=0
wait "$shown" || code=$?
[ "$code" = 143 ] || die "the window ended with $code and not by the signal"
echo "try_bare: $what starts, reads, draws, shows a window, and a signal closes it."
