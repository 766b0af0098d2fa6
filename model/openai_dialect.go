package model

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// feature is a part of a call that not every server of this API takes, or not for
// every model.
type feature int

// The features. Those whose names are plain words of English come last: a message
// that names two is about the other.
const (
	featFormat      feature = iota // of the answer: by schema, as an object, said in words
	featCap                        // on the output: by its first name, by its second, none
	featTemperature                // as set, or the model's own
	featStreamUsage                // tokens at the end of a stream, or estimated
	featStore                      // that nothing is to be kept, or what the server does
	featEffort                     // of reasoning: as set, or the model's own
	featStream                     // the answer as it is made, or at its end
	features
)

// The ways to ask for a format.
const (
	formatSchema = iota
	formatObject
	formatWords
)

// dialect says, for each feature, how many ways of asking for it a server has refused.
type dialect [features]int

// ways is how many ways there are to ask for a feature, and what servers call it
// when they refuse.
type ways struct {
	count int
	names []string
}

// The names are compared without case, and as whole words.
var (
	formatNames      = []string{"response_format", "text.format", "json_schema", "json_object", "response_schema", "responseSchema", "structured output", "structured outputs", "grammar", "json schema"}
	temperatureNames = []string{"temperature"}
	streamUsageNames = []string{"stream_options", "include_usage"}
	storeNames       = []string{"store"}
	streamNames      = []string{"stream", "streaming"}
)

// refusedIn finds the feature that a refusal is about, among those that the call
// used; false if it is about none. The parameter that the server names decides, then
// a name in quotes, then one in the text.
func refusedIn(r *refusal, known [features]ways, used []feature) (feature, bool) {
	if !r.ofForm() {
		return 0, false
	}
	if badGrammar().MatchString(r.message) && slices.Contains(used, featFormat) {
		return featFormat, true
	}
	param := strings.ToLower(r.param)
	for _, f := range used {
		if param != "" && slices.ContainsFunc(known[f].names, func(name string) bool {
			name = strings.ToLower(name)
			return param == name || strings.HasPrefix(param, name+".")
		}) {
			return f, true
		}
	}
	for _, around := range []string{"[\"'`]", `\b`} {
		for _, f := range used {
			if slices.ContainsFunc(known[f].names, func(name string) bool {
				return regexp.MustCompile(`(?i)` + around + regexp.QuoteMeta(name) + around).MatchString(r.message)
			}) {
				return f, true
			}
		}
	}
	return 0, false
}

// badGrammar is how llama.cpp says that it cannot make a grammar of a schema. It is
// one of its failures, so that it comes with the status of a fault.
var badGrammar = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(parse|parsing|initiali[sz]e|initiali[sz]ing|compile|compiling|invalid|empty) (the )?(grammar|samplers?)\b|grammar (is )?(invalid|empty)|json schema conversion failed`)
})

// ofForm reports whether a refusal may be about a feature of the call.
func (r *refusal) ofForm() bool {
	if r.status == 500 && badGrammar().MatchString(r.message) {
		return true
	}
	return (r.status == 400 || r.status == 422 || r.status == 501) && r.class() == ClassInvalid
}

// join keeps of two dialects what either has learned.
func (d dialect) join(e dialect) dialect {
	for f := range d {
		d[f] = max(d[f], e[f])
	}
	return d
}
