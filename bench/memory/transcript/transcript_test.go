package transcript_test

import (
	"os"
	"testing"

	"memoir/bench/memory/scenario"
	"memoir/bench/memory/transcript"
)

func projects(t *testing.T) []scenario.Project {
	t.Helper()
	var all []scenario.Project
	for _, dir := range []string{"../testdata/sessions", "../sessions"} {
		some, err := scenario.ReadAll(dir)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, some...)
	}
	return all
}

// Every scenario is written in every agent's format, whoever its own agent is.
func TestEveryAgentsSessionIsReadAsItWasSaid(t *testing.T) {
	t.Parallel()
	for _, p := range projects(t) {
		for _, s := range p.Sessions {
			for _, agent := range scenario.Agents {
				s.Agent = string(agent)
				t.Run(p.Name+"/"+s.Name+"/"+s.Agent, func(t *testing.T) {
					t.Parallel()
					differences, err := transcript.RoundTrip(t.Context(), t.TempDir(), p, s)
					if err != nil {
						t.Fatal(err)
					}
					for _, d := range differences {
						t.Error(d)
					}
				})
			}
		}
	}
}

func TestAScenarioThatSaysOtherThingsIsToldFromTheFile(t *testing.T) {
	t.Parallel()
	p := projects(t)[1]
	s := p.Sessions[0]
	path, err := transcript.New(p, s).Save(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	changes := map[string]func(*scenario.Session){
		"another prompt":         func(s *scenario.Session) { s.Said[1].Text = "Something else." },
		"another exit status":    func(s *scenario.Session) { s.Said[3].Exit = 2 },
		"a call that succeeded":  func(s *scenario.Session) { s.Said[3].Exit = 0 },
		"another output":         func(s *scenario.Session) { s.Said[3].Output = "ok" },
		"an entry less":          func(s *scenario.Session) { s.Said = s.Said[:len(s.Said)-1] },
		"an injection typed":     func(s *scenario.Session) { s.Said[0].Kind = scenario.Person },
		"a rejection that is no": func(s *scenario.Session) { s.Said[12] = *s.Said[12].Call },
		"another directory":      nil,
	}
	for name, change := range changes {
		p, s := p, s
		s.Said = append([]scenario.Entry(nil), s.Said...)
		if change == nil {
			p.Dir = "/elsewhere"
		} else {
			change(&s)
		}
		differences, err := transcript.Verify(t.Context(), path, p, s)
		if err != nil {
			t.Fatal(err)
		}
		if len(differences) == 0 {
			t.Errorf("%s: nothing differs", name)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := transcript.Verify(t.Context(), path, p, s); err == nil {
		t.Error("a file that is gone was read")
	}
}
