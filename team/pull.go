package team

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"memoir"
	"memoir/store"
	"memoir/team/wire"
)

// maxPages bounds the pages that are received of a project at once: a hub may always say that there are more.
const maxPages = 2000

// reads stands for the kinds and fields of statements that this program knows, and the claims. It begins a cursor: what
// another program left out is received again.
func reads() string {
	known := fmt.Sprintf("%+v%q%s", memoir.Statement{}, memoir.StatementKinds, memoir.SignalVain)
	return memoir.StatementID("", "", known) + " "
}

// pull receives the changes of each shared project since the last one.
func (s *syncing) pull(ctx context.Context) error {
	shares, _, err := s.Store.Shares(ctx)
	s.state.Unaccepted, s.state.Limited = map[string]int{}, map[string]time.Time{}
	for _, share := range shares {
		if err != nil {
			break
		}
		after, same := strings.CutPrefix(share.Cursor, reads())
		if !same {
			after = ""
		}
		var base archive
		base, err = s.fetchBase(ctx, share)
		at, more := wire.Cursor(after), true
		for n := 0; more && err == nil && n < maxPages; n++ {
			at, more, err = s.pullPage(ctx, share, at)
		}
		var failed error
		switch {
		case err != nil && !errors.Is(err, errAgain) && !ends(err):
			failed, err = err, nil
		case err == nil && more:
			failed = memoir.Errorf(memoir.CodeHub, "the next synchronisation receives more",
				"the hub has more than %d pages of changes", maxPages)
		case err == nil:
			failed = s.storeBase(ctx, share, base)
		}
		if failed != nil {
			s.failed[share.Key] = failed
		}
	}
	return err
}

func (s *syncing) pullPage(ctx context.Context, share store.Share, at wire.Cursor) (wire.Cursor, bool, error) {
	var page wire.Page
	query := url.Values{"project": {share.Key}, "after": {string(at)}}
	err := s.client.call(ctx, http.MethodGet, "/v1/pull?"+query.Encode(), nil, &page)
	if err == nil {
		err = s.same(ctx, page.Epoch)
	}
	if err != nil || page.Cursor == at { // nothing is new
		return at, false, err
	}
	var changes []store.Received
	for _, c := range page.Items {
		one, ok := arrived(c, s.hub.Member, s.Scanner)
		today := s.Now.UTC().Format(time.DateOnly) // a clock may be ahead
		one.Day, one.Statement.At = min(one.Day, today), min(one.Statement.At, today)
		s.more = s.more || one.Gone && one.Member == ""
		if ok && (one.Member != "" || one.Gone || !s.forgotten[c.Session]) {
			changes = append(changes, one)
		}
	}
	received, forgets, err := s.Store.Receive(ctx, share.ProjectID, store.FromHub, reads()+string(page.Cursor), changes)
	if forgets || received > 0 {
		s.report.Projects = append(s.report.Projects, share.ProjectID)
	}
	s.report.Received, s.report.Forgets = s.report.Received+received, s.report.Forgets || forgets
	return page.Cursor, page.More && len(page.Items) > 0, err
}
