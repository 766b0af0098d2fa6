package ask

import (
	"context"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Forms of addresses. sessionScheme is followed by a session's key or a prefix of its id.
const (
	memoryScheme  = "memory://"
	rootAddress   = memoryScheme + "root"
	userAddress   = memoryScheme + "user"
	sessionScheme = "session:"
)

// maxAddress bounds an address, in bytes.
const maxAddress = 500

// address is a place in a project's memory, or a session.
type address struct {
	text    string // as shown to the client
	project string // id of another project; empty: the client's
	place   string // argument of memory.Root.Open; empty: a session
	session string
	line    int // number of a line or an item; 0: none
}

var fragment = lazyregexp.New(`#L?([0-9]{1,7})$`)

// parse parses an address: memory://root/PATH, memory://user/PATH, memory://PROJECT/PATH, session:KEY, or a path in
// the memory. A fragment is the number of a line or an item. memory.Root.Open refuses paths outside the memory.
func parse(text string) (address, error) {
	if text == "" || len(text) > maxAddress {
		return address{}, usage("for example memory://root/MEMORY.md or session:KEY",
			"an address must have 1 to %d bytes, not %d", maxAddress, len(text))
	}
	a := address{text: text}
	if found := fragment.FindStringSubmatch(text); found != nil {
		a.line, _ = strconv.Atoi(found[1]) // cannot fail for 1 to 7 digits
		a.text = strings.TrimSuffix(text, found[0])
	}
	if session, ok := strings.CutPrefix(a.text, sessionScheme); ok && session != "" {
		a.session = session
		return a, nil
	}
	a.place = a.text
	rest, ok := strings.CutPrefix(a.text, memoryScheme)
	if host, path, _ := strings.Cut(rest, "/"); ok && host != "root" {
		a.project, a.place = host, strings.TrimSuffix(rootAddress+"/"+path, "/")
		if host == "user" {
			a.project = memoir.UserProjectID
		}
	}
	return a, nil
}

var errOther = usage("the setting mcp.allProjects allows it", "the memory of other projects is not available here")

const markdown = "text/markdown"

// resources lists the summary, MEMORY.md and the skills that exist: a run may publish others.
func (s *server) resources(ctx context.Context) []*mcp.Resource {
	out := []*mcp.Resource{}
	_, root, err := s.root(ctx)
	if err != nil {
		return out
	}
	uris := []string{rootAddress, rootAddress + "/MEMORY.md"}
	skills, _ := root.Open("skills") // may not exist
	for line := range strings.Lines(string(skills)) {
		if name := strings.TrimSuffix(line, "/\n"); memoir.LegalSkill(name) {
			uris = append(uris, rootAddress+"/skills/"+name+"/SKILL.md")
		}
	}
	for _, uri := range uris {
		if _, err := root.Open(uri); err == nil {
			out = append(out, &mcp.Resource{URI: uri, Name: strings.TrimPrefix(uri, memoryScheme), MIMEType: markdown})
		}
	}
	return out
}

// readResource returns a resource, framed and within the largest budget.
func (s *server) readResource(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	d := s.document(ctx, req.Params.URI, 0, 0)
	switch memoir.CodeOf(d.err) {
	case "":
	case memoir.CodeNotFound, memoir.CodeUsage:
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	default:
		return nil, d.err
	}
	p := s.render(d, mostTokens*4, getFrom)
	text := strings.TrimSuffix(frameStart+p.Text+frameEnd+"\n"+p.Note, "\n")
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
		{URI: req.Params.URI, MIMEType: markdown, Text: text}}}, nil
}
