package store

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"memoir"
)

// Whatever page is lost, all that stands in the rest of the file is looked at.
func TestADamagedCopyIsReadAsFarAsItGoes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "memoir.db")
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = s.durably(t.Context(), func(t tx) error {
		for n := range 300 {
			_, err := t.exec(`INSERT INTO project (id, name, identity, remote) VALUES ('p' || ?1, ?2, ?1, '')`,
				n, fmt.Sprintf("needle%04d %s", n, strings.Repeat("hay ", n)))
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, readErr := os.ReadFile(path)
	if err != nil || readErr != nil {
		t.Fatal(err, readErr)
	}
	needle := regexp.MustCompile(`needle\d{4}`)
	const size = 4096
	damaged := 0
	for n := 1; n < len(whole)/size; n++ {
		b := append([]byte{}, whole...)
		clear(b[n*size:][:size])
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := textsBySQL(t, path); memoir.CodeOf(err) == memoir.CodeCorrupt {
			damaged++
		}
		found := map[string]bool{}
		err := TextsOfCopy(t.Context(), path, func(text Text) error {
			for _, one := range needle.FindAllString(text.Value, -1) {
				found[one] = true
			}
			return nil
		})
		if err != nil {
			t.Errorf("page %d: %v", n+1, err)
		}
		for _, one := range needle.FindAll(b, -1) {
			if !found[string(one)] {
				t.Errorf("page %d: %s is in the file, and was not looked at", n+1, one)
			}
		}
	}
	if damaged == 0 {
		t.Error("SQLite could read them all")
	}
}

// textsBySQL is what SQLite says of a copy.
func textsBySQL(t *testing.T, path string) error {
	t.Helper()
	s, err := openCopy(path)
	if err != nil {
		return err
	}
	defer s.readers.Close()
	return s.Texts(t.Context(), "", func(Text) error { return nil })
}
