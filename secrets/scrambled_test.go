package secrets

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const allLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

func TestRandomLettersAreToldFromWords(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"hWpDwGwHqXkZ": true, "KcyuowkAvrYtFukocWDu": true, `"ejrgJEBlIypfCw"`: true, "xkQzvW-pLrTqN_bVd": true, "XXctORXhHfWPRO7": true,
		"getUserByID": false, "correct-horse-battery-staple": false, "MAX_OPEN_CONNS": false, "parseJSONFile": false, "someSecretValue2": false,
		"HTTPSProxyURL": false, "hWp": false, "aaaaaaaaaaaa": false, "http.DefaultClient": false, "hWpDwG 8wHqXkZ": false, "": false,
		"GetMigrationByVersion": false, "userIdToken": false, "OAuthClientSecret": false,
	} {
		if scrambled(value) != want {
			t.Errorf("%q: %v", value, !want)
		}
	}
	m := maker{newRandom(91)}
	for n, least := range map[int]int{10: 750, 14: 900, 20: 970, 28: 990} {
		told := 0
		for range 1000 {
			if scrambled(m.text(allLetters, n)) {
				told++
			}
		}
		if told < least {
			t.Errorf("%d of 1,000 values of %d letters are told, not %d", told, n, least)
		}
	}
}

func TestIdentifiersAreNoRandomLetters(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	identifier := regexp.MustCompile(`\b[A-Za-z]{8,40}\b`)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no go command here:", err)
	}
	err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(root)), "src", "net"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, word := range identifier.FindAllString(string(text), -1) {
			seen[word] = true
		}
		return err
	})
	if err != nil || len(seen) < 5000 {
		t.Skipf("no sources of Go here: %d words, %v", len(seen), err)
	}
	var odd []string
	for word := range seen {
		if scrambled(word) {
			odd = append(odd, word)
		}
	}
	if 250*len(odd) > len(seen) {
		t.Errorf("%d of %d words are taken for random letters: %q", len(odd), len(seen), odd)
	}
}

func TestAPasswordOfRandomLettersGoes(t *testing.T) {
	t.Parallel()
	value := fake("ejrgJEBlI", "ypfCw")
	for _, text := range []string{
		"password: %s", "password = %s", `password = "%s"`, "DB_PASSWORD=%s", `{"password": "%s"}`, "<password>%s</password>", "mysql://u:%s@h/d",
		"mysql --password %s", "the password is %s", "secret_key = %s", "API_TOKEN=%s", `api_key: "%s"`, `"client_secret": "%s"`, "export SECRET=%s",
		"password '%s'", "jwt_secret=%s", "pass: %s",
	} {
		text = strings.ReplaceAll(text, "%s", value)
		r := ours.Session()
		if out := r.Text(text); strings.Contains(out, value) {
			t.Errorf("%s became %s", text, out)
		}
		if out := r.Text("then " + value + " again"); strings.Contains(out, value) {
			t.Errorf("%s is left elsewhere", value)
		}
	}
}
