package project

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"memoir/config"
	"memoir/internal/disk"
	"memoir/internal/lazyregexp"
)

// caseless lists the hosts that ignore the case of a repository's path.
var caseless = map[string]bool{
	"github.com": true, "gitlab.com": true, "bitbucket.org": true, "codeberg.org": true, "dev.azure.com": true,
}

// sameHost maps alternative host names of a forge, such as those for SSH on another port.
var sameHost = map[string]string{
	"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com", "altssh.bitbucket.org": "bitbucket.org",
	"www.github.com": "github.com",
}

// NormalizeRemote reduces a repository's URL to host/path, the same for all forms of the URL: https, ssh, git,
// scp-like, already normalised. The host is in lower case; scheme, user, password, port, query and ".git" are
// removed. A repository on the same machine (file:// or an absolute path) becomes its cleaned path with ".git".
// Any other text, such as a relative path, gives "".
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
	// Already normalised: a host contains a dot, but is not "." or "..".
	case slash > 0 && strings.Contains(remote[:slash], ".") && strings.Trim(remote[:slash], ".") != "":
		return hostPath(remote[:slash], remote[slash+1:])
	}
	return ""
}

func unusable(text string) bool {
	return !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl)
}

// hostPath returns the normalised remote of a repository on a server, "" if it is not valid.
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
	for shorter := ""; shorter != p; { // spaces at the end and ".git" are ignored
		shorter, p = p, strings.TrimSuffix(cleanPath(p), ".git")
	}
	if p == "/" || p == "" {
		return ""
	}
	return host + p
}

// cleanPath makes a path absolute and removes ".", "..", double slashes and spaces at the end.
func cleanPath(p string) string {
	for shorter := ""; shorter != p; {
		shorter, p = p, strings.TrimRightFunc(path.Clean("/"+p), unicode.IsSpace)
	}
	return p
}

// localPath cleans an absolute path; "" if the path is relative, or the root.
func localPath(p string) string {
	if !strings.HasPrefix(p, "/") || cleanPath(p) == "/" {
		return ""
	}
	return cleanPath(p)
}

func isLocal(normalised string) bool { return strings.HasPrefix(normalised, "/") }

// DefaultTempDirs lists the directories for temporary files on this machine, and on others whose sessions may be
// read here.
func DefaultTempDirs() []string {
	return []string{os.TempDir(), "/tmp", "/var/tmp", "/usr/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp",
		"/var/folders", "/private/var/folders"}
}

// places are the directories that are never projects, each as configured and with links followed.
type places struct{ homes, temps []string }

func newPlaces(home string, temps []string) places {
	var p places
	if temps == nil {
		temps = DefaultTempDirs()
	}
	for _, dir := range append([]string{home}, temps...) {
		if !filepath.IsAbs(dir) || isRoot(filepath.Clean(dir)) {
			continue
		}
		both := []string{filepath.Clean(dir), config.FollowLinks(dir)}
		if dir == home {
			p.homes = both
		} else {
			p.temps = append(p.temps, both...)
		}
	}
	return p
}

// never returns why a directory is never a project, "" if it can be one. A home, a root and a directory for
// temporary files are never projects, whatever they contain.
func (p places) never(dir string) Status {
	switch {
	case slices.Contains(p.homes, dir):
		return Home
	case isRoot(dir):
		return Root
	case slices.Contains(p.temps, dir):
		return Temporary
	}
	return ""
}

// plain returns why a directory outside of a repository is not a project, "" if it is one. It is not if it is
// below a directory for temporary files, or is the home of another user, whose sessions were copied here.
func (p places) plain(dir string) Status {
	for _, temp := range p.temps {
		// A directory in the user's home is not temporary, even if the home is below temp.
		kept := func(home string) bool { return within(home, temp) && within(dir, home) }
		if within(dir, temp) && !slices.ContainsFunc(p.homes, kept) {
			return Temporary
		}
	}
	if otherHome.MatchString(filepath.ToSlash(dir)) {
		return Home
	}
	return ""
}

var otherHome = lazyregexp.New(`^(?:(?:/var)?/home|/Users)/[^/]*$|^/root$`)

func isRoot(dir string) bool { return filepath.Dir(dir) == dir }

func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]))
}

// maxGitFile bounds a file of git that is read, in bytes.
const maxGitFile = 1 << 20

type repository struct {
	top    string // the working tree's top directory, or a bare repository's own directory
	common string // the git directory that all worktrees share
}

// findRepository finds the repository of a directory, there and in the directories above it, by git's rules. A
// missing directory, such as an agent's removed worktree, belongs to the repository around its path.
func findRepository(dir string) (repository, bool) {
	for below := ""; dir != below; below, dir = dir, filepath.Dir(dir) {
		if repo, ok := repositoryAt(dir); ok {
			return repo, true
		}
	}
	return repository{}, false
}

// repositoryAt returns the repository whose working tree has dir as its top, or whose git directory is dir.
func repositoryAt(dir string) (repository, bool) {
	dotGit := filepath.Join(dir, ".git")
	if info, err := os.Stat(dotGit); err == nil {
		if info.IsDir() && isGitDir(dotGit) {
			return repository{top: dir, common: commonDir(dotGit)}, true
		}
		if target, ok := gitFile(dotGit); ok {
			return repository{top: dir, common: commonDir(target)}, true
		}
	}
	if !isGitDir(dir) {
		return repository{}, false
	}
	common := commonDir(dir)
	top := common
	if filepath.Base(common) == ".git" {
		top = filepath.Dir(common)
	}
	return repository{top: top, common: common}, true
}

// isGitDir applies git's test: the directory has HEAD and objects, the latter possibly in the common directory.
func isGitDir(dir string) bool {
	exists := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	}
	return exists("HEAD") && (exists("commondir") || exists("objects"))
}

// gitFile reads the git directory's path from a .git file: of a worktree, a submodule, or a repository with a
// separate git directory. The git directory may be missing.
func gitFile(file string) (string, bool) {
	target, ok := strings.CutPrefix(readSmall(file), "gitdir:")
	if target = strings.TrimSpace(target); !ok || target == "" || strings.ContainsRune(target, 0) {
		return "", false
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(file), target)
	}
	return filepath.Clean(target), true
}

// commonDir returns the git directory that all worktrees of a repository share, with links followed.
func commonDir(gitDir string) string {
	common := gitDir
	if shared := strings.TrimSpace(readSmall(filepath.Join(gitDir, "commondir"))); shared != "" {
		if common = shared; !filepath.IsAbs(common) {
			common = filepath.Join(gitDir, common)
		}
	} else if worktrees := filepath.Dir(gitDir); filepath.Base(worktrees) == "worktrees" && !isGitDir(gitDir) {
		// The worktree was pruned, or its repository is gone: the path still shows the common directory.
		common = filepath.Dir(worktrees)
	}
	return config.FollowLinks(common)
}

// remoteSection matches the heading of a remote's settings, remoteAddress the URL that git fetches from.
var (
	remoteSection = lazyregexp.New(`(?i)^\[\s*remote\s+"(.+)"\s*\]`)
	remoteAddress = lazyregexp.New(`(?i)^url\s*=\s*"?(.*?)"?\s*( [#;].*)?$`)
)

// remotes returns the URL of origin, else of the first remote, else "", then those of the others. If a remote has
// several URLs, git fetches from the first. Includes and insteadOf are not applied. Invalid lines are skipped.
func (r repository) remotes() []string {
	name, urls := "", []string{""}
	for line := range strings.Lines(strings.TrimPrefix(readSmall(filepath.Join(r.common, "config")), "\ufeff")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			name = ""
			if m := remoteSection.FindStringSubmatch(line); m != nil {
				name = m[1]
			}
		}
		m := remoteAddress.FindStringSubmatch(line)
		switch {
		case m == nil || m[1] == "" || name == "":
		case name == "origin" && urls[0] == "":
			urls[0] = m[1]
		default:
			urls = append(urls, m[1])
		}
	}
	if urls[0] == "" && len(urls) > 1 {
		urls = urls[1:]
	}
	return urls
}

// inodes returns those of the git directory: of a file that git writes when it makes a repository, and never again.
func (r repository) inodes() []string {
	info, err := os.Stat(filepath.Join(r.common, "description"))
	if err != nil {
		return nil
	}
	made := info.ModTime().UnixNano()
	return []string{fmt.Sprintf("git:%d", made), fmt.Sprintf("inode:%d:%d", made, disk.Inode(info))}
}

// readSmall reads a regular file of at most maxGitFile bytes; "" on any error.
func readSmall(file string) string {
	content, err := disk.ReadFile(file, maxGitFile)
	if err != nil {
		return ""
	}
	return string(content)
}
