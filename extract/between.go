package extract

import (
	"fmt"
	"slices"
	"strings"
)

// maxHelpers is how many commands are named that may have mended a failure.
const maxHelpers = 2

// A helper is what was run between a failure and the success of the same command
// and changed the state in which it ran.
type helper struct {
	text      string
	item      int
	more      int  // further ones of the same shape
	installed bool // it installs something
	related   int  // words that it shares with the failure
	minor     bool // an everyday command, which may have nothing to do with it
}

// helpers lists what changed something between a failure and the success of the
// same command, those that share words with the failure first, then the newest:
// what installs, generates, builds, starts, fetches or sets, not what tests,
// checks or formats. They stand in the order in which they ran.
func helpers(r *reading, runs []*run, failed command, line string) []helper {
	about := nameWords(failed.full() + " " + line)
	var all []helper
	byShape := map[string]int{}
	add := func(h helper) {
		for w := range nameWords(h.text) {
			if about[w] {
				h.related++
			}
		}
		key := shape(h.text)
		at, ok := byShape[key]
		switch {
		case !ok:
			byShape[key] = len(all)
			all = append(all, h)
		case all[at].text == h.text:
			all[at].item = h.item
		case all[at].related > h.related:
			all[at].more++
		default:
			h.more = all[at].more + 1
			all[at] = h
		}
	}
	for _, run := range runs {
		if run.failed || run.unknown {
			continue
		}
		for _, c := range run.cmds {
			if c.place != failed.place || c.family == failed.family || !run.succeeded(c) {
				continue
			}
			switch c.use {
			case forInstall, forBuild, forRun:
				add(helper{text: c.full(), item: run.item, installed: c.use == forInstall})
			}
		}
		if text, minor := run.changed(r.root); text != "" {
			add(helper{text: text, item: run.item, minor: minor})
		}
	}
	slices.SortStableFunc(all, func(a, b helper) int {
		if a.related != b.related {
			return b.related - a.related
		}
		return b.item - a.item
	})
	if len(all) > 1 {
		all = slices.DeleteFunc(all, func(h helper) bool { return h.minor && h.related == 0 })
	}
	all = all[:min(len(all), maxHelpers)]
	slices.SortStableFunc(all, func(a, b helper) int { return a.item - b.item })
	return all
}

// changed renders what of a command line changes the state for others and is not
// listed as a command anyway; minor tells that it is an everyday one.
func (r *run) changed(root string) (text string, minor bool) {
	var texts []string
	minor = true
	for i, s := range r.parts {
		if i > 0 && r.parts[i-1].after == "|" {
			continue
		}
		t := altering(s, root)
		if t == "" || slices.ContainsFunc(r.cmds, func(c command) bool {
			return strings.Contains(c.full(), t) || strings.Contains(t, c.text) && c.use != forVCS
		}) {
			continue
		}
		minor = minor && everyday(s)
		texts = append(texts, t)
		if len(texts) == 3 {
			break
		}
	}
	text = strings.Join(texts, " && ")
	if len(text) > maxRendered {
		return "", false
	}
	return text, minor
}

func everyday(s simple) bool {
	switch name := unquote(s.words[0]); name {
	case "mkdir", "cp", "mv", "rm", "touch", "chmod", "ln", "kill", "pkill", "killall":
		return true
	case "git":
		word, _ := next(gitArguments(s.words[1:]))
		return word != "submodule" && word != "lfs" && word != "config"
	}
	return false
}

// name renders helpers for a sentence.
func name(list []helper) (text string, items []int) {
	var out []string
	for _, h := range list {
		t := code(shorten(h.text, maxRendered))
		if h.more > 0 {
			t += fmt.Sprintf(" (and %d more like it)", h.more)
		}
		out = append(out, t)
		items = append(items, h.item)
	}
	return strings.Join(out, " and "), items
}
