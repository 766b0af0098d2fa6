package team

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
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
	maxRead    = 64 << 20 // bytes of all objects, also of those that are too large
	maxTime    = 20 * time.Second
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
const reader = "1 "

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
		if withdrawn, err = receive(ctx, st, of.ID, nil); err == nil {
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
		withdrawn, err = receive(ctx, st, of.ID, changes)
	}
	content, _ := json.Marshal(is)
	if err == nil {
		err = disk.Replace(path, content, 0o600)
	}
	return withdrawn, err
}

// receive stores statements instead of those that a project had from its repository.
func receive(ctx context.Context, st *store.Store, projectID string, is []store.Received) (withdrawn bool, err error) {
	had, err := st.ReceivedOf(ctx, projectID, store.FromRepository)
	had = slices.DeleteFunc(had, func(r store.Received) bool {
		same := func(one store.Received) bool { return one.Hash == r.Hash && one.Session == r.Session }
		return slices.ContainsFunc(is, same)
	})
	for i := range had {
		had[i].Gone = true
	}
	if changes := append(had, is...); len(changes) > 0 && err == nil {
		_, withdrawn, err = st.Receive(ctx, projectID, store.FromRepository, "", changes)
	}
	return withdrawn, err
}

// A reading is what a commit has of Folder.
type reading struct {
	commit  string
	files   map[string][]byte // statements by name
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
		f, why := Parse(name, content, scanner.Session().Text, today)
		mine := f.Kind == memoir.StatementPreference && own[memoir.StatementID(projectID, f.Kind, f.Text)]
		switch {
		case r.gone[Tombstone(strings.TrimSuffix(name, ".json"))] || why == "" && mine:
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

// git returns a call of git in a repository that runs no other program and uses no network.
func git(ctx context.Context, u project.Upstream, args ...string) (*exec.Cmd, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return nil, memoir.Errorf(memoir.CodeNotFound, "install git", "git is needed for a team memory: %w", err)
	}
	cmd := exec.CommandContext(ctx, path, append([]string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"},
		args...)...)
	cmd.Dir, cmd.WaitDelay = u.Top, time.Second
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(strings.ToUpper(variable), "GIT_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	// Without a protocol, an older git cannot fetch a missing object of a partial clone either.
	cmd.Env = append(cmd.Env, "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=", "GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_CEILING_DIRECTORIES="+filepath.Dir(u.Top), "LC_ALL=C")
	return cmd, nil
}

// readFolder reads Folder from the upstream's commit, unless that is the known one, with one call of git, which applies
// no attributes and filters.
func readFolder(ctx context.Context, u project.Upstream, known string) (r reading, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	cmd, err := git(ctx, u, "cat-file", "--batch")
	if err != nil {
		return r, err
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err = errors.Join(err1, err2, cmd.Start()); err != nil {
		return r, err
	}
	b := &batch{in: in, out: bufio.NewReader(out)}
	r, err = b.reading(u.Ref, known)
	_ = in.Close()
	if err != nil {
		cancel()
	}
	if failed := cmd.Wait(); failed != nil && said.Len() > 0 {
		err = fmt.Errorf("%s", memoir.CutBytes(said.String(), maxText, "…"))
	}
	if err != nil {
		hint := "trust it again with the name of the branch: `memoir trust --team BRANCH`"
		if u.Remote {
			hint = "`git remote set-head origin --auto` names the default branch of origin"
		}
		err = memoir.Errorf(memoir.CodeInvalid, hint, "the team memory of %s cannot be read: %w", u.Top, err)
	}
	return r, err
}

// A batch is a running `git cat-file --batch`.
type batch struct {
	in   io.Writer
	out  *bufio.Reader
	read int
}

// get returns an object; a missing one has no kind, and one of more than most bytes no content.
func (b *batch) get(name string, most int) (id, kind string, content []byte, err error) {
	if _, err = fmt.Fprintln(b.in, name); err != nil {
		return "", "", nil, err
	}
	head, err := b.out.ReadString('\n')
	fields := strings.Fields(head)
	if len(fields) != 3 || err != nil {
		return "", "", nil, err
	}
	size, err := strconv.Atoi(fields[2])
	if b.read += size; err != nil || size < 0 || b.read > maxRead {
		return "", "", nil, fmt.Errorf("its files are larger than %d bytes", maxRead)
	}
	if size > most {
		_, err = io.CopyN(io.Discard, b.out, int64(size)+1)
		return fields[0], fields[1], nil, err
	}
	content = make([]byte, size+1)
	_, err = io.ReadFull(b.out, content)
	return fields[0], fields[1], content[:size], err
}

func (b *batch) reading(ref, known string) (r reading, err error) {
	r = reading{files: map[string][]byte{}, gone: map[string]bool{}, ignored: map[string]int{}}
	var kind string
	if r.commit, kind, _, err = b.get(ref+"^{commit}", maxListing); err != nil || kind == "" {
		return r, cmp.Or(err, fmt.Errorf("there is no %s", ref))
	}
	if r.commit == known {
		return r, nil
	}
	_, kind, tree, err := b.get(r.commit+":"+Folder, maxListing)
	if err != nil || kind == "" {
		return r, err
	}
	if kind != "tree" || tree == nil {
		return r, errors.New(Folder + " is no folder, or has too many files")
	}
	digest := len(r.commit) / 2
	for err == nil && len(tree) > 0 {
		mode, rest, _ := bytes.Cut(tree, []byte(" "))
		name, rest, ok := bytes.Cut(rest, []byte{0})
		if !ok || len(rest) < digest {
			return r, fmt.Errorf("its listing is damaged")
		}
		tree = rest[digest:]
		if why, id := r.unfit(string(mode), string(name)), hex.EncodeToString(rest[:digest]); why != "" {
			r.ignored[why]++
		} else if tombstoneFile.Match(name) {
			r.gone[string(name)] = true
		} else {
			var content []byte
			_, kind, content, err = b.get(id, maxFile)
			switch {
			case kind == "" && err == nil:
				err = errors.New("an object is missing, as a pull in a partial clone fetches it")
			case content == nil:
				r.ignored["too large"]++
			default:
				r.files[string(name)] = content
			}
		}
	}
	return r, err
}

// unfit says why an entry of Folder is not read.
func (r reading) unfit(mode, name string) string {
	switch {
	case mode != "100644" && mode != "100755":
		return "no regular file"
	case tombstoneFile.MatchString(name):
		return ""
	case !statementFile.MatchString(name):
		return "another name"
	case len(r.files) == maxFiles:
		return "too many"
	}
	return ""
}
