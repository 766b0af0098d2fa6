package rollout

import (
	"fmt"
	"slices"
	"testing"

	"memoir"
)

// lettered makes items of letters: upper case is a person's, lower case the agent's.
func lettered(letters string) []memoir.Item {
	var out []memoir.Item
	for i, r := range letters {
		it := memoir.Item{N: i + 1, Kind: memoir.ItemMessage, Role: memoir.RoleAssistant, Origin: memoir.OriginAgent, Text: string(r)}
		if r >= 'A' && r <= 'Z' {
			it.Role, it.Origin = memoir.RoleUser, memoir.OriginTyped
		}
		out = append(out, it)
	}
	return out
}

func trailOf(letters string, earlier []memoir.Mark) *Trail {
	t := NewTrail(earlier)
	for _, it := range lettered(letters) {
		t.Add(it)
	}
	return t
}

func TestATrailTellsHowFarAThreadIsAsItWas(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		before, now string
		same        int
	}{
		{"AbCd", "AbCdEf", 4},
		{"AbCd", "AbCd", 4},
		{"AbCde", "AbCdxYz", 4}, // its last item changed
		{"AbCde", "AbCxxYz", 3}, // all of its last answer
		{"AbCd", "AbXdEf", 0},   // what a person said last is another
		{"AbCd", "AbXd", 0},
		{"AbCd", "xbCdEf", 0},    // something before changed
		{"AbCd", "AxbCdEf", 0},   // something came between
		{"AbCd", "bCdEf", 0},     // the beginning is gone
		{"AbCd", "Ab", 0},        // the last turn is undone
		{"AbCdEf", "AbCdGh", 0},  // undone, and another in its place
		{"AbCdEf", "AbCdEx", 5},  // undone, and asked again in the same words
		{"", "Ab", 0},            // nothing was read
		{"abcd", "abcdE", 4},     // nobody typed anything
		{"abcd", "abxxE", 2},     // nobody did, and the end changed
		{"Ab", "AbSomething", 2}, // much more
	} {
		if got := trailOf(tt.now, trailOf(tt.before, nil).Marks()).Same(); got != tt.same {
			t.Errorf("%s, then %s: the same up to %d, want %d", tt.before, tt.now, got, tt.same)
		}
	}
}

func TestATrailIsBoundedAndItsHashIsThatOfTheItems(t *testing.T) {
	t.Parallel()
	letters := "A"
	var plain Hasher
	for i := range 100 {
		letters += string(rune('a' + i%26))
	}
	for _, it := range lettered(letters) {
		plain.Add(it)
	}
	trail := trailOf(letters, nil)
	marks := trail.Marks()
	if trail.Sum() != plain.Sum() || len(marks) != maxMarks || marks[maxMarks-1] != (memoir.Mark{Item: 101, Hash: plain.Sum()}) {
		t.Errorf("%d marks, the last %+v", len(marks), marks[len(marks)-1])
	}
	if !slices.IsSortedFunc(marks, func(a, b memoir.Mark) int { return a.Item - b.Item }) {
		t.Errorf("marks out of order: %+v", marks)
	}
	again := trailOf(letters+"B", marks)
	if again.Same() != 101 || fmt.Sprint(again.Marks()[0].Item) != "102" {
		t.Errorf("the same up to %d, marks from %d", again.Same(), again.Marks()[0].Item)
	}
}
