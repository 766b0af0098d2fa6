#!/bin/sh
# The command of the npm package: runs the program in the package for this platform, which npm installed with it.
# It is no program for node, which would take longer to start than memoir, and could not give way to it.
self=$0
while [ -L "$self" ]; do
	link=$(readlink "$self")
	case $link in
	/*) self=$link ;;
	*) self=$(dirname "$self")/$link ;;
	esac
done
here=$(cd "$(dirname "$self")" && pwd -P) || exit 1

platform=$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')
for program in "$here/node_modules/@SCOPE@memoir-$platform/memoir" "$here/../memoir-$platform/memoir"; do
	[ ! -x "$program" ] || exec "$program" "$@"
done
echo "memoir: error: npm did not install the package @SCOPE@memoir-$platform
  install @SCOPE@memoir again, with optional dependencies; there are packages for linux and darwin, x64 and arm64" >&2
exit 1
