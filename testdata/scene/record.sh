#!/bin/sh
# Prints the scene of the README: a failure cost Codex an hour, and Claude Code is told at the moment it fails.
# It gives the program what the hooks of the two agents get when a command fails, and between them Codex's session.
# usage: sh testdata/scene/record.sh MEMOIR
set -eu
program=$1 scene=$(dirname "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here() { sed "s#/home/mira/src/shop#$work/shop#g" "$@"; }
memoir() { env -i PATH="$PATH" HOME="$work" MEMOIR_MEMORIES_ENABLED=true "$program" "$@"; }

git init -q "$work/shop"
told=$(here "$scene/codex-hook.json" | memoir inject --agent codex --action)
test -z "$told" # nobody knows of the failure yet

mkdir -p "$work/.codex/sessions"
for session in "$scene"/rollout-*.jsonl; do
	here "$session" >"$work/.codex/sessions/${session##*/}"
done
memoir run -q --max-age 0

memoir show 019f1bb2 --json | awk -F '"' '
	/^ *"input":/ { command = $4 }
	/^ *"output":/ { match($0, /Error: [^\\]*/); error = substr($0, RSTART, RLENGTH) }
	/^ *"exit":/ { passed = / 0,$/ }
	/^ *"at":/ && command {
		at = substr($4, 12, 5)
		minutes = substr(at, 1, 2) * 60 + substr(at, 4, 2)
		if (!n++) {
			first = command; began = minutes
			printf "Codex   %s  $ %s\n               %s\n", at, command, error
		} else if (passed && command == first)
			printf "Codex   %s  $ %s; %s   # passed: %d minutes and %d commands later\n", at, before, command, minutes - began, n - 1
		before = command
	}'
here "$scene/claude-hook.json" | awk -F '"' '{
	for (i = 1; i < NF; i++) if ($i == "command") command = $(i + 2)
	match($0, /Error: [^\\]*/)
	printf "Claude  later  $ %s   # %s\n", command, substr($0, RSTART, RLENGTH)
}'
here "$scene/claude-hook.json" | memoir inject --agent claude --action |
	sed 's/.*<memoir-context>\\n//; s/\\n<.*//' | awk '{ sub(/same failure: /, "same failure:\n               "); print "memoir         " $0 }'
