package ask

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"memoir"
	"memoir/memory"
)

// maxPaths bounds the number of addresses in a call.
const maxPaths = 10

type memoryGetIn struct {
	Path      string   `json:"path,omitempty"`
	Paths     []string `json:"paths,omitempty" jsonschema:"several, each with #N to begin there"`
	From      int      `json:"from,omitempty" jsonschema:"first line, or item of a session"`
	Lines     int      `json:"lines,omitempty" jsonschema:"how many of them"`
	MaxTokens int      `json:"maxTokens,omitempty" jsonschema:"as in memory_search"`
}

// memoryGetOut has the text of one path, or the results of several paths.
type memoryGetOut struct {
	part
	Results []part `json:"results,omitempty"`
	Notice  string `json:"notice"`
}

// part is the answer for one address.
type part struct {
	Path  string `json:"path,omitempty"`
	Text  string `json:"text,omitempty"`
	From  int    `json:"from,omitempty"`
	To    int    `json:"to,omitempty"`
	Total int    `json:"total,omitempty" jsonschema:"lines, or items"`
	Note  string `json:"note,omitempty" jsonschema:"what was left out"`
	Error string `json:"error,omitempty"`
}

// document is the content of an address: the lines of a file, or the items of a session.
type document struct {
	address
	about string // of a session
	units []unit
	total int
	err   error
}

type unit struct {
	n    int // from 1
	text string
}

// memoryGet is the tool memory_get.
func (s *server) memoryGet(ctx context.Context, _ *mcp.CallToolRequest, in memoryGetIn) (
	*mcp.CallToolResult, memoryGetOut, error) {
	paths := in.Paths
	if in.Path != "" {
		paths = append([]string{in.Path}, paths...)
	}
	if len(paths) == 0 || len(paths) > maxPaths {
		return nil, memoryGetOut{}, usage("", "memory_get takes 1 to %d paths, not %d", maxPaths, len(paths))
	}
	var documents []document
	for _, path := range paths {
		documents = append(documents, s.document(ctx, path, in.From, in.Lines))
	}
	if len(paths) == 1 && documents[0].err != nil {
		return nil, memoryGetOut{}, documents[0].err
	}
	return nil, fit(budget(in.MaxTokens), mostTokens*4, func(room int) memoryGetOut {
		if len(documents) == 1 {
			return memoryGetOut{part: documents[0].render(room, getFrom), Notice: notice}
		}
		out := memoryGetOut{Notice: notice}
		for i, d := range documents {
			if room < 200*i { // not even the addresses fit
				out.Note = fmt.Sprintf("paths left out: %d; name fewer", len(documents)-i)
				break
			}
			out.Results = append(out.Results, d.render(room/len(documents), getFrom))
		}
		return out
	}), nil
}

type fetchIn struct {
	ID string `json:"id"`
}

type fetchOut struct {
	ID       string            `json:"id"`
	Title    string            `json:"title"`
	Text     string            `json:"text"`
	URL      string            `json:"url"`
	Metadata map[string]string `json:"metadata"`
}

// fetch is the tool fetch. It reads from the line or item in the id's fragment.
func (s *server) fetch(ctx context.Context, _ *mcp.CallToolRequest, in fetchIn) (*mcp.CallToolResult, fetchOut, error) {
	d := s.document(ctx, in.ID, 0, 0)
	if d.err != nil {
		return nil, fetchOut{}, d.err
	}
	return nil, fit(usualTokens, mostTokens*4, func(room int) fetchOut {
		p := d.render(room, "fetch "+d.text+"#")
		return fetchOut{ID: in.ID, Title: p.Path, Text: p.Text, URL: in.ID, Metadata: map[string]string{
			"from": strconv.Itoa(p.From), "to": strconv.Itoa(p.To), "total": strconv.Itoa(p.Total), "note": p.Note,
			"notice": notice}}
	}), nil
}

// document reads at most lines lines or items of an address, 0 for all. It starts at number from; 0 is the number in
// the address, or else the first.
func (s *server) document(ctx context.Context, path string, from, lines int) (d document) {
	if d.address, d.err = parse(path); d.err != nil {
		if len(path) <= maxAddress { // a longer one is not worth redacting
			d.text = cut(s.Clean(path), 100)
		}
		return d
	}
	if d.session != "" {
		d.err = s.readSession(ctx, &d)
	} else {
		d.err = s.readFile(ctx, &d)
	}
	if from <= 0 {
		from = d.line
	}
	for len(d.units) > 0 && d.units[0].n < from {
		d.units = d.units[1:]
	}
	if lines > 0 && len(d.units) > lines {
		d.units = d.units[:lines]
	}
	return d
}

// readFile reads a file, journal or history of a memory, or lists a directory. It marks lines of the client's project
// that are outdated in the working tree.
func (s *server) readFile(ctx context.Context, d *document) error {
	p, root, err := s.root(ctx)
	own := d.project == ""
	switch {
	case err != nil && (own || switchedOff(err)):
		return err
	case !own && d.project != memoir.UserProjectID && !s.AllProjects:
		return errOther
	case !own:
		root, p.ID = memory.At(s.Home, d.project), d.project
	}
	content, err := s.beside(p.ID, d.place)
	if content == nil && err == nil {
		content, err = root.Open(d.place)
	}
	if n, _ := root.Linked(); n == 0 && d.project == memoir.UserProjectID && memoir.CodeOf(err) == memoir.CodeNotFound {
		return memoir.ErrUserEmpty
	}
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(s.Clean(string(content)), "\n"), "\n")
	var marks map[int]string
	if own {
		marks = outdated(p, root, lines)
	}
	for i, line := range lines {
		if marks[i] != "" {
			line += " (" + marks[i] + ")"
		}
		d.units = append(d.units, unit{i + 1, line})
	}
	d.total = len(lines)
	return nil
}

// getFrom is how memory_get reads on, with a number after it.
const getFrom = "call memory_get with from "

// render returns the lines or items of a document that fit into room bytes. The first is cut if it does not fit. The
// note says how to read on: next, with a number after it.
func (d document) render(room int, next string) part {
	p := part{Path: d.address.text, Total: d.total}
	switch {
	case d.err != nil:
		p.Error = cut(d.err.Error(), 200)
		return p
	case len(d.units) == 0:
		p.Note = fmt.Sprintf("the last one is %d", d.total)
		return p
	}
	text, between, noun := d.about, "\n", "line"
	if d.session != "" {
		between, noun = "\n\n", "item"
	}
	p.From = d.units[0].n
	for i, u := range d.units {
		if i > 0 || text != "" {
			u.text = between + u.text
		}
		if len(text)+len(u.text) > room && i > 0 {
			break
		}
		if p.To, text = u.n, text+u.text; len(text) > room {
			text, p.Note = cut(text, room), fmt.Sprintf("%s %d was cut; ", noun, u.n)
		}
	}
	p.Text = frame(text)
	if last := d.units[len(d.units)-1].n; last > p.To {
		left := fmt.Sprintf("%s %d", noun, last)
		if last > p.To+1 {
			left = fmt.Sprintf("%ss %d to %d", noun, p.To+1, last)
		}
		p.Note += fmt.Sprintf("%s left out: %s%d", left, next, p.To+1)
	}
	return p
}
