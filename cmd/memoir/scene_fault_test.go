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

// Calls that fail, each in one phase and on one of the wires in turn.
func TestAServerThatFailsChangesNoMemory(t *testing.T) {
	t.Parallel()
	status := func(code int, message string) behaviour {
		return stepping(modeltest.Step{Status: code, Message: message})
	}
	late := modeltest.Step{Status: http.StatusTooManyRequests, RetryAfter: "7200", Message: "slow down"}
	cut := func(_ wire, _ int, _ scribe.Question, good modeltest.Step) modeltest.Step { return halved(good) }
	misbehave(t, []bad{
		{name: "429 for two hours", phase: scribe.Extract, step: stepping(late), fate: unserved(scribe.Extract, "429"), calls: 1},
		{name: "500 once", phase: scribe.Consolidate, step: first(modeltest.Step{Status: 500, Message: "oops"}), fate: done(), calls: 2},
		{name: "500 always", phase: scribe.Extract, step: status(500, "oops"), fate: postponed("500"), calls: 4},
		{name: "a reset always", phase: scribe.Consolidate, step: stepping(modeltest.Step{Reset: true}), fate: postponed("mine/m"), calls: 4, estimated: true},
		{name: "400", phase: scribe.Consolidate, step: status(400, "no such thing as that"), fate: failed("400"), calls: 1},
		{name: "401", phase: scribe.Extract, step: status(401, "bad key "+sceneKey), fate: ended("401"), calls: 1},
		{name: "403 in extract", phase: scribe.Extract, step: status(403, "not for you"), fate: unserved(scribe.Extract, "403"), calls: 1},
		{name: "403 in consolidate", phase: scribe.Consolidate, step: status(403, "not for you"), fate: failed("403"), calls: 1},
		{name: "too long once", phase: scribe.Extract, fate: done(), calls: 2, step: func(w wire, n int, _ scribe.Question, good modeltest.Step) modeltest.Step {
			if n == 0 {
				return tooLong(w)
			}
			return good
		}, other: true},
		{name: "cut always", phase: scribe.Consolidate, fate: refused("cut by the cap"), calls: 2, step: cut},
		{name: "a refusal", phase: scribe.Extract, step: stepping(modeltest.Step{Text: "I will not, " + secret(), Stop: "refusal"}), fate: refused("declined to answer"), calls: 1},
		{name: "a web page", phase: scribe.Extract, step: stepping(modeltest.Step{Raw: "<html>maintenance</html>"}), fate: postponed("mine/m")},
		{name: "no schema", phase: scribe.Consolidate, fate: done(), calls: 2, asides: 1, step: func(_ wire, _ int, _ scribe.Question, good modeltest.Step) modeltest.Step {
			good.NoSchema = true
			return good
		}},
		// A time limit cannot be shorter than a second, which these really wait.
		{name: "no answer once", phase: scribe.Consolidate, step: first(modeltest.Step{Hang: true}), fate: done(), calls: 2, more: ", timeoutSeconds: 1", estimated: true},
		{name: "no answer ever", phase: scribe.Extract, step: stepping(modeltest.Step{Hang: true}),
			fate: postponed("no answer within 1s; a slow model needs a larger timeoutSeconds"), calls: 4, more: ", timeoutSeconds: 1", estimated: true},
	})
}
