package model

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Settings of ours that servers refuse.
const (
	settingOutput      = "maxOutputTokens"
	settingTemperature = "temperature"
	settingEffort      = "effort"
)

// blamed are the names by which servers refuse a setting of ours.
var blamed = sync.OnceValue(func() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		settingOutput:      capNames(),
		settingTemperature: regexp.MustCompile(`(?i)\btemperature\b`),
		settingEffort:      regexp.MustCompile(`(?i)\b(reasoning(_effort|\.effort)?|output_config(\.effort)?|effort|budget_tokens|thinking)\b`),
	}
})

// ofForm is how servers speak of a call that they do not take whatever it asks: a
// parameter that they do not have, or not with such a value.
var ofForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(unknown|unrecogni[sz]ed|unsupported|unexpected|invalid|extra|missing required) (request )?(parameter|argument|field|input|key|value|name)s?\b|` +
		`extra inputs are not permitted|extra fields not permitted|field required|not supported (with|by|for) this model|does not support|` +
		`(parameter|value|option)s? (is|are) not supported|invalid_value|unsupported_(parameter|value)|cannot find field`)
})

// ofText is how servers speak of what a call asks.
var ofText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(messages|input|contents|prompt)\b`)
})

// detail adds what a server's words say of the length of a call, and of what is wrong
// with its form. A length in fields of its own goes before one in words.
func (e *Error) detail(param, words string, told length) {
	words = words[:min(len(words), 16*maxMessage)]
	switch e.Class {
	case ClassTooLong:
		if told.limit == 0 {
			told = lengthIn(words)
		}
		e.Limit, e.Asked, e.Output = told.limit, told.asked, told.output
	case ClassInvalid:
		if ofText().MatchString(param) || param == "" && ofText().MatchString(words) {
			return
		}
		for _, said := range []string{param, words} {
			for _, setting := range []string{settingOutput, settingTemperature, settingEffort} {
				if e.Setting == "" && blamed()[setting].MatchString(said) {
					e.Setting = setting
				}
			}
		}
		e.Always = e.Setting != "" || param != "" || ofForm().MatchString(words)
	}
}

// tooLongHint says what to do about a call that is too long.
func (e *Error) tooLongHint() string {
	switch {
	case e.Limit > 0 && e.Output > e.Limit/2:
		return "lower " + e.setting(settingOutput) + ": with the question it is more than the window of " + strconv.Itoa(e.Limit) + " tokens"
	case e.Limit > 0:
		return "set " + e.setting("window") + " to " + strconv.Itoa(e.Limit) + ", or run the model with a larger one"
	}
	return "set " + e.setting("window") + " to what the model takes, or lower memories.phase1InputTokenLimit"
}

// invalidHint says what to do about a call that the server refuses for its form.
func (e *Error) invalidHint() string {
	switch {
	case e.Setting == settingOutput:
		return "set " + e.setting(settingOutput) + " to what the model has"
	case e.Setting != "":
		return "remove " + e.setting(e.Setting) + ", or set it to what the model takes"
	case e.Always:
		return "check the provider's api and baseURL: the server does not take calls of this form"
	}
	return "check what the server says of the call; the provider's api may be another"
}

// setting names a setting of the model that failed.
func (e *Error) setting(name string) string {
	provider, _, _ := strings.Cut(e.Model, "/")
	return name + " of " + `models."` + e.Model + `" or providers.` + provider
}
