package mockmodel

import (
	"encoding/json"
	"net/http"
	"strings"
)

// gemini is Google's generateContent and streamGenerateContent.
type gemini struct{}

func (gemini) decode(path string, body []byte) (Request, error) {
	var in struct {
		Contents []struct {
			Role  string `json:"role"`
			Parts []struct {
				Text         string `json:"text"`
				Thought      bool   `json:"thought"`
				FunctionCall *struct {
					Name string `json:"name"`
				} `json:"functionCall"`
				FunctionResponse json.RawMessage `json:"functionResponse"`
			} `json:"parts"`
		} `json:"contents"`
		Tools []struct {
			FunctionDeclarations []struct {
				Name                 string  `json:"name"`
				Parameters           *Schema `json:"parameters"`
				ParametersJSONSchema *Schema `json:"parametersJsonSchema"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	req := Request{Model: modelOf(path), Stream: strings.HasSuffix(path, ":streamGenerateContent")}
	for _, c := range in.Contents {
		out := Message{Role: role(c.Role)}
		if c.Role == "" {
			out.Role = RoleUser
		}
		var texts []string
		for _, p := range c.Parts {
			switch {
			case p.FunctionCall != nil:
				out.Calls = append(out.Calls, p.FunctionCall.Name)
			case p.FunctionResponse != nil:
				out.Role = RoleTool
			case p.Text != "" && !p.Thought:
				texts = append(texts, p.Text)
			}
		}
		out.Text = strings.Join(texts, "\n")
		req.add(out)
	}
	for _, t := range in.Tools {
		for _, f := range t.FunctionDeclarations {
			tool := Tool{Name: f.Name}
			if f.ParametersJSONSchema != nil {
				tool.Schema = *f.ParametersJSONSchema
			} else if f.Parameters != nil {
				tool.Schema = *f.Parameters
			}
			req.Tools = append(req.Tools, tool)
		}
	}
	return req, nil
}

// modelOf cuts the model out of …/models/NAME:method.
func modelOf(path string) string {
	_, name, _ := strings.Cut(path, "/models/")
	name, _, _ = strings.Cut(name, ":")
	return name
}

func (gemini) write(w http.ResponseWriter, req Request, reply Reply) {
	var parts []object
	if reply.Text != "" {
		parts = append(parts, object{"text": reply.Text})
	}
	for _, c := range reply.Calls {
		parts = append(parts, object{"functionCall": object{"id": c.ID, "name": c.Name, "args": c.Input}})
	}
	answer := object{
		"candidates":    []object{{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": parts}}},
		"usageMetadata": object{"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110},
		"modelVersion":  req.Model,
		"responseId":    messageID(req),
	}
	if !req.Stream {
		w.Header().Set("Content-Type", "application/json")
		writeJSON(w, answer)
		return
	}
	stream(w).send("", answer)
}
