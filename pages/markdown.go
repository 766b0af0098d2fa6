package pages

import (
	"bytes"
	"html/template"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"memoir"
	"memoir/internal/lazyregexp"
)

// markdown knows no HTML, so that a tag is text like any other, and no definitions of links, which would not be seen.
// Columns of tables are aligned without styles, which the policy forbids.
var markdown = sync.OnceValue(func() goldmark.Markdown {
	without := func(all []util.PrioritizedValue, one any) []util.PrioritizedValue {
		return slices.DeleteFunc(all, func(v util.PrioritizedValue) bool { return v.Value == one })
	}
	return goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(without(parser.DefaultBlockParsers(), parser.NewHTMLBlockParser())...),
			parser.WithInlineParsers(without(parser.DefaultInlineParsers(), parser.NewRawHTMLParser())...))),
		goldmark.WithExtensions(extension.Strikethrough,
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
			extension.NewLinkify(extension.WithLinkifyAllowedProtocols([]string{"http:", "https:"}))))
})

// Prose is a Markdown text to render.
type Prose struct {
	Text string
	// Memory is the path of the pages of the memory that the text is a file of, and File the file's name there. Without
	// them, relative links lead nowhere.
	Memory, File string
	starts       []int           // of lines
	marks        []template.HTML // that follow them
}

// Add adds a line to the text, and a mark that follows it, which may be empty.
func (d *Prose) Add(line string, mark template.HTML) {
	d.starts, d.marks = append(d.starts, len(d.Text)), append(d.marks, mark)
	d.Text += line + "\n"
}

// The parser takes minutes for some texts: blocks in a hundred others, and hundreds of marks of emphasis together.
var (
	nested = lazyregexp.New(`(?m)^(?:[\t >]|[-+*][\t ]|\d{1,9}[.)][\t ]){100}`)
	item   = lazyregexp.New(`^ {0,3}[-+*] +\S`)
)

func (d Prose) heavy() bool {
	marks := 0 // of a paragraph
	for line := range strings.Lines(d.Text) {
		if strings.TrimSpace(line) == "" || item.MatchString(line) {
			marks = 0
		}
		if marks += strings.Count(line, "*") + strings.Count(line, "_") + strings.Count(line, "~"); marks > 500 {
			return true
		}
	}
	return nested.MatchString(d.Text)
}

// plain shows each line as it is.
func (d Prose) plain() template.HTML {
	var out strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(d.Text, "\n"), "\n") {
		out.WriteString("<p>" + template.HTMLEscapeString(line) + "</p>")
		if i < len(d.marks) {
			out.WriteString(string(d.marks[i]))
		}
	}
	return template.HTML(out.String())
}

// Render returns the text as HTML. It fails only if the renderer does.
func (d Prose) Render() (template.HTML, error) {
	if d.heavy() {
		return d.plain(), nil
	}
	source := []byte(d.Text)
	root := markdown().Parser().Parse(text.NewReader(source))
	var nodes []ast.Node
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			nodes = append(nodes, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range nodes {
		switch n := n.(type) {
		case *ast.Heading:
			n.Level = min(n.Level+2, 6) // below those of the page
		case *ast.Image:
			d.link(n, n.Destination, "")
		case *ast.Link:
			d.link(n, n.Destination, d.address(n.Destination))
		case *ast.AutoLink:
			var by ast.Node = verbatim(template.HTMLEscapeString(string(n.Label(source))))
			if to := (Prose{}).address(n.URL(source)); to != "" {
				link := ast.NewLink()
				link.AppendChild(link, by)
				by = lead(link, to)
			}
			n.Parent().ReplaceChild(n.Parent(), n, by)
		}
		if n.Type() == ast.TypeBlock && len(d.marks) > 0 {
			d.mark(n)
		}
	}
	var out bytes.Buffer
	err := markdown().Renderer().Render(&out, source, root)
	return template.HTML(out.String()), err // the renderer escapes all but marks, which templates made
}

// verbatim returns a node for HTML.
func verbatim(html string) *ast.String {
	n := ast.NewString([]byte(html))
	n.SetCode(true)
	return n
}

// link leads a link where it may lead, or puts its words and its address in its place, as for images, which pages do
// not load.
func (d Prose) link(n ast.Node, address []byte, to string) {
	if link, ok := n.(*ast.Link); ok && to != "" {
		lead(link, to)
		return
	}
	parent := n.Parent()
	for c := n.FirstChild(); c != nil; c = n.FirstChild() {
		parent.InsertBefore(parent, n, c)
	}
	parent.ReplaceChild(parent, n, verbatim(" ("+template.HTMLEscapeString(string(address))+")"))
}

func lead(link *ast.Link, to string) *ast.Link {
	link.Destination, link.Title = []byte(to), nil
	link.SetAttributeString("rel", []byte("noreferrer"))
	return link
}

// address returns where a link leads: to http or https, or to a file of the memory; empty: nowhere.
func (d Prose) address(given []byte) string {
	u, err := url.Parse(string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(given)))))
	switch {
	case err != nil:
		return ""
	case (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil:
		return u.String()
	case u.Scheme == "" && u.Host == "" && u.Path != "" && u.RawQuery == "" && d.Memory != "":
		if file := path.Join(path.Dir(d.File), u.Path); !path.IsAbs(u.Path) && filepath.IsLocal(file) {
			return d.Memory + "?file=" + url.QueryEscape(file)
		}
	}
	return ""
}

// mark puts the marks of a block's lines behind it, or into it if it is a cell.
func (d Prose) mark(n ast.Node) {
	for i := n.Lines().Len() - 1; i >= 0; i-- {
		at, exact := slices.BinarySearch(d.starts, n.Lines().At(i).Start)
		if !exact {
			at--
		}
		mark := verbatim(string(d.marks[at]))
		if d.marks[at] = ""; n.Kind() == east.KindTableCell {
			n.AppendChild(n, mark)
		} else {
			n.Parent().InsertAfter(n.Parent(), n, mark)
		}
	}
}

// Uncited returns a line of a memory without its citation and the mark of what was said once, in whose place its mark
// stands.
func Uncited(line string) string {
	words := memoir.LineText(line)
	before, _, ok := strings.Cut(line, words)
	if !ok || words == "" {
		return line
	}
	return before + words
}
