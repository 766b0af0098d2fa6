package testdata_test

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir/testdata"
)

// damaged names the sessions whose bytes are not JSON throughout.
var damaged = []string{"exitcode", "binary", "empty"}

func TestEveryLineIsJSONExceptWhereDamageIsThePoint(t *testing.T) {
	t.Parallel()
	for _, s := range testdata.Expected() {
		for _, name := range s.Files {
			data := read(t, name)
			decoder := json.NewDecoder(bytes.NewReader(data))
			values := 0
			var err error
			for err == nil {
				var value map[string]any
				if err = decoder.Decode(&value); err == nil {
					values++
				}
			}
			whole := err == io.EOF && values > 0
			if want := !slices.Contains(damaged, s.Name); whole != want {
				t.Errorf("%s (%s): all JSON is %v, want %v (%d values, then %v)", s.Name, name, whole, want, values, err)
			}
		}
	}
}

func TestExpectationsNameEveryFileOnce(t *testing.T) {
	t.Parallel()
	var stored, named []string
	err := fs.WalkDir(testdata.Sessions(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			stored = append(stored, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, s := range testdata.Expected() {
		named = append(named, s.Files...)
		if seen[s.Name] {
			t.Errorf("two sessions are called %s", s.Name)
		}
		seen[s.Name] = true
		if len(s.Files) == 0 {
			t.Errorf("%s has no file", s.Name)
		}
	}
	slices.Sort(stored)
	slices.Sort(named)
	if diff := cmp.Diff(stored, named); diff != "" {
		t.Errorf("stored (-) and named (+) files differ:\n%s", diff)
	}
}

// A fact that no session holds, or a trap that none does, would prove nothing.
func TestFactsAndTrapsStandInTheirSessions(t *testing.T) {
	t.Parallel()
	for _, s := range testdata.Expected() {
		var text strings.Builder
		for _, name := range s.Files {
			for value := range strings.SplitSeq(string(read(t, name)), "\n") {
				text.WriteString(unescape(value) + "\n")
			}
		}
		for _, phrase := range slices.Concat(s.Facts, s.Traps) {
			if !testdata.Holds(text.String(), phrase) {
				t.Errorf("%s does not hold %q", s.Name, phrase)
			}
		}
	}
}

func TestWritingTwiceGivesTheSameBytesAndTimes(t *testing.T) {
	t.Parallel()
	first, secrets := fixtures(t)
	second, again := fixtures(t)
	if diff := cmp.Diff(secrets, again); diff != "" {
		t.Errorf("planted secrets differ:\n%s", diff)
	}
	if diff := cmp.Diff(tree(t, first), tree(t, second)); diff != "" {
		t.Errorf("trees differ:\n%s", diff)
	}
}

func TestSecretsArePlantedWhenWrittenAndStoredNowhere(t *testing.T) {
	t.Parallel()
	dir, planted := fixtures(t)
	if len(planted) < len(planting) {
		t.Fatalf("%d secrets for %d rules", len(planted), len(planting))
	}
	var written strings.Builder
	for _, file := range tree(t, dir) {
		written.WriteString(file.Text)
	}
	if strings.Contains(written.String(), "@@SECRET:") {
		t.Error("a placeholder was left as it is")
	}
	var stored strings.Builder
	for _, s := range testdata.Expected() {
		for _, name := range s.Files {
			stored.Write(read(t, name))
		}
	}
	for _, secret := range planted {
		if !strings.Contains(written.String(), secret) {
			t.Errorf("secret %.8s… was not planted", secret)
		}
		if strings.Contains(stored.String(), secret) {
			t.Errorf("secret %.8s… is stored in the repository", secret)
		}
	}
}

type written struct {
	Path, Text string
	At         time.Time
}

func tree(t *testing.T, dir string) []written {
	t.Helper()
	var out []written
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		out = append(out, written{Path: name, Text: string(data), At: info.ModTime().UTC()})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := fs.ReadFile(testdata.Sessions(), name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// unescape undoes JSON's escapes in a whole line, well enough to search it.
func unescape(line string) string {
	return strings.NewReplacer(`\\n`, "\n", `\n`, "\n", `\"`, `"`, `\t`, "\t").Replace(line)
}
