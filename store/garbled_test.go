package store

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
)

// flipBit changes one bit of a database's file where a text stands, as a disk does.
func flipBit(t *testing.T, path, text string) {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	at := bytes.Index(content, []byte(text))
	if at < 0 {
		t.Fatalf("%q is not in the file", text)
	}
	content[at] ^= 2
	must(t, os.WriteFile(path, content, 0o600))
}

func TestAnExtractionThatADiskChangedIsFoundAndMended(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	const copied, again, lost = "codex:copied", "codex:again", "codex:lost"
	register(t, s, project)
	texts := map[string]string{}
	for _, key := range []string{copied, again, lost, "codex:sound"} {
		_, id := memoir.SplitKey(key)
		scan(t, s, session(id))
		texts[key] = "- the text of " + id
		extracted(t, s, worth(texts[key]))
	}
	must(t, s.durably(t.Context(), func(t tx) error { _, err := t.exec(`DELETE FROM file WHERE session_key = ?`, lost); return err }))
	must(t, s.Close())
	for _, key := range []string{copied, again, lost} {
		flipBit(t, s.Path(), "summary of "+texts[key])
	}

	s = openAt(t, s.Path(), Options{})
	if damage, err := s.Check(t.Context()); err != nil || len(damage) > 0 {
		t.Fatalf("SQLite finds it by itself: %v, %v", damage, err)
	}
	garbled, err := s.GarbledExtractions(t.Context())
	must(t, err)
	var keys []string
	for _, e := range garbled {
		keys = append(keys, e.SessionKey)
	}
	slices.Sort(keys)
	if diff := cmp.Diff([]string{again, copied, lost}, keys); diff != "" {
		t.Fatal(diff)
	}
	before := projectRow(t, s, project).ChangeSeq
	for _, e := range garbled {
		want, from := map[string]Fate{copied: FateMended, again: FateAgain, lost: FateStays}[e.SessionKey], (*memoir.Extraction)(nil)
		if want == FateMended {
			e.RolloutSummary = "summary of " + texts[copied]
			from = &e
		}
		if fate, err := s.MendExtraction(t.Context(), e.SessionKey, from); err != nil || fate != want {
			t.Errorf("%s: %v, %v", e.SessionKey, fate, err)
		}
	}
	if projectRow(t, s, project).ChangeSeq == before {
		t.Error("the memory is not made anew of what was mended")
	}
	if left, err := s.GarbledExtractions(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	if again, copied, sound := reasonOf(t, s, "again"), reasonOf(t, s, "copied"), reasonOf(t, s, "sound"); again != memoir.ReasonTooRecent && again != memoir.ReasonEligible ||
		copied != memoir.ReasonUpToDate || sound != memoir.ReasonUpToDate {
		t.Errorf("what is read again: %s, %s, %s", again, copied, sound)
	}
}

func sumUpAll(t tx) error {
	if _, err := t.exec(`UPDATE extraction SET text_sum = ''`); err != nil {
		return err
	}
	return sumUp(t, "")
}
