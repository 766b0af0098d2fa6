package model

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/internal/lazyregexp"
)

// reading is what a program said.
type reading struct {
	text      string
	stop      Stop   // empty: the answer is complete
	objection string // why there is no answer, in the program's words; empty: there is one
	usage     memoir.Usage
}

// notResult is the reading of an output that is not in the requested form.
func notResult(stdout []byte) reading {
	text := tail(string(stdout))
	if text == "" {
		return reading{} // what it wrote to stderr says more, or it had nothing to say
	}
	return reading{objection: "it printed no result in the form that was asked for: " + text}
}

// stopOf names the reasons of all agents for an answer that is not complete.
func stopOf(reason string) Stop {
	switch reason {
	case "max_tokens", "length":
		return StopLength
	case "refusal", "content-filter":
		return StopRefusal
	}
	return ""
}

// sum adds the numbers at some paths.
func sum(v gjson.Result, paths ...string) (n int64) {
	for _, path := range paths {
		n += v.Get(path).Int()
	}
	return n
}

func readClaude(out printed, _ scratch) reading {
	said := gjson.ParseBytes(out.stdout)
	if !gjson.ValidBytes(out.stdout) || said.Get("type").String() != "result" {
		return notResult(out.stdout)
	}
	used := said.Get("usage")
	r := reading{text: said.Get("result").String(), stop: stopOf(said.Get("stop_reason").String()), usage: memoir.Usage{
		InputTokens:  sum(used, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
		CachedTokens: sum(used, "cache_read_input_tokens"),
		OutputTokens: sum(used, "output_tokens"),
		Cost:         said.Get("total_cost_usd").Float(),
	}}
	if structured := said.Get("structured_output"); structured.IsObject() {
		r.text = structured.Raw
	}
	if said.Get("is_error").Bool() {
		var errs []string
		for _, e := range said.Get("errors").Array() {
			errs = append(errs, e.String())
		}
		r.objection = cmp.Or(
			said.Get("result").String(),
			strings.Join(errs, "; "),
			said.Get("subtype").String(),
			"failed",
		)
	}
	return r
}

func readCodex(out printed, s scratch) (r reading) {
	for line := range bytes.Lines(out.stdout) {
		e := gjson.ParseBytes(line)
		switch e.Get("type").String() {
		case "item.completed":
			if e.Get("item.type").String() == "agent_message" {
				r.text = e.Get("item.text").String()
			}
		case "turn.completed": // an error before it was overcome
			r.objection = ""
			used := e.Get("usage")
			r.usage = r.usage.Add(memoir.Usage{InputTokens: sum(used, "input_tokens"),
				CachedTokens: sum(used, "cached_input_tokens"), OutputTokens: sum(used, "output_tokens")})
		case "turn.failed":
			r.objection = e.Get("error.message").String()
		case "error":
			r.objection = e.Get("message").String()
		}
	}
	if last, err := os.ReadFile(filepath.Join(s.files, lastMessage)); err == nil && len(last) > 0 &&
		len(last) <= maxAnswer {
		r.text = string(last)
	}
	if r == (reading{}) {
		return notResult(out.stdout)
	}
	return r
}

// readPi reads the events of pi and oh-my-pi. The last message of the assistant counts.
func readPi(out printed, _ scratch) (r reading) {
	found := false
	for line := range bytes.Lines(out.stdout) {
		e := gjson.ParseBytes(line)
		m := e.Get("message")
		if e.Get("type").String() != "message_end" || m.Get("role").String() != "assistant" {
			continue
		}
		found = true
		r.text, r.objection = "", ""
		for _, block := range m.Get("content").Array() {
			if block.Get("type").String() == "text" {
				r.text += block.Get("text").String()
			}
		}
		reason := m.Get("stopReason").String()
		r.stop = stopOf(reason)
		if reason == "error" || reason == "aborted" {
			r.objection = cmp.Or(m.Get("errorMessage").String(), reason)
		}
		used := m.Get("usage")
		r.usage = r.usage.Add(memoir.Usage{InputTokens: sum(used, "input", "cacheRead", "cacheWrite"),
			CachedTokens: sum(
				used,
				"cacheRead",
			), OutputTokens: sum(used, "output"), Cost: used.Get("cost.total").Float()})
	}
	if !found {
		return notResult(out.stdout)
	}
	return r
}

func readOpenCode(out printed, _ scratch) (r reading) {
	found := false
	for line := range bytes.Lines(out.stdout) {
		e := gjson.ParseBytes(line)
		switch e.Get("type").String() {
		case "text":
			r.text = e.Get("part.text").String()
		case "step_finish":
			r.stop = cmp.Or(stopOf(e.Get("part.reason").String()), r.stop)
			used := e.Get("part.tokens")
			r.usage = r.usage.Add(memoir.Usage{InputTokens: sum(used, "input", "cache.read", "cache.write"),
				CachedTokens: sum(used, "cache.read"), OutputTokens: sum(used, "output", "reasoning"),
				Cost: e.Get("part.cost").Float()})
		case "error":
			r.objection = cmp.Or(e.Get("error.data.message").String(), e.Get("error.name").String())
			if status := e.Get("error.data.statusCode").Int(); status > 0 {
				r.objection = fmt.Sprintf("status %d: %s", status, r.objection)
			}
		default:
			continue
		}
		found = true
	}
	if !found {
		return notResult(out.stdout)
	}
	return r
}

func readGemini(out printed, _ scratch) (r reading) {
	text := out.stdout
	if at := strings.LastIndex("\n"+out.stderr, "\n{\n"); len(text) == 0 && at >= 0 { // it reports failures there
		text = []byte(out.stderr[at:])
	}
	said := gjson.ParseBytes(text)
	if !gjson.ValidBytes(text) || !said.Get("response").Exists() && !said.Get("error").Exists() {
		return notResult(out.stdout)
	}
	for _, m := range said.Get("stats.models").Map() {
		used := m.Get("tokens")
		r.usage = r.usage.Add(memoir.Usage{InputTokens: sum(used, "prompt"), CachedTokens: sum(used, "cached"),
			OutputTokens: sum(used, "candidates", "thoughts")})
	}
	r.text = said.Get("response").String()
	if e := said.Get("error"); e.Exists() {
		r.objection = e.Get("type").String() + ": " + e.Get("message").String()
	}
	return r
}

// classes tell by an agent's words what a failure means. The first match counts, since a
// limit is often reported together with a status that says less.
var classes = []struct {
	class Class
	form  *lazyregexp.Regexp
}{
	{ClassTooLong, lazyregexp.New(`(?i)prompt is too long|context.?(length|window|limit)|too many (input )?tokens|` +
		`maximum context|input is too long|exceeds the (context|model)`)},
	{
		ClassLimited,
		lazyregexp.New(`(?i)\b(429|529)\b|(rate|usage|session|weekly|5-hour|hourly|daily).{0,12}limit|quota|` +
			`too many requests|overloaded|resource.?exhausted`),
	},
	{
		ClassDenied,
		lazyregexp.New(
			`(?i)\b(401|403)\b|unauthori[sz]ed|forbidden|authenticat|api.?key|not logged in|log ?in\b|credential`,
		),
	},
	{
		ClassMissing,
		lazyregexp.New(`(?i)\b404\b|(model|provider).{0,60}(not found|not exist|unknown|not supported|no access)|` +
			`(unknown|no such|invalid) (model|provider)|issue with the selected model`),
	},
	{
		ClassUnreachable,
		lazyregexp.New(`(?i)ECONNREFUSED|ENOTFOUND|EAI_AGAIN|connection refused|unable to connect|fetch failed|` +
			`network (error|unreachable)|getaddrinfo`),
	},
	{
		ClassTemporary,
		lazyregexp.New(`(?i)\b50[0234]\b|timed? ?out|temporar|high demand|ECONNRESET|connection (error|reset|closed)|` +
			`disconnected|internal server error|service unavailable`),
	},
}

// classify returns the class of a failure that an agent reported.
func classify(message string) Class {
	for _, c := range classes {
		if c.form.MatchString(message) {
			return c.class
		}
	}
	return ClassProgram
}
