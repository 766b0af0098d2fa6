package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"
	"github.com/tidwall/gjson"
)

// This file sows canaries beside the records of sessions: in a database, in an index of
// titles, in names of files and directories, in what git has of a directory.

// opencodeRows are the tables of OpenCode's database that hold sessions.
const opencodeRows = `
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL, directory text NOT NULL,
	title text NOT NULL, version text NOT NULL, revert text, permission text, time_created integer NOT NULL, time_updated integer NOT NULL, time_archived integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id)`

// sowDatabase writes an exported session of OpenCode into a database, with a canary in every
// text of its rows.
func (f *flock) sowDatabase(path string, x template) {
	f.t.Helper()
	db, err := sql.Open("sqlite3", path)
	must(f.t, err)
	defer db.Close()
	do := func(statement string, args ...any) {
		f.t.Helper()
		_, err := db.Exec(statement, args...)
		must(f.t, err)
	}
	do(opencodeRows)
	doc := gjson.ParseBytes(f.sown(x, "a row's ").data)
	info := doc.Get("info")
	id, begun, ended := info.Get("id").Str, info.Get("time.created").Int(), info.Get("time.updated").Int()
	do("INSERT INTO session VALUES (?, ?, NULL, ?, ?, ?, ?, NULL, NULL, ?, ?, NULL)", id, f.add("p", "a row's project"), f.add("slug", "a row's slug"),
		info.Get("directory").Str, info.Get("title").Str, f.add("1.18.0", "a row's version"), begun, ended)
	for i, m := range doc.Get("messages").Array() {
		at := begun + int64(i)
		message := fmt.Sprintf("msg_%04d", i)
		do("INSERT INTO message VALUES (?, ?, ?, ?, ?)", message, id, at, at, m.Get("info").Raw)
		for n, p := range m.Get("parts").Array() {
			do("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", fmt.Sprintf("prt_%04d_%04d", i, n), message, id, at, at, p.Raw)
		}
	}
}

// sowTitles writes the index in which Codex names its threads.
func (f *flock) sowTitles(home string, ids []string) {
	f.t.Helper()
	var b strings.Builder
	for _, id := range ids {
		line, err := json.Marshal(map[string]string{"id": id, "thread_name": f.add("Rotate the key", "a title of the index")})
		must(f.t, err)
		b.Write(append(line, '\n'))
	}
	must(f.t, os.WriteFile(filepath.Join(home, "session_index.jsonl"), []byte(b.String()), 0o600))
}

// nameless matches what no name of a file holds.
var nameless = regexp.MustCompile(`[/\x00-\x1f]+`)

// named plants a canary in a name that a file may have, as a part of a path, with names below it.
func (h *hand) named(canaries map[string]string, dir, name, field string, below ...string) string {
	for {
		path := h.plantIn(canaries, field, func(match string) string {
			return filepath.Join(append([]string{dir, name + " " + nameless.ReplaceAllString(strings.TrimSpace(match), " ")}, below...)...)
		})
		if !slices.ContainsFunc(strings.Split(path, string(filepath.Separator)), func(part string) bool { return len(part) >= 200 }) {
			return path
		}
	}
}

// sowPath moves a session's file into a directory whose name has a canary. Paths of
// sessions are how a person finds them, and stay: they must not go further.
func (f *flock) sowPath(dir string, x template) {
	f.t.Helper()
	path, err := filepath.Rel(dir, f.named(f.paths, dir, "old", "the path of a session", filepath.Base(x.path)))
	must(f.t, err)
	x.path = path
	x.write(f.t, dir)
}

var worksIn = regexp.MustCompile(`(?i)(?:^|\.)\w*(?:cwd|directory|workdir)$`)

// in is a session in another directory.
func (x template) in(dir string) template {
	return x.fields(func(path, text string) string {
		if worksIn.MatchString(path) && strings.HasPrefix(text, "/") {
			return dir
		}
		return text
	})
}

// sowDirectories makes directories, and sessions in them: one with a canary in its name, one
// in which git has canaries in the names of its branch, of its remote and of the remote's
// account. It returns them.
func (f *flock) sowDirectories(dir, work string, x template) []string {
	f.t.Helper()
	dirs := []string{f.named(f.all, work, "app", "the name of a directory"), filepath.Join(work, "plain"), filepath.Join(work, "other")}
	remotes := []string{
		"https://git.example/app.git",
		f.plant("the account of a remote", func(match string) string { return "https://ci:" + word(match) + "@git.example/plain.git" }, func(match string) string { return "https://git.example/plain?token=" + word(match) }),
		f.plant("the name of a remote", func(match string) string { return "https://git.example/" + word(match) + "/other.git" }, func(match string) string { return "git@git.example:app " + line(match) + ".git" }),
	}
	for i, at := range dirs {
		git := filepath.Join(at, ".git")
		for _, d := range []string{"objects", "refs"} {
			must(f.t, os.MkdirAll(filepath.Join(git, d), 0o700))
		}
		branch := f.plant("the name of a branch", func(match string) string { return "ref: refs/heads/fix " + line(match) })
		must(f.t, os.WriteFile(filepath.Join(git, "HEAD"), []byte(branch+"\n"), 0o600))
		url := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(remotes[i])
		config := "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = \"" + url + "\"\n"
		must(f.t, os.WriteFile(filepath.Join(git, "config"), []byte(config), 0o600))
		x.copyOf(900000+i).in(at).write(f.t, dir)
	}
	return dirs
}

// line is a canary on one line.
func line(match string) string { return strings.Join(strings.Fields(match), " ") }

// word is a canary without what ends a word.
func word(match string) string { return strings.Join(strings.Fields(match), "") }
