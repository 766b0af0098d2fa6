package secrets

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
)

func TestItemRedactsEveryTextField(t *testing.T) {
	t.Parallel()
	exit := 1
	it := memoir.Item{
		N: 3, Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool,
		Text: fakeToken, Tool: fakeToken, Input: fakeToken, Output: fakeToken, CWD: "/x/" + fakeToken, Branch: fakeToken,
		Exit: &exit, Failed: true, At: time.Unix(1, 0),
	}
	r := ours.Session()
	got, counts := r.Item(it), r.Counts()
	mark := "[REDACTED:github-pat]"
	want := it
	want.Text, want.Tool, want.Input, want.Output = mark, mark, mark, mark
	want.CWD, want.Branch = "/x/"+mark, mark
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("item (-want +got):\n%s", diff)
	}
	if counts["github-pat"] != 6 {
		t.Errorf("counts = %v", counts)
	}
}

func TestASecretOfOneItemGoesFromTheOthersOfItsSession(t *testing.T) {
	t.Parallel()
	value := fake("q9!", "xLm2#zP")
	earlier := memoir.Item{N: 1, Text: "it starts with " + value}
	telling := memoir.Item{N: 2, Output: "password = \"" + value + "\"", Input: "echo " + value}
	later := memoir.Item{N: 3, Text: "again " + value + "."}

	r := ours.Session()
	first := r.Item(earlier)
	if first != earlier {
		t.Fatalf("the first item alone was changed: %+v", first)
	}
	clean := <-r.Ahead(later) // before its secret is known
	second := r.Searched(telling, <-r.Ahead(telling))
	if strings.Contains(second.Input+second.Output, value) {
		t.Errorf("left in the item that tells it: %+v", second)
	}
	if third := r.Searched(later, clean); !clean || third.Text != "again [REDACTED:password-assignment]." {
		t.Errorf("left in a later item: %q", third.Text)
	}
	if r.Secrets() != 1 {
		t.Errorf("remembers %d secrets", r.Secrets())
	}
	if first = r.Again(first); first.Text != "it starts with [REDACTED:password-assignment]" {
		t.Errorf("left in the earlier item: %q", first.Text)
	}
	if got := r.Counts(); got["password-assignment"] != 4 || got.Total() != 4 {
		t.Errorf("counts = %v", got)
	}
	if other := ours.Session().Item(later); other.Text != later.Text {
		t.Errorf("another session knows it: %q", other.Text)
	}
}

func TestTheValueOfACookieAndTheTokenOfAWebhookGoFromTheirSession(t *testing.T) {
	t.Parallel()
	value := fake("k3J9sLq", "2xWv8")
	token := fake("aBcDeFgHiJkL", "mNoPqRsTuVwX")
	for told, secret := range map[string]string{
		"Cookie: theme=dark; session=" + value + "; lang=en":                 value,
		"curl https://hooks.slack.com/services/T0AB12CD3/B0XY98ZW7/" + token: token,
	} {
		r := ours.Session()
		if r.Text(told); strings.Contains(r.Text("later "+secret+" again, theme dark"), secret) {
			t.Errorf("%q is left", secret)
		}
	}
}

func TestAScannerServesManyAtOnce(t *testing.T) {
	t.Parallel()
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			for i := range 50 {
				text := fmt.Sprintf("%d-%d key = %q; token: %s", n, i, fakeOpaque, fakeToken)
				out, _ := s.Redact(text)
				if strings.Contains(out, fakeToken) || strings.Contains(out, fakeOpaque) {
					t.Errorf("left in %q", out)
					return
				}
			}
		})
	}
	group.Wait()
}

func TestEveryTextOfAnExtractionIsRedacted(t *testing.T) {
	t.Parallel()
	st := memoir.Statement{Kind: memoir.StatementFinding, Items: []int{1}, Paths: []string{"a/" + fakeToken, "b"},
		Anchors: []memoir.Anchor{{Path: "a.go", Text: fakeToken}, {Path: "b.go"}}}
	for _, text := range st.Texts() {
		*text = fakeToken
	}
	e, counts := ours.Extraction(memoir.Extraction{
		SessionKey: "codex:1", Statements: []memoir.Statement{st}, RolloutSummary: fakeToken, RolloutSlug: "fix-" + fakeToken, Title: fakeToken,
	})
	mark := "[REDACTED:github-pat]"
	for _, text := range e.Statements[0].Texts() {
		if *text != mark {
			t.Errorf("%q is left", *text)
		}
	}
	if st := e.Statements[0]; len(st.Paths) != 1 || len(st.Anchors) != 1 {
		t.Errorf("paths %v and anchors %v are left", st.Paths, st.Anchors)
	}
	if e.RolloutSummary != mark || e.Title != mark || e.RolloutSlug != "fix-redacted-github-pat" {
		t.Errorf("extraction = %+v", e)
	}
	if counts["github-pat"] < 4 {
		t.Errorf("counts = %v", counts)
	}
}

// manyLines are texts with a secret of several lines, or with a secret that another line identifies.
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
