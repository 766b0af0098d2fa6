package rollout

import (
	"bytes"
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/internal/lazyregexp"
)

// OpenCode reads the sessions of OpenCode, from its database (see opencode_db.go) and from documents of
// `opencode export`. Both have the same records: {"info":{…}} of the session, then {"info":{…},"parts":[…]} of
// each message. A message with many parts has several records; one of OpenCode 2 has its parts in info.content.
type OpenCode struct{}

// Roots are the databases in $XDG_DATA_HOME/opencode (~/.local/share/opencode), and the one in $OPENCODE_DB.
// Each release channel has a database of its own.
func (OpenCode) Roots(env Env) []Root {
	data := env.data()
	if data == "" {
		return nil
	}
	data = filepath.Join(data, "opencode")
	databases := []string{filepath.Join(data, "opencode.db")}
	if set := env.get("OPENCODE_DB"); set != "" && set != ":memory:" {
		if !filepath.IsAbs(set) {
			set = filepath.Join(data, set)
		}
		databases = append(databases, set)
	}
	entries, _ := os.ReadDir(data) // it may not exist
	for _, d := range entries {
		if name := d.Name(); strings.HasPrefix(name, "opencode") && storeName.MatchString(name) {
			databases = append(databases, filepath.Join(data, name))
		}
	}
	slices.Sort(databases)
	return memoir.Map(slices.Compact(databases), func(path string) Root {
		return Root{path, func(string) bool { return false }}
	})
}

// Recognises looks for the record of a session, in a database or with an id of OpenCode.
func (OpenCode) Recognises(path string, head [][]byte) bool {
	info := get(head[0], "info")
	member := strings.Contains(filepath.Base(path), "#") // of a database
	if !strings.HasPrefix(getText(info, "id"), "ses_") && !member || get(info, "role") != nil {
		return false
	}
	return isObject(get(info, "time")) || isString(get(info, "directory"))
}

// Head reads the session's record; messages may be later than the times in it. A record from a database also
// has the time of the last message and the number of bytes.
func (OpenCode) Head(h *Head, _ string, head, tail [][]byte) {
	info := get(head[0], "info")
	h.ID = getText(info, "id")
	h.CWD = cmp.Or(getText(info, "directory"), getText(info, "location", "directory"))
	h.ParentID = getText(info, "parentID")
	if h.Title = getText(info, "title"); placeholderTitle.MatchString(h.Title) {
		h.Title = ""
	}
	h.CreatedAt = instant(get(info, "time", "created"))
	h.UpdatedAt = laterOf(instant(get(info, "time", "updated")), instant(get(head[0], "last")))
	if n, ok := integer(get(head[0], "bytes")); ok {
		h.Size = n
	}
	for _, raw := range append(head[1:len(head):len(head)], tail...) {
		m := get(raw, "info")
		h.UpdatedAt = laterOf(h.UpdatedAt, instant(get(m, "time", "created")), instant(get(m, "time", "completed")))
	}
	switch {
	case h.ParentID != "" || subagentTitle.MatchString(h.Title):
		h.Kind = memoir.KindSubagent
	case deniesQuestions(get(info, "permission")), deniesQuestions(get(info, "permissions")):
		h.Kind = memoir.KindAutomation
	}
	h.ParentID = cmp.Or(h.ParentID, getText(info, "forkedFrom"), getText(info, "fork", "sessionID"))
}

var (
	placeholderTitle = lazyregexp.New(`^(New|Child) session - \d{4}-\d{2}-\d{2}T[0-9:.]+Z?( \(fork #\d+\))?$`)
	forkTitle        = lazyregexp.New(`\(fork #\d+\)$`)
	subagentTitle    = lazyregexp.New(`\(@[^()]+ subagent\)$`)
)

// deniesQuestions reports whether the agent must not ask questions, because no person can answer: sessions of
// `opencode run` and the GitHub action begin so.
func deniesQuestions(rules []byte) bool {
	denied := false
	for rule := range elements(rules) {
		switch { // the last rule counts
		case getText(rule, "permission") == "question" && getText(rule, "pattern") == "*":
			denied = foreign(get(rule, "action"), "allow ask")
		case getText(rule, "action") == "question" && getText(rule, "resource") == "*": // of OpenCode 2
			denied = foreign(get(rule, "effect"), "allow ask")
		}
	}
	return denied
}

func laterOf(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

const (
	maxValue   = 16 << 20 // bytes of a message's or a part's JSON; a longer one is left out and counted
	fullRecord = 4 << 20  // bytes of parts after which a message continues in another record
)

// memberStream is the stream of a session's records: first the session, then its messages in order. Reading it
// returns the error of the database.
type memberStream struct {
	*io.PipeReader
	db   *opencodeDB
	done chan struct{} // closed when reading from the database has ended
}

// openMember streams one session of a database.
func openMember(database, id string) (io.ReadCloser, error) {
	d, err := openDatabase(database)
	if err != nil {
		return nil, databaseError(database, err)
	}
	head, err := d.head(id)
	if err != nil {
		return nil, databaseError(memberPath(database, id), errors.Join(err, d.Close()))
	}
	r, w := io.Pipe()
	s := &memberStream{PipeReader: r, db: d, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		_, err := w.Write(append(head, '\n'))
		if err == nil {
			err = d.messages(w, id)
		}
		if err == nil {
			err = d.unchanged()
		}
		w.CloseWithError(databaseError(database, err))
	}()
	return s, nil
}

// Close stops the stream and closes the database.
func (s *memberStream) Close() error {
	s.PipeReader.Close()
	<-s.done
	return s.db.Close()
}

// head returns the session's row as a record. Values of more than 64 KiB are left out.
func (d *opencodeDB) head(id string) ([]byte, error) {
	short := func(column string) string {
		return `CASE WHEN octet_length(` + column + `) <= 65536 THEN CAST(` + column + ` AS TEXT) END`
	}
	object := func(column string) string {
		return `CASE WHEN json_valid(` + short(column) + `) THEN json(` + short(column) + `) END`
	}
	var head []byte
	all := d.rows("messages", "session_id = ?1")
	err := d.tx.QueryRow(`SELECT json_object('info', json_object('id', s.id, 'title', `+short("s.title")+`,
			'directory', `+short("s.directory")+`, 'parentID', `+short("s.parent_id")+`, 'revert', `+object("s.revert")+`,
			'forkedFrom', `+short("s.fork_session_id")+`, 'permission', coalesce(`+object("s.permission")+`,
				(SELECT `+object("permission")+` FROM `+d.rows("formers", "id = ?1")+`)),
			'time', json_object('created', CAST(s.time_created AS INTEGER), 'updated', CAST(s.time_updated AS INTEGER))),
		'last', (SELECT max(CAST(time_created AS INTEGER)) FROM `+all+`),
		'bytes', (SELECT coalesce(sum(octet_length(m.data)), 0) + coalesce(sum((SELECT sum(octet_length(data))
				FROM `+d.rows("parts", "message_id = m.id")+`)), 0) FROM `+all+` m))
		FROM `+d.rows("sessions", "id = ?1")+` s`, id).Scan(&head)
	if errors.Is(err, sql.ErrNoRows) {
		err = fs.ErrNotExist
	}
	return head, err
}

// notJSON replaces a value that is not JSON or too long; it is counted as a malformed line.
const notJSON = "!\n"

// messages writes the records of a session's messages in OpenCode's order: of OpenCode 1 by time, of OpenCode 2 by
// number. Messages of both are put in order of time.
func (d *opencodeDB) messages(w io.Writer, session string) error {
	return d.values(`SELECT id, type, time_created, (SELECT `+boundedData+` FROM `+d.rows("messages", "id = o.id")+`)
		FROM (SELECT id, type, time_created, CASE WHEN type IS NULL THEN time_created ELSE max(time_created)
				OVER (PARTITION BY type IS NULL ORDER BY seq, time_created, id) END AS at
			FROM `+d.rows("messages", "session_id = ?1")+` ORDER BY at, seq, id) o`, session,
		func(id, kind string, info []byte) (err error) {
			switch {
			case info == nil:
				_, err = io.WriteString(w, notJSON)
			case kind == "":
				err = d.message(w, id, info)
			default:
				_, err = w.Write(slices.Concat([]byte(`{"info":`), info, []byte("}\n")))
			}
			return err
		})
}

func (d *opencodeDB) message(w io.Writer, id string, info []byte) error {
	opening := slices.Concat([]byte(`{"info":`), info, []byte(`,"parts":[`))
	out, bad := slices.Clone(opening), ""
	query := `SELECT id, NULL, NULL, ` + boundedData + ` FROM ` + d.rows("parts", "message_id = ?1") + ` ORDER BY id`
	err := d.values(query, id, func(_, _ string, part []byte) error {
		switch {
		case part == nil:
			bad += notJSON
			return nil
		case len(out)-len(opening) > fullRecord:
			if _, err := w.Write(append(out, "]}\n"...)); err != nil {
				return err
			}
			out = slices.Clone(opening)
		case len(out) > len(opening):
			out = append(out, ',')
		}
		out = append(out, part...)
		return nil
	})
	if err == nil {
		_, err = w.Write(append(append(out, "]}\n"...), bad...))
	}
	return err
}

// boundedData is the JSON of a row, null if it is longer than maxValue.
var boundedData = fmt.Sprintf(`CASE WHEN octet_length(data) <= %d THEN CAST(data AS BLOB) END`, maxValue)

// values calls fn for the JSON of a query's rows, with the columns before it added; object is nil if it is not a JSON
// object or too long.
func (d *opencodeDB) values(query, key string, fn func(id, kind string, object []byte) error) error {
	rows, err := d.tx.Query(query, key)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id, kind sql.NullString
		var created sql.NullInt64
		var data []byte
		if err := rows.Scan(&id, &kind, &created, &data); err != nil {
			return err
		}
		outside := map[string]any{"id": id.String}
		if kind.Valid {
			outside["type"], outside["created"] = kind.String, created.Int64
		}
		if err := fn(id.String, kind.String, withMembers(outside, bytes.TrimSpace(data))); err != nil {
			return err
		}
	}
	return rows.Err()
}

// withMembers adds members to an object, before its own; nil if it is not one. Line breaks become blanks, so that each
// record is one line and damage does not spread.
func withMembers(members map[string]any, object []byte) []byte {
	out, err := json.Marshal(members)
	if err != nil || !isObject(object) || !gjson.ValidBytes(object) {
		return nil
	}
	for i, c := range object {
		if c == '\n' || c == '\r' {
			object[i] = ' '
		}
	}
	own := bytes.TrimLeft(object[1:], " \t")
	if out[len(out)-1] = ','; own[0] == '}' {
		return append(out[:len(out)-1], '}')
	}
	return append(out, own...)
}
