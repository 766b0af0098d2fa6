#!/bin/sh
# Steps that were the same in 3 sessions.
# Run it in the directory that the repository is checked out in.
set -eu
uv run papertrail export --out backup.jsonl
uv run papertrail reindex
uv run papertrail verify
