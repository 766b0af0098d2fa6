package team

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"memoir"
	"memoir/config"
	"memoir/internal/disk"
	"memoir/memory"
	"memoir/project"
	"memoir/secrets"
	"memoir/store"
	"memoir/team/wire"
)

// Bounds of one reading.
const (
	maxFiles   = 2000 // statements
	maxListing = 4 << 20
	maxTime    = 20 * time.Second // of each call of git
)

// Memory is what a project's repository had when it was read last. It is a file in the project's folder.
type Memory struct {
	Project    string         `json:"project"` // set by readers
	Trusted    bool           `json:"trusted"`
	Repository string         `json:"repository"` // its git directory; empty: nothing was read
	Read       string         `json:"read"`       // version of the reader, reference and commit
	Lines      int            `json:"lines"`
	Ignored    map[string]int `json:"ignored"` // files by reason
}

// reader is the version of Parse: another one reads again.
const reader = "2 "

func stateFile(home, projectID string) string {
	return filepath.Join(memory.At(home, projectID).Dir(), "team.json")
}

func stateOf(home, projectID string) (s Memory) {
	content, err := disk.ReadFile(stateFile(home, projectID), maxFile)
	if err == nil {
		_ = json.Unmarshal(content, &s) // then it is read again
	}
	return s
}

// find returns the repository of a project whose team memory is trusted.
func find(of memoir.Project, trusted config.TrustStore) (project.Upstream, bool) {
	for _, dir := range of.Directories {
		u, ok := project.FindUpstream(dir, "")
		if branch, trusts := trusted.Team(u.Common); ok && trusts {
			return project.FindUpstream(dir, branch)
		}
	}
	return project.Upstream{}, false
}

// Look returns the state of a project's team memory, of one that is not trusted the number of files in a checkout. ok
// is false if there is none.
func Look(home string, of memoir.Project, trusted config.TrustStore) (s Memory, ok bool) {
	s = stateOf(home, of.ID)
	if _, s.Trusted = trusted.Team(s.Repository); s.Trusted {
		return s, true
	}
	for _, dir := range of.Directories {
		if n := len(Promoted(dir)); n > 0 {
			if _, trusts := find(of, trusted); trusts {
				return Memory{Trusted: true}, true
			}
			return Memory{Lines: n}, true
		}
	}
	return Memory{}, false
}

// FromRepository stores what the upstream of a trusted repository has of a project's team memory, if it changed since.
// What is not trusted any more is withdrawn. It reports whether something was withdrawn.
func FromRepository(ctx context.Context, st *store.Store, home string, of memoir.Project, trusted config.TrustStore,
	scanner *secrets.Scanner, now time.Time) (withdrawn bool, err error) {
	was, path := stateOf(home, of.ID), stateFile(home, of.ID)
	u, found := project.Upstream{}, false
	if len(trusted.Teams()) > 0 {
		u, found = find(of, trusted)
	}
	_, kept := trusted.Team(was.Repository) // its directory may be gone for now
	switch {
	case !found && (kept || was.Repository == ""):
		return false, nil
	case !found:
		if _, withdrawn, err = st.Receive(ctx, of.ID, store.FromRepository, "", nil); err == nil {
			err = disk.Discard(path)
		}
		return withdrawn, err
	case was.Repository != u.Common:
		was.Read = "" // so nothing of it is known
	}
	known, _ := strings.CutPrefix(was.Read, reader+u.Ref+" ")
	r, err := readFolder(ctx, u, known)
	is := Memory{Repository: u.Common, Read: reader + u.Ref + " " + r.commit, Ignored: r.ignored}
	if err != nil || r.commit == known {
		return false, err
	}
	changes, err := r.parse(ctx, st, of.ID, scanner, now.UTC().Format(time.DateOnly))
	is.Lines = len(changes)
	if err == nil {
		_, withdrawn, err = st.Receive(ctx, of.ID, store.FromRepository, "", changes)
	}
	content, _ := json.Marshal(is)
	if err == nil {
		err = disk.Replace(path, content, 0o600)
	}
	return withdrawn, err
}

// A reading is what a commit has of Folder.
type reading struct {
	commit  string
	files   map[string]string // statements by name
	gone    map[string]bool   // names of tombstones
	ignored map[string]int    // files by reason
}

// parse returns the statements of a reading. A wish that is this person's already is left out. A session counts for one
// project, since a fork repeats the files of another.
func (r reading) parse(ctx context.Context, st *store.Store, projectID string, scanner *secrets.Scanner, today string) (
	out []store.Received, err error) {
	own := map[string]bool{} // ids of statements
	extractions, _, err := st.Selected(ctx, projectID, -1)
	for _, e := range extractions {
		for _, one := range e.Statements {
			own[one.ID] = own[one.ID] || memoir.MemberOf(e.SessionKey) == ""
		}
	}
	for name, content := range r.files {
		f, why := Parse(name, []byte(content), scanner.Session().Text, today)
		mine := f.Kind == memoir.StatementPreference && own[memoir.StatementID(projectID, f.Kind, f.Text)]
		switch {
		case r.gone[Tombstone(IDOf(name))] || why == "" && mine:
		case why != "":
			r.ignored[why]++
		default:
			one := f.statement()
			body, _ := json.Marshal(one) // texts can be encoded
			out = append(out, store.Received{Member: f.Who, Hash: wire.Of(f.Session, false, f.Day, body), Day: f.Day,
				Session: f.Session + memoir.StatementID(projectID, "", ""), Statement: one})
		}
	}
	slices.SortFunc(out, func(a, b store.Received) int {
		return cmp.Or(strings.Compare(a.Member, b.Member), strings.Compare(a.Hash, b.Hash))
	})
	return out, err
}

// git runs git in a repository, with input, and returns its output of at most most bytes. It runs no other program and
// uses no network.
func git(ctx context.Context, top, input string, most int64, args ...string) (output string, err error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return "", memoir.Errorf(memoir.CodeNotFound, "install git", "git is needed for a team memory: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append([]string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"},
		args...)...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(strings.ToUpper(variable), "GIT_")
	})
	// Without a protocol, an older git cannot fetch a missing object of a partial clone either.
	cmd.Env = append(cmd.Env, "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=", "GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_CEILING_DIRECTORIES="+filepath.Dir(top), "LC_ALL=C")
	var said bytes.Buffer
	cmd.Dir, cmd.WaitDelay, cmd.Stdin, cmd.Stderr = top, time.Second, strings.NewReader(input), &said
	out, err := cmd.StdoutPipe()
	if err = errors.Join(err, cmd.Start()); err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(out, most+1))
	if int64(len(text)) > most {
		cancel()
		err = fmt.Errorf("git prints more than %d bytes", most)
	}
	if failed := cmd.Wait(); err == nil && failed != nil {
		err = errors.New(memoir.CutBytes(cmp.Or(said.String(), failed.Error()), maxText, "…"))
	}
	return string(text), err
}

// readFolder reads Folder from the upstream's commit, unless that is the known one. It applies no attributes and
// filters.
func readFolder(ctx context.Context, u project.Upstream, known string) (r reading, err error) {
	r = reading{files: map[string]string{}, gone: map[string]bool{}, ignored: map[string]int{}}
	commit, err := git(ctx, u.Top, "", maxFile, "rev-parse", "--verify", "--quiet", u.Ref+"^{commit}")
	if r.commit = strings.TrimSpace(commit); err == nil && r.commit != known {
		err = r.read(ctx, u.Top)
	} else if err != nil && err.Error() == "exit status 1" { // all that git then says of a name without a commit
		err = fmt.Errorf("there is no commit at %s", u.Ref)
	}
	if err != nil && memoir.CodeOf(err) != memoir.CodeNotFound {
		hint := "trust it again with the name of the branch: `memoir trust --team BRANCH`"
		if u.Remote {
			hint = "once origin has a commit: `git fetch`, then `git remote set-head origin --auto`"
		}
		err = memoir.Errorf(memoir.CodeInvalid, hint, "the team memory of %s cannot be read: %w", u.Top, err)
	}
	return r, err
}

// read reads the files of the commit.
func (r reading) read(ctx context.Context, top string) error {
	listing, err := git(ctx, top, "", maxListing, "ls-tree", "-rz", "--long", "--full-tree", r.commit, Folder)
	var names, objects []string
	for entry := range strings.SplitSeq(strings.TrimSuffix(listing, "\x00"), "\x00") {
		head, name, _ := strings.Cut(entry, "\t"+Folder+"/")
		is := append(strings.Fields(head), "", "", "", "") // mode, kind, object, size
		size, errSize := strconv.Atoi(is[3])
		switch regular := is[0] == "100644" || is[0] == "100755"; {
		case entry == "":
		case !regular:
			r.ignored["no regular file"]++
		case tombstoneFile.MatchString(name):
			r.gone[name] = true
		case IDOf(name) == "":
			r.ignored["another name"]++
		case errSize != nil:
			err = cmp.Or(err, errors.New("an object is missing, as a pull in a partial clone fetches it"))
		case size > maxFile:
			r.ignored["too large"]++
		case len(names) == maxFiles:
			r.ignored["too many"]++
		default:
			names, objects = append(names, name), append(objects, is[2])
		}
	}
	if err != nil || len(names) == 0 {
		return err
	}
	const most = maxFiles * (maxFile + 100)
	contents, err := git(ctx, top, strings.Join(objects, "\n"), most, "cat-file", "--batch=%(objectsize)")
	for _, name := range names {
		head, rest, _ := strings.Cut(contents, "\n")
		size, errSize := strconv.Atoi(head)
		if err = cmp.Or(err, errSize); err != nil || size < 0 || size >= len(rest) {
			return cmp.Or(err, errors.New("git prints less than it listed"))
		}
		r.files[name], contents = rest[:size], rest[size+1:]
	}
	return nil
}
