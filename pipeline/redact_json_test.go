package pipeline

import (
	"strings"
	"testing"
)

func TestEachStringOfAnAnswerIsLookedAtAsItIsMeant(t *testing.T) {
	t.Parallel()
	change := func(text string) string {
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			if strings.HasPrefix(line, "key ") {
				lines[i] = "gone"
			}
		}
		return strings.Join(lines, "\n")
	}
	for text, want := range map[string]string{
		`{"b": "x\nkey \"1\"\ny", "a": ["key 2"]}`:                     `{"b": "x\ngone\ny", "a": ["gone"]}`,
		"Here it is:\n```json\n{\"a\": \"key 1\", \"n\": 1.50}\n```\n": "Here it is:\n```json\n{\"a\": \"gone\", \"n\": 1.50}\n```\n",
		`{"a": {"key b": "\\"}, "c": "key \\"} key d`:                  `{"a": {"gone": "\\"}, "c": "gone"} key d`,
		`{"a": "key 1", "b": "key it was cut`:                          `{"a": "gone", "b": "key it was cut`,
		`{"a": "ends in an escape \`:                                   `{"a": "ends in an escape \`,
		`{"a": "` + "key not\nescaped" + `", "b": "key 2"}`:            `{"a": "` + "key not\nescaped" + `", "b": "gone"}`,
		`say "key 1" to nobody`:                                        `say "key 1" to nobody`,
		`"key 1"`:                                                      `"key 1"`,
		"":                                                             "",
	} {
		if got := eachString(text, change); got != want {
			t.Errorf("%q becomes\n%q, not\n%q", text, got, want)
		}
	}
}
