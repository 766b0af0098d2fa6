package extract

import (
	"slices"
	"strings"
	"unicode/utf8"

	"memoir"
)

// itemFrame is what an item's number, role and marks cost when it is rendered, in bytes.
const itemFrame = 24

// Cost estimates the tokens of an item as a language model sees it: 4 bytes a
// token, its frame included.
func Cost(it memoir.Item) int {
	return (itemFrame + len(it.Text) + len(it.Tool) + len(it.Input) + len(it.Output) + 3) / 4
}

// Fit chooses what of a session a model with room for a number of tokens reads:
// first what people typed, then the agent's closing answers, then failures and
// what fixed them, then the rest; inside a tier the newest first. The items come
// back in order, long ones cut in the middle, with the number of those left out.
// A budget of 0 or less keeps everything.
func Fit(items []memoir.Item, tokens int) (fitted []memoir.Item, omitted int) {
	if tokens <= 0 {
		return items, 0
	}
	tiers := rankItems(items)
	left := tokens
	kept := map[int]memoir.Item{}
	for tier := range tierCount {
		// No single item may take more than a part of what is left, so that a
		// pasted log does not crowd out everything else.
		for i := len(items) - 1; i >= 0; i-- {
			if tiers[i] != tier {
				continue
			}
			share := max(left/4, min(left, 64))
			if tier == tierTyped {
				share = max(left/2, min(left, 256))
			}
			it, ok := cutItem(items[i], share)
			if !ok {
				continue
			}
			kept[i] = it
			left -= Cost(it)
		}
	}
	for i := range items {
		if it, ok := kept[i]; ok {
			fitted = append(fitted, it)
		}
	}
	return fitted, len(items) - len(fitted)
}

const (
	tierTyped = iota
	tierFinal
	tierFailure
	tierRest
	tierCount
)

// rankItems assigns each item its tier.
func rankItems(items []memoir.Item) []int {
	tiers := make([]int, len(items))
	failed := map[string]bool{}
	for i, it := range items {
		tiers[i] = tierRest
		switch {
		case it.Origin.ByPerson():
			tiers[i] = tierTyped
		case it.Kind == memoir.ItemMessage && it.Origin == memoir.OriginAgent && (it.Final || closes(items, i)):
			tiers[i] = tierFinal
		case it.Kind == memoir.ItemTool && it.Failed:
			tiers[i] = tierFailure
			failed[callKey(it)] = true
		case it.Kind == memoir.ItemTool && failed[callKey(it)]:
			tiers[i] = tierFailure
			delete(failed, callKey(it))
		}
	}
	return tiers
}

// closes reports whether the agent's message at i ends a turn.
func closes(items []memoir.Item, i int) bool {
	return i+1 == len(items) || items[i+1].Origin.ByPerson()
}

// callKey is what a failed call and the one that fixed it share.
func callKey(it memoir.Item) string {
	if it.Shell() {
		if cmds := parseCommands(it.Input, it.CWD, it.CWD); len(cmds) > 0 {
			return cmds[len(cmds)-1].family
		}
	}
	head, _, _ := strings.Cut(it.Input, "\n")
	return it.Tool + " " + head[:min(len(head), 80)]
}

// cutItem shortens an item to a number of tokens; false if too little would be left.
func cutItem(it memoir.Item, tokens int) (memoir.Item, bool) {
	if Cost(it) <= tokens {
		return it, true
	}
	bytes := tokens*4 - itemFrame - len(it.Tool) - 3
	if bytes < 40 {
		return it, false
	}
	parts := []*string{&it.Text, &it.Input, &it.Output}
	sizes := make([]int, len(parts))
	for i, p := range parts {
		sizes[i] = len(*p)
	}
	// The shortest part is kept whole if it fits its share.
	order := []int{0, 1, 2}
	slices.SortStableFunc(order, func(a, b int) int { return sizes[a] - sizes[b] })
	for n, i := range order {
		share := bytes / (len(order) - n)
		*parts[i] = cutMiddle(*parts[i], share)
		bytes -= len(*parts[i])
	}
	return it, true
}

// cutMiddle keeps the beginning and, as errors stand last, more of the end of a text.
func cutMiddle(s string, limit int) string {
	const mark = " […] "
	if len(s) <= limit {
		return s
	}
	if limit <= len(mark)+8 {
		return ""
	}
	head := (limit - len(mark)) * 2 / 5
	tail := len(s) - (limit - len(mark) - head)
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + mark + s[tail:]
}
