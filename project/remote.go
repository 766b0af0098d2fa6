package project

import (
	"net/url"
	"path"
	"slices"
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
	"ssh.dev.azure.com": "dev.azure.com", "www.github.com": "github.com",
}

// NormalizeRemote reduces a repository's URL to host/path, the same for all of
// its forms (https, ssh, git, scp-like, already normalised): host in lower case,
// without scheme, user, password, port, query and ".git". A repository on the
// same machine (file:// or an absolute path) becomes its cleaned path, ".git"
// kept, as the path is its name. What names no repository, a relative path
// included, gives "".
func NormalizeRemote(remote string) string {
	remote = strings.TrimSpace(remote)
	if remote == "" || !utf8.ValidString(remote) || strings.ContainsFunc(remote, unicode.IsControl) {
		return ""
	}
	// git's remote helpers: transport::address.
	if i := strings.Index(remote, "::"); i > 0 && !strings.ContainsAny(remote[:i], "/[@.") {
		remote = remote[i+2:]
	}
	if scheme, rest, ok := strings.Cut(remote, "://"); ok {
		return normalizeURL(scheme, rest)
	}
	if strings.HasPrefix(remote, "/") {
		return localPath(remote)
	}
	if len(remote) > 2 && remote[1] == ':' && strings.ContainsAny(remote[2:3], `/\`) {
		return "" // a Windows drive
	}
	// scp-like: a colon before the first slash.
	colon, slash := scpColon(remote), strings.IndexByte(remote, '/')
	if colon > 0 && (slash < 0 || colon < slash) {
		return hostPath(remote[:colon], remote[colon+1:])
	}
	// Already normalised: a host has a dot, and is not the dot of a relative path.
	if slash > 0 && strings.Contains(remote[:slash], ".") && strings.Trim(remote[:slash], ".") != "" {
		return hostPath(remote[:slash], remote[slash+1:])
	}
	return ""
}

// normalizeURL is NormalizeRemote for scheme://rest.
func normalizeURL(scheme, rest string) string {
	if strings.EqualFold(scheme, "file") {
		if i := strings.IndexByte(rest, '/'); i > 0 {
			rest = rest[i:] // file://localhost/path
		}
		return localPath(unescape(rest))
	}
	authority, p, _ := strings.Cut(rest, "/")
	if i := strings.IndexAny(p, "?#"); i >= 0 {
		p = p[:i]
	}
	return hostPath(authority, unescape(p))
}

// scpColon finds the colon that ends the host, which may be an IPv6 address in brackets.
func scpColon(remote string) int {
	start := 0
	if i := strings.IndexByte(remote, ']'); i >= 0 && strings.Contains(remote[:i], "[") {
		start = i
	}
	if i := strings.IndexByte(remote[start:], ':'); i >= 0 {
		return start + i
	}
	return -1
}

// hostPath joins what identifies a repository on a server.
func hostPath(authority, p string) string {
	host := strings.ToLower(authority[strings.LastIndexByte(authority, '@')+1:])
	if i := strings.LastIndexByte(host, ':'); i >= 0 && i > strings.LastIndexByte(host, ']') {
		host = host[:i]
	}
	host = strings.TrimRight(host, ".")
	bracketed := strings.HasPrefix(host, "[") && strings.IndexByte(host, ']') == len(host)-1
	if host == "" || !bracketed && strings.ContainsAny(host, "[]:") || strings.ContainsAny(host, "/\\ ?#%") {
		return ""
	}
	if same, ok := sameHost[host]; ok {
		host = same
	}
	if caseless[host] {
		p = strings.ToLower(p)
	}
	p = cutGit(p)
	if host == "dev.azure.com" {
		p = azurePath(p)
	}
	if p == "/" || p == "" {
		return ""
	}
	return host + p
}

// cutGit cleans a URL's path and removes ".git" from its end.
func cutGit(p string) string {
	for {
		shorter := strings.TrimSuffix(cleanPath(p), ".git")
		if shorter == p {
			return p
		}
		p = shorter
	}
}

// cleanPath makes a path absolute and drops what does not count: "." and "..",
// double slashes, spaces at the end.
func cleanPath(p string) string {
	for {
		shorter := strings.TrimRightFunc(path.Clean("/"+p), unicode.IsSpace)
		if shorter == p {
			return p
		}
		p = shorter
	}
}

// azurePath unites the two forms of Azure DevOps: /org/project/_git/repository
// and, with SSH, /v3/org/project/repository.
func azurePath(p string) string {
	elements := slices.DeleteFunc(strings.Split(p, "/"), func(e string) bool { return e == "_git" })
	if len(elements) == 5 && elements[1] == "v3" {
		elements = slices.Delete(elements, 1, 2)
	}
	return strings.Join(elements, "/")
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

// unescape decodes %XX, unless what comes out could be mistaken.
func unescape(p string) string {
	decoded, err := url.PathUnescape(p)
	if err != nil || !utf8.ValidString(decoded) || strings.ContainsFunc(decoded, unicode.IsControl) {
		return p
	}
	return decoded
}
