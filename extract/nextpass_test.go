package extract

import (
	"strings"
	"testing"

	"memoir"
)

// lengths makes items of about so many tokens; those below 0 are a person's.
func lengths(tokens ...int) []memoir.Item {
	var out []memoir.Item
	for i, n := range tokens {
		it := memoir.Item{N: i + 1, Kind: memoir.ItemMessage, Origin: memoir.OriginAgent}
		if n < 0 {
			it.Origin, n = memoir.OriginTyped, -n
		}
		var r renderer
		it.Text = strings.Repeat("x", max(4*n-len(r.line(it))-len(`,"text":""`), 0))
		out = append(out, it)
	}
	return out
}

func TestASessionIsCutIntoPassesBeforeWhatAPersonSays(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		items        []memoir.Item
		room, passes int
		want         []int // items of each pass
	}{
		"all at once":                     {lengths(-50, 100, -50, 100), 400, 9, []int{4}},
		"no limit":                        {lengths(-50, 100, -50, 100), 0, 9, []int{4}},
		"one pass":                        {lengths(-50, 100, -50, 100), 100, 1, []int{4}},
		"as much in each":                 {lengths(-50, 50, 50, 50, -50, 50, 50, 50), 390, 9, []int{4, 4}},
		"a little less, before a turn":    {lengths(-50, 100, 50, -50, 100, 50), 210, 9, []int{3, 3}},
		"no turn near":                    {lengths(-50, 50, 50, 50, 50, 50, 50, 50), 210, 9, []int{4, 4}},
		"a turn behind the middle":        {lengths(-50, 50, 50, 50, 50, -50, 50, 50), 310, 9, []int{5, 3}},
		"an item that none can hold":      {lengths(-50, 900, -50, 50), 200, 9, []int{1, 1, 2}},
		"nothing but such items":          {lengths(900, 900, 900), 200, 9, []int{1, 1, 1}},
		"fewer passes than it would need": {lengths(-50, 150, -50, 150, -50, 150, -50, 150), 200, 2, []int{4, 4}},
		"nothing":                         {nil, 200, 9, []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rest, passes := tt.items, tt.passes
			var got []int
			for {
				n := nextPass(rest, tt.room, passes)
				got = append(got, n)
				rest = rest[n:]
				if passes--; len(rest) == 0 || n == 0 {
					break
				}
			}
			if len(got) > tt.passes || len(rest) > 0 || len(got) != len(tt.want) {
				t.Fatalf("passes of %v items, want %v", got, tt.want)
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Fatalf("passes of %v items, want %v", got, tt.want)
				}
			}
		})
	}
}
