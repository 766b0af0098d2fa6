package main

import (
	"net/http"
	"testing"

	"memoir/model/modeltest"
	"memoir/model/modeltest/scribe"
)

// stepping gives the same step to every question.
func stepping(step modeltest.Step) behaviour {
	return func(wire, int, scribe.Question, modeltest.Step) modeltest.Step { return step }
}

// first gives a step to the first question and answers the others well.
func first(step modeltest.Step) behaviour {
	return func(_ wire, n int, _ scribe.Question, good modeltest.Step) modeltest.Step {
		if n == 0 {
			return step
		}
		return good
	}
}

// tooLong is how each API says that a question does not fit.
func tooLong(w wire) modeltest.Step {
	if w.api == "anthropic" {
		return modeltest.Step{Status: http.StatusBadRequest, Message: "prompt is too long: 250000 tokens > 200000 maximum"}
	}
	return modeltest.Step{Status: http.StatusBadRequest, Code: "context_length_exceeded", Message: "This model's maximum context length is 16384 tokens."}
}

func halved(good modeltest.Step) modeltest.Step {
	return modeltest.Step{Text: good.Text[:len(good.Text)/2], Stop: "length"}
}

// Calls that fail in both phases, each on one of the wires in turn.
func TestAServerThatFailsChangesNoMemory(t *testing.T) {
	t.Parallel()
	status := func(code int, message string) modeltest.Step {
		return modeltest.Step{Status: code, Message: message}
	}
	limited := modeltest.Step{Status: http.StatusTooManyRequests, RetryAfter: "1", Message: "slow down"}
	late := modeltest.Step{Status: http.StatusTooManyRequests, RetryAfter: "7200", Message: "slow down"}
	var cases []bad
	for _, phase := range []scribe.Phase{scribe.Extract, scribe.Consolidate} {
		for _, b := range []bad{
			{name: "429 once", step: first(limited), fate: done(), calls: 2},
			{name: "429 for two hours", step: stepping(late), fate: unserved(phase, "429"), calls: 1},
			{name: "429 always", step: stepping(limited), fate: postponed("429"), calls: 4},
			{name: "529 once", step: first(status(529, "overloaded")), fate: done(), calls: 2},
			{name: "500 once", step: first(status(500, "oops")), fate: done(), calls: 2},
			{name: "500 always", step: stepping(status(500, "oops")), fate: postponed("500"), calls: 4},
			{name: "a reset once", step: first(modeltest.Step{Reset: true}), fate: done(), calls: 2, estimated: true},
			{name: "a reset always", step: stepping(modeltest.Step{Reset: true}), fate: postponed("mine/m"), calls: 4, estimated: true},
			{name: "400", step: stepping(status(400, "no such thing as that")), fate: failed("400"), calls: 1},
			{name: "401", step: stepping(status(401, "bad key "+sceneKey)), fate: ended("401"), calls: 1},
			{name: "403", step: stepping(status(403, "not for you")), fate: forbidden(phase), calls: 1},
			{name: "404", step: stepping(status(404, "no such model")), fate: ended("404"), calls: 1},
			{name: "too long once", fate: done(), calls: 2, step: func(w wire, n int, _ scribe.Question, good modeltest.Step) modeltest.Step {
				if n == 0 {
					return tooLong(w)
				}
				return good
			}, other: true},
			{name: "too long always", fate: failed("mine/m answered with status 400"), calls: 4, step: func(w wire, _ int, _ scribe.Question, _ modeltest.Step) modeltest.Step { return tooLong(w) }},
			{name: "cut once", fate: done(), calls: 2, step: func(_ wire, n int, _ scribe.Question, good modeltest.Step) modeltest.Step {
				if n == 0 {
					return halved(good)
				}
				return good
			}},
			{name: "cut always", fate: refused("cut by the cap"), calls: 2, step: func(_ wire, _ int, _ scribe.Question, good modeltest.Step) modeltest.Step { return halved(good) }},
			{name: "a refusal", step: stepping(modeltest.Step{Text: "I will not, " + secret(), Stop: "refusal"}), fate: refused("declined to answer"), calls: 1},
			{name: "nothing", step: stepping(modeltest.Step{}), fate: failed("empty"), calls: 1},
			{name: "a web page", step: stepping(modeltest.Step{Raw: "<html>maintenance</html>"}), fate: postponed("mine/m")},
			{name: "no schema", fate: done(), calls: 2, asides: 1, step: func(_ wire, _ int, _ scribe.Question, good modeltest.Step) modeltest.Step {
				good.NoSchema = true
				return good
			}},
		} {
			b.phase = phase
			b.name += " in " + string(phase)
			cases = append(cases, b)
		}
	}
	misbehave(t, cases)
}

// forbidden is the fate of a job whose question the model may not answer. Where others
// were answered before, it is one question that is refused.
func forbidden(phase scribe.Phase) fate {
	if phase == scribe.Consolidate {
		return failed("403")
	}
	return unserved(phase, "403")
}

// A time limit cannot be shorter than a second, which these tests really wait.
func TestAServerThatDoesNotAnswerChangesNoMemory(t *testing.T) {
	t.Parallel()
	hang := modeltest.Step{Hang: true}
	misbehave(t, []bad{
		{name: "once in extract", phase: scribe.Extract, step: first(hang), fate: done(), calls: 2, more: ", timeoutSeconds: 1", estimated: true},
		{name: "always in extract", phase: scribe.Extract, step: stepping(hang), fate: postponed("no answer within 1s; a slow model needs a larger timeoutSeconds"), calls: 4, more: ", timeoutSeconds: 1", estimated: true},
		{name: "once in consolidate", phase: scribe.Consolidate, step: first(hang), fate: done(), calls: 2, more: ", timeoutSeconds: 1", estimated: true},
		{name: "always in consolidate", phase: scribe.Consolidate, step: stepping(hang), fate: postponed("no answer within 1s; a slow model needs a larger timeoutSeconds"), calls: 4, more: ", timeoutSeconds: 1", estimated: true},
	})
}
