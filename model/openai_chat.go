package model

import (
	"context"
	"net/url"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"memoir"
)

// noWords stands for an empty answer in a conversation: servers refuse an empty turn,
// and some models' templates two turns of the same role in a row.
const noWords = "(no answer)"

// chatAPI is Chat Completions, the API that every server has.
type chatAPI struct {
	service openai.ChatCompletionService
	caps    []string // the names of the cap on the output, in the order in which they are tried
}

// newChatAPI names the cap first as the server most likely does. OpenAI's newer models
// refuse max_tokens; others, Ollama among them, ignore what they do not know, and
// then nothing would bound the answer.
func newChatAPI(base string, opts []option.RequestOption) *chatAPI {
	c := &chatAPI{service: openai.NewChatCompletionService(opts...), caps: []string{"max_tokens", "max_completion_tokens"}}
	if u, err := url.Parse(base); err == nil && (strings.HasSuffix(u.Hostname(), ".openai.com") || strings.HasSuffix(u.Hostname(), ".azure.com")) {
		c.caps[0], c.caps[1] = c.caps[1], c.caps[0]
	}
	return c
}

func (c *chatAPI) ways() [features]ways {
	return [features]ways{
		featFormat:      {formatWords, formatNames},
		featCap:         {len(c.caps), append([]string{"max_output_tokens", "maxOutputTokens"}, c.caps...)},
		featTemperature: {1, temperatureNames},
		featStreamUsage: {1, streamUsageNames},
		featEffort:      {1, []string{"reasoning_effort", "reasoning", "thinking", "think"}},
		featStream:      {1, streamNames},
	}
}

func (c *chatAPI) post(ctx context.Context, a asked, opts ...option.RequestOption) error {
	p := openai.ChatCompletionNewParams{Model: a.model, ReasoningEffort: shared.ReasoningEffort(a.effort)}
	if a.System != "" {
		p.Messages = append(p.Messages, openai.SystemMessage(a.System))
	}
	p.Messages = append(p.Messages, openai.UserMessage(a.Input))
	for _, e := range a.Earlier {
		answer := e.Answer
		if strings.TrimSpace(answer) == "" {
			answer = noWords
		}
		p.Messages = append(p.Messages, openai.AssistantMessage(answer), openai.UserMessage(e.Objection))
	}
	if a.Schema != nil {
		switch a.format {
		case formatSchema:
			p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
				JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: a.SchemaName, Strict: param.NewOpt(true), Schema: a.Schema},
			}
		case formatObject:
			p.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
		}
	}
	if a.max > 0 {
		opts = append(opts, option.WithJSONSet(c.caps[a.maxBy], a.max))
	}
	if a.temperature != nil {
		p.Temperature = param.NewOpt(*a.temperature)
	}
	if a.streamUsage {
		p.StreamOptions.IncludeUsage = param.NewOpt(true)
	}
	_, err := c.service.New(ctx, p, opts...)
	return err
}

func (c *chatAPI) whole(body []byte) (heard, error) {
	if r := refusalIn(body); r != nil {
		return heard{}, r
	}
	var said openai.ChatCompletion
	if err := said.UnmarshalJSON(body); err != nil || len(said.Choices) == 0 {
		return heard{}, &unreadable{"it has no choices"}
	}
	h := heard{begun: true, ended: true}
	if said.Usage.PromptTokens+said.Usage.CompletionTokens > 0 {
		h.usage = chatUsage(said.Usage)
	}
	choice := said.Choices[0]
	// A router tells of a provider that failed half-way inside the choice.
	if r := refusalIn([]byte(choice.RawJSON())); r != nil {
		return h, r
	}
	h.text, h.refused = choice.Message.Content, choice.Message.Refusal != ""
	if h.refused && h.text == "" {
		h.text = choice.Message.Refusal
	}
	h.finish(choice.FinishReason)
	h.text = withoutThoughts(h.text)
	return h, nil
}

func (c *chatAPI) event(data []byte, h *heard) error {
	if r := refusalIn(data); r != nil {
		return r
	}
	var chunk openai.ChatCompletionChunk
	if err := chunk.UnmarshalJSON(data); err != nil {
		return &unreadable{"an event of the stream is not of the API: " + words(data)}
	}
	if chunk.Usage.PromptTokens+chunk.Usage.CompletionTokens > 0 {
		h.usage = chatUsage(chunk.Usage)
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue
		}
		if r := refusalIn([]byte(choice.RawJSON())); r != nil {
			return r
		}
		h.text += choice.Delta.Content + choice.Delta.Refusal
		h.refused = h.refused || choice.Delta.Refusal != ""
		if choice.FinishReason != "" {
			h.finish(choice.FinishReason)
			h.text = withoutThoughts(h.text)
		}
	}
	return nil
}

// finish takes in why an answer ended.
func (h *heard) finish(reason string) {
	h.ended = true
	switch reason {
	case "length":
		h.cut = true
	case "content_filter":
		h.refused = true
	}
}

// chatUsage reads tokens. The output includes what the model thought.
func chatUsage(u openai.CompletionUsage) *memoir.Usage {
	return &memoir.Usage{
		InputTokens:  u.PromptTokens,
		CachedTokens: min(u.PromptTokensDetails.CachedTokens, u.PromptTokens),
		OutputTokens: u.CompletionTokens,
	}
}

// withoutThoughts takes off what local servers that know no reasoning leave before an
// answer.
func withoutThoughts(text string) string {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "<think>")
	if !ok {
		return text
	}
	if _, answer, ok := strings.Cut(rest, "</think>"); ok {
		return strings.TrimSpace(answer)
	}
	return text
}
