#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Every registered algorithm and preset has its page in docs/algorithms, which names each of its parameters. Usage: check_docs.sh ROOT LIST_PROGRAM [ALGORITHM]
set -eu
root=$1
bad=0
say() {
	echo "$*"
	bad=1
}
list=$(mktemp)
trap 'rm -f "$list"' EXIT
"$2" >"$list"
while read -r kind name keys; do
	[ "${3:-${name%%/*}}" = "${name%%/*}" ] || continue
	# estimators have no folder of their own; a kind may have one page for all
	page=docs/algorithms/$kind/${name%%/*}.md
	[ "$kind" != estimator ] || page=docs/algorithms/${name%%/*}.md
	[ ! -f "$root/docs/algorithms/$kind.md" ] || page=docs/algorithms/$kind.md
	if [ ! -f "$root/$page" ]; then
		say "$name: no page $page"
		continue
	fi
	page=$root/$page
	grep -qF "\`$name\`" "$page" || say "$page does not name \`$name\`"
	for key in $keys; do
		grep -qF "\`$key\`" "$page" || say "$page does not name \`$key\` of $name"
	done
done <"$list"
exit $bad
