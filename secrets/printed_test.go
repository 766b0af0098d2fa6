package secrets

import (
	"strings"
	"testing"

	"memoir"
)

func TestWhatACommandThatReadsASecretPrintsIsOne(t *testing.T) {
	t.Parallel()
	const word = "correct-horse-battery"
	tests := map[string]string{ // learned: redacted everywhere; here: only in the output; stays: nowhere
		"pass show web/admin": "learned", "pass -c web/admin": "learned", "op read op://dev/db/password": "learned",
		"op item get db --fields password": "learned", "vault kv get -field=password secret/db": "learned",
		"aws secretsmanager get-secret-value --secret-id db --query SecretString --output text":  "learned",
		"aws --profile p ssm get-parameter --name /db --with-decryption --query V --output text": "learned",
		"gcloud secrets versions access latest --secret=db":                                      "learned",
		"gcloud --project p auth print-access-token":                                             "learned",
		"kubectl -n prod get secret db -o jsonpath='{.data.password}' | base64 -d":               "learned",
		"gh auth token": "learned", "cd app && gh auth token 2>/dev/null": "learned", "echo $ADMIN_PASSWORD": "learned",
		`echo "${API_KEY}"`: "learned", "printf '%s' \"$DB_PASS\"": "learned", "printenv X_TOKEN": "learned",
		"sudo pass show a/b | head -1": "learned", "X=1 op read op://a/b/c | tr -d '\\n'": "learned",
		"op item get db": "here", "kubectl get secret db -o yaml": "here",

		"echo $PWD": "stays", "echo $SSH_KEY_PATH": "stays", "echo ${API_KEY:+set}": "stays", "pass ls": "stays",
		"TOKEN=$(gh auth token) curl example.com": "stays", "gh auth token > token.txt; cat VERSION": "stays",
		"gh auth token | docker login --password-stdin": "stays", "git log --grep 'gh auth token'": "stays",
		"kubectl get secret": "stays", "echo token": "stays",
	}
	for command, want := range tests {
		output := word + "\n"
		if want == "here" {
			output = "user: x\nvalue: " + word + "\n"
		}
		r := ours.Session()
		it := r.Item(memoir.Item{Kind: memoir.ItemTool, Tool: "Bash", Input: command, Output: output})
		gone, later := !strings.Contains(it.Output, word), !strings.Contains(r.Text("uses "+word+" here"), word)
		if gone != (want != "stays") || later != (want == "learned") {
			t.Errorf("%s: gone %t, gone later %t, want it %s", command, gone, later, want)
		}
	}
	for command, gone := range map[string]bool{"pass show a/b": false, "echo $NPM_TOKEN; npm publish": true} {
		it := memoir.Item{Kind: memoir.ItemTool, Tool: "Bash", Input: command, Output: word + "\nnpm error", Failed: true}
		if got := ours.Session().Item(it); strings.Contains(got.Output, word) == gone {
			t.Errorf("%s failed: %q", command, got.Output)
		}
	}
	for _, output := range []string{"changeme", "********", "$DB_PASSWORD", "<no-value>"} {
		it := memoir.Item{Kind: memoir.ItemTool, Tool: "Bash", Input: "echo $DB_PASSWORD", Output: output}
		if got := ours.Session().Item(it); got.Output != output {
			t.Errorf("%q became %q", output, got.Output)
		}
	}
}
