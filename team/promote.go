package team

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/lazyregexp"
	"memoir/memory"
	"memoir/project"
	"memoir/team/wire"
)

// Folder is the folder of a checkout that has the team memory.
const Folder = ".memoir-team"

// A File is a statement in Folder: one file, named by its id and its content, which is never changed. It has what a
// reader needs to use the statement, and no quotation, title, branch or absolute path. Texts are redacted, each is one
// line.
type File struct {
	ID               string `json:"id"`
	memoir.Statement        // as told returns it
	Day              string `json:"day"` // 2006-01-02
	Who              string `json:"who"`
	Session          string `json:"session"` // wire.SessionHash
}

// Bounds of a file.
const (
	maxFile  = 16 << 10
	maxText  = 1000 // bytes of each text
	maxPaths = 20
)

// kinds are the kinds that help others. The rest is about the work of one person.
var kinds = []memoir.StatementKind{memoir.StatementPreference, memoir.StatementFailure, memoir.StatementCommand,
	memoir.StatementDecision, memoir.StatementFinding, memoir.StatementRefuted, memoir.StatementEnvironment,
	memoir.StatementProcedure}

// Promote returns the file of a statement that a session of the person who shows. Directories of the project become
// relative, and the home directory "~". The error says why the statement cannot be promoted.
func Promote(
	st memoir.Statement, session, day, who string, of memoir.Project, home string, redact func(string) string,
) (File, error) {
	places, why := placesOf(of.Directories, home), ""
	check := func(text string) string {
		if redact(text) != text {
			why = "a secret"
		}
		return text
	}
	f := File{ID: st.ID, Day: day, Who: wire.MemberName(who), Session: wire.SessionHash(session, st.ID),
		Statement: told(st, func(text string) string { return check(relative(text, places)) })}
	check(string(f.Encode()))
	if why = cmp.Or(why, f.fault(day)); why != "" {
		return f, memoir.Errorf(memoir.CodeUsage, "`memoir remember` takes other words for it", "%s is not promoted: %s",
			st.ID, why)
	}
	return f, nil
}

// told returns what a file has of a statement: each text visible, in one line, and changed.
func told(st memoir.Statement, change func(string) string) memoir.Statement {
	st = memoir.Statement{Kind: st.Kind, Text: st.Text, Signal: memoir.SignalTeam, By: memoir.ByMember,
		Command: st.Command, Dir: st.Dir, Purpose: st.Purpose, Error: st.Error, Signature: st.Signature, Cause: st.Cause,
		Fix: st.Fix, Paths: slices.Clone(st.Paths)}
	texts := append(st.Texts(), &st.Purpose)
	for i := range st.Paths {
		texts = append(texts, &st.Paths[i])
	}
	for _, text := range texts {
		*text = memory.Neutralise(change(strings.Join(strings.Fields(*text), " ")))
	}
	return st
}

var (
	statementFile = lazyregexp.New(`^([0-9a-f]{10})(?:-[0-9a-f]{10})?\.json$`)
	tombstoneFile = lazyregexp.New(`^[0-9a-f]{24}\.gone$`)
)

// fault says what is wrong with a file on a day; empty: nothing.
func (f File) fault(today string) string {
	day, err := time.Parse(time.DateOnly, f.Day)
	long := func(text *string) bool { return len(*text) > maxText }
	outside := func(path string) bool { return !filepath.IsLocal(path) }
	switch {
	case !slices.Contains(kinds, f.Kind):
		return "a kind that is not shared"
	case err != nil || day.Format(time.DateOnly) > today:
		return "no day, or one to come"
	case f.Text == "" || slices.ContainsFunc(append(f.Texts(), &f.Purpose), long):
		return "an empty or long text"
	case !wire.IsHex(f.Session, wire.SessionDigits) || wire.MemberName(f.Who) != f.Who:
		return "no session or person"
	case len(f.Paths) > maxPaths || slices.ContainsFunc(f.Paths, outside) || f.Dir != "" && outside(f.Dir):
		return "a path outside of the project"
	}
	return ""
}

// statement is what a reader makes of a file. A wish of somebody else is a decision of the team, and says what it was.
func (f File) statement() memoir.Statement {
	st := f.Statement
	if st.At = f.Day; st.Kind == memoir.StatementPreference {
		st.Kind, st.Signal, st.Text = memoir.StatementDecision, memoir.SignalRule, memoir.Wish+st.Text
	}
	return st
}

// Encode returns the content of a file.
func (f File) Encode() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(f) // texts can be encoded
	return b.Bytes()
}

// Name returns the name of a file. Two people may promote one statement, and their files do not conflict.
func (f File) Name() string {
	sum := sha256.Sum256(f.Encode())
	return f.ID + "-" + hex.EncodeToString(sum[:5]) + ".json"
}

// IDOf returns the id in the name of a file; empty if it is not a statement's.
func IDOf(name string) string {
	if m := statementFile.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

// Parse reads a file as data of somebody else. It returns why the file is ignored, or empty.
func Parse(name string, content []byte, redact func(string) string, today string) (f File, why string) {
	switch {
	case len(content) > maxFile:
		return f, "too large"
	case !utf8.Valid(content) || json.Unmarshal(content, &f) != nil:
		return f, "no JSON"
	case f.ID == "" || f.ID != IDOf(name):
		return f, "another name than its id"
	}
	f.Statement = told(f.Statement, redact)
	return f, f.fault(today)
}

// Write adds a file to the team memory of a checkout. It reports false if the file is there.
func Write(top, name string, content []byte) (path string, added bool, err error) {
	dir := filepath.Join(top, Folder)
	path = filepath.Join(dir, name)
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return path, false, memoir.Errorf(memoir.CodeStorage, "remove it", "%s is not a directory", dir)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, false, err
	}
	return path, true, disk.Replace(path, content, 0o644)
}

// Tombstone returns the name of the file that hides a statement.
func Tombstone(id string) string {
	sum := sha256.Sum256([]byte("demoted 1\n" + id))
	return hex.EncodeToString(sum[:12]) + ".gone"
}

// Promoted lists the names of the files of statements in a checkout.
func Promoted(top string) (names []string) {
	entries, _ := os.ReadDir(filepath.Join(top, Folder))
	for _, e := range entries {
		if IDOf(e.Name()) != "" {
			names = append(names, e.Name())
		}
	}
	return names
}

// PromotedFrom lists the names of the files in a checkout of statements that sessions of these keys show.
func PromotedFrom(top string, keys []string) []string {
	return slices.DeleteFunc(Promoted(top), func(name string) bool {
		var f File
		text, _ := disk.ReadFile(filepath.Join(top, Folder, name), maxFile)
		_ = json.Unmarshal(text, &f) // what cannot be read is nobody's
		return !slices.ContainsFunc(keys, func(key string) bool { return f.Session == wire.SessionHash(key, IDOf(name)) })
	})
}

// Demoted reports whether a checkout has the tombstone of a statement.
func Demoted(top, id string) bool {
	_, err := os.Lstat(filepath.Join(top, Folder, Tombstone(id)))
	return err == nil
}

// UserName returns the name of the person in git's settings for a repository; empty: it has none.
func UserName(ctx context.Context, u project.Upstream) string {
	name, _ := git(ctx, u.Top, "", maxFile, "config", "user.name")
	return strings.TrimSpace(name)
}
