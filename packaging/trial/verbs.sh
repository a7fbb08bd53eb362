# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Sourced by the trials, in an empty folder with `tcplearn` in PATH: every verb of the README, and the others.
files=$(tcplearn --files)
requests=$files/examples/captures/requests.pcap.gz
link=$files/examples/captures/access-link.pcap.gz

verbs_that_need_nothing() {
  works tcplearn --help
  works tcplearn algorithms
  works tcplearn explain "$requests"
  works tcplearn explain "$files/examples/captures" --anonymize --format parquet -o explain.parquet
  works tcplearn replay "$link" -e linux -e experts/fitted
  works tcplearn replay "$link" --format csv -o rows.csv
  works tcplearn suite "$files/examples/captures"
  works tcplearn resend "$link" --requests 1000
  works tcplearn study experts "$link" --n 10 --eta 2 --alpha 0.08
  works tcplearn collect hosts --help
  works tcplearn lab script "$files/experiments/nunes2014/live-2.toml" --profile smoke
  works tcplearn module status
  says 'checkout' tcplearn experiments latency
  live_capture
}

# what passes an interface now: a few requests to a server on the loopback interface
live_capture() {
  (cd "$files/examples/captures" && exec python3 -m http.server 8099 --bind 127.0.0.1 >/dev/null 2>&1) &
  local server=$!
  (for _ in $(seq 30); do
    python3 -c 'import urllib.request; urllib.request.urlopen("http://127.0.0.1:8099/").read()' || true
    sleep 0.1
  done) >/dev/null 2>&1 &
  works tcplearn explain -i lo --for 3s
  kill "$server"
}

reports() {
  works tcplearn explain "$requests" --report why.html
  works tcplearn replay "$link" --report report.html
  works tcplearn suite "$files/examples/captures" --report suite.html
}

# The live timer, on the kernel that runs here. A command under it has its own exit code.
live() {
  needs tcplearn live run -- true
  works tcplearn live check
  says '^7$' sh -c 'tcplearn live run -- sh -c "exit 7"; echo $?'
}

# A link between two ends of this machine; the exit code is the command's.
emulated_link() {
  needs tcplearn emulate wired -- true
  says '^7$' sh -c 'tcplearn emulate wired -- sh -c "exit 7"; echo $?'
}

programs_of_first_use() {
  needs tcplearn simulate "$files/experiments/nunes2014/scenario-5.toml" --profile smoke
  needs tcplearn lab run "$files/experiments/nunes2014/live-2.toml" --profile smoke
}
