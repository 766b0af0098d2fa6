package store

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"memoir"
)

// Share is a project whose statements leave this machine for a hub.
type Share struct {
	ProjectID string    `json:"project"`
	Key       string    `json:"key"` // the project's at the hub
	Cursor    string    `json:"-"`   // how far its changes were received, and by what; see package team
	At        time.Time `json:"since"`
	Sent      int       `json:"sent"`     // statements that the hub has of this machine
	Received  int       `json:"received"` // those that are here of others
}

// leaves joins a session o of the outbox to its extraction, and to the share h by which some of that may leave.
const leaves = `LEFT JOIN extraction e ON e.session_key = o.session_key AND ` + isInput + ` AND NOT ` + isReceived + `
		AND NOT (e.session_key LIKE 'memoir:note-%'
			AND e.session_key IN (SELECT o.session_key` + replacements + ` AND o.session_key IS NOT NULL))
	LEFT JOIN share h ON h.project_id = e.project_id OR o.session_key = 'edit:' || h.key`

// Shares lists the shared projects by key. waiting counts the sessions of the outbox.
func (s *Store) Shares(ctx context.Context) (shares []Share, waiting int, err error) {
	shares, err = fetch(ctx, s, func(t tx) []Share {
		t.get(`SELECT count(*) FROM outbox`, nil, &waiting)
		return collect(t, func(scan scanner, sh *Share) {
			scan(&sh.ProjectID, &sh.Key, &sh.Cursor, timeColumn{&sh.At}, &sh.Sent, &sh.Received)
		}, `SELECT project_id, key, cursor, at,
				(SELECT count(*) FROM sent s WHERE s.key = h.key AND told AND NOT withdrawn),
				(SELECT count(*) FROM received r WHERE r.project_id = h.project_id AND origin = 'hub' AND statements <> '')
			FROM share h ORDER BY key`)
	}, "reading shared projects")
	return shares, waiting, err
}

// ToWithdraw counts, by the key of a project, statements that the hub has until it is told to withdraw them, and the
// sessions of the outbox of which nothing else may leave.
func (s *Store) ToWithdraw(ctx context.Context) (statements map[string]int, sessions int, err error) {
	const gone = ` FROM outbox o ` + leaves + ` WHERE h.key IS NULL`
	statements, err = fetch(ctx, s, func(t tx) map[string]int {
		t.get(`SELECT count(*)`+gone, nil, &sessions)
		out := map[string]int{}
		for scan := range t.rows(`SELECT key, count(*) FROM sent WHERE NOT (withdrawn AND told) AND (withdrawn
				OR key NOT IN (SELECT key FROM share) OR session_key IN (SELECT o.session_key` + gone + `)) GROUP BY key`) {
			key, n := "", 0
			scan(&key, &n)
			out[key] = n
		}
		return out
	}, "reading what is to be withdrawn")
	return statements, sessions, err
}

// Share shares a project under a key. All of its sessions come into the outbox. An error of code memoir.CodeUsage says
// that another project has the key.
func (s *Store) Share(ctx context.Context, projectID, key string) error {
	err := s.durably(ctx, func(t tx) {
		mustExist(t, projectID)
		for _, other := range t.texts(`SELECT project_id FROM share WHERE key = ? AND project_id <> ?`, key, projectID) {
			t.fail(memoir.Errorf(memoir.CodeUsage, "choose another name, or unshare that project",
				"%s is shared as %q", other, key))
		}
		t.exec(`INSERT INTO share (project_id, key, at) VALUES (?, ?, ?) ON CONFLICT (project_id) DO UPDATE SET
			key = excluded.key, cursor = iif(key = excluded.key, cursor, '')`, projectID, key, millis(s.now()))
		resend(t, `SELECT session_key FROM extraction WHERE project_id = ?1
			UNION SELECT session_key FROM sent WHERE key NOT IN (SELECT key FROM share)`, projectID)
	})
	return s.explain(err, "sharing project %s", projectID)
}

// resend puts the sessions that a query selects into the outbox.
func resend(t tx, query string, args ...any) {
	t.exec(`INSERT INTO outbox (session_key) SELECT session_key FROM (`+query+`) WHERE true
		ON CONFLICT DO UPDATE SET n = n + 1`, args...)
}

// resendReplaced is resend for the note that a note stands in the place of: it leaves no more, or again.
func resendReplaced(t tx, note string) {
	resend(t, `SELECT 'memoir:note-' || `+replaced+` AS session_key FROM extraction x
		WHERE x.session_key = ? AND `+replaces+` AND x.project_id IN (SELECT project_id FROM share)`, note)
}

// Unshare ends the sharing of a project. What was received of it is withdrawn. What was sent of it comes into the
// outbox, so that the hub withdraws it, too; with keep it stays there. Edits of the hub's lines are only of here then:
// another team must not get their words.
func (s *Store) Unshare(ctx context.Context, projectID string, keep bool) error {
	return s.explain(s.durably(ctx, func(t tx) {
		bases := t.texts(`DELETE FROM received WHERE project_id = ? AND origin = 'hub' RETURNING session`, projectID)
		resend(t, `SELECT session_key FROM sent WHERE ? AND NOT (withdrawn AND told)
			AND key IN (SELECT key FROM share WHERE project_id = ?)`, !keep, projectID)
		t.exec(`DELETE FROM sent WHERE ? AND key IN (SELECT key FROM share WHERE project_id = ?)`, keep, projectID)
		t.exec(`DELETE FROM share WHERE project_id = ?`, projectID)
		t.exec(`UPDATE hand_edit SET hub = 0 WHERE project_id = ? AND hub > 0`, projectID)
		slices.Sort(bases)
		for _, base := range slices.Compact(bases) {
			s.regroup(t, projectID, base, true)
		}
	}), "ending the sharing of project %s", projectID)
}

// Unshared returns the keys of the forgotten sessions that a project had received from a hub until it was not shared
// any more. Nobody withdrew what they say.
func (s *Store) Unshared(ctx context.Context, projectID string) ([]string, error) {
	return fetchTexts(ctx, s, "reading what was shared", `SELECT session_key FROM mark WHERE forgotten AND project_id = ?1
		AND (session_key LIKE 'team:%' OR session_key LIKE 'machine:%')
		AND substr(session_key, -34) GLOB '*[-:]*' -- else it is of a repository
		AND substr(session_key, -24) NOT IN (SELECT substr(session, -24) FROM received
			WHERE project_id = ?1 AND origin = 'hub' AND statements = '')`, projectID)
}

// MarkHandEdits stores which hand edits are of lines of a hub, and the texts of these. Those that were made before the
// project was shared stay here.
func (s *Store) MarkHandEdits(ctx context.Context, edits []memoir.HandEdit) error {
	if len(edits) == 0 {
		return nil
	}
	return s.explain(s.durably(ctx, func(t tx) {
		for _, n := range edits {
			t.exec(`UPDATE OR REPLACE hand_edit SET hub = ?, text = ? WHERE id = ?
				AND at >= (SELECT at FROM share WHERE share.project_id = hand_edit.project_id)`, n.Hub, n.Text, n.ID)
		}
	}), "recording edits of lines of a hub")
}

// ResendAll puts all shared sessions into the outbox as if nothing had been sent, since the hub may have lost it.
// Tombstones are sent again, too. Every project is received from its start.
func (s *Store) ResendAll(ctx context.Context) error {
	return s.explain(s.durably(ctx, func(t tx) {
		resend(t, `SELECT session_key FROM sent UNION
			SELECT session_key FROM extraction WHERE project_id IN (SELECT project_id FROM share)`)
		t.exec(`UPDATE sent SET told = 0`)
		t.exec(`UPDATE share SET cursor = ''`)
	}), "sending everything again")
}

// Sent is a statement that was sent of a session. A withdrawn one does not come back.
type Sent struct {
	Key       string // of the project
	Hash      string
	Withdrawn bool
	Told      bool // the hub has it so; else it may
	Shared    bool // the project is; of Outbox only
}

// EditsOf begins the key of what is a session in the outbox: the hand edits of the project with the key behind it.
const EditsOf = "edit:"

// Outgoing is a session of which the hub may lack something.
type Outgoing struct {
	Session    string
	N          int64              // of the change that it is in the outbox for
	ProjectID  string             // of the shared project that it is an input of
	Key        string             // of that project; empty: nothing of it may leave
	Extraction *memoir.Extraction // nil if nothing of it may leave
	Sent       []Sent
}

// Outbox returns at most most sessions of the outbox, those behind a key.
func (s *Store) Outbox(ctx context.Context, after string, most int) ([]Outgoing, error) {
	return fetch(ctx, s, func(t tx) []Outgoing {
		out := collect(t, func(scan scanner, o *Outgoing) { scan(&o.Session, &o.N, &o.Key, &o.ProjectID) },
			`SELECT o.session_key, o.n, coalesce(h.key, ''), coalesce(h.project_id, '') FROM outbox o `+leaves+`
			WHERE o.session_key > ? ORDER BY o.session_key LIMIT ?`, after, most)
		for i := range out {
			o := &out[i]
			if o.Key != "" {
				for _, found := range selectExtractions(t, o.Session) {
					o.Extraction = &found
				}
			}
			o.Sent = collect(t, func(scan scanner, one *Sent) {
				scan(&one.Key, &one.Hash, &one.Withdrawn, &one.Told, &one.Shared)
			}, `SELECT key, hash, withdrawn, told, key IN (SELECT key FROM share) FROM sent WHERE session_key = ?`, o.Session)
		}
		return out
	}, "reading the outbox")
}

// A Delivery is what the hub has, or may have, of a session.
type Delivery struct {
	Of    Outgoing
	Sent  []Sent
	Whole bool // nothing is left: the session leaves the outbox if it has not changed since
}

// Deliver records deliveries in one durable transaction: before the hub is told, and last after it.
func (s *Store) Deliver(ctx context.Context, all []Delivery, last bool) error {
	all = slices.DeleteFunc(slices.Clone(all), func(d Delivery) bool { return len(d.Sent) == 0 && !(d.Whole && last) })
	if len(all) == 0 {
		return nil
	}
	return s.explain(s.durably(ctx, func(t tx) {
		for _, d := range all {
			t.exec(`DELETE FROM outbox WHERE ? AND session_key = ? AND n = ?`, d.Whole && last, d.Of.Session, d.Of.N)
			for _, one := range d.Sent {
				t.exec(`INSERT INTO sent (key, hash, session_key, withdrawn, told) VALUES (?, ?, ?, ?, ?)
					ON CONFLICT DO UPDATE SET withdrawn = excluded.withdrawn, told = excluded.told`,
					one.Key, one.Hash, d.Of.Session, one.Withdrawn, one.Told)
			}
		}
	}), "recording what was sent")
}

// The places that statements are received from.
const (
	FromHub        = "hub"
	FromRepository = "repository"
)

// Received is a statement that another machine extracted, or its withdrawal.
type Received struct {
	Member    string // its name; empty: this person
	Hash      string
	Gone      bool   // it was withdrawn; the following fields are empty
	Session   string // what stands for the session, as in memoir.ReceivedKey
	Day       string // 2006-01-02
	Statement memoir.Statement
}

// Receive stores changes of a project in their order, and the new cursor of its share, in one durable transaction. From
// a repository, they are all that it has: the rest is withdrawn. The groups of statements that change become inputs of
// the project's memory, and a withdrawal begins as by BeginForgetting, with purge. It reports whether one did, and how
// many statements are new here.
func (s *Store) Receive(
	ctx context.Context, projectID, origin, cursor string, changes []Received,
) (received int, withdrawn bool, err error) {
	err = s.durably(ctx, func(t tx) {
		received, withdrawn = 0, false
		mustExist(t, projectID)
		less := map[string]bool{} // the groups that change: whether something of them was withdrawn
		if origin == FromRepository {
			less = memoir.Set(keepOnly(t, projectID, changes))
		}
		for _, c := range changes {
			for _, base := range receive(t, projectID, origin, c) {
				less[base] = less[base] || c.Gone
				if !c.Gone {
					received++
				}
			}
		}
		for _, base := range slices.Sorted(maps.Keys(less)) {
			withdrawn = s.regroup(t, projectID, base, less[base]) || withdrawn
		}
		t.exec(`UPDATE share SET cursor = ? WHERE project_id = ? AND ? = 'hub'`, cursor, projectID, origin)
	})
	return received, withdrawn, s.explain(err, "receiving statements of project %s", projectID)
}

// keepOnly removes what a project received from its repository that has only these statements now, and returns the
// groups that it changes. What is removed may return. The answers about its lines end: by another way they are asked
// about again.
func keepOnly(t tx, projectID string, now []Received) (groups []string) {
	var kept, removed []string
	said := map[string]bool{} // keys of lines
	for _, r := range now {
		kept = append(kept, memoir.ReceivedKey(r.Member, r.Session)+" "+r.Hash)
		said[memoir.LineKey(r.Statement.Text)] = true
	}
	const gone = ` FROM received WHERE project_id = ? AND origin = 'repository' AND statements <> ''
		AND session || ' ' || hash NOT IN (SELECT value FROM json_each(?))`
	for scan := range t.rows(`SELECT statements`+gone, projectID, jsonList(kept)) {
		var statements []memoir.Statement
		scan(statementColumn{&statements})
		for _, st := range statements {
			if key := memoir.LineKey(st.Text); !said[key] {
				removed = append(removed, key)
			}
		}
	}
	t.exec(`DELETE FROM review WHERE project_id = ? AND key IN (SELECT value FROM json_each(?))`,
		projectID, jsonList(removed))
	return t.texts(`DELETE`+gone+` RETURNING session`, projectID, jsonList(kept))
}

// receive stores a change and returns the groups that it changes. What a hub withdrew stays away.
func receive(t tx, projectID, origin string, c Received) []string {
	if !c.Gone {
		base := memoir.ReceivedKey(c.Member, c.Session)
		if t.exec(`INSERT INTO received (project_id, origin, hash, session, day, statements)
			SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE NOT EXISTS (SELECT 1 FROM received WHERE project_id = ?1 AND origin = ?2
				AND (hash = ?3 AND origin = 'repository' OR hash = ?7) AND statements = '') -- a person forgot it
				AND NOT (?8 AND EXISTS (SELECT 1 FROM sent NATURAL JOIN share WHERE project_id = ?1 AND hash = ?3)) -- it is of here
			ON CONFLICT DO UPDATE SET statements = excluded.statements -- which an earlier program read less of
				WHERE statements <> '' AND statements <> excluded.statements`, projectID, origin, c.Hash, base, c.Day,
			statementColumn{&[]memoir.Statement{c.Statement}}, noteHash(c.Statement), c.Member == "") == 0 {
			return nil
		}
		return []string{base}
	}
	if c.Member == "" && origin == FromHub { // another machine withdrew what this one still shares: the hub is asked again
		const sent = ` sent WHERE hash = ?1 AND told AND NOT withdrawn
			AND key = (SELECT key FROM share WHERE project_id = ?2)`
		resend(t, `SELECT session_key FROM`+sent, c.Hash, projectID)
		t.exec(`UPDATE sent SET told = 0 WHERE (key, hash) IN (SELECT key, hash FROM`+sent+`)`, c.Hash, projectID)
	}
	group := memoir.ReceivedKey(c.Member, "") // it is the member's alone, whose name may have a dash
	return t.texts(`UPDATE received SET statements = '' WHERE project_id = ?1 AND origin = ?2 AND hash = ?3
		AND substr(session, 1, length(?4)) = ?4 AND instr(substr(session, length(?4) + 1), '-') = 0
		AND statements <> '' RETURNING session`, projectID, origin, c.Hash, group)
}

// keepAway keeps a person's note away that is forgotten, whichever machine sends it, and returns where it was received.
func keepAway(t tx, session string) (received []string) {
	for _, e := range selectExtractions(t, session) {
		for _, st := range e.Statements {
			if hash := noteHash(st); hash != "" {
				t.exec(`INSERT INTO received (project_id, origin, hash, session, day, statements)
					SELECT project_id, 'hub', ?, 'machine:', '', '' FROM share WHERE project_id = ? ON CONFLICT DO NOTHING`,
					hash, e.ProjectID)
			}
		}
	}
	const note = `json_extract(%.statements, '$[0].signal', '$[0].by', '$[0].text')`
	return t.texts(`SELECT m.session_key FROM extraction n JOIN extraction m ON m.project_id = n.project_id
		WHERE n.session_key = ? AND json_extract(n.statements, '$[0].signal') = 'note' AND m.session_key LIKE 'machine:%'
			AND `+strings.Replace(note, "%", "m", 1)+` = `+strings.Replace(note, "%", "n", 1), session)
}

// noteHash stands for the text of a person's note; it is empty for other statements.
func noteHash(st memoir.Statement) string {
	if st.Signal != memoir.SignalNote || st.By != memoir.ByPerson {
		return ""
	}
	return "note " + memoir.LineKey(st.Text)
}

// freeKey returns the key of a group in a project. A forgotten one is taken, and so is one of another project, which
// may have the same session.
func freeKey(t tx, projectID, base string) string {
	n := 0
	for t.exists(`SELECT 1 FROM mark WHERE session_key = ?1 AND forgotten
		UNION ALL SELECT 1 FROM session WHERE key = ?1 AND project_id <> ?2`, memoir.Numbered(base, n), projectID) {
		n++
	}
	return memoir.Numbered(base, n)
}

// regroup stores the statements of a group as the extraction of a session. A group of which something was withdrawn
// gets another key, with the number behind those that are taken, and that of before is forgotten: so lines that
// rested on it go, whoever wrote them.
func (s *Store) regroup(t tx, projectID, base string, less bool) (withdrawn bool) {
	e := memoir.Extraction{ProjectID: projectID}
	e.SessionKey = freeKey(t, projectID, base)
	for scan := range t.rows(`SELECT hash, day, statements FROM received WHERE project_id = ?
		AND origin IN ('hub', 'repository') AND session = ? AND statements <> '' ORDER BY day, hash`, // of the index
		projectID, base) {
		var hash, day string
		var one []memoir.Statement
		if scan(&hash, &day, statementColumn{&one}); t.ok() {
			t.fail(e.AddReceived(day, hash, one...))
		}
	}
	if less || len(e.Statements) == 0 {
		withdrawn = t.exists(`SELECT 1 FROM session WHERE key = ?`, e.SessionKey)
	}
	if withdrawn {
		s.beginForgetting(t, Forgetting{Keys: []string{e.SessionKey}, Purge: true})
		e.SessionKey = freeKey(t, projectID, base)
	}
	if len(e.Statements) == 0 {
		return withdrawn
	}
	source, id := memoir.SplitKey(e.SessionKey)
	s.saveSession(t, memoir.Session{Source: source, ID: id, ProjectID: projectID, Kind: memoir.KindEntry,
		CreatedAt: e.StartedAt, UpdatedAt: e.EndedAt}, "", "")
	s.settle(t, e.SessionKey)
	s.storeExtraction(t, e, true)
	putMessages(t, e.SessionKey, "", nil, nil) // searching finds its statements
	return withdrawn
}
