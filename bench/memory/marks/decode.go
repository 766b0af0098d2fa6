package marks

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

var (
	unknownKey = regexp.MustCompile(`^line (\d+): field (.+) not found in type `)
	atLine     = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)`)
)

// Decode reads one YAML document strictly. What is wrong is named with file and line,
// as an error with memoir.CodeInvalid.
func Decode(path string, data []byte, out any) error {
	decoder := yaml.NewDecoder(bytes.NewReader(Indented(data)))
	decoder.KnownFields(true)
	err := decoder.Decode(out)
	if errors.Is(err, io.EOF) {
		return Errorf(path, 0, "is empty")
	}
	if err == nil {
		if err = decoder.Decode(new(yaml.Node)); err == io.EOF {
			return nil
		}
		return Errorf(path, 0, "holds more than one document")
	}
	message := err.Error()
	if wrong := new(yaml.TypeError); errors.As(err, &wrong) && len(wrong.Errors) > 0 {
		message = wrong.Errors[0]
	}
	if m := unknownKey.FindStringSubmatch(message); m != nil {
		return Errorf(path, number(m[1]), "unknown key %q", m[2])
	}
	if m := atLine.FindStringSubmatch(message); m != nil {
		return Errorf(path, number(m[1]), "%s", m[2])
	}
	return Errorf(path, 0, "%s", strings.TrimPrefix(message, "yaml: "))
}

func number(s string) int {
	n, _ := strconv.Atoi(s) // digits, by the expression
	return n
}
