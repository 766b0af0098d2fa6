package secrets

import (
	"strconv"
	"strings"
	"testing"
)

func TestValuesThatStandApartFromTheirNamesAreRedacted(t *testing.T) {
	t.Parallel()
	for n, test := range []struct{ name, text string }{
		{"a container's environment", "env:\n  - name: POSTGRES_PASSWORD\n    value: {{weak}}\n  - name: PORT\n    value: 80\n"},
		{"the same in quotes", "  - name: JWT_SECRET\n    value: \"{{alnum}}\"\n"},
		{"a name in camel case", "- name: adminPassword\n  value: {{camel}}\n"},
		{"with a comment between", "- name: API_TOKEN\n  type: string\n  value: {{hex40}}\n"},
		{"a task's definition", `{"environment":[{"name":"DB_PASSWORD","value":"{{weak}}"},{"name":"PORT","value":"80"}]}`},
		{"fields between", `{"key":"password","enabled":true,"type":"text","value":"{{strongplain}}"}`},
		{"on lines of their own", "{\n  \"key\": \"api_token\",\n  \"value\": \"{{hex40}}\"\n}\n"},
		{"a recorded cookie", `{"name":"Cookie","value":"sid={{alnum}}; theme=dark"}`},
		{"a recorded header", `{"name":"Authorization","value":"Basic {{basic}}"}`},
		{"a recorded key", `{"key":"X-API-Key","value":"{{alnum}}"}`},
		{"a template's parameter", `{"ParameterKey":"DbPassword","ParameterValue":"{{weak}}"}`},
		{"settings", "[[env]]\nname = \"DB_PASSWORD\"\nvalue = \"{{weak}}\"\n"},
		{"an object in code", `env: [{ name: 'DB_PASSWORD', value: '{{weak}}' }]`},
		{"a table", "| user | Password |\n|------|:--------:|\n| ada | `{{weak}}` |\n| bob | **{{strongplain}}** |\n"},
		{"a table of a database", "+------+----------+\n| name | password |\n+------+----------+\n| ada  | {{weak}} |\n+------+----------+\n"},
		{"a table without a frame", " id | login | api_token\n----+-------+-----------\n  1 | ada   | {{hex40}}\n"},
		{"a drawn table", "┌──────┬──────────┐\n│ user │ password │\n├──────┼──────────┤\n│ ada  │ {{camel}} │\n└──────┴──────────┘\n"},
		{"separated values", "url,username,password,note\nhttps://a.test,ada,{{weak}},x\nhttps://b.test,bob,\"{{strongplain}}\",\n"},
		{"values separated by tabs", "name\ttoken\nci\t{{hex40}}\n"},
		{"an access key's file", "Access key ID,Secret access key\n{{awsid}},{{aws}}\n"},
		{"a row whose last cell is empty", " id | api_key | reset\n----+---------+-------\n  1 | {{hex40}} |\n"},
		{"a list of a database", "id|token\n1|{{alnum40}}\n2|{{hex40}}\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := maker{newRandom(uint64(n))}
			var values []string
			text := placeholder.ReplaceAllStringFunc(test.text, func(p string) string {
				value, _ := m.value(p[2 : len(p)-2])
				values = append(values, value)
				return value
			})
			for depth := range 3 {
				out, _ := ours.Redact(text)
				for _, value := range values {
					if strings.Contains(out, value) {
						t.Errorf("%s is left at depth %d in %s", value, depth, out)
					}
				}
				if again, _ := ours.Redact(out); again != out {
					t.Errorf("redacted again %s becomes %s", out, again)
				}
				text = `{"output":` + strconv.Quote(text) + `}`
			}
		})
	}
}
