package secrets

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// tokens are tokens that a rule recognises by their form alone.
var tokens = []struct{ rule, form string }{
	{"model-key", "sk-ant-oat01-{{nano92}}x-AA"},
	{"model-key", "sk-ant-sid02-{{nano86}}AA"},
	{"model-key", "sk-lf-{{uuid}}"},
	{"model-key", "sk-{{alnum48}}"},
	{"model-key", "sk-{{hex32}}"},
	{"model-key", "sk_{{hex48}}"},
	{"model-key", "fc-{{hex32}}"},
	{"model-key", "tgp_v1_{{alnum43}}"},
	{"platform-token", "ATATT3xFfGF0{{nano170}}={{hexupper8}}"},
	{"platform-token", "dp.st.prd.{{alnum43}}"},
	{"platform-token", "NRAK-{{upper27}}"},
	{"platform-token", "sqp_{{hex40}}"},
	{"airtable-personnal-access-token", "pat{{alnum14}}.{{hex64}}"},
	{"platform-token", "xoxc-{{digits12}}-{{digits12}}-{{digits13}}-{{hex64}}"},
	{"platform-token", "secret_{{alnum43}}"},
	{"platform-token", "AVNS_{{nano18}}a"},
	{"platform-token", "pk_{{digits8}}_{{upper32}}"},
	{"platform-token", "hcaik_{{lower58}}"},
	{"cluster-token", "SWMTKN-1-{{lower50}}-{{lower25}}"},
	{"cluster-token", "K10{{hex64}}::server:{{hex32}}"},
	{"wallet-key", "xprv9s21{{base58-105}}"},
	{"wallet-key", "nsec1{{bech-58}}"},
	{"stripe-access-token", "sk_live_51{{alnum97}}"},
	{"gcp-api-key", "AIzaSy{{alnum33}}"},
	{"npm-access-token", "npm_{{alnum36}}"},
	{"databricks-api-token", "dapi{{hex32}}"},
	{"sendgrid-api-token", "SG.{{alnum22}}.{{alnum43}}"},
	{"grafana-service-account-token", "glsa_{{alnum32}}_{{hex8}}"},
}

func TestATokenGoesWholeWhereverItStands(t *testing.T) {
	t.Parallel()
	m := maker{newRandom(7)}
	for n, token := range tokens {
		for _, context := range []string{
			"%s", "a %s b", `say("%s")`, "f(%s)", "[%s]", "{a: %s, b: c}", "<k>%s</k>", "| %s |", "**%s**", "it is %s.", "is it %s?",
			"https://api.test/?k=%s&z=1", "https://api.test/?u=a%%3D%s%%26b", "%%22%s%%22", "https://%s@git.test/x", "令牌是%s。", "~%s~", "%s#x",
			`{\"a\":\"%s\"}`, `out\n%s\nend`, "`%s`", "it was %s…",
		} {
			secret, _ := m.fill(token.form)
			text := fmt.Sprintf(context, secret)
			if strings.Contains(context, "%%") {
				secret = url.QueryEscape(secret)
				text = strings.ReplaceAll(fmt.Sprintf(context, "\x00"), "\x00", secret)
			}
			out, _ := ours.Redact(text)
			want := strings.Replace(text, secret, markerOpen+token.rule+markerClose, 1)
			if strings.Contains(out, secret[len(secret)-12:]) || strings.Contains(out, secret[4:16]) {
				t.Errorf("%d %s: %q became %q, want %q", n, token.rule, text, out, want)
			}
		}
	}
}

// placed are secrets that a rule recognises by the text before and after them.
var placed = []struct{ name, rule, before, form, after string }{
	{"a mail service's key", "platform-key", "key: '", "key-{{hex32}}", "'"},
	{"a list service's key", "platform-key", "(", "{{hex32}}-us{{digits1}}", ")"},
	{"a function's key", "platform-key", "https://app.test/api/x?code=", "{{alnum44}}AzFu{{alnum6}}==", "\n"},
	{"a personal access token", "platform-key", "pat is ", "{{alnum76}}AZDO{{alnum4}}", ", "},
	{"a bot that logs in", "chat-bot-token", "client.login('", bot, "');"},
	{"a bot that runs", "chat-bot-token", `bot.run("`, bot, `")`},
	{"a token of a tracker", "task-token", `{"asana": "`, "1/{{digits16}}:{{hex32}}", `"}`},
	{"a node that joins", "cluster-token", "kubeadm join 10.0.0.1:6443 --token ", "{{lower6}}.{{lower16}}", " --discovery"},
	{"a node's address", "node-address", "URL=https://mainnet.infura.io/v3/", "{{hex32}}", "\n"},
	{"accounts", "wallet-key", `accounts: ["`, "0x{{hex64}}", `"]`},
	{"a key of bytes", "byte-key", "SOLANA_KEYPAIR=[", byteList, "]\n"},
	{"an id's secret in a call", "aws-key-pair", `Session("` + "AKI" + `AQ2W3E4R5T6Y7U2I3", "`, aws, `")`},
	{"an id's secret on the next line", "paired-secret", `client("s3", "` + "AKI" + "AQ2W3E4R5T6Y7U2I3\",\n    \"", aws, "\")\n"},
	{"an id's secret behind a colon", "aws-key-pair", "AKI" + "AQ2W3E4R5T6Y7U2I3:", aws, "\n"},
	{"an id's secret in a list", "aws-key-pair", "me," + "AKI" + "AQ2W3E4R5T6Y7U2I3,", aws, ",https://console.test\n"},
	{"an id's secret behind a date", "aws-key-pair", "ACCESSKEY\t" + "AKI" + "AQ2W3E4R5T6Y7U2I3\t2026-01-14T09:12:44Z\t", aws, "\tActive\n"},
	{"an answer to a question", "paired-secret", "AWS Secret Access Key [None]: ", aws, "\n"},
	{"a table", "aws-secret-access-key", "||  SecretAccessKey |  ", aws, "   ||\n"},
	{"an account's token", "paired-secret", `new Client("` + "A" + "C0123456789abcdef0123456789abcdef\", \"", "{{hex32}}", `")`},
	{"docker", "command-password", "docker login --username deploy --password ", "{{camel}}", " registry.test"},
	{"a tool that logs in", "login-password", "acmectl login --user ci -p ", "{{camel}}", "\n"},
	{"a tool's subcommand", "login-password", "./acmectl --url=https://x.test auth login -p='", "{{camel}}", "'\n"},
	{"svn", "command-password", "svn co --username dana --password ", "{{camel}}", " https://svn.test/x"},
	{"gpg", "command-password", "gpg --batch --passphrase ", "{{camel}}", " -d x.gpg"},
	{"jarsigner", "command-password", "jarsigner -keypass ", "{{camel}}", " -keystore k.jks a.jar x\n"},
	{"a header's key", "authorization-key", "Authorization: key=", "{{alnum39}}7", "\r\n"},
	{"keytool", "command-password", "keytool -list -keystore k.jks -storepass ", "{{camel}}", "\n"},
	{"a cache", "command-password", "command: redis-server --requirepass ", "{{camel}}", " --appendonly yes"},
	{"a hash", "command-password", "useradd -p $(openssl passwd -1 ", "{{camel}}", ") dana"},
	{"a queue's user", "command-password", "rabbitmqctl add_user app ", "{{camel}}", "\n"},
	{"a new user", "command-password", "sudo useradd -m dana -p ", "{{camel}}", "\n"},
	{"a publisher", "command-password", "mosquitto_pub -h mq -u dana -P ", "{{camel}}", " -t x -m y"},
	{"a remote", "command-password", "rclone config create x sftp host h user u pass ", "{{camel}}", "\n"},
	{"a tunnel", "command-token", "ngrok config add-authtoken ", "{{alnum49}}", "\n"},
	{"a recording", "command-token", "npx cypress run --record --key ", "{{uuid}}", "\n"},
	{"fish", "command-token", "set -x API_KEY ", "{{alnum32}}", "\n"},
	{"npm", "command-token", "npm config set _auth ", "{{bytes24}}", "\n"},
	{"expect", "scripted-answer", `expect "password:"; send "`, "{{camel}}", `\r"`},
	{"a key without armour", "key-body", `DER = "`, der, `"`},
	{"a static key", "static-key", "-----BEGIN OpenVPN " + "Static key V1-----", static, "\n-----END OpenVPN " + "Static key V1-----\n"},
	{"a tunnel's key in a program", "static-key", "-----BEGIN OpenVPN " + "tls-crypt-v2 client key-----", sourced, "\"\n"},
	{"a wallet's words with blanks behind", "seed-phrase", `{"mnemonic": "`, words, `  "}`},
	{"a cookie without its host", "cookie-file", "TRUE\t/\tTRUE\t1893456000\tsid\t", "{{alnum30}}", "\n"},
	{"a cookie without its tabs", "cookie-file", ".shop.test TRUE / FALSE 1893456000 sid ", "{{alnum30}}", "\n"},
	{"a key in XML", "xml-key", "<RSAKeyValue><Exponent>AQAB</Exponent><P>", "{{bytes64}}", "</P></RSAKeyValue>"},
	{"a profile's login", "vpn-login", "<auth-user-pass>\ndana\n", "{{camel}}", "\n</auth-user-pass>\n"},
	{"a key that signs", "signing-key", "untrusted comment: secret key\n", "RWRTY0Iy{{bytes150}}", "\n"},
	{"a router", "device-password", "hostname sw1\nenable password ", "{{camel}}", "\n!\n"},
	{"a community", "device-password", "snmp-server community ", "{{camel}}", " RO\n"},
	{"a directory", "device-password", "rootdn cn=admin\nrootpw ", "{{camel}}", "\n"},
	{"a replica", "device-password", "masterauth ", "{{camel}}", "\n"},
	{"a wireless network", "device-key", "set default wpa2-pre-shared-key=", "{{camel}}", "\n"},
	{"a registry", "registry-password", `"Password"=hex:`, "{{hex2}},{{hex2}},{{hex2}},{{hex2}},{{hex2}},{{hex2}}", "\n"},
	{"a registry of packages", "nuget-key", `<apikeys><add key="https://nuget.test" value="`, "{{bytes60}}", `" /></apikeys>`},
	{"a dialled line", "chap-password", "# client server secret\ndana * ", "{{camel}}", " *\n"},
	{"a tunnel's user", "chap-password", `"dana" pptpd "`, "{{camel}}", `" *` + "\n"},
	{"a nickname", "chat-identify", "/msg NickServ IDENTIFY dana ", "{{camel}}", "\n"},
}

// Forms of long secrets and of secrets on several lines.
var (
	aws      = "{{b64-39}}x"
	bot      = "MT{{alnum22}}.G{{alnum5}}.{{nano36}}x7"
	byteList = "1{{digits1}}" + strings.Repeat(",1{{digits1}}", 63)
	der      = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC{{bytes900}}"
	static   = strings.Repeat("\n{{hex32}}", 16)
	words    = strings.Repeat("{{small6}} {{small4}} {{small7}} ", 3) + "{{small6}} {{small4}} {{small7}}"
	sourced  = strings.Repeat("\\n\" +\n"+strings.Repeat(" ", 20)+"\"{{alnum64}}", 6) // one string literal per line
)

func TestASecretIsKnownByItsPlace(t *testing.T) {
	t.Parallel()
	m := maker{newRandom(8)}
	for _, test := range placed {
		for range 10 {
			secret, _ := m.fill(test.form)
			text := test.before + secret + test.after
			out, counts := ours.Redact(text)
			if strings.Contains(out, strings.TrimSpace(secret)[:10]) || strings.Contains(out, secret[len(secret)-4:]+test.after) || counts[test.rule] == 0 {
				t.Errorf("%s: %q became %q, %v", test.name, text, out, counts)
				break
			}
		}
	}
}
