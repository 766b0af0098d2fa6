package secrets

import (
	"strings"
	"testing"

	"memoir"
)

func TestAFileWhoseNameSaysThatItIsASecretIsOne(t *testing.T) {
	t.Parallel()
	word, hash, token := fake("p4ss!", "w0rd"), fake("0b2f8c1d9e7a4653", "8f1c2d3e4b5a6978"), fake("8Jq3vLx0Tz", "5WmN2kRb")
	tests := []struct {
		name, text, secret string
	}{
		{".vault_pass", word + "\n", word}, {"ansible/vault-password.txt", word, word}, {"vault_password_file", word, word},
		{"config/master.key", hash, hash}, {`config\credentials\production.key`, hash + "\r\n", hash},
		{"/run/secrets/db", token, token}, {"secrets/db_password.txt", word, word}, {"~/.erlang.cookie", token, token},
		{"token", token, token}, {"github-token.txt", token, token}, {".api_key", hash, hash}, {"jwt.secret", token, token},
		{"password.txt", "     1→" + word + "\n", word},
		{"C:/x/psk.txt", word, word},

		{"token.go", token, ""}, {"notes.txt", word, ""}, {"README.md", hash, ""}, {"passwd", "root:x:0:0:root:/root:/bin/bash\n", ""},
		{"password.txt", "changeme", ""}, {"password.txt", "cat: password.txt: No such file or directory", ""},
		{"password.txt", "password.txt", ""}, {"token.txt", "<your-token-here>", ""}, {"token.txt", "$GITHUB_TOKEN", ""},
		{"secrets", "one\ntwo\nthree\n", ""}, {"api_key.txt", "README.md\nmain.go\n", ""}, {"master.key", "", ""},
		{"password_test.go", token, ""}, {"tokens.json", token, ""}, {"keys", "true", ""},
	}
	for _, tt := range tests {
		r := ours.Session()
		if r.File(tt.name, tt.text) != (tt.secret != "") {
			t.Errorf("%s, %q: %v", tt.name, tt.text, tt.secret == "")
		}
		if tt.secret != "" && strings.Contains(r.Text(tt.text), tt.secret) {
			t.Errorf("%s became %q", tt.name, r.Text(tt.text))
		}
		found := ours.FindFile(tt.name, tt.text)
		if (len(found) > 0) != (tt.secret != "") {
			t.Errorf("%s: %+v", tt.name, found)
		} else if tt.secret != "" && tt.text[found[0].Start:found[0].End] != tt.secret {
			t.Errorf("%s: %q is said to be it", tt.name, tt.text[found[0].Start:found[0].End])
		}
	}
}

func TestWhatACallReadsFromOrWritesToSuchAFileGoes(t *testing.T) {
	t.Parallel()
	word := fake("0b2f8c1d9e7a4653", "8f1c2d3e4b5a6978")
	tests := []struct {
		tool, input, output string
		secret              bool
	}{
		{"Bash", "cat config/master.key", word, true},
		{"Bash", "cd app && sudo cat -n .vault_pass | tr -d x", "     1\t" + word, true},
		{"Bash", "X=$(< /run/secrets/key) && echo $X", word, true},
		{"Bash", "echo " + word + " > .vault_pass", "", true},
		{"Bash", "printf '%s' '" + word + "' | tee -a config/master.key", "", true},
		{"Read", `{"file_path":"/srv/app/config/master.key"}`, "     1→" + word, true},
		{"Write", `{"file_path":"/srv/app/config/master.key","content":"` + word + `\n"}`, "ok", true},
		{"Bash", "sha1sum token.txt", word + "8f1c2d3e", false},
		{"Bash", "grep -c token x.go", word, false},
		{"Bash", "git rev-parse HEAD # of the token", word, false},
		{"Read", `{"file_path":"/srv/app/token.go"}`, "     1→" + word, false},
		{"Bash", "cat VERSION password.go", word, false},
	}
	for _, tt := range tests {
		it := ours.Session().Item(memoir.Item{Kind: memoir.ItemTool, Tool: tt.tool, Input: tt.input, Output: tt.output})
		if left := strings.Contains(it.Input+it.Output, word); left == tt.secret {
			t.Errorf("%s became %q and %q", tt.input, it.Input, it.Output)
		}
	}
}
