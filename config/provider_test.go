package config

import (
	"strings"
	"testing"
)

func TestProviderSettings(t *testing.T) {
	t.Parallel()
	const lists = "set one of api, baseURL, keyEnv, keyCommand, command, preset, effort"
	for _, test := range []struct {
		name, yaml string
		want       string // of "message; hint"; empty: no error
	}{
		{"everything of a server", "providers:\n  x: {api: openai-chat, baseURL: 'http://h/v1', keyEnv: K, keyCommand: [pass, x], effort: low, temperature: 0,\n" +
			"    maxOutputTokens: 100, timeoutSeconds: 5, window: 8000, inputPrice: 0.5, cachedPrice: 0, outputPrice: 2}\n", ""},
		{"a command", "providers: {x: {api: exec, command: [llm, -m, '4']}}\n", ""},
		{"a command as a text", "providers: {x: {api: exec, command: llm -m 4}}\n", ""},
		{"a preset with a program of its own", "providers: {x: {api: exec, command: [/opt/claude, --settings, ''], preset: claude}}\n", ""},
		{"the provider exec", "providers: {exec: {timeoutSeconds: 900}}\n", ""},
		{"none", "providers: {x: }\n", ""},

		{"an unknown API", "providers:\n  x:\n    api: grpc\n", "config.yml:3: providers.x.api must be one of openai-chat, anthropic, exec; API of the provider"},
		{"an unknown field", "providers: {x: {url: http://h}}\n", "config.yml:1: providers.x.url is an unknown setting; a key is never in a file: name a variable with keyEnv; " + lists},
		{"a key", "providers: {x: {apiKey: abc}}\n", "providers.x.apiKey is an unknown setting; a key is never in a file: name a variable with keyEnv"},
		{"an effort of its own", "providers: {x: {effort: max}}\n", "providers.x.effort must be one of none, minimal"},
		{"too warm", "providers:\n  x:\n    temperature: 2.1\n", "config.yml:3: providers.x.temperature must be a number from 0 to 2"},
		{"a text for a number", "providers: {x: {temperature: warm}}\n", "providers.x.temperature must be a number from 0 to 2; from 0 to 2; unset"},
		{"no number", "providers: {x: {temperature: .nan}}\n", "providers.x.temperature must be a number from 0 to 2"},
		{"a number without end", "providers: {x: {inputPrice: .inf}}\n", "providers.x.inputPrice must be a number from 0 to 100000"},
		{"half a token", "providers: {x: {window: 8000.5}}\n", "providers.x.window must be a whole number from 1000 to 1000000000"},
		{"no tokens", "providers: {x: {maxOutputTokens: 0}}\n", "providers.x.maxOutputTokens must be a whole number from 1 to 10000000"},
		{"a negative price", "providers: {x: {outputPrice: -1}}\n", "providers.x.outputPrice must be a number from 0 to 100000"},
		{"a list for a number", "providers: {x: {window: [1]}}\n", "providers.x.window must be a single value"},
		{"a key in the URL", "providers: {x: {baseURL: 'http://h/v1?key=abc'}}\n", "providers.x.baseURL must be an http or https URL without a password or a query"},
		{"a port that is none", "providers: {x: {baseURL: 'http://h:80a/v1'}}\n", "providers.x.baseURL must be an http or https URL"},
		{"an address of IPv6", "providers: {x: {baseURL: 'http://[::1]:80/v1'}}\n", ""},
		{"a command that needs a shell", "providers: {x: {keyCommand: 'echo $KEY | tr a b'}}\n",
			"providers.x.keyCommand uses shell syntax, and no shell is started; write it as a list: [program, argument]"},
		{"an empty command", "providers: {x: {keyCommand: []}}\n", "providers.x.keyCommand must begin with a program"},
		{"a command of numbers", "providers: {x: {keyCommand: [pass, 4]}}\n", "providers.x.keyCommand must be a list of strings"},
		{"a command relative to wherever we are", "providers: {x: {keyCommand: ./key.sh}}\n", "providers.x.keyCommand must begin with a program's name, or with its path, absolute or from ~"},
		{"a command without its API", "providers: {x: {command: [llm]}}\n", ""},
		{"a command of a server", "providers: {x: {api: anthropic, command: [llm]}}\n", "providers.x has a command, but its api is not exec; remove api"},
		{"a command with a URL", "providers: {x: {api: exec, command: [llm], baseURL: 'http://h'}}\n", "providers.x runs a command, which takes no URL and no key; log in"},
		{"a command with a key", "providers: {exec: {keyEnv: K}}\n", "providers.exec runs a command, which takes no URL and no key; log in"},
		{"exec without a command", "providers: {x: {api: exec}}\n", "providers.x has no command; set command"},
		{"the built-in model", "providers: {builtin: {keyEnv: K}}\n", "providers.builtin is not a valid name for a provider"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := loadYAML(t, test.yaml, "HOME=/home/ann")
			checkError(t, err, test.want)
		})
	}
}

func TestWhatMayBeAKeyIsNotRepeated(t *testing.T) {
	t.Parallel()
	key := "sk" + "-0123456789"
	for _, yaml := range []string{
		"providers: {x: {key: " + key + "}}", "providers: {x: {api: " + key + "}}", "providers: {x: {keyEnv: " + key + "}}",
		"providers: {x: {keyCommand: [echo, {" + key + ": 1}]}}", "providers: {x: {keyCommand: 'echo \"" + key + "\"'}}",
		"providers: {x: {baseURL: 'https://h/?key=" + key + "'}}", "providers: {x: {baseURL: " + key + "}}", "providers: {x: {baseURL: 'https://u:" + key + "@h/'}}", "providers: {x: {temperature: " + key + "}}",
		"providers: {x: {effort: " + key + "}}", "providers: {x: {preset: " + key + "}}", "providers: {x: {keyCommand: ./" + key + "}}",
	} {
		_, err := loadYAML(t, yaml)
		checkError(t, err, "providers.x.")
		if err != nil && strings.Contains(err.Error(), key) {
			t.Errorf("%s: the error repeats it: %v", yaml, err)
		}
	}
	s, err := loadYAML(t, "providers: {x: {keyCommand: [echo, "+key+"]}}")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range s.Values() {
		if strings.Contains(v.Value, key) {
			t.Errorf("%s shows it", v.Name)
		}
		if v.Name == "providers.x.keyCommand" && v.Value != "a command of 2 words" {
			t.Errorf("got %q", v.Value)
		}
	}
}
