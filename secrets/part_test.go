package secrets

import (
	"fmt"
	"strings"
	"testing"
)

// manyLines are texts whose secrets lie on several lines, or are told by others.
func manyLines(m maker) []string {
	token, password := "gh"+"p_"+m.text(letters, 36), m.strong("!%*")
	return []string{
		"before\n" + m.pem("RSA ", "") + "\nafter\n",
		"key: |\n" + m.pem("", "  ") + "\nafter: 1\n",
		"name,password,port\nada," + password + ",22\neve," + m.strong("!%*") + ",23\n\nend\n",
		"first\n" + token + "\nlast " + token + " and " + token + "\n",
		fmt.Sprintf("{\n \"a\": 1,\n \"password\":\n  %q,\n \"b\": [%q]\n}\n", password, token),
		"cat > ~/.pgpass <<EOF\ndb.example.com:5432:app:app:" + password + "\nEOF\npsql\n",
	}
}

func TestAPartIsRedactedByWhatStandsAroundIt(t *testing.T) {
	t.Parallel()
	random := newRandom(11)
	for _, text := range manyLines(maker{random}) {
		for _, text := range []string{text, strings.ReplaceAll(text, "\n", "\r\n")} {
			want, counts := ours.Redact(text)
			if len(counts) == 0 {
				t.Errorf("nothing is found in %q", text)
			}
			for cut := 0; cut <= len(text); cut += 1 + random.IntN(17) {
				r := ours.Session()
				got := r.Part(text, 0, cut) + r.Part(text, cut, len(text))
				if got != want {
					t.Fatalf("cut at %d, %q became\n%q, not\n%q", cut, text, got, want)
				}
				if n := r.Counts(); n.Total() != counts.Total() {
					t.Fatalf("cut at %d, %v was counted, not %v, in %q", cut, n, counts, text)
				}
			}
		}
	}
}

func TestLineEndsOfWindowsStayInWhatIsRedacted(t *testing.T) {
	t.Parallel()
	for _, text := range manyLines(maker{newRandom(12)}) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
		out, _ := ours.Redact(text)
		if n := strings.Count(text, "\n"); strings.Count(out, "\r\n") != n || strings.Count(out, "\n") != n || strings.Count(out, "\r") != n {
			t.Errorf("%q became %q", text, out)
		}
		if again, counts := ours.Redact(out); again != out || len(counts) > 0 {
			t.Errorf("redacting twice changes %q to %q", out, again)
		}
	}
}

func TestWhatIsLearnedGoesFromOtherTextsAndIsNotCounted(t *testing.T) {
	t.Parallel()
	password := maker{newRandom(13)}.strong("!%*")
	r := ours.Session()
	r.Learn("DB_PASSWORD=" + password)
	if n := r.Counts(); len(n) > 0 {
		t.Errorf("counts = %v", n)
	}
	if out := r.Text("say " + password + "."); out != "say [REDACTED:password-environment]." || r.Counts().Total() != 1 {
		t.Errorf("%q, %v", out, r.Counts())
	}
}

func TestRedactorsOfTwoScannersShareWhatTheyFind(t *testing.T) {
	t.Parallel()
	own, err := New(Options{ProjectPath: writeConfig(t, "[[rules]]\nid = 'own-token'\nregex = '''zqx_[a-z]{8}'''\n"), ProjectTrusted: true})
	if err != nil {
		t.Fatal(err)
	}
	const token = "zqx_abcdefgh"
	one := ours.Session()
	two := one.By(own)
	if out := one.Text(token); out != token {
		t.Fatalf("%q", out)
	}
	if out := two.Text(token); out != "[REDACTED:own-token]" {
		t.Fatalf("%q", out)
	}
	if out := one.Text(token); out != "[REDACTED:own-token]" {
		t.Errorf("what the other found is not known: %q", out)
	}
	if one.Counts()["own-token"] != 2 || two.Counts().Total() != 2 {
		t.Errorf("%v, %v", one.Counts(), two.Counts())
	}
}
