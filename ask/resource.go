package ask

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"memoir"
)

const markdown = "text/markdown"

// skillTemplate names the pages of skills.
const skillTemplate = rootAddress + "/skills/{name}/SKILL.md"

// addResources adds the summary, MEMORY.md and the pages of skills. The list is made when it is asked for:
// each run may publish others.
func (s *server) addResources(m *mcp.Server) {
	for _, r := range standing {
		m.AddResource(r, s.readResource)
	}
	m.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: skillTemplate, Name: "skill", MIMEType: markdown, Description: "a skill of this project",
	}, s.readResource)
	m.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method != "resources/list" {
				return next(ctx, method, req)
			}
			return &mcp.ListResourcesResult{Resources: s.resources(ctx)}, nil
		}
	})
}

// standing are the resources that every memory has.
var standing = []*mcp.Resource{
	{URI: rootAddress, Name: "summary", MIMEType: markdown, Description: "what earlier sessions taught, in short"},
	{URI: rootAddress + "/MEMORY.md", Name: "MEMORY.md", MIMEType: markdown, Description: "the whole memory"},
}

// resources lists what there is; nothing without a memory.
func (s *server) resources(ctx context.Context) []*mcp.Resource {
	out := []*mcp.Resource{}
	_, root, err := s.root(ctx)
	if err != nil {
		return out
	}
	for _, r := range standing {
		if _, err := root.Open(r.URI); err == nil {
			out = append(out, r)
		}
	}
	listing, err := root.Open("skills")
	if err != nil {
		return out // it has none
	}
	for line := range strings.Lines(string(listing)) {
		name := strings.TrimSuffix(strings.TrimSpace(line), "/")
		if memoir.LegalSkill(name) {
			out = append(out, &mcp.Resource{URI: strings.Replace(skillTemplate, "{name}", name, 1), Name: name,
				MIMEType: markdown, Description: "a skill of this project"})
		}
	}
	return out
}

// readResource reads a resource, framed and within the largest budget.
func (s *server) readResource(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	_, root, err := s.root(ctx)
	if err != nil {
		return nil, err
	}
	content, err := root.Open(req.Params.URI)
	switch memoir.CodeOf(err) {
	case "":
	case memoir.CodeNotFound, memoir.CodeUsage:
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	default:
		return nil, err
	}
	whole := s.clean(string(content))
	text := cut(whole, mostTokens*4-envelope)
	if len(text) < len(whole) {
		text += "\n(cut here; memory_get reads the rest)"
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
		{URI: req.Params.URI, MIMEType: markdown, Text: frame(text)}}}, nil
}
