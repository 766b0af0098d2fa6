package pipeline

import (
	"context"
	"encoding/json"

	"memoir/model"
	"memoir/secrets"
)

// guarded is a model whose answers are redacted before anything reads them: what is
// checked, quoted in an objection, asked again, kept or stored holds no secret then.
type guarded struct {
	model.Model
	run *run
}

var _ model.Model = guarded{}

// Call asks the model. The rules are those of the work that the context is for.
func (g guarded) Call(ctx context.Context, q model.Request) (model.Answer, error) {
	answer, err := g.Model.Call(ctx, q)
	a := accountOf(ctx)
	for _, scanner := range a.scannersOr(g.run.scanner) {
		var counts secrets.Counts
		answer.Text, counts = scanner.Redact(answer.Text)
		a.redacted(counts)
		answer.Text = eachString(answer.Text, func(text string) string {
			text, counts = scanner.Redact(text)
			a.redacted(counts)
			return text
		})
	}
	return answer, err
}

// eachString changes the strings of a JSON object: some rules look at whole lines, and what
// is a line of a string is none of the object. A text that is no object stays as it is.
func eachString(text string, change func(string) string) string {
	var object map[string]any
	if json.Unmarshal([]byte(text), &object) != nil {
		return text
	}
	changed := false
	var walk func(value any) any
	walk = func(value any) any {
		switch v := value.(type) {
		case string:
			out := change(v)
			changed = changed || out != v
			return out
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		case map[string]any:
			for key := range v {
				v[key] = walk(v[key])
			}
		}
		return value
	}
	walk(object)
	if !changed {
		return text
	}
	out, err := json.Marshal(object)
	if err != nil {
		return text
	}
	return string(out)
}

// redactBy names the rules that count for the work beside those of the run.
func (a *account) redactBy(scanners ...*secrets.Scanner) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.scanners = scanners
}

func (a *account) scannersOr(scanner *secrets.Scanner) []*secrets.Scanner {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.scanners) == 0 {
		return []*secrets.Scanner{scanner}
	}
	return a.scanners
}

// redacted enters what was taken out of answers.
func (a *account) redacted(counts secrets.Counts) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.counts == nil {
		a.counts = secrets.Counts{}
	}
	a.counts.Merge(counts)
}

// redactions are what was taken out of answers since it was asked last.
func (a *account) redactions() secrets.Counts {
	a.mu.Lock()
	defer a.mu.Unlock()
	counts := a.counts
	a.counts = nil
	return counts
}
