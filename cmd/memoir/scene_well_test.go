package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/model/modeltest/scribe"
	"memoir/testdata"
)

// A good is a provider of a good model with the provider's own usage counter.
type good struct {
	name    string
	setting string
	counted func() memoir.Usage
}

func TestAModelThatAnswersWellMakesTheSameMemoryThroughEachProvider(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	planted, err := testdata.Write(dir)
	must(t, err)
	made := make([]map[string]string, len(wires)+1)
	t.Run("each", func(t *testing.T) {
		providers := []good{}
		for _, w := range wires {
			server := w.start(t, well)
			providers = append(providers, good{w.api, w.provider(server.URL, ""), func() memoir.Usage { return counted(server) }})
		}
		setting, book := script(t, "scribe")
		providers = append(providers, good{"exec", setting, func() memoir.Usage { return entries(t, book) }})
		for i, p := range providers {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				made[i] = newScene(t, dir, p.setting).runsWell(p)
			})
		}
	})
	for _, other := range made[1:] {
		if diff := cmp.Diff(made[0], other); diff != "" {
			t.Errorf("through another provider:\n%s", diff)
		}
	}
	memories := map[string]string{} // all text by project
	for name, text := range made[0] {
		project, _, _ := strings.Cut(name, "-")
		memories[project] += text
		for _, secret := range planted {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds a secret", name)
			}
		}
	}
	for _, s := range testdata.Expected() {
		for _, prompt := range s.Prompts {
			said := scribe.Quote(prompt)
			for _, project := range testdata.Projects {
				own := project.Name == s.Project
				if !own && said != "" && !strings.Contains(said, "placeholder") && strings.Contains(memories[project.Name], said) {
					t.Errorf("%s holds “%s” of the session %s, which is not its own", project.Name, said, s.Name)
				}
				for _, rule := range scribe.Rules(prompt) {
					if own && s.OpenReason() == memoir.ReasonEligible && !strings.Contains(memories[project.Name], rule) {
						t.Errorf("%s lacks “%s” of the session %s", project.Name, rule, s.Name)
					}
				}
			}
		}
	}
}

// runsWell runs both phases and returns the memory. It checks the usage, and that a second run does not call the model.
func (s scene) runsWell(p good) map[string]string {
	t := s.t
	t.Helper()
	code, report, said := s.process()
	if code != exitDone || report.Phase1.Stored == 0 || report.Phase1.Failed+report.Phase1.Released > 0 || len(report.Phase2) == 0 {
		t.Fatalf("exit code %d: %+v, %+v\n%s", code, report.Phase1, report.Phase2, said)
	}
	for _, project := range report.Phase2 {
		if project.Outcome != "published" && project.Outcome != "empty" {
			t.Errorf("%+v", project)
		}
	}
	want := p.counted()
	now := s.status()
	var sum memoir.Usage
	for _, one := range now.UsageBy {
		sum = sum.Add(one.Usage)
	}
	if !sameUsage(sum, want) || !sameUsage(now.Usage, want) {
		t.Errorf("%+v was counted, the ledger has %+v, status says %+v", want, sum, now.Usage)
	}
	if !sameUsage(report.Usage, want) || want.Calls < report.Phase1.Stored+len(report.Phase2) {
		t.Errorf("%+v was counted, the run says %+v", want, report.Usage)
	}
	if n := want.Calls - report.Phase1.Claimed; n > len(report.Phase2)+1 {
		t.Errorf("%d calls for %d sessions and %d projects", want.Calls, report.Phase1.Claimed, len(report.Phase2))
	}
	if len(now.Failed)+len(now.Dead)+len(now.Running) > 0 || len(now.Jobs) != 1 || now.Jobs["done"] == 0 || now.Sessions[memoir.ReasonEligible] > 0 {
		t.Errorf("status: %+v", now)
	}
	files := lastOf(t, s.home)
	code, again, said := s.process()
	if code != exitDone || again.Usage.Calls > 0 || p.counted() != want || len(again.Phase2) > 0 {
		t.Errorf("with nothing new: exit code %d: %+v, %+v\n%s", code, again.Usage, again.Phase2, said)
	}
	if diff := cmp.Diff(files, lastOf(t, s.home)); diff != "" {
		t.Errorf("with nothing new:\n%s", diff)
	}
	return files
}
