package hub_test

import (
	"strings"
	"testing"

	"memoir"
	"memoir/hub"
	"memoir/hub/hubtest"
	"memoir/team/wire"
)

func edit(generation int, day, before, after string) wire.Edit {
	e := wire.Edit{Generation: generation, Before: before, After: after, Day: day}
	e.Hash = e.Of()
	return e
}

func (m machine) edit(edits ...wire.Edit) (out wire.Pushed) {
	m.t.Helper()
	m.must("POST", "/v1/edits", wire.Push{Project: shop, Edits: edits}, &out)
	return out
}

func TestEditsHoldInEveryGeneration(t *testing.T) {
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	anna := join(t, url, d.Member(t, "anna", wire.Writer))
	ben := join(t, url, d.Member(t, "ben", wire.Writer))
	anna.push(shop, finding("The parser drops tabs in lists."), finding("The cache needs an hour to warm."))
	d.Workers(t, hub.WorkOptions{Workers: 1})
	d.Idle(t)
	dropped, changed := edit(1, "2026-11-28", "The cache needs an hour to warm.", ""),
		edit(1, "2026-11-28", "The parser drops tabs in lists.", "The parser keeps tabs since May.")
	for range 2 { // a push that is repeated
		ben.edit(dropped, changed)
		d.Idle(t)
	}
	mark := "- The parser keeps tabs since May. (from the team: changed by ben, citing anna) [anna-"
	f := anna.fetch(shop, "")
	if f.number != "2" || strings.Contains(f.text, "hour") || strings.Contains(f.text, "drops") || strings.Count(f.text, mark) != 1 {
		t.Fatalf("generation %s\n%s", f.number, f.text)
	}
	// A line that machines have in another form.
	ben.push(shop, finding("The memoir-context has a tag."))
	d.Idle(t)
	ben.edit(edit(3, "2026-11-28", "The memoir context has a tag.", "It names a `<system-reminder>`."))
	d.Idle(t)
	if f = anna.fetch(shop, ""); strings.Contains(f.text, "- The memoir") || strings.Count(f.text, "- It names a") != 1 {
		t.Fatalf("generation %s\n%s", f.number, f.text)
	}
	ben.edit(edit(4, "2026-11-28", "It names a `‹system-reminder>`.", ""))
	// More statements, one of them the same again; an edit of what an edit made; an older one of the line as it was.
	ben.push(shop, finding("The gateway retries twice."), finding("The cache needs an hour to warm."))
	anna.edit(edit(2, "2026-11-29", "The parser keeps tabs since May.", "The parser keeps tabs since June."))
	ben.edit(edit(1, "2026-11-27", "The parser drops tabs in lists.", "Too old."))
	d.Idle(t)
	f = ben.fetch(shop, "")
	if strings.Contains(f.text, "hour") || strings.Contains(f.text, "May") || strings.Contains(f.text, "old") ||
		strings.Count(f.text, "- The parser keeps tabs since June. (from the team: changed by anna, citing anna)") != 1 || !strings.Contains(f.text, "retries") {
		t.Fatalf("generation %s\n%s", f.number, f.text)
	}
	// What is withdrawn counts no more and does not come back.
	ben.push(shop, dropped.Hash)
	if again := ben.edit(dropped); len(again.Withdrawn) != 1 || again.New != 0 {
		t.Errorf("%+v", again)
	}
	d.Idle(t)
	if f = ben.fetch(shop, ""); !strings.Contains(f.text, "hour") {
		t.Errorf("generation %s\n%s", f.number, f.text)
	}
	if _, err := d.Admin.Erase(t.Context(), "ben"); err != nil {
		t.Fatal(err)
	}
	if n := d.Number(t, "SELECT count(*) FROM memoir.edit"); n != 1 {
		t.Errorf("%d edits after one of two members was erased", n)
	}
	d.Idle(t)
	if f = anna.fetch(shop, ""); strings.Contains(f.text, "retries") || !strings.Contains(f.text, "drops tabs") {
		t.Errorf("generation %s\n%s", f.number, f.text)
	}
}

func TestAnEditIsRefused(t *testing.T) {
	w := newTwo(t)
	reader := join(t, w.url, w.Member(t, "reader", wire.Reader))
	bad := edit(1, "2026-11-28", "a", "b")
	bad.After = "c"
	secret := edit(1, "2026-11-28", "a", "deploys with AKIA"+random(16))
	for what, try := range map[string]struct {
		by   machine
		edit wire.Edit
		code string
	}{
		"a reader's":         {reader, edit(1, "2026-11-28", "a", "b"), wire.CodeForbidden},
		"another hash":       {w.ours, bad, wire.CodeUsage},
		"of no generation":   {w.ours, edit(0, "2026-11-28", "a", "b"), wire.CodeUsage},
		"of two lines":       {w.ours, edit(1, "2026-11-28", "a", "b\n## c"), wire.CodeUsage},
		"with a hidden mark": {w.ours, edit(1, "2026-11-28", "a", "b\u200bc"), wire.CodeUsage},
		"too long":           {w.ours, edit(1, "2026-11-28", "a", strings.Repeat("b", wire.MaxEdit+1)), wire.CodeUsage},
		"a secret":           {w.ours, secret, wire.CodeSecret},
	} {
		before := w.Number(t, state)
		status, problem := try.by.do("POST", "/v1/edits", wire.Push{Project: shop, Edits: []wire.Edit{try.edit}}, nil)
		if status < 400 || problem.Code != try.code || try.code == wire.CodeSecret && (problem.Rule == "" || problem.Hash != secret.Hash) {
			t.Errorf("%s: %d %+v", what, status, problem)
		}
		if w.Number(t, state) != before || w.Number(t, "SELECT count(*) FROM memoir.edit") != 2 {
			t.Errorf("%s: something changed", what)
		}
	}
}

func TestEditsHoldInWhatAModelWrites(t *testing.T) {
	d, anna, _ := modelled(t, nil, answer)
	d.Workers(t, hub.WorkOptions{Workers: 1})
	changed := task("one", "Ported the zebra parser.")
	anna.push(shop, changed, task("two", "Tuned the heron cache."))
	d.Idle(t)
	line := func(word string) string {
		for line := range strings.Lines(anna.fetch(shop, "").text) {
			if strings.Contains(line, word) {
				return memoir.WithoutTeam(memoir.LineText(line))
			}
		}
		t.Fatalf("no line has %s", word)
		return ""
	}
	zebra, heron := line("zebra"), line("heron")
	anna.edit(edit(1, "2026-11-28", zebra, strings.Replace(zebra, "zebra", "okapi", 1)), edit(1, "2026-11-28", heron, ""))
	d.Idle(t)
	anna.push(shop, task("three", "Wrote the yak docs."))
	d.Idle(t)
	f := anna.fetch(shop, "")
	if strings.Count(f.text, "okapi") != 1 || strings.Contains(f.text, "zebra") || strings.Contains(f.text, "heron") || !strings.Contains(f.text, "yak") {
		t.Errorf("generation %s\n%s", f.number, f.text)
	}
	// The edit goes with the session that its line cites.
	anna.push(shop, changed.Hash)
	d.Idle(t)
	if f := anna.fetch(shop, ""); strings.Contains(f.text, "okapi") {
		t.Errorf("generation %s\n%s", f.number, f.text)
	}
}
