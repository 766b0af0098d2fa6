package model_test

import (
	"encoding/json"
	"strings"
	"testing"

	"memoir/model"

	"github.com/google/go-cmp/cmp"
)

var answerFields = []string{"raw_memory", "rollout_summary", "skills"}

func TestAnAnswersObjectIsFoundAndMended(t *testing.T) {
	t.Parallel()
	const whole = `{"raw_memory": "a \"b\" {c}\n", "rollout_summary": "d", "skills": [1]}`
	full := map[string]string{"raw_memory": "a \"b\" {c}\n", "rollout_summary": "d", "skills": "[1]"}
	for name, tt := range map[string]struct {
		text string
		want map[string]string // strings decoded, else as they stand
	}{
		"as it should be":            {whole, full},
		"in a fence":                 {"```json\n" + whole + "\n```", full},
		"in a fence without a name":  {"```\n" + whole + "\n```\n", full},
		"in a fence on one line":     {"```" + whole + "```", full},
		"in a fence of tildes":       {"~~~~ json\n" + whole + "\n~~~~", full},
		"a fence that is not closed": {"```json\n" + whole, full},
		"words around it":            {"Here {as asked} it is:\n\n" + whole + "\n\nI hope {this} helps!", full},
		"words and a fence":          {"Sure, the object:\n```json\n" + whole + "\n```\nAnything else?", full},
		"a byte order mark":          {"\uFEFF" + whole, full},
		"another object before it":   {`{"thoughts": "{"} ` + whole, full},
		"within another object":      {`{"result": ` + whole + `}`, full},
		"within a list":              {"[" + whole + "]", full},
		"unknown fields":             {`{"confidence": 0.9, "raw_memory": "x", "more": {"raw_memory": "y"}}`, map[string]string{"raw_memory": "x"}},
		"a comma too many":           {`{"raw_memory": "x", "skills": [1, 2,],}`, map[string]string{"raw_memory": "x", "skills": "[1, 2]"}},
		"a comma too few":            {"{\"raw_memory\": \"x\"\n\"rollout_summary\": \"y\"}", map[string]string{"raw_memory": "x", "rollout_summary": "y"}},
		"comments":                   {"{ // the memory: {\n\"raw_memory\": /* \"z\" */ \"x\" // end\n}", map[string]string{"raw_memory": "x"}},
		"single quotes":              {`{'raw_memory': 'x', 'rollout_summary': 'it is'}`, map[string]string{"raw_memory": "x", "rollout_summary": "it is"}},
		"names without quotes":       {`{raw_memory: "x"}`, map[string]string{"raw_memory": "x"}},
		"line breaks in a text":      {"{\"raw_memory\": \"## Task\n- x [1]\n\", \"rollout_summary\": \"y\"}", map[string]string{"raw_memory": "## Task\n- x [1]\n", "rollout_summary": "y"}},
		"an unknown escape":          {`{"raw_memory": "a\d \u00e9", "rollout_summary": "\'y\'"}`, map[string]string{"raw_memory": `a\d \u00e9`, "rollout_summary": "'y'"}},
		"cut in a text":              {`{"raw_memory": "x", "rollout_summary": "half a sen`, map[string]string{"raw_memory": "x", "rollout_summary": "half a sen"}},
		"wrong types":                {`{"raw_memory": 7, "rollout_summary": null}`, map[string]string{"raw_memory": "7", "rollout_summary": "null"}},
		"broken bytes":               {"{\"raw_memory\": \"a\xffb\"}", map[string]string{"raw_memory": "a\uFFFDb"}},
		"twice":                      {`{"raw_memory": "x"} {"raw_memory": "y"}`, map[string]string{"raw_memory": "x"}},
		"an escaped name in a text":  {`{"rollout_summary": "the \"raw_memory\": \"z\"", "raw_memory": "x",}`, map[string]string{"raw_memory": "x", "rollout_summary": `the "raw_memory": "z"`}},
		"quotation marks in a text":  {`{"raw_memory": "say "hi", then "bye" to (all {", "rollout_summary": "y"}`, nil},
		"no braces":                  {"\"raw_memory\": \"a\"", nil},
		"too long to be mended":      {`{"raw_memory": "` + strings.Repeat("a\n", 20000) + `", "rollout_summary": "d"}`, nil},
		"cut among quotation marks":  {`{"raw_memory": "## A\n- \"b, c\": d [1]\n\n- x \"e`, map[string]string{"raw_memory": "## A\n- \"b, c\": d [1]\n\n- x \"e"}},
		// Not taken.
		"nothing":      {" \n", nil},
		"only words":   {"I can't do that.", nil},
		"only a fence": {"```json\n```", nil},
		"other fields": {`{"memory": "x"}`, nil},
		"a list":       {`[1, 2]`, nil},
		"too large":    {whole + strings.Repeat(" ", 4<<20), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := model.Object(tt.text, answerFields)
			if (err != nil) != (tt.want == nil) {
				t.Fatalf("got %v, %v", got, err)
			}
			var texts map[string]string
			for field, raw := range got {
				var text string
				if json.Unmarshal(raw, &text) != nil || string(raw) == "null" {
					text = string(raw)
				}
				if texts == nil {
					texts = map[string]string{}
				}
				texts[field] = text
			}
			if diff := cmp.Diff(tt.want, texts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Were the time to grow with the square of these texts, the test would take longer than it is given.
func TestHostileAnswersAreReadInLinearTime(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{
		`{`, `[`, `"`, `{"`, `"b`, `"b",`, `"b":"`, `"b":1 `, "{\"raw_memory\":\n", `"raw_memory":"`, `"raw_memory"`, `{"raw_memory":{`, `1 `, `[1,],`, `"x"+`, `\`,
		`"\x`, `a(`, `/*`, `//`, "```", "{}\n", `{"a":"/usr/x\y.z",`, `"raw_memory"    `, "\xff",
	} {
		for _, before := range []string{"", `{"raw_memory": `, `{"raw_memory": "x`, `{"skills": [`} {
			text := before + strings.Repeat(piece, (64<<10)/len(piece))
			if got, err := model.Object(text, answerFields); err == nil && len(got) == 0 {
				t.Errorf("%s%s…: neither fields nor an error", before, piece)
			}
		}
	}
}

func TestTheErrorHoldsNothingOfTheAnswer(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"my passphrase", `{"passphrase": 1}`, `{"passphrase`} {
		if _, err := model.Object(text, answerFields); err == nil || strings.Contains(err.Error(), "passphrase") {
			t.Errorf("got %v", err)
		}
	}
}

func FuzzObject(f *testing.F) {
	for _, text := range []string{
		`{"raw_memory": "x", "rollout_summary": "y", "skills": [1,]}`, "```json\n{'raw_memory': 'x'}\n```", `{"raw_memory": "a "b" c", "skills": [{"n`,
		`{"a":`, `{"raw_memory": 1e999999}`, `"raw_memory" : "\u12"`, `{"raw_memory": "\ud800"}`, `{//`, `{/*`, "\\\"raw_memory\":", `{"raw_memory":/`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := model.Object(text, answerFields)
		if (err == nil) != (len(got) > 0) {
			t.Fatalf("got %v, %v", got, err)
		}
		for field, raw := range got {
			if !json.Valid(raw) {
				t.Errorf("%s is %s", field, raw)
			}
		}
		again, _ := model.Object(text, answerFields)
		if diff := cmp.Diff(got, again); diff != "" {
			t.Errorf("read twice:\n%s", diff)
		}
	})
}
