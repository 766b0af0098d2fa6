package model

import (
	"cmp"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
)

// params puts a request in the API's words. A schema becomes the input of a tool
// that the model must call if force is set, and else may. The system part comes
// first and never varies for a kind of call, so it is what the server caches.
func (m *anthropicModel) params(q Request, force bool) anthropic.MessageNewParams {
	p := anthropic.MessageNewParams{
		Model:     m.spec.Model,
		MaxTokens: int64(m.limits.cap(q, m.options, anthropicOutput)),
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(q.Input))},
	}
	if q.System != "" {
		p.System = []anthropic.TextBlockParam{{Text: q.System, CacheControl: anthropic.NewCacheControlEphemeralParam()}}
	}
	for _, e := range q.Earlier {
		// The API takes no empty text.
		p.Messages = append(p.Messages,
			anthropic.NewAssistantMessage(anthropic.NewTextBlock(cmp.Or(strings.TrimSpace(e.Answer), "(nothing)"))),
			anthropic.NewUserMessage(anthropic.NewTextBlock(e.Objection)))
	}
	if m.options.Temperature != nil {
		p.Temperature = anthropic.Float(*m.options.Temperature)
	}
	m.think(&p, q.Schema == nil)
	if q.Schema == nil {
		return p
	}
	name := cmp.Or(q.SchemaName, "answer")
	p.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
		Name:        name,
		Description: anthropic.String("Takes the answer. Call it once, with the whole answer, instead of writing it."),
		InputSchema: param.Override[anthropic.ToolInputSchemaParam](q.Schema),
	}}}
	if force {
		p.ToolChoice = anthropic.ToolChoiceUnionParam{OfTool: &anthropic.ToolChoiceToolParam{
			Name: name, DisableParallelToolUse: anthropic.Bool(true),
		}}
	} else {
		p.ToolChoice = anthropic.ToolChoiceUnionParam{OfAuto: &anthropic.ToolChoiceAutoParam{
			DisableParallelToolUse: anthropic.Bool(true),
		}}
	}
	return p
}

// refusesForce reports whether a request failed because it forced a tool.
func refusesForce(e *Error, p anthropic.MessageNewParams) bool {
	return p.ToolChoice.OfTool != nil && e.Class == ClassInvalid && strings.Contains(e.Message, "tool_choice")
}

// think sets how much a model thinks before it writes. A budget is refused together
// with a forced tool, so it is for free text alone; an effort is not.
func (m *anthropicModel) think(p *anthropic.MessageNewParams, free bool) {
	if !thinksByBudget(m.spec.Model) {
		p.OutputConfig.Effort = outputEffort(m.options.Effort)
		return
	}
	if !free {
		return
	}
	// The budget is part of the cap on the output: at most half of it is thought.
	const least = 1024
	budget := min(thinkingBudgets[m.options.Effort], p.MaxTokens/2)
	if budget < least {
		return
	}
	p.Thinking = anthropic.ThinkingConfigParamOfEnabled(budget)
	p.Temperature = param.Opt[float64]{} // refused together with a budget
}

// outputEffort is the API's word for an effort. It knows none below low.
func outputEffort(effort string) anthropic.OutputConfigEffort {
	switch effort {
	case "none", "minimal":
		return anthropic.OutputConfigEffortLow
	}
	return anthropic.OutputConfigEffort(effort)
}

// thinkingBudgets are the tokens that older models may think for an effort.
var thinkingBudgets = map[string]int64{"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384, "xhigh": 32768}

// thinksByBudget reports whether a model knows no output effort and is given tokens
// to think instead: those before Claude Opus 4.5, and the smaller ones before 4.6.
func thinksByBudget(name string) bool {
	for _, prefix := range []string{
		"claude-2", "claude-3", "claude-sonnet-4-0", "claude-sonnet-4-2", "claude-sonnet-4-5",
		"claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-2", "claude-haiku-4",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
