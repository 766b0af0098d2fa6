package team

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/config"
	"memoir/secrets"
	"memoir/store"
	"memoir/team/wire"
)

// Options say whose statements are shared, and how.
type Options struct {
	Home     string // memoir's
	UserHome string // the person's home directory
	Store    *store.Store
	Scanner  *secrets.Scanner
	Settings func(memoir.Project) (config.Settings, error) // with those of the project's own file
	Now      time.Time                                     // zero: the clock

	Background bool // nobody waits
}

// Report counts what a synchronisation did.
type Report struct {
	Sent      int      `json:"sent"`
	Edits     int      `json:"edits"` // hand edits that were sent
	Withdrawn int      `json:"withdrawn"`
	Received  int      `json:"received"`
	Held      []Held   `json:"held"`     // statements that stay here
	Projects  []string `json:"projects"` // ids of those that changed
	Forgets   bool     `json:"-"`        // a withdrawal has begun, which the caller finishes
}

// What a synchronisation does.
const (
	Push = 1 << iota
	Pull
)

// pageOfOutbox is how many sessions are sent and recorded at once.
const pageOfOutbox = 100

// renewWithin is the rest of a token's life at which it is replaced.
const renewWithin = 30 * 24 * time.Hour

// Sync sends what the outbox has and receives what is new, and records how that went. It may be killed at any time:
// repeating it changes nothing. The report is also of what was done before an error.
func Sync(ctx context.Context, o Options, what int) (Report, error) {
	o.Now = cmp.Or(o.Now, time.Now())
	s := &syncing{Options: o, report: Report{Held: []Held{}, Projects: []string{}}, projects: map[string]memoir.Project{},
		sessions: map[string]string{}, forgotten: map[string]bool{}}
	var err, errState error
	s.hub, err = Load(o.Home)
	s.state, errState = ReadState(o.Home)
	if err = cmp.Or(err, errState); err != nil {
		return s.report, err
	}
	err = s.run(ctx, what)
	if errors.Is(ctx.Err(), context.Canceled) { // by a person
		return s.report, context.Cause(ctx)
	}
	slices.Sort(s.report.Projects)
	s.report.Projects, s.report.Held = slices.Compact(s.report.Projects), append(s.report.Held, s.state.Held...)
	now := o.Now.UTC().Truncate(time.Second)
	if s.state.Error, s.state.Hint = "", ""; err == nil {
		s.state.Success, s.state.Failing = now, time.Time{}
	} else {
		s.state.Error, s.state.Hint = o.Scanner.Message(err.Error()), memoir.HintOf(err)
		s.state.Failing = cmp.Or(s.state.Failing, now)
	}
	return s.report, errors.Join(err, write(o.Home, "sync", s.state))
}

type syncing struct {
	Options
	hub      Hub
	client   *client
	state    State
	report   Report
	projects map[string]memoir.Project
	leaving  leaving // of the project that was last looked at

	failed    map[string]error  // of projects, by key
	sessions  map[string]string // of statements that are being sent, by hash
	refused   map[string]bool   // hashes of statements and edits that the hub refuses
	again     []string          // those of a page that the hub takes under another hash
	more      bool              // to push, now that another machine has withdrawn what this one shares
	older     bool              // the hub takes no edits yet
	forgotten map[string]bool   // hashes of sessions
}

// errReads is of a project that the member only reads: its outbox waits, and nothing fails.
var errReads = errors.New("the member only reads")

const everySession = "every session"

// errAgain says that the hub's database is another one, and that all is to be sent again.
var errAgain = errors.New("the hub's database is replaced again and again")

func (s *syncing) run(ctx context.Context, what int) (err error) {
	wait := map[bool]time.Duration{false: begins, true: beginsAlone}[s.Background]
	if s.client, err = newClient(s.hub, wait); err == nil && s.hub.Expires.Sub(s.Now) < renewWithin {
		err = s.renew(ctx)
	}
	if err != nil {
		return err
	}
	rows, err := s.Store.Projects(ctx)
	for _, row := range rows {
		s.projects[row.ID] = row.Project
	}
	forgotten, errForgotten := s.Store.Forgotten(ctx)
	for key := range forgotten {
		s.forgotten[wire.SessionHash(key, "")] = true
	}
	err = cmp.Or(err, errForgotten)
	for tries := 0; tries == 0 && err == nil || tries < 3 && errors.Is(err, errAgain); tries++ {
		err = s.exchange(ctx, what)
	}
	for _, key := range slices.Sorted(maps.Keys(s.failed)) {
		if one := s.failed[key]; one != errReads {
			err = errors.Join(err, memoir.Errorf(memoir.CodeHub, memoir.HintOf(one), "%s: %w", key, one))
		}
	}
	return err
}

// exchange pushes, tombstones first, and pulls. What another machine withdrew, the hub is asked about, and gets again.
func (s *syncing) exchange(ctx context.Context, what int) (err error) {
	s.failed, s.refused, s.again, s.more = map[string]error{}, map[string]bool{}, nil, false
	s.unhold(everySession)
	for step, tombstones := range []bool{true, false, false, false} {
		if step == 2 && what&Pull != 0 && err == nil {
			err = s.pull(ctx)
		}
		if what&Push != 0 && (step < 2 || s.more) && err == nil {
			err = s.push(ctx, tombstones)
		}
	}
	return err
}

// unhold removes what was held of a session.
func (s *syncing) unhold(session string) {
	s.state.Held = slices.DeleteFunc(s.state.Held, func(h Held) bool { return h.Session == session })
}

// renew replaces the token. The next one is stored before the hub gets it, so a lost answer loses nothing.
func (s *syncing) renew(ctx context.Context) error {
	s.hub.Next = cmp.Or(s.hub.Next, rand.Text())
	if err := write(s.Home, "hub", s.hub); err != nil {
		return err
	}
	var j wire.Joined
	err := s.client.call(ctx, http.MethodPost, "/v1/rotate", wire.Rotate{Token: s.hub.Next}, &j)
	if refused(err) == wire.CodeUnauthorised { // an earlier answer may be lost
		s.client.token, j.Token = s.hub.Next, s.hub.Next
		if s.client.call(ctx, http.MethodGet, "/v1/me", nil, &j) == nil {
			err = nil
		}
	}
	if err != nil {
		return err
	}
	s.hub.Token, s.hub.Next, s.hub.Expires, s.client.token = j.Token, "", j.Expires, j.Token
	return write(s.Home, "hub", s.hub)
}

// same returns errAgain if an answer is of another database than the last one.
func (s *syncing) same(ctx context.Context, epoch string) error {
	if epoch == s.hub.Epoch {
		return nil
	}
	if err := s.Store.ResendAll(ctx); err != nil {
		return err
	}
	s.hub.Epoch = epoch
	return cmp.Or(write(s.Home, "hub", s.hub), errAgain)
}

// push goes through the outbox, for tombstones only or for all.
func (s *syncing) push(ctx context.Context, tombstones bool) error {
	for after := ""; ; {
		page, err := s.Store.Outbox(ctx, after, pageOfOutbox)
		if err == nil && len(page) > 0 {
			after = page[len(page)-1].Session
			err = s.pushPage(ctx, page, tombstones)
		}
		if err != nil || len(page) == 0 {
			return err
		}
	}
}

// pushPage sends what the hub lacks of sessions. It records before that the hub may have it, so that a kill leaves
// nothing there that nobody withdraws, and then that it has.
func (s *syncing) pushPage(ctx context.Context, page []store.Outgoing, tombstones bool) error {
	parcels := map[string]*wire.Push{}
	s.again, s.leaving = nil, leaving{} // what changes from now on changes the outbox, too
	var all []store.Delivery
	for _, o := range page {
		all = append(all, s.compare(ctx, o, tombstones, parcels))
	}
	if err := s.Store.Deliver(ctx, all, false); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(parcels)) {
		if err := s.send(ctx, *parcels[key]); err != nil {
			return err
		}
	}
	for i := range all {
		d := &all[i]
		for j := range d.Sent {
			failed := s.failed[d.Sent[j].Key] != nil || s.older && strings.HasPrefix(d.Of.Session, store.EditsOf)
			again := !d.Sent[j].Withdrawn && slices.Contains(s.again, d.Sent[j].Hash)
			d.Sent[j].Withdrawn, s.more = d.Sent[j].Withdrawn || again, s.more || again
			d.Sent[j].Told = !failed && !s.refused[d.Sent[j].Hash]
			d.Whole = d.Whole && !failed && !again
		}
	}
	return s.Store.Deliver(ctx, all, true)
}

// compare adds to parcels what the hub lacks of a session: tombstones of what was sent and should not be there, and
// else also statements.
func (s *syncing) compare(
	ctx context.Context, o store.Outgoing, tombstones bool, parcels map[string]*wire.Push,
) store.Delivery {
	if tombstones && len(o.Sent) == 0 {
		return store.Delivery{Of: o}
	}
	wanted, held, waits := s.wanted(ctx, o)
	d, known := store.Delivery{Of: o, Whole: !tombstones && !waits}, map[string]bool{}
	parcel := func(key, hash string, withdrawn, unshared bool) *wire.Push {
		of := key + map[bool]string{true: "\nunshared"}[unshared]
		if parcels[of] == nil {
			parcels[of] = &wire.Push{Project: key, Unshared: unshared}
		}
		d.Sent = append(d.Sent, store.Sent{Key: key, Hash: hash, Withdrawn: withdrawn})
		return parcels[of]
	}
	for _, was := range o.Sent {
		stays := wanted[was.Hash] != nil
		if (stays || waits) && was.Key == o.Key && !was.Withdrawn {
			known[was.Hash] = was.Told
		} else if !was.Withdrawn || !was.Told {
			p := parcel(was.Key, was.Hash, true, !was.Shared && !s.forgotten[wire.SessionHash(o.Session, "")])
			p.Tombstones = append(p.Tombstones, was.Hash)
		}
	}
	if tombstones {
		return d
	}
	s.unhold(o.Session)
	s.state.Held = append(s.state.Held, held...)
	for _, hash := range slices.Sorted(maps.Keys(wanted)) {
		if !known[hash] {
			wanted[hash](parcel(o.Key, hash, false, false))
			s.sessions[hash] = o.Session
		}
	}
	return d
}

// send sends a parcel in pushes within the bounds. What the hub finds a secret in stays here, and so does all of a
// project that the member only reads; edits wait for a newer hub. A failure of one project does not stop the others; an
// error does.
func (s *syncing) send(ctx context.Context, p wire.Push) error {
	for p.Items() > 0 {
		part := wire.Push{Project: p.Project, Unshared: p.Unshared}
		part.Tombstones = p.Tombstones[:min(len(p.Tombstones), wire.MaxItems)]
		n := 0
		for size := 80 * len(part.Tombstones); n < min(len(p.Statements), wire.MaxItems-len(part.Tombstones)); n++ {
			if size += len(p.Statements[n].Body) + 300; size > wire.MaxBytes-4*wire.MaxProject {
				break
			}
		}
		part.Statements = p.Statements[:n]
		path := "/v1/push"
		if len(part.Tombstones)+n == 0 {
			part.Edits, path = p.Edits[:min(len(p.Edits), maxEdits)], "/v1/edits"
		}
		var done wire.Pushed
		err := s.client.call(ctx, http.MethodPost, path, part, &done)
		if err == nil {
			err = s.same(ctx, done.Epoch)
		}
		why, _ := errors.AsType[*refusal](err)
		switch {
		case err == nil:
			s.report.Sent, s.report.Withdrawn = s.report.Sent+n, s.report.Withdrawn+len(part.Tombstones)
			s.report.Edits, s.again = s.report.Edits+len(part.Edits), append(s.again, done.Again...)
			for _, hash := range done.Withdrawn {
				if _, known := s.sessions[hash]; known && !slices.Contains(done.Again, hash) {
					s.refuse(hash, p.Project, "withdrawn before; the hub does not take it again")
				}
				if len(part.Edits) > 0 {
					s.report.Edits--
				} else {
					s.report.Sent--
				}
			}
			p.Tombstones, p.Statements = p.Tombstones[len(part.Tombstones):], p.Statements[n:]
			p.Edits = p.Edits[len(part.Edits):]
		case why != nil && why.Code == wire.CodeSecret && !s.refused[why.Hash]:
			s.refuse(why.Hash, p.Project, "the hub finds a secret ("+shown(why.Rule)+")")
			isRefused := func(st wire.Statement) bool { return s.refused[st.Hash] }
			p.Statements = slices.DeleteFunc(slices.Clone(p.Statements), isRefused)
			p.Edits = slices.DeleteFunc(slices.Clone(p.Edits), func(e wire.Edit) bool { return s.refused[e.Hash] })
		case len(part.Edits) > 0 && refused(err) == wire.CodeNotFound:
			s.older, p.Edits = true, nil
			s.state.Held = append(s.state.Held, Held{store.EditsOf + p.Project, p.Project,
				"edits wait: the hub is of an earlier release"})
		case ends(err):
			return err
		case why.Code == wire.CodeForbidden && len(part.Tombstones) == 0: // what is not withdrawn is a failure
			s.failed[p.Project] = errReads
			s.state.Held = append(s.state.Held, Held{everySession, p.Project, why.Title})
			return nil
		default:
			s.failed[p.Project] = err
			return nil
		}
	}
	return nil
}

// refuse records that the hub does not take a statement or an edit.
func (s *syncing) refuse(hash, key, why string) {
	s.refused[hash] = true
	s.state.Held = append(s.state.Held, Held{s.sessions[hash], key, why})
}
