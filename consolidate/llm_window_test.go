package consolidate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"memoir"
	"memoir/consolidate"
	"memoir/model"
)

type texts struct {
	Memory string `json:"memory_md"`
}

// foldedIn is what folds answers to an input.
func foldedIn(t *testing.T, in consolidate.Input) (whole texts) {
	t.Helper()
	good, _ := folds(question(t, in))
	if err := json.Unmarshal([]byte(good.Text), &whole); err != nil {
		t.Fatal(err)
	}
	return whole
}

// question is what a model is asked of an input.
func question(t *testing.T, in consolidate.Input) model.Request {
	t.Helper()
	m := &scripted{answers: []func(model.Request) (model.Answer, error){fails(model.ClassDenied)}}
	if _, err := ask(t, in, m); err == nil {
		t.Fatal("a call that failed is no error")
	}
	return m.asked[0]
}

// many are n lines that differ.
func many(n int, cited string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "- the %s of %s is kept by %s in room %d of the house, and %s\n", words[i%len(words)], words[i/len(words)%len(words)], words[(i+7)%len(words)], i, words[(i*3+1)%len(words)]+" "+cited)
	}
	return b.String()
}

func TestALittleTooMuchIsCutInWholeLines(t *testing.T) {
	t.Parallel()
	in := grown(t)
	whole := foldedIn(t, in)
	memory := whole.Memory + many(40, "[00001003 2026-07-03]")
	in.MaxMemoryBytes, in.SummaryTokens = len(memory)*9/10, 500
	c, err := ask(t, in, &scripted{answers: []func(model.Request) (model.Answer, error){says(reply(memory))}})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.MemoryMD) > in.MaxMemoryBytes || memoir.Tokens(c.MemorySummary) > in.SummaryTokens {
		t.Errorf("%d bytes and %d tokens", len(c.MemoryMD), memoir.Tokens(c.MemorySummary))
	}
	for line := range strings.Lines(c.MemoryMD) {
		if strings.HasPrefix(line, "- the ") && !strings.HasSuffix(line, " [00001003 2026-07-03]\n") {
			t.Errorf("cut within %q", line)
		}
	}
	if !strings.Contains(c.MemoryMD, "“Never open PRs against release!!!”") || !strings.Contains(c.MemorySummary, "“Never open PRs against release!!!”") {
		t.Errorf("preferences went first:\n%s", c.MemoryMD)
	}
}

func TestAMemoryOverItsLimitIsAskedToBePruned(t *testing.T) {
	t.Parallel()
	for _, over := range []int{0, 1} {
		m := &scripted{answers: []func(model.Request) (model.Answer, error){folds}}
		in := grown(t)
		in.MaxMemoryBytes = len(in.Current.MemoryMD) - over
		_, _ = ask(t, in, m)
		want := fmt.Sprintf("has %d bytes, which is too much: prune", len(in.Current.MemoryMD))
		if got := strings.Contains(m.asked[0].Input, want); got != (over > 0) {
			t.Errorf("%d bytes over: asked for pruning is %v:\n%s", over, got, m.asked[0].Input)
		}
	}
}

func TestMoreThanTheWindowHoldsIsFoldedInStepByStep(t *testing.T) {
	t.Parallel()
	all := project(120)
	for _, window := range []int{12000, 16000} {
		m := &scripted{window: window, answers: []func(model.Request) (model.Answer, error){folds}}
		o := consolidate.LLM{Model: m}
		c, err := o.Consolidate(t.Context(), input(all...))
		for err == nil && len(c.Open) > 0 {
			if len(c.Open) != len(all)-entries(under(c.MemoryMD, "## What is known")) {
				t.Fatalf("%d sessions are open", len(c.Open))
			}
			in := input(all...)
			in.Current, in.Changed = &c, map[string]bool{}
			for _, key := range c.Open {
				in.Changed[key] = true
			}
			c, err = o.Consolidate(t.Context(), in)
		}
		if err != nil || len(m.asked) < 3 {
			t.Fatalf("%d calls, %v", len(m.asked), err)
		}
		var order []string
		for i, q := range m.asked {
			if size := memoir.Tokens(q.System + q.Input); size > window+10 {
				t.Errorf("question %d has %d tokens", i, size)
			}
			order = append(order, strings.Split(between(q, "new-sessions"), "\n")...)
			if i > 0 && !strings.Contains(between(q, "current-memory"), strings.TrimPrefix(order[0], "- ")) {
				t.Errorf("question %d does not show what was made before", i)
			}
		}
		if len(order) != len(all) || !slices.IsSortedFunc(order, func(a, b string) int { return strings.Compare(a[11:], b[11:]) }) {
			t.Errorf("folded in: %q", order)
		}
		if n := entries(under(c.MemoryMD, "## What is known")); n != len(all) {
			t.Errorf("%d lines of %d sessions", n, len(all))
		}
		// The cost follows what is new.
		in := input(append(slices.Clone(all), third)...)
		in.Current, in.Changed = &c, map[string]bool{third.SessionKey: true}
		m.asked = nil
		if _, err := o.Consolidate(t.Context(), in); err != nil || len(m.asked) != 1 {
			t.Errorf("one more session: %d calls, %v", len(m.asked), err)
		}
	}
}

func TestOfASessionThatIsTooLongTheBeginningIsShown(t *testing.T) {
	t.Parallel()
	bullets := []string{"Preferences: “sign every tag”"}
	for i := range 400 {
		bullets = append(bullets, fmt.Sprintf("Files: `%s/%d.go` — changed, together with much else in the neighbourhood", words[i%len(words)], i))
	}
	m := &scripted{window: 10000, answers: []func(model.Request) (model.Answer, error){folds}}
	_, err := consolidate.LLM{Model: m}.Consolidate(t.Context(), input(session(0, id(1), bullets...)))
	if err != nil || len(m.asked) != 1 {
		t.Fatalf("%d calls, %v", len(m.asked), err)
	}
	if raw := between(m.asked[0], "raw-memories"); !strings.Contains(raw, "“sign every tag”") || !strings.Contains(raw, "(the rest is left out)") || memoir.Tokens(m.asked[0].System+m.asked[0].Input) > 10000 {
		t.Errorf("got\n%s", raw)
	}
}

func TestAQuestionThatIsTooLongIsHalvedThreeTimes(t *testing.T) {
	t.Parallel()
	in := input(project(120)...)
	m := &scripted{answers: []func(model.Request) (model.Answer, error){fails(model.ClassTooLong), folds}}
	_, err := ask(t, in, m)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := len(m.asked[0].Input)+len(m.asked[0].System), len(m.asked[1].Input)+len(m.asked[1].System); b > a*6/10 {
		t.Errorf("%d bytes, then %d", a, b)
	}
	m = &scripted{answers: []func(model.Request) (model.Answer, error){fails(model.ClassTooLong)}}
	_, err = ask(t, in, m)
	if failed := new(model.Error); !errors.As(err, &failed) || failed.Class != model.ClassTooLong || len(m.asked) != 4 {
		t.Errorf("%d calls, %v", len(m.asked), err)
	}
}

func TestAnAnswerThatIsNotWholeIsSaidPlainly(t *testing.T) {
	t.Parallel()
	for want, answer := range map[string]func(model.Request) (model.Answer, error){
		"test/scripted declined to answer":   stops(model.StopRefusal, "I cannot help with that."),
		"test/scripted gave an empty answer": stops(model.StopEmpty, ""),
		"was cut by the cap on its output":   stops(model.StopLength, `{"memory_md": "# Mem`),
	} {
		m := &scripted{answers: []func(model.Request) (model.Answer, error){answer}}
		_, err := ask(t, input(first), m)
		var refused *memoir.AnswerError
		if !errors.As(err, &refused) || !strings.HasSuffix(err.Error(), want) || memoir.CodeOf(err) != memoir.CodeModel || len(m.asked) != 1 {
			t.Errorf("%d calls, %v", len(m.asked), err)
		}
	}
}

func TestAMemoryThatDoesNotFitTheWindowIsAnErrorAndNoLoss(t *testing.T) {
	t.Parallel()
	m := &scripted{window: 3000, answers: []func(model.Request) (model.Answer, error){folds}}
	in := grown(t)
	if _, err := ask(t, in, m); memoir.CodeOf(err) != memoir.CodeModel || memoir.HintOf(err) == "" || len(m.asked) > 0 {
		t.Errorf("%d calls, %v", len(m.asked), err)
	}
}

// Whatever a model answers, it is refused or becomes a memory that keeps the rules.
func FuzzAnswer(f *testing.F) {
	f.Add("# m\n\n## What is known\n\n- a [00001001 2026-07-01]\n  - b\n", "release", "---\nname: x\n---\n# R\n```\nx\n")
	f.Add("- [00001001\n## x [00001002 2026-07-02, +3]\n- x\n", "a", "")
	f.Add("## Sessions\n\n### \n\n- a\n\n\n  c [00001003 2026-07-03]\n```\n# no\n\t- \n", "make-pr", "[00001002]")
	f.Fuzz(func(t *testing.T, memory, name, content string) {
		in := input(first, second, third)
		current := build(t, input(first, second))
		in.Current, in.Changed = &current, map[string]bool{third.SessionKey: true}
		in.MaxMemoryBytes, in.SummaryTokens = 4000, 600
		m := &scripted{answers: []func(model.Request) (model.Answer, error){says(reply(current.MemoryMD+memory, skill(name, content)))}}
		c, err := consolidate.LLM{Model: m}.Consolidate(t.Context(), in)
		if err == nil {
			err = consolidate.Verify(c, in)
			if err != nil {
				t.Error(err)
			}
		}
	})
}
