package extract_test

import (
	"strings"
	"testing"

	"memoir"
)

func TestATaskQuotesTheRequestAndNoLimitOfIt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ said, want, not string }{
		{"Repair the invoice template for credit notes. Nothing else, please.", "Repair the invoice template", "Nothing else"},
		{"Rename the helper in `client.go`. Nobody has pushed anything since this morning.", "Rename the helper", "since this morning"},
		{"nice. squash merge it", "add retries", "squash"},
		{"commit and push that", "add retries", "push"},
		{"so much for every path being covered. write a test for the empty queue", "write a test for the empty queue", "so much for"},
		{"the broker drops idle clients after a minute. send a ping every thirty seconds", "send a ping", "drops idle clients"},
	} {
		got := strings.Join(of(work().answers("The loop in `upload.go` is done.").says(test.said).edits("/src/app/client.go").answers("Changed `client.go` as you said.").extract(t), memoir.StatementTask), "\n")
		if !strings.Contains(got, test.want) || strings.Contains(got, test.not) {
			t.Errorf("%q: %q is missing, or %q is not, in\n%s", test.said, test.want, test.not, got)
		}
	}
}

func TestWhatAPersonDeclaresIsQuotedApart(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]bool{
		"the broker drops idle clients after a minute. send a ping every thirty seconds":   true,
		"Absolutely not. The audio thread takes no locks of any kind":                      true,
		"the fixtures are checked by hand, the spreadsheet they come from is gone":         true,
		"you may drop the old table, it is empty":                                          false,
		"thanks, the new layout looks much better on the small screen":                     false,
		"i'll run the slow suite at home and tell you what the numbers are":                false,
		"why does the importer open the file twice":                                        false,
		"the formatter is too old on this box, skip the hook this once":                    false,
		"so much for every path in the parser being covered":                               false,
		"rename the helper and update its callers, then run the linter on the whole thing": false,
	} {
		got := of(work().answers("The loop in `upload.go` is done.").says(said).edits("/src/app/client.go").answers("Changed `client.go` as you said.").extract(t), memoir.StatementDecision)
		if holds(got, "the user: ") != want {
			t.Errorf("%q: got %q, want any: %v", said, got, want)
		}
	}
}

func TestAQuestionOnTheWayIsNotKept(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		talk *talk
		want bool
	}{
		"out of its head": {new(talk).says("what does the third argument of strings.SplitN do?").answers("`strings.SplitN` stops after that many parts, because the rest stays in the last one."), false},
		"with a rule":     {new(talk).says("does that module exist? we never add dependencies without asking").answers("Yes, `x/sync` does exist, since the standard library doesn't have it."), true},
		"after reading":   {new(talk).says("where is the pause set?").runs("cat upload.go", 0, "pause := 3").answers("The pause is set in `upload.go`, because `Retry-After` is not read."), true},
	} {
		if got := test.talk.extract(t); (got.RawMemory != "") != test.want {
			t.Errorf("%s: got\n%s", name, got.RawMemory)
		}
	}
}

func TestARemarkOnAChangeThatWasMetIsNoStatement(t *testing.T) {
	t.Parallel()
	remark := "The request is sent without a deadline and can hang for ever. Consider using a context with a timeout, so that the command ends."
	if got := of(work().says(remark).edits("/src/app/client.go").answers("Added a deadline in `client.go`.").extract(t), memoir.StatementDecision); holds(got, "the user: ") {
		t.Errorf("met in the turn: %q", got)
	}
	if got := of(work().answers("Which deadline?").says("the broker drops idle clients after a minute. send a ping every thirty seconds").edits("/src/app/client.go").answers("Added a deadline in `client.go`.").extract(t), memoir.StatementDecision); !holds(got, "drops idle clients") {
		t.Errorf("a person's own: %q", got)
	}
}
