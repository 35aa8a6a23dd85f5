# Lets a double click on a .rcvz file open it here, for this user alone; run it in the unpacked folder.
#     powershell -ExecutionPolicy Bypass -File associate.ps1            set it
#     powershell -ExecutionPolicy Bypass -File associate.ps1 -Remove    take it back
# Assumes that rcv-window.exe lies beside this file, and that it stays there.
param([switch]$Remove)
$ErrorActionPreference = "Stop"
$classes = "HKCU:\Software\Classes"
if ($Remove) {
    Remove-Item -Recurse -ErrorAction SilentlyContinue "$classes\.rcvz", "$classes\rcv.capture"
    return
}
$program = Join-Path $PSScriptRoot "rcv-window.exe"
if (-not (Test-Path $program)) { throw "$program is not there." }
New-Item -Force "$classes\.rcvz" -Value "rcv.capture" | Out-Null
New-Item -Force "$classes\rcv.capture" -Value "AMD GPU thread trace" | Out-Null
New-Item -Force "$classes\rcv.capture\DefaultIcon" -Value "`"$program`",0" | Out-Null
New-Item -Force "$classes\rcv.capture\shell\open\command" -Value "`"$program`" `"%1`"" | Out-Null
