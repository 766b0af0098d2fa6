package pipeline_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir/config"
	"memoir/memory"
	"memoir/model/modeltest"
	"memoir/model/modeltest/scribe"
	"memoir/pipeline"
	"memoir/testdata"
)

// fake makes a secret that a rule finds.
func fake(t *testing.T, rule string) string {
	t.Helper()
	value, _, ok := testdata.Fake(rule)
	if !ok {
		t.Fatalf("there is no fake for %s", rule)
	}
	return value
}

// encoded is an answer as a model gives it.
func encoded(t *testing.T, answer any) modeltest.Step {
	t.Helper()
	text, err := json.Marshal(answer)
	if err != nil {
		t.Error(err)
	}
	return modeltest.Step{Text: string(text)}
}

// manifestOf is that of the only project's live memory.
func manifestOf(t *testing.T, home string, report pipeline.Report) memory.Manifest {
	t.Helper()
	live, err := memory.At(home, report.Phase2[0].Project).Current()
	must(t, err)
	return live.Manifest
}

// An answer that is refused is quoted to its model, and an extraction that was cut is asked for
// again: what was taken out of them stands nowhere. A person's own rule counts for what a model
// answers, too.
func TestOnlyWhatIsTakenOutOfAnswersThatAreUsedIsCounted(t *testing.T) {
	t.Parallel()
	ticket := "ACME-" + "0123456789abcdef"
	for name, test := range map[string]struct {
		refused, used, rule string
		cut                 bool
	}{
		"it was refused":                   {fake(t, "github-pat"), fake(t, "gitlab-pat"), "gitlab-pat", false},
		"it was cut":                       {fake(t, "github-pat"), fake(t, "gitlab-pat"), "gitlab-pat", true},
		"the rule is the person's own one": {ticket, ticket, "own-rule", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, dir, own, project := t.TempDir(), t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "app")
			checkout(t, project)
			writeIn(t, config.RulesFile(own), "[[rules]]\nid = \"acme-ticket\"\nregex = '''ACME-[0-9a-f]{16}'''\n")
			claudeSession(t, dir, "one", project, "always write the header of a fixture with its name and the tool that wrote it")
			bad := modeltest.Step{Text: "I say no JSON, but " + test.refused}
			if test.cut {
				bad = modeltest.Step{Text: `{"raw_memory": "` + test.refused, Stop: "length"}
			}
			var mu sync.Mutex
			asked := map[scribe.Phase]int{}
			server := modeltest.Serve(t, func(_ int, c modeltest.Call) modeltest.Step {
				q := scribe.Asked(c)
				mu.Lock()
				defer mu.Unlock()
				if asked[q.Phase]++; asked[q.Phase] == 1 && (!test.cut || q.Phase == scribe.Extract) {
					return bad
				}
				if q.Phase == scribe.Extract {
					e := q.Extraction()
					e.RolloutSummary += "\n- the deploy went through with " + test.used + "\n"
					return encoded(t, e)
				}
				m := q.Memory()
				m.MemorySummary += "\nThe deploy goes through with " + test.used + "\n"
				return encoded(t, m)
			})
			o := ofServer(t, home, dir, "default", server.URL)
			o.ConfigDir = own
			report := run(t, o)
			if len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomePublished || asked[scribe.Extract] != 2 {
				t.Fatalf("%+v, asked %v", report.Phase2, asked)
			}
			if diff := cmp.Diff(map[string]int{test.rule: 2}, map[string]int(report.Redactions)); diff != "" {
				t.Error(diff)
			}
			if got := manifestOf(t, home, report).Redactions; got[test.rule] != 1 || len(got) != 1 {
				t.Errorf("the manifest counts %v", got)
			}
			for _, c := range server.Calls() {
				for _, secret := range []string{test.refused, test.used} {
					if strings.Contains(string(c.Body), secret) {
						t.Error("a secret was sent to the model")
					}
				}
			}
		})
	}
}

// Titles and slugs come from what a person typed first, before a command shows that it is a secret.
func TestASecretThatTheSessionShowsLaterIsInNoTitle(t *testing.T) {
	t.Parallel()
	const word = "correct-horse-battery"
	home, dir := t.TempDir(), t.TempDir()
	path := codexSession(t, dir, "aaaaaaaa-0001", "/srv/app", "main", "Always log in with "+word+".")
	appendLine(t, path, `{"timestamp":"2026-05-01T10:00:03Z","type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"c","arguments":"{\"command\":[\"bash\",\"-lc\",\"echo $ADMIN_PASSWORD\"]}"}}`)
	appendLine(t, path, `{"timestamp":"2026-05-01T10:00:04Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"{\"output\":\"`+word+`\\n\",\"metadata\":{\"exit_code\":0}}"}}`)
	run(t, options(home, dir))
	if left := holding(t, home, word); len(left) > 0 {
		t.Errorf("left in %q", left)
	}
}
