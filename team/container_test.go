package team

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"memoir"
	"memoir/team/wire"
)

func TestASessionIsSentAgainWhileTheHubIsBusy(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answers   []string // codes of refusals
		sent      bool
		ends      bool
		requested int
	}{
		"busy for a while":   {[]string{wire.CodeUnavailable, wire.CodeUnavailable, wire.CodeUnavailable, ""}, true, false, 4},
		"busy":               {slices.Repeat([]string{wire.CodeUnavailable}, 9), false, true, 4},
		"one too large":      {[]string{wire.CodeTooLarge}, false, false, 1},
		"nobody may":         {[]string{wire.CodeForbidden}, false, true, 1},
		"taken at first try": {[]string{""}, true, false, 1},
	} {
		n, waited := 0, time.Duration(0)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			code := test.answers[n]
			w.Header().Set(wire.VersionHeader, "1")
			if n++; code == "" {
				_ = json.NewEncoder(w).Encode(wire.Accepted{New: true})
				return
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			_ = json.NewEncoder(w).Encode(wire.Problem{Title: "no", Code: code})
		}))
		s, err := NewSender(Hub{URL: server.URL}, func(_ context.Context, d time.Duration) error {
			waited += d
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		outcome, ends, err := s.Send(t.Context(), wire.Transcript{})
		server.Close()
		if (outcome == "sent") != test.sent || err != nil && ends != test.ends || (err == nil) != test.sent || n != test.requested ||
			(n == 4) != (waited == 7*time.Second) {
			t.Errorf("%s: %s, ends %v, %v; %d requests, waited %s", name, outcome, ends, err, n, waited)
		}
	}
}

func TestOfAnArchiveOnlyWhatMachinesSentIsUsed(t *testing.T) {
	t.Parallel()
	fine := memoir.Statement{Kind: memoir.StatementFinding, Text: "fine", By: memoir.ByTool, At: today}
	wish, claim, day, anchored := fine, fine, fine, fine
	wish.Kind, claim.Kind, day.At = memoir.StatementPreference, memoir.StatementClaim, "</memoir-context>"
	anchored.Anchors = []memoir.Anchor{{Path: "../../etc/passwd"}}
	var sessions []memoir.Extraction
	for _, key := range []string{"team:al-ice-" + hash, "team:alice-01" + hash, "machine:" + hash, "team:alice-intruder" + hash,
		"team:<b>-" + hash, "team:alice-0", "codex:one"} {
		sessions = append(sessions, memoir.Extraction{SessionKey: key, Title: "intruder",
			Statements: []memoir.Statement{fine, wish, claim, day, anchored}})
	}
	got := usable(sessions)
	for i, e := range got {
		if e.SessionKey != sessions[i].SessionKey || e.Title != "" || len(e.Statements) != 2 || len(e.Statements[1].Anchors) != 0 {
			t.Errorf("%+v", e)
		}
	}
	if len(got) != 3 {
		t.Errorf("%d sessions", len(got))
	}
}
