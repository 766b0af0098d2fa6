package secrets

import (
	"strconv"
	"strings"
	"testing"
)

func TestWhatNULsSeparateIsRedacted(t *testing.T) {
	t.Parallel()
	for n, text := range []string{
		// a process's environment
		"HOME=/root|DB_PASSWORD={{weak}}|PORT=1|", "PATH=/bin|AWS_SECRET_ACCESS_KEY={{alnum40}}|_=/bin/env|", "API_TOKEN={{hex32}}|", "A=b c|DATABASE_URL=postgres://app:{{camel}}@db.test/shop|B=c|",
		"PGPASSWORD={{camel}}|PGUSER=ada|", "A=1|NPM_TOKEN={{uuid}}|", "X=y|REDIS_PASSWORD={{camel}}||",
		// its arguments
		"server|--token|{{alnum33}}|--port|80|", "tool|--api-key|{{hex32}}|", "tool|--password|{{weak}}|-v|", "tool|--password={{weak}}|-v|", "curl|-u|ada:{{camel}}|https://x.test|",
		"curl|-H|Authorization: Bearer {{alnum40}}|https://x.test|", "mysql|-uroot|-p{{camel}}|shop|", "sshpass|-p|{{camel}}|ssh|x.test|", "redis-cli|-a|{{camel}}|ping|", "psql|postgres://app:{{camel}}@db.test/shop|",
	} {
		m := maker{newRandom(uint64(n))}
		var leaked []string
		text := placeholder.ReplaceAllStringFunc(text, func(p string) string {
			value, _ := m.value(p[2 : len(p)-2])
			leaked = append(leaked, value)
			return value
		})
		for _, between := range []string{"\x00", "\uFFFD"} {
			text := strings.ReplaceAll(text, "|", between)
			for _, text := range []string{text, "a line\n" + text + "\nanother\n", asJSON(text), `{"output":` + asJSON(asJSON(text)) + `}`, strconv.Quote(text)} {
				out, _ := ours.Redact(text)
				for _, value := range leaked {
					if strings.Contains(out, value) {
						t.Errorf("%q is left in %q", value, out)
					}
				}
			}
		}
	}
}
