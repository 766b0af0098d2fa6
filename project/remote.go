package project

import (
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// caseless lists the hosts that take a repository's path in any case.
var caseless = map[string]bool{
	"github.com": true, "gitlab.com": true, "bitbucket.org": true, "codeberg.org": true, "dev.azure.com": true,
}

// sameHost maps the hosts under which a forge offers SSH on another port.
var sameHost = map[string]string{
	"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com", "altssh.bitbucket.org": "bitbucket.org",
	"www.github.com": "github.com",
}

// NormalizeRemote reduces a repository's URL to host/path, the same for all of
// its forms (https, ssh, git, scp-like, already normalised): host in lower case,
// without scheme, user, password, port, query and ".git". A repository on the
// same machine (file:// or an absolute path) becomes its cleaned path, ".git"
// kept, as the path is its name. What names no repository, a relative path
// included, gives "".
func NormalizeRemote(remote string) string {
	remote = strings.TrimSpace(remote)
	colon, slash := strings.IndexByte(remote, ':'), strings.IndexByte(remote, '/')
	switch {
	case unusable(remote):
		return ""
	case strings.Contains(remote, "://"):
		u, err := url.Parse(remote)
		switch {
		case err != nil || unusable(u.Path):
			return ""
		case u.Scheme == "file":
			return localPath(u.Path)
		}
		return hostPath(u.Hostname(), u.Path)
	case strings.HasPrefix(remote, "/"):
		return localPath(remote)
	case colon == 1 && len(remote) > 2 && strings.ContainsAny(remote[2:3], `/\`):
		return "" // a Windows drive
	case colon > 0 && (slash < 0 || colon < slash): // scp-like
		host := remote[:colon]
		return hostPath(host[strings.LastIndexByte(host, '@')+1:], remote[colon+1:])
	// Already normalised: a host has a dot, and is not the dot of a relative path.
	case slash > 0 && strings.Contains(remote[:slash], ".") && strings.Trim(remote[:slash], ".") != "":
		return hostPath(remote[:slash], remote[slash+1:])
	}
	return ""
}

func unusable(text string) bool {
	return !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl)
}

// hostPath joins what identifies a repository on a server.
func hostPath(host, p string) string {
	host = strings.TrimRight(strings.ToLower(host), ".")
	if host == "" || strings.ContainsFunc(host, func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.M, unicode.N) && !strings.ContainsRune(".-_", r)
	}) {
		return ""
	}
	if same, ok := sameHost[host]; ok {
		host = same
	}
	if caseless[host] {
		p = strings.ToLower(p)
	}
	for shorter := ""; shorter != p; { // spaces at the end and ".git" do not count
		shorter, p = p, strings.TrimSuffix(cleanPath(p), ".git")
	}
	if p == "/" || p == "" {
		return ""
	}
	return host + p
}

// cleanPath makes a path absolute and drops "." and "..", double slashes, spaces at the end.
func cleanPath(p string) string {
	for shorter := ""; shorter != p; {
		shorter, p = p, strings.TrimRightFunc(path.Clean("/"+p), unicode.IsSpace)
	}
	return p
}

// localPath cleans an absolute path; "" if it is none, or the root.
func localPath(p string) string {
	if !strings.HasPrefix(p, "/") || cleanPath(p) == "/" {
		return ""
	}
	return cleanPath(p)
}

// isLocal reports whether a normalised remote is a path.
func isLocal(normalised string) bool { return strings.HasPrefix(normalised, "/") }
