package store

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/lease"
)

// What somebody dropped from the schema is told as damage, with the way to mend it, and
// a repair has it again.
func TestAPartOfTheSchemaThatIsGoneIsSaidAndRepaired(t *testing.T) {
	t.Parallel()
	sound, _ := newStore(t)
	register(t, sound, project)
	scan(t, sound, session("one"))
	extracted(t, sound, worth("a"))
	var indexes []string
	must(t, sound.read(t.Context(), func(t tx) (err error) {
		indexes, err = keysOf(t, `SELECT name FROM sqlite_schema WHERE type = 'index' AND sql <> '' ORDER BY name`)
		return err
	}))
	must(t, sound.Close())
	content, err := os.ReadFile(sound.Path())
	must(t, err)
	for _, name := range append(indexes, "draft", "run") {
		path := filepath.Join(newHome(t), "memoir.db")
		must(t, os.WriteFile(path, content, 0o600))
		kind := "INDEX"
		if !slices.Contains(indexes, name) {
			kind = "TABLE"
		}
		s := openAt(t, path, Options{})
		must(t, s.durably(t.Context(), func(t tx) error { _, err := t.exec("DROP " + kind + " " + name); return err }))
		for what, err := range map[string]error{
			"looking for lost extractions": second(s.LostExtractions(t.Context())),
			"claiming suspects":            second(s.ClaimSessions(t.Context(), ClaimOptions{Holder: lease.Self(), Lease: time.Minute, Limit: 1, Suspects: true})),
			"status":                       second(s.Status(t.Context())),
			"runs":                         second(s.Runs(t.Context())),
		} {
			if err != nil && (memoir.CodeOf(err) != memoir.CodeCorrupt || !strings.Contains(memoir.HintOf(err), "memoir doctor --repair")) {
				t.Errorf("%s, %s: %v (%s)", name, what, err, memoir.HintOf(err))
			}
		}
		if !slices.Contains([]string{"job_gave", "extraction_project", "draft"}, name) { // a check of each takes long
			continue
		}
		damage, err := s.Check(t.Context())
		if must(t, err); !slices.Contains(damage, "the "+strings.ToLower(kind)+" "+name+" is missing") {
			t.Errorf("%s: %v", name, damage)
		}
		must(t, s.Close())
		r, err := BeginRepair(t.Context(), path, RepairOptions{})
		must(t, err)
		must(t, r.Finish(t.Context()))
		s = openAt(t, path, Options{})
		if damage, err := s.Check(t.Context()); err != nil || len(damage) > 0 {
			t.Errorf("%s, repaired: %v, %v", name, damage, err)
		}
		if all, err := s.Extractions(t.Context(), project); err != nil || len(all) != 1 {
			t.Errorf("%s, repaired: %v, %v", name, all, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
