# Builds rcv-VERSION-win32-AMD64.zip: unpack it anywhere, run rcv.exe in a terminal, or rcv-window.exe by a double click.
# Run in PowerShell from the checkout:    powershell -ExecutionPolicy Bypass -File packaging\windows\build.ps1
#
# Assumptions, none of which could be tried on the Linux machine that this was written on:
# - Windows 10 or later, 64 bits, Python 3.11 or later as `py -3` (python.org); no compiler is needed, all packages have wheels;
# - nothing is signed: Windows asks before the first start until somebody signs rcv.exe and rcv-window.exe;
# - Qt writes the icon; if it cannot, the programs have that of PyInstaller.
$ErrorActionPreference = "Stop"
Set-Location (Join-Path $PSScriptRoot "..\..")
py -3 -m venv build\venv
$python = "build\venv\Scripts\python.exe"
& $python -m pip install --quiet ".[window,fast]" pyinstaller
if ($LASTEXITCODE) { throw "The packages could not be installed." }
& $python packaging\icon.py 256 build\rcv.ico
& $python packaging\build.py folder
if ($LASTEXITCODE) { throw "The build failed." }
Copy-Item packaging\windows\associate.ps1 build\packages\rcv
& $python packaging\build.py archive --again
