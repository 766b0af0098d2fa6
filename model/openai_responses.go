package model

import (
	"context"
	"strings"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"memoir"
)

// responsesAPI is Responses, OpenAI's newer API.
type responsesAPI struct{ service responses.ResponseService }

func newResponsesAPI(opts []option.RequestOption) *responsesAPI {
	return &responsesAPI{service: responses.NewResponseService(opts...)}
}

func (*responsesAPI) ways() [features]ways {
	return [features]ways{
		featFormat:      {formatWords, formatNames},
		featCap:         {1, []string{"max_output_tokens", "max_completion_tokens", "max_tokens"}},
		featTemperature: {1, temperatureNames},
		featStore:       {1, storeNames},
		featEffort:      {1, []string{"reasoning.effort", "reasoning_effort", "reasoning", "thinking", "think"}},
		featStream:      {1, streamNames},
	}
}

func (p *responsesAPI) post(ctx context.Context, a asked, opts ...option.RequestOption) error {
	say := func(role responses.EasyInputMessageRole, text string) responses.ResponseInputItemUnionParam {
		return responses.ResponseInputItemParamOfMessage(text, role)
	}
	items := responses.ResponseInputParam{say(responses.EasyInputMessageRoleUser, a.Input)}
	for _, e := range a.Earlier {
		answer := e.Answer
		if strings.TrimSpace(answer) == "" {
			answer = noWords
		}
		items = append(items, say(responses.EasyInputMessageRoleAssistant, answer), say(responses.EasyInputMessageRoleUser, e.Objection))
	}
	q := responses.ResponseNewParams{
		Model:     a.model,
		Input:     responses.ResponseNewParamsInputUnion{OfInputItemList: items},
		Reasoning: shared.ReasoningParam{Effort: shared.ReasoningEffort(a.effort)},
	}
	if a.System != "" {
		q.Instructions = param.NewOpt(a.System)
	}
	if a.unstored {
		q.Store = param.NewOpt(false)
	}
	if a.Schema != nil {
		switch a.format {
		case formatSchema:
			// The SDK has a map for the schema, which would lose the order of its
			// fields: models answer in that order.
			q.Text.Format.OfJSONSchema = &responses.ResponseFormatTextJSONSchemaConfigParam{Name: a.SchemaName, Strict: param.NewOpt(true)}
			opts = append(opts, option.WithJSONSet("text.format.schema", a.Schema))
		case formatObject:
			q.Text.Format.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
		}
	}
	if a.max > 0 {
		q.MaxOutputTokens = param.NewOpt(int64(a.max))
	}
	if a.temperature != nil {
		q.Temperature = param.NewOpt(*a.temperature)
	}
	_, err := p.service.New(ctx, q, opts...)
	return err
}

func (*responsesAPI) whole(body []byte) (heard, error) {
	var said responses.Response
	if err := said.UnmarshalJSON(body); err != nil || !said.JSON.Output.Valid() && !said.JSON.Status.Valid() {
		if r := refusalIn(body); r != nil {
			return heard{}, r
		}
		return heard{}, &unreadable{"it has no output"}
	}
	var h heard
	return h, h.take(said)
}

func (*responsesAPI) event(data []byte, h *heard) error {
	var e responses.ResponseStreamEventUnion
	if err := e.UnmarshalJSON(data); err != nil {
		return &unreadable{"an event of the stream is not of the API: " + words(data)}
	}
	switch e.Type {
	case "response.output_text.delta":
		h.text += e.Delta
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		return h.take(e.Response)
	default:
		if r := refusalIn(data); r != nil {
			return r
		}
	}
	return nil
}

// take takes in a finished response.
func (h *heard) take(said responses.Response) error {
	h.begun, h.ended = true, true
	if said.Usage.InputTokens+said.Usage.OutputTokens > 0 {
		h.usage = &memoir.Usage{
			InputTokens:  said.Usage.InputTokens,
			CachedTokens: min(said.Usage.InputTokensDetails.CachedTokens, said.Usage.InputTokens),
			OutputTokens: said.Usage.OutputTokens,
		}
	}
	var text, refusals strings.Builder
	for _, item := range said.Output {
		if item.Type != "message" { // not what it thought
			continue
		}
		for _, part := range item.Content {
			text.WriteString(part.Text)
			refusals.WriteString(part.Refusal)
		}
	}
	switch said.Status {
	case responses.ResponseStatusFailed, responses.ResponseStatusCancelled:
		if r := refusalIn([]byte(said.RawJSON())); r != nil {
			return r
		}
		return &refusal{message: "the response is " + string(said.Status)}
	case responses.ResponseStatusIncomplete:
		h.cut = said.IncompleteDetails.Reason != "content_filter"
		h.refused = !h.cut
	case responses.ResponseStatusQueued, responses.ResponseStatusInProgress:
		return &unreadable{"the response is " + string(said.Status)}
	}
	// A server may leave out of the last event what it streamed before.
	if text.Len() > 0 || h.text == "" {
		h.text = text.String()
	}
	if refusals.Len() > 0 {
		h.refused = true
		if h.text == "" {
			h.text = refusals.String()
		}
	}
	h.text = withoutThoughts(h.text)
	return nil
}
