#!/bin/sh
# Steps that were the same in 3 sessions.
# Run it in the directory that the repository is checked out in.
set -eu
make lint
make test
