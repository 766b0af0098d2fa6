package ask

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"memoir"
)

const markdown = "text/markdown"

// addResources adds the summary, MEMORY.md and skills. Each request lists them anew, since a run may publish others.
func (s *server) addResources(m *mcp.Server) {
	m.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: rootAddress + "{+path}", Name: "memory", MIMEType: markdown},
		s.readResource)
	m.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method != "resources/list" {
				return next(ctx, method, req)
			}
			return &mcp.ListResourcesResult{Resources: s.resources(ctx)}, nil
		}
	})
}

// resources lists the existing resources; none without a memory.
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
	p := d.render(mostTokens*4-envelope, getFrom)
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
		{URI: req.Params.URI, MIMEType: markdown, Text: strings.TrimSuffix(p.Text+"\n"+p.Note, "\n")}}}, nil
}
