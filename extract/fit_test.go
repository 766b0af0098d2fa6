package extract_test

import (
	"strings"
	"testing"

	"memoir"
	"memoir/extract"
)

func fitItems() []memoir.Item {
	long := strings.Repeat("noise ", 400)
	items := []memoir.Item{
		{Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginTyped, Text: "make the uploader retry"},
		{Kind: memoir.ItemMessage, Role: memoir.RoleAssistant, Origin: memoir.OriginAgent, Text: "I will look around. " + long},
		{Kind: memoir.ItemTool, Role: memoir.RoleTool, Tool: "Bash", Input: "go test ./...", Output: long + "FAIL uploader", Failed: true},
		{Kind: memoir.ItemTool, Role: memoir.RoleTool, Tool: "Read", Input: "a.go", Output: long},
		{Kind: memoir.ItemTool, Role: memoir.RoleTool, Tool: "Bash", Input: "go test ./...", Output: "ok"},
		{Kind: memoir.ItemMessage, Role: memoir.RoleAssistant, Origin: memoir.OriginAgent, Text: "The uploader retries now."},
		{Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginTyped, Text: "never retry on 4xx"},
	}
	for i := range items {
		items[i].N = i + 1
	}
	return items
}

func TestFitKeepsByValueAndInOrder(t *testing.T) {
	t.Parallel()
	fitted, omitted := extract.Fit(fitItems(), 400)
	var got []int
	total := 0
	for _, it := range fitted {
		got = append(got, it.N)
		total += extract.Cost(it)
	}
	for _, n := range []int{1, 3, 5, 6, 7} {
		found := false
		for _, g := range got {
			found = found || g == n
		}
		if !found {
			t.Errorf("item %d was left out of %v", n, got)
		}
	}
	for i := 1; i < len(got); i++ {
		if got[i] <= got[i-1] {
			t.Errorf("items are out of order: %v", got)
		}
	}
	if total > 400 {
		t.Errorf("%d tokens in a budget of 400", total)
	}
	if omitted != 7-len(fitted) {
		t.Errorf("%d omitted, %d of 7 kept", omitted, len(fitted))
	}
}

func TestFitKeepsTheEndOfAFailuresOutput(t *testing.T) {
	t.Parallel()
	fitted, _ := extract.Fit(fitItems(), 400)
	for _, it := range fitted {
		if it.N == 3 && !strings.HasSuffix(it.Output, "FAIL uploader") {
			t.Errorf("the error is cut off: %q", it.Output)
		}
	}
}

func TestFitWithoutABudgetKeepsAll(t *testing.T) {
	t.Parallel()
	if fitted, omitted := extract.Fit(fitItems(), 0); len(fitted) != 7 || omitted != 0 {
		t.Errorf("%d kept, %d omitted", len(fitted), omitted)
	}
}

func TestFitNeverExceedsItsBudgetNorSplitsARune(t *testing.T) {
	t.Parallel()
	items := []memoir.Item{
		{N: 1, Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginTyped, Text: strings.Repeat("日本語", 500)},
		{N: 2, Kind: memoir.ItemTool, Role: memoir.RoleTool, Input: strings.Repeat("é", 900), Output: strings.Repeat("ü", 900)},
	}
	for _, budget := range []int{1, 10, 33, 100, 1001} {
		fitted, _ := extract.Fit(items, budget)
		total := 0
		for _, it := range fitted {
			total += extract.Cost(it)
			if strings.ContainsRune(it.Text+it.Input+it.Output, '\uFFFD') {
				t.Errorf("budget %d: a rune was split", budget)
			}
		}
		if total > budget {
			t.Errorf("%d tokens in a budget of %d", total, budget)
		}
	}
}
