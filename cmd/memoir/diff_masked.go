package main

import (
	"fmt"
	"strings"

	"memoir/internal/lazyregexp"
)

// around is how many lines a diff shows on each side of a change.
const around = 3

// marker is what stands for a secret that was taken out.
var marker = lazyregexp.New(`\[REDACTED:[^\]\n]*\]`)

// secretMask stands for a secret in a line that goes.
const secretMask = "********"

// maskedDiff writes a unified diff of two texts that have as many lines, piece by piece.
type maskedDiff struct {
	name    string
	write   func(string)
	at      int // lines so far
	context []string
	hunk    []maskedLine
	first   int // line number of the hunk's first line
	quiet   int // lines since the last change of the hunk
	any     bool
}

// maskedLine is a line before and after; both are equal where it does not change.
type maskedLine struct{ was, is string }

// add takes up a text, and the same without its secrets.
func (d *maskedDiff) add(before, after string) {
	was, is := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	for i, line := range is {
		if line == "" && i == len(is)-1 {
			break
		}
		d.at++
		if i < len(was) && was[i] == line {
			d.same(line)
		} else {
			d.changed(line)
		}
	}
}

func (d *maskedDiff) same(line string) {
	if len(d.hunk) > 0 {
		d.hunk = append(d.hunk, maskedLine{line, line})
		if d.quiet++; d.quiet <= 2*around {
			return
		}
		tail := d.hunk[len(d.hunk)-around:]
		d.hunk = d.hunk[:len(d.hunk)-(d.quiet-around)]
		d.context = d.context[:0]
		for _, l := range tail {
			d.context = append(d.context, l.is)
		}
		d.quiet = around
		d.flush()
		return
	}
	if len(d.context) == around {
		d.context = d.context[1:]
	}
	d.context = append(d.context, line)
}

func (d *maskedDiff) changed(line string) {
	if len(d.hunk) == 0 {
		d.first = d.at - len(d.context)
		for _, c := range d.context {
			d.hunk = append(d.hunk, maskedLine{c, c})
		}
		d.context = d.context[:0]
	}
	was := marker.ReplaceAllString(line, secretMask)
	if was == line { // the rest of a secret of several lines
		was = secretMask + line
	}
	d.hunk = append(d.hunk, maskedLine{was, line})
	d.quiet = 0
}

// flush writes the hunk that is under way.
func (d *maskedDiff) flush() {
	if len(d.hunk) == 0 {
		return
	}
	if d.quiet > around {
		d.hunk = d.hunk[:len(d.hunk)-(d.quiet-around)]
	}
	var b strings.Builder
	if !d.any {
		fmt.Fprintf(&b, "--- a/%s\n+++ b/%s\n", d.name, d.name)
		d.any = true
	}
	fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", d.first, len(d.hunk), d.first, len(d.hunk))
	line := func(op, text string) {
		b.WriteString(op + text)
		if !strings.HasSuffix(text, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
	for i := 0; i < len(d.hunk); {
		if d.hunk[i].was == d.hunk[i].is {
			line(" ", d.hunk[i].is)
			i++
			continue
		}
		end := i
		for end < len(d.hunk) && d.hunk[end].was != d.hunk[end].is {
			end++
		}
		for _, l := range d.hunk[i:end] {
			line("-", l.was)
		}
		for _, l := range d.hunk[i:end] {
			line("+", l.is)
		}
		i = end
	}
	d.hunk, d.quiet = nil, 0
	d.write(b.String())
}
