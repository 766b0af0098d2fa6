package secrets

import (
	"strconv"
	"strings"
	"testing"
)

func TestValuesThatStandApartFromTheirNamesAreRedacted(t *testing.T) {
	t.Parallel()
	s := newScanner("", true)
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
				out, _ := s.Redact(text)
				for _, value := range values {
					if strings.Contains(out, value) {
						t.Errorf("%s is left at depth %d in %s", value, depth, out)
					}
				}
				if again, _ := s.Redact(out); again != out {
					t.Errorf("redacted again %s becomes %s", out, again)
				}
				text = `{"output":` + strconv.Quote(text) + `}`
			}
		})
	}
}

func TestFieldsAndCellsThatHoldNoSecretStay(t *testing.T) {
	t.Parallel()
	s := newScanner("", true)
	for _, text := range []string{
		"- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: {name: db-credentials2, key: password}\n",
		"- name: DB_PASSWORD\n  value: ${DB_PASSWORD}\n- name: API_TOKEN\n  value: \"{{ .Values.token }}\"\n",
		"- name: password\n  description: the password\n- name: commit\n  value: 8f3a1c9be27d4056f1a2b3c4d5e6f70819a0b1c2\n",
		`{ name: 'password', value: formPassword2 }`,
		"Name:  \"password\",\nValue: userPassword2,\n",
		`{"name":"password","value":"string"}`,
		`"password": {"type": "string", "default": "changeme"}`,
		`{"name":"token","value":null},{"name":"commit","value":"8f3a1c9be27d4056f1a2b3c4d5e6f70819a0b1c2"}`,
		"| Password | the password of the user |\n| Token | string |\n",
		"| flag | token |\n|---|---|\n| --all | `IDENT_2` |\n| -n | `NUMBER` |\n",
		"| 1Password | `1password` | vault |\n",
		"name,token,kind\nplus,PLUS,operator\nident,identifier,word\n",
		"users, tokens, passwords\nand, of course, keys\n",
		"apt\tbase-files\t12.4\napt\tpasswd\t4.13.1\napt\tlibx11-6:amd64\t1.8.4-2\napt\tpyth3n-token2\t9.1\n",
		"            'Test::Event::Pass'    => '1.302190',\n",
		"INSERT INTO users (name, password) VALUES ($1, $2), (?, :password);\n",
		"COPY t (id, token) FROM stdin;\n1\tword\n\\.\n",
		"tokens := []string{\"first\", \"second2\"}\n",
		"tokens: [IDENT, NUMBER, plus_token2]\n",
		"secrets:\n  - name: db\n  - db-credentials\n",
		"passwords: [password, \"changeme\"]\n",
		"{\n\tname: \"token\",\n\tvalue: x2ExchangeSyntheticToken,\n}\n",
		`"credentials": {"$ref": "CloudIntegrationsV1Credential"}`,
		"if token.Kind == token.OPERATOR || a | b.secret2Value {\n",
	} {
		if out, counts := s.Redact(text); out != text {
			t.Errorf("Redact(%q) = %q, %v", text, out, counts)
		}
	}
}
