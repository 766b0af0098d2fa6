package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/model/modeltest"
	"memoir/model/modeltest/scribe"
	"memoir/store"
	"memoir/testdata"
)

// A provider of a good model, and what it counted.
type good struct {
	name    string
	setting string
	counted func() memoir.Usage
	server  *modeltest.Server // nil of a program
}

// goodProviders are all ways in which a model can be reached, each with one that answers well.
func goodProviders(t *testing.T) []good {
	t.Helper()
	var out []good
	for _, w := range wires {
		server := w.start(t, well)
		out = append(out, good{w.api, w.provider(server.URL, ""), func() memoir.Usage { return counted(server) }, server})
	}
	setting, book := script(t, "scribe")
	return append(out, good{"exec", setting, func() memoir.Usage { return entries(t, book) }, nil})
}

func TestAModelThatAnswersWellMakesTheSameMemoryThroughEachProvider(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	planted, err := testdata.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := allProviders(t, dir)
	for name, text := range files {
		for _, secret := range planted {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds a secret", name)
			}
		}
	}
	for _, s := range testdata.Expected {
		for _, other := range testdata.Projects {
			text := ""
			for name, content := range files {
				if strings.HasPrefix(name, other.Name) {
					text += content
				}
			}
			for _, prompt := range s.Prompts {
				said := scribe.Quote(prompt)
				holds := strings.Contains(text, said)
				switch {
				case said == "" || strings.Contains(said, "placeholder"):
				case other.Name != s.Project && holds:
					t.Errorf("%s holds “%s” of the session %s, which is not its own", other.Name, said, s.Name)
				}
				for _, rule := range scribe.Rules(prompt) {
					if other.Name == s.Project && s.OpenReason() == memoir.ReasonEligible && !strings.Contains(text, rule) {
						t.Errorf("%s lacks “%s” of the session %s", other.Name, rule, s.Name)
					}
				}
			}
		}
	}
}

func TestAModelThatAnswersWellMakesTheSameMemoryOfRealSessionsThroughEachProvider(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("MEMOIR_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no corpus of real sessions: set MEMOIR_CORPUS to a directory of them")
	}
	allProviders(t, dir)
}

// allProviders runs both phases over sessions through each provider and checks that
// each made the same memory, that it is right, and that the accounts are.
func allProviders(t *testing.T, sessions string) (files map[string]string) {
	t.Helper()
	made := make([]map[string]string, 4)
	t.Run("each", func(t *testing.T) {
		for i, p := range goodProviders(t) {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				s := newScene(t, sessions, p.setting)
				made[i] = s.runsWell(p)
			})
		}
	})
	for _, other := range made[1:] {
		if diff := cmp.Diff(made[0], other); diff != "" {
			t.Errorf("through another provider:\n%s", diff)
		}
	}
	return made[0]
}

func (s scene) runsWell(p good) map[string]string {
	t := s.t
	t.Helper()
	report := s.run(exitDone)
	if report.Phase1.Stored == 0 || report.Phase1.Failed+report.Phase1.GivenBack > 0 || len(report.Phase2) == 0 {
		t.Fatalf("%+v, %+v", report.Phase1, report.Phase2)
	}
	for _, project := range report.Phase2 {
		if project.Outcome != "published" && project.Outcome != "empty" {
			t.Errorf("%+v", project)
		}
	}
	want := p.counted()
	now := s.status()
	s.addsUp(now, want)
	if !sameUsage(report.Usage, want) || want.Calls < report.Phase1.Stored+len(report.Phase2) {
		t.Errorf("%+v was counted, the run says %+v", want, report.Usage)
	}
	if n := want.Calls - report.Phase1.Claimed; n > len(report.Phase2)+1 {
		t.Errorf("%d calls for %d sessions and %d projects", want.Calls, report.Phase1.Claimed, len(report.Phase2))
	}
	if len(now.Failed)+len(now.Dead)+len(now.Running) > 0 || len(now.Jobs) != 1 || now.Jobs["done"] == 0 || now.Sessions[memoir.ReasonEligible] > 0 {
		t.Errorf("status: %+v", now)
	}
	files := s.memory()
	t.Logf("%d sessions, %d projects; %d calls, %d tokens in, %d of them cached, %d out, $%.4f", report.Phase1.Claimed, len(report.Phase2),
		want.Calls, want.InputTokens, want.CachedTokens, want.OutputTokens, want.Cost)
	s.tells(files)
	if p.server != nil {
		s.tellsWhatWasTyped(p.server, files)
	}

	again := s.run(exitDone)
	if again.Usage.Calls > 0 || p.counted() != want || len(again.Phase2) > 0 {
		t.Errorf("with nothing new: %+v, %+v", again.Usage, again.Phase2)
	}
	if diff := cmp.Diff(files, s.memory()); diff != "" {
		t.Errorf("with nothing new:\n%s", diff)
	}
	return files
}

var (
	citation = regexp.MustCompile(`\[([^\s,\[\]]+ \d{4}-\d{2}-\d{2}(?:, [^\s,\[\]]+ \d{4}-\d{2}-\d{2})*)(?:, \+\d+)?\]$`)
	heading  = regexp.MustCompile(`(?m)^## .*$`)
)

// order is that of the headings of a memory, whichever model wrote it.
var order = map[string][]string{
	"MEMORY.md": {"## User preferences", "## Required by the repository", "## Build, test and other commands", "## What is known",
		"## Failures and fixes", "## Environment", "## Files that matter", "## Recent work", "## Open ends"},
	"memory_summary.md": {"## What the user wants", "## Build, test, run", "## Failures to avoid", "## What to know", "## Recent work",
		"## Where to look"},
}

// tells checks that each memory has its layout, that each claim cites, and that nothing
// but sessions of its project is cited, by their dates.
func (s scene) tells(files map[string]string) {
	t := s.t
	t.Helper()
	own := map[string][]string{} // ids of sessions by project
	for _, one := range s.registered() {
		own[one.ProjectID] = append(own[one.ProjectID], one.ID)
	}
	for name, text := range files {
		project, file, _ := strings.Cut(name, "/")
		if want, ok := order[file]; ok {
			at := -1
			for _, h := range heading.FindAllString(text, -1) {
				i := slices.Index(want, h)
				if i <= at {
					t.Errorf("%s: %q is out of order", name, h)
				}
				at = i
			}
			if at < 0 {
				t.Errorf("%s has no headings:\n%s", name, text)
			}
		}
		for l := range strings.Lines(text) {
			l = strings.TrimRight(l, "\n")
			if !strings.HasPrefix(l, "- ") || file == "memory_summary.md" || order[file] == nil {
				continue
			}
			m := citation.FindStringSubmatch(l)
			if m == nil {
				t.Errorf("%s: cites nothing: %s", name, l)
				continue
			}
			for cited := range strings.SplitSeq(m[1], ", ") {
				id, _, _ := strings.Cut(cited, " ")
				if !slices.ContainsFunc(own[project], func(whole string) bool { return strings.HasPrefix(whole, id) || strings.HasSuffix(whole, id) }) {
					t.Errorf("%s cites %s, which is no session of it: %s", name, id, l)
				}
			}
		}
	}
	if len(files) == 0 {
		t.Error("there is no memory")
	}
}

// tellsWhatWasTyped checks, of every session that a server was shown, that its first
// words and its rules are in the memory of its project, cite it, and are in no other.
func (s scene) tellsWhatWasTyped(server *modeltest.Server, files map[string]string) {
	t := s.t
	t.Helper()
	project := map[string]string{}
	for _, one := range s.registered() {
		project[one.ID] = one.ProjectID
	}
	thread := regexp.MustCompile(`(?m)^- thread: (\S+)$`)
	checked := 0
	for _, call := range server.Calls() {
		q := scribe.Asked(call)
		m := thread.FindStringSubmatch(q.Input)
		if q.Phase != scribe.Extract || m == nil {
			continue
		}
		id := m[1]
		var want []string
		for _, st := range memoir.ParseStatements(q.Extraction().RawMemory) {
			if st.Kind == memoir.StatementTask && len(want) == 0 || st.Kind == memoir.StatementPreference {
				want = append(want, st.Text)
			}
		}
		if len(want) > 0 && project[id] == "" {
			t.Errorf("session %s has no project", id)
		}
		for _, text := range want {
			text = strings.Trim(text, "“”")
			checked++
			if !citesFor(files[project[id]+"/MEMORY.md"], text, id) {
				t.Errorf("%s does not tell “%s” of session %s", project[id], text, id)
			}
		}
	}
	if checked < 5 {
		t.Errorf("only %d statements were looked for", checked)
	}
}

// citesFor reports whether a line of a memory tells a text and cites a session for it.
func citesFor(memory, text, id string) bool {
	for l := range strings.Lines(memory) {
		m := citation.FindStringSubmatch(strings.TrimRight(l, "\n"))
		if m == nil || !strings.Contains(l, text) {
			continue
		}
		for cited := range strings.SplitSeq(m[1], ", ") {
			short, _, _ := strings.Cut(cited, " ")
			if strings.HasPrefix(id, short) || strings.HasSuffix(id, short) {
				return true
			}
		}
	}
	return false
}

// registered lists the sessions of a scene.
func (s scene) registered() []memoir.Session {
	s.t.Helper()
	st, err := store.Open(s.t.Context(), filepath.Join(s.home, databaseName), store.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer st.Close()
	all, err := st.Sessions(s.t.Context(), store.Filter{})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}
