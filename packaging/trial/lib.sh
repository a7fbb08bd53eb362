# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Sourced by the trials: runs commands, prints a line for each, and counts those that failed.
passed=0
failed=0
log=$(mktemp)
export DEBIAN_FRONTEND=noninteractive

# verdict CODE NAME SECONDS: prints and counts
verdict() {
  local name=$2
  [ -z "${files:-}" ] || name=${name//$files/FILES}
  if [ "$1" = 0 ]; then
    passed=$((passed + 1))
    printf '%-8s %6s s  %s\n' passed "$3" "$name"
  else
    failed=$((failed + 1))
    printf '%-8s %6s s  %s\n' FAILED "$3" "$name"
    tail -n 15 "$log" | sed 's/^/    | /'
  fi
}

# works COMMAND...: the command ends with exit code 0 within 15 minutes
works() {
  local start=$EPOCHREALTIME code=0
  timeout 900 "$@" >"$log" 2>&1 </dev/null || code=$?
  verdict "$code" "$*" "$(since "$start")"
}

# says TEXT COMMAND...: the command's output has a line that matches TEXT, an extended regular expression
says() {
  local text=$1 start=$EPOCHREALTIME code=0
  shift
  timeout 900 "$@" >"$log" 2>&1 </dev/null || true
  grep -qE -- "$text" "$log" || code=1
  verdict "$code" "$* says \"$text\"" "$(since "$start")"
}

# needs COMMAND...: the command ends with exit code 2 and one line that names packages of Debian, which are then installed. This is
# repeated once, for a command that finds out about its packages in two steps.
needs() {
  local start=$EPOCHREALTIME code names
  for _ in 1 2; do
    code=0
    timeout 900 "$@" >"$log" 2>&1 </dev/null || code=$?
    names=$(sed -n 's/.*apt-get install \(--no-install-recommends \)\{0,1\}\([a-z0-9 .+-]*\).*/\2/p' "$log")
    if [ "$code" != 2 ] || [ -z "$names" ] || [ "$(wc -l <"$log")" != 1 ]; then break; fi
    verdict 0 "$* names: $names" "$(since "$start")"
    # shellcheck disable=SC2086 # a list of names
    apt-get install -y -qq --no-install-recommends $names >"$log" 2>&1 || { verdict 1 "apt-get install $names" 0; return; }
    start=$EPOCHREALTIME
  done
  verdict "$code" "$*" "$(since "$start")"
}

since() {
  awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f", to - from }'
}

# the size of what is installed
megabytes() {
  du -sxm --apparent-size --exclude=/proc --exclude=/sys --exclude=/dev --exclude=/var/cache/apt --exclude=/root/.cache \
    --exclude=/src / | cut -f1
}

end() {
  printf '%s passed, %s failed\n' "$passed" "$failed"
  [ "$failed" = 0 ]
}
