package pipeline

import (
	"context"
	"encoding/json"
	"strings"

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

// Call asks the model. The rules are those of the work that the context is for. What was
// taken out counts once the answer is used.
func (g guarded) Call(ctx context.Context, q model.Request) (model.Answer, error) {
	answer, err := g.Model.Call(ctx, q)
	if err != nil {
		return answer, err
	}
	a, taken := accountOf(ctx), secrets.Counts{}
	for _, scanner := range a.scannersOr(g.run.scanner) {
		redact := func(text string) string {
			text, counts := scanner.Redact(text)
			taken.Merge(counts)
			return text
		}
		answer.Text = redact(eachString(answer.Text, redact))
	}
	accepted := answer.Accepted
	answer.Accepted = func() {
		a.redacted(taken)
		if accepted != nil {
			accepted()
		}
	}
	return answer, nil
}

// eachString changes the strings of a JSON object in a text: some rules look at whole lines, and
// what is a line of a string is none of the object. What stands around it stays as it is. It
// comes before the text as a whole: of a secret that was cut out in part, no rule knows the rest.
func eachString(text string, change func(string) string) string {
	var b strings.Builder
	rest := text
	next := func(mark string) bool { // and what is before it
		at := strings.Index(rest, mark)
		if at >= 0 {
			b.WriteString(rest[:at])
			rest = rest[at:]
		}
		return at >= 0
	}
	if !next("{") {
		return text
	}
	for next(`"`) {
		end := 1
		for end < len(rest) && rest[end] != '"' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(rest) {
			break // it was cut
		}
		literal := rest[:end+1]
		rest = rest[end+1:]
		b.WriteString(changed(literal, change))
	}
	return b.String() + rest
}

// changed changes a JSON string as it is written.
func changed(literal string, change func(string) string) string {
	var old string
	if json.Unmarshal([]byte(literal), &old) != nil {
		return literal
	}
	text := change(old)
	if text == old {
		return literal
	}
	out, err := json.Marshal(text)
	if err != nil {
		return literal
	}
	return string(out)
}
