package rollout

import (
	"fmt"
	"strings"
	"testing"
)

func TestUnknownTypesAreAllCountedAndFewAreHeld(t *testing.T) {
	t.Parallel()
	var s Stats
	for i := range 3 * maxTypes {
		s.unknown(fmt.Sprint("type", i))
	}
	s.unknown("type0")
	s.unknown(strings.Repeat("x", maxType+1))
	s.unknown("")
	total := 0
	for kind, n := range s.Unknown {
		total += n
		if len(kind) > maxType {
			t.Errorf("%q is held", kind)
		}
	}
	if total != 3*maxTypes+3 || len(s.Unknown) > maxTypes+1 || s.Unknown["type0"] != 2 || s.Unknown["(others)"] != 2*maxTypes+2 {
		t.Errorf("%d counted, %d types held, %d others", total, len(s.Unknown), s.Unknown["(others)"])
	}
}
