package model

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A length is what a server says of a call that is longer than it takes. What it does
// not say is 0.
type length struct {
	limit  int // tokens that a call may hold
	asked  int // tokens of the question, by the server's count
	output int // tokens of the cap on the answer, where the server counts them in
}

// lengthForms are the ways in which servers say it. Their groups are the fields of length;
// total is question and cap together.
var lengthForms = sync.OnceValue(func() []*regexp.Regexp {
	const n = `(\d[\d,]*)`
	var forms []*regexp.Regexp
	for _, form := range []string{
		`prompt is too long: ASKED tokens > LIMIT maximum`,                                         // Anthropic
		`exceed context limit: ASKED \+ OUTPUT > LIMIT`,                                            // Anthropic
		`request \(ASKED tokens\) exceeds the available context size \(LIMIT tokens`,               // llama.cpp, Ollama
		`requested tokens \(ASKED\) exceed context window of LIMIT`,                                // llama.cpp in Python
		`keep the first ASKED tokens .*context length of only LIMIT`,                               // LM Studio
		`n_keep:? ?\(?ASKED\)? ?>= ?n_ctx:? ?\(?LIMIT`,                                             // LM Studio
		`input token count \(?ASKED\)? exceeds the maximum number of tokens allowed \(?LIMIT`,      // Gemini
		`input token count exceeds the maximum number of tokens allowed \(?LIMIT`,                  // Gemini
		`limit:? LIMIT, (?:used:? [\d,]+, )?requested:? TOTAL`,                                     // OpenAI and Groq, of a minute
		`\(ASKED (?:in the messages|in your prompt|of text input)[^)]*[,;] OUTPUT (?:in|for) the`,  // OpenAI, vLLM, OpenRouter
		`requested OUTPUT output tokens and your prompt contains (?:at least )?ASKED input tokens`, // vLLM
		`(?:is too large: OUTPUT\b.*)?your request has ASKED input tokens`,                         // vLLM
		`(?:resulted in|you requested) (?:about )?TOTAL tokens`,                                    // OpenAI
		`(?:maximum context length|configured limit) (?:is|of) \(?LIMIT`,                           // OpenAI, vLLM, OpenRouter, Mistral
	} {
		for _, group := range []string{"ASKED", "OUTPUT", "LIMIT", "TOTAL"} {
			form = strings.Replace(form, group, "(?P<"+strings.ToLower(group)+">"+n[1:], 1)
		}
		forms = append(forms, regexp.MustCompile(`(?is)`+form))
	}
	return forms
})

// lengthIn reads a server's words. A form that comes first goes before a later one.
func lengthIn(words string) length {
	words = words[:min(len(words), 16*maxMessage)]
	found := map[string]int{}
	for _, form := range lengthForms() {
		groups := form.FindStringSubmatch(words)
		for i, name := range form.SubexpNames() {
			if groups != nil && name != "" && found[name] == 0 {
				found[name] = tokenCount(groups[i])
			}
		}
	}
	l := length{limit: found["limit"], asked: found["asked"], output: found["output"]}
	if l.asked == 0 {
		l.asked = max(found["total"]-l.output, 0)
	}
	return l.credible()
}

// leastWindow is the smallest number of tokens that is believed to be a model's window.
const leastWindow = 256

// credible leaves of a length what can be true of a call that was refused.
func (l length) credible() length {
	if l.limit < leastWindow {
		return length{}
	}
	if l.asked+l.output <= l.limit {
		l.asked, l.output = 0, 0
	}
	return l
}

// tokenCount reads a number, 0 if it is none that can be.
func tokenCount(text string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
	if err != nil || n < 0 || n > 1e9 {
		return 0
	}
	return n
}

// capForms are the ways in which servers say how large the cap on an answer may be.
var capForms = sync.OnceValue(func() []*regexp.Regexp {
	var forms []*regexp.Regexp
	for _, form := range []string{
		`max_tokens: [\d,]+ > N`,                            // Anthropic
		`supports at most N (?:completion |output )?tokens`, // OpenAI
		`value <= N`,                                              // OpenAI's Responses
		`less than or equal to .?N`,                               // Groq, validators
		`max\w*tokens\b[^.]{0,60}\[\d+, ?N\]`,                     // DeepSeek, DashScope
		`supported range is from \d+ \(inclusive\) to N \(excl`,   // Vertex
		`max\w*tokens\b[^.]{0,60}(?:at most|maximum (?:is|of)) N`, // others
	} {
		forms = append(forms, regexp.MustCompile(`(?is)`+strings.Replace(form, "N", `(\d[\d,]*)`, 1)))
	}
	return forms
})

// capNames are what servers call the cap on an answer.
var capNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\bmax_(completion_|output_)?tokens\b|\bmaxOutputTokens\b`)
})

// capIn is the largest cap on an answer that a server names, 0 if it names none. The
// parameter is the one that it says it is about; it may be empty.
func capIn(param, words string) int {
	words = words[:min(len(words), 16*maxMessage)]
	if !capNames().MatchString(param + " " + words) {
		return 0
	}
	for _, form := range capForms() {
		if groups := form.FindStringSubmatch(words); groups != nil {
			n := tokenCount(groups[1])
			if strings.Contains(strings.ToLower(words), "exclusive)") && strings.Contains(form.String(), "excl") {
				n--
			}
			return n
		}
	}
	return 0
}
