package pipeline_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"memoir"
	"memoir/model"
	"memoir/model/modeltest"
	"memoir/pipeline"
	"memoir/testdata"
)

func TestAnAnswerThatCouldNotBeUsedIsKept(t *testing.T) {
	t.Parallel()
	fake, planted, ok := testdata.Fake("github-pat")
	if !ok {
		t.Fatal("no such fake")
	}
	home, dir := prompted(t, 1)
	server := modeltest.OpenAIChat(t, modeltest.Script(modeltest.Step{Text: "useless token = " + fake + "\n" + strings.Repeat("words and words\n", 10000)}))
	o := options(home, dir)
	o.Phases = asks(t, server, model.Options{}, 0)
	report := run(t, o)
	_, _, status := ledger(t, home)
	if len(status.Failed) != 1 {
		t.Fatalf("%+v", status)
	}
	said := status.Failed[0].Error
	found := regexp.MustCompile(`the answer is no JSON; the answer is kept in (.*)$`).FindStringSubmatch(said)
	if found == nil || !strings.Contains(report.Warnings[0].Message, said) {
		t.Fatalf("failure: %q, warnings: %+v", said, report.Warnings)
	}
	path := found[1]
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() > 64<<10 || !strings.HasPrefix(path, filepath.Join(home, "log")) {
		t.Errorf("%s: %v, %v", path, info, err)
	}
	text := string(content)
	if !strings.Contains(text, "useless") || !strings.Contains(text, "words and words") || !strings.Contains(text, "claude:s00") {
		t.Errorf("kept: %.200s", text)
	}
	for _, secret := range planted {
		if strings.Contains(text, secret) {
			t.Error("a secret is kept")
		}
	}
	st := open(t, home)
	defer st.Close()
	projects, err := st.Projects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, drop := range []struct {
		project string
		stays   bool
	}{{"another-0123456789ab", true}, {projects[0].ID, false}} {
		if err := pipeline.DropAnswers(home, drop.project); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); (err == nil) != drop.stays {
			t.Errorf("without the answers of %s: %v", drop.project, err)
		}
	}
}

func TestOfManyAnswersTheLatestFiftyAreKept(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 60)
	server := modeltest.OpenAIChat(t, modeltest.Script(modeltest.Step{Text: "useless"}))
	o := options(home, dir)
	o.Phases = asks(t, server, model.Options{}, 0)
	failed := 0
	for range 60 { // each run gives up after a few
		report, err := tryRun(t.Context(), t, o)
		if failed += report.Phase1.Failed; report.Phase1.Failed == 0 || err != nil && memoir.CodeOf(err) != memoir.CodeModel {
			t.Fatalf("%+v, %v", report.Phase1, err)
		}
		if failed == 60 {
			break
		}
	}
	entries, err := os.ReadDir(filepath.Join(home, "log", "answers"))
	if err != nil || len(entries) != 50 {
		t.Errorf("%d are kept, %v", len(entries), err)
	}
}
