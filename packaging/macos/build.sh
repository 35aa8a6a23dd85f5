#!/usr/bin/env bash
# Builds rcv.app, and a .zip of it, on a Mac:    bash packaging/macos/build.sh
#
# Assumptions, none of which could be tried on the Linux machine that this was written on:
# - macOS 13 or later, python3 3.11 or later (python.org or Homebrew), built for the processor that it runs on;
# - the application is signed by itself alone (`codesign --sign -`), so that Gatekeeper asks before the first start; with
#   a certificate of your own, set RCV_SIGN to its name, and have Apple notarize the .zip;
# - rcv.app says that it opens .rcvz files; Finder learns of it once it lies in /Applications.
# - in a terminal: /Applications/rcv.app/Contents/MacOS/rcv triage FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."
python3 -m venv build/venv
build/venv/bin/python -m pip install --quiet '.[window,fast]' pyinstaller
icons=build/rcv.iconset
mkdir -p "$icons"
for size in 16 32 128 256 512; do # drawn by Qt, which is there anyway
    build/venv/bin/python packaging/icon.py "$size" "$icons/icon_${size}x${size}.png"
    build/venv/bin/python packaging/icon.py $((2 * size)) "$icons/icon_${size}x${size}@2x.png"
done
iconutil --convert icns --output build/rcv.icns "$icons"
build/venv/bin/python packaging/build.py folder
codesign --force --deep --sign "${RCV_SIGN:--}" build/packages/rcv.app
build/venv/bin/python packaging/build.py archive --again
