package model

import "memoir"

// Open returns the model of a spec. It calls nobody. Options that name no API that
// is known are an error with memoir.CodeConfig.
func Open(spec Spec, o Options) (Model, error) {
	switch o.API {
	case APIResponses, APIChat:
		return newOpenAI(spec, o)
	case APIAnthropic:
		return openAnthropic(spec, o)
	case APIExec:
		return newProgram(spec, o)
	}
	return nil, memoir.Errorf(memoir.CodeConfig, "use openai-responses, openai-chat, anthropic or exec", "provider %s has the API %q, which is not known", spec.Provider, o.API)
}
