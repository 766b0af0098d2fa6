package main

import (
	"os"
	"path/filepath"
	"testing"

	"memoir"
	"memoir/secrets"
)

func corpusDir() string {
	if set := os.Getenv("MEMOIR_CORPUS"); set != "" {
		return set
	}
	return filepath.Join("..", "..", "..", "shared", "corpus")
}

func TestMarksAreOfTheForm(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{".", "testdata"} {
		if _, err := readMarks(filepath.Join(dir, "corpus")); err != nil {
			t.Error(err)
		}
	}
}

// A proof that does not stand in its session could not survive anything.
func TestProofsStandInTheirSessions(t *testing.T) {
	t.Parallel()
	scanner, err := secrets.New(secrets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = eachReal(t.Context(), options{data: ".", corpus: corpusDir()}, scanner, func(r realSession) error {
		whole := itemTexts(r.items)
		for _, f := range r.Facts {
			if !f.Proof.Survives(whole) {
				t.Errorf("%s: the proof of %s does not stand in %s", r.path, f.ID, r.Session)
			}
		}
		return nil
	})
	if memoir.CodeOf(err) == memoir.CodeNotFound {
		t.Skip("no corpus of real sessions: set MEMOIR_CORPUS to a directory of them")
	}
	if err != nil {
		t.Error(err)
	}
}
