package ask

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxPaths is how many addresses a call may name.
const maxPaths = 10

type memoryGetIn struct {
	Path      string   `json:"path,omitempty"`
	Paths     []string `json:"paths,omitempty" jsonschema:"several, each with #N to begin there"`
	From      int      `json:"from,omitempty" jsonschema:"first line, or item of a session"`
	Lines     int      `json:"lines,omitempty" jsonschema:"how many of them"`
	MaxTokens int      `json:"maxTokens,omitempty" jsonschema:"as in memory_search"`
}

// memoryGetOut has the text of the path, or, of several paths, results.
type memoryGetOut struct {
	part
	Results []part `json:"results,omitempty"`
	Note    string `json:"note,omitempty" jsonschema:"what was left out"`
	Notice  string `json:"notice"`
}

// part is what is told of one address.
type part struct {
	Path  string `json:"path,omitempty"`
	Text  string `json:"text,omitempty"`
	From  int    `json:"from,omitempty"`
	To    int    `json:"to,omitempty"`
	Total int    `json:"total,omitempty" jsonschema:"lines, or items"`
	Error string `json:"error,omitempty"`
}

// document is what an address leads to: the lines of a file, or the items of a session.
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
		d := s.document(ctx, path, in.From, in.Lines)
		if d.err != nil && len(paths) == 1 {
			return nil, memoryGetOut{}, d.err
		}
		documents = append(documents, d)
	}
	out, err := fit(budget(in.MaxTokens), func(room int) (memoryGetOut, error) {
		out := memoryGetOut{Notice: notice}
		var notes []string
		if len(documents) == 1 {
			out.part, notes = documents[0].tell(room)
		} else {
			for i, d := range documents {
				if room < 200*(i+1) { // not even the addresses fit
					notes = []string{leftOut(len(documents)-i, "path", "name fewer")}
					break
				}
				p, more := d.tell(room / len(documents))
				out.Results, notes = append(out.Results, p), append(notes, more...)
			}
		}
		out.Note = note(notes)
		return out, nil
	})
	return nil, out, err
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

// fetch is the tool fetch. It begins at the line or item that an id names.
func (s *server) fetch(ctx context.Context, _ *mcp.CallToolRequest, in fetchIn) (*mcp.CallToolResult, fetchOut, error) {
	d := s.document(ctx, in.ID, 0, 0)
	if d.err != nil {
		return nil, fetchOut{}, d.err
	}
	out, err := fit(usualTokens, func(room int) (fetchOut, error) {
		p, notes := d.tell(room)
		return fetchOut{ID: in.ID, Title: p.Path, Text: p.Text, URL: in.ID, Metadata: map[string]string{
			"from": strconv.Itoa(p.From), "to": strconv.Itoa(p.To), "total": strconv.Itoa(p.Total),
			"note": note(notes), "notice": notice}}, nil
	})
	return nil, out, err
}

// document reads what an address leads to, from a line or item on; 0 is the beginning, or the line that the
// address names. Lines 0 is all.
func (s *server) document(ctx context.Context, path string, from, lines int) (d document) {
	if d.address, d.err = parse(path); d.err != nil {
		d.text, _ = cut(s.clean(path), 100)
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

// readFile reads a file of a memory, or lists a directory.
func (s *server) readFile(ctx context.Context, d *document) error {
	content, err := s.open(ctx, d.address)
	if err != nil {
		return err
	}
	text := strings.TrimSuffix(s.clean(string(content)), "\n")
	for i, line := range strings.Split(text, "\n") {
		d.units = append(d.units, unit{i + 1, line})
	}
	d.total = len(d.units)
	return nil
}

// tell is as much of a document as fits into room bytes, and what there is to say about the rest.
func (d document) tell(room int) (p part, notes []string) {
	p = part{Path: d.address.text, Total: d.total}
	if d.err != nil {
		p.Error, _ = cut(d.err.Error(), 200)
		return p, nil
	}
	if len(d.units) == 0 {
		return p, []string{fmt.Sprintf("%s has no more than %d", p.Path, d.total)}
	}
	between := "\n"
	var text strings.Builder
	if d.session != "" {
		between = "\n\n"
		text.WriteString(d.about)
	}
	p.From = d.units[0].n
	for _, u := range d.units {
		if left := room - text.Len() - len(between); len(u.text) > left {
			if p.To == 0 { // a part of the first is better than nothing
				kept, _ := cut(u.text, max(left, 0))
				p.To = u.n
				text.WriteString(kept)
				notes = append(notes, fmt.Sprintf("%d was cut", u.n))
			}
			break
		}
		if p.To = u.n; text.Len() > 0 {
			text.WriteString(between)
		}
		text.WriteString(u.text)
	}
	p.Text = frame(text.String())
	if last := d.units[len(d.units)-1].n; last > p.To {
		notes = append(notes, fmt.Sprintf("%d to %d left out: call with from %d", p.To+1, last, p.To+1))
	}
	return p, notes
}
