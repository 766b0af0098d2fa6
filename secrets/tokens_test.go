package secrets

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

const (
	base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	bech32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
	opaque = letters + "_-"
)

// tokens are those that say themselves what they are, by the rule that names them.
var tokens = []struct {
	rule string
	make func(m maker) string
}{
	{"model-key", func(m maker) string { return "sk-" + "ant-oat01-" + m.text(opaque, 92) + "x-AA" }},
	{"model-key", func(m maker) string { return "sk-" + "ant-sid02-" + m.text(opaque, 86) + "AA" }},
	{"model-key", func(m maker) string { return "sk-" + "lf-" + idOf(m, "uuid") }},
	{"model-key", func(m maker) string { return "sk" + "-" + m.text(letters, 48) }},
	{"model-key", func(m maker) string { return "sk" + "-" + m.text(hexes, 32) }},
	{"model-key", func(m maker) string { return "sk" + "_" + m.text(hexes, 48) }},
	{"model-key", func(m maker) string { return "fc" + "-" + m.text(hexes, 32) }},
	{"model-key", func(m maker) string { return "tgp" + "_v1_" + m.text(letters, 43) }},
	{"platform-token", func(m maker) string {
		return "ATA" + "TT3xFfGF0" + m.text(opaque, 170) + "=" + m.text("ABCDEF"+numbers, 8)
	}},
	{"platform-token", func(m maker) string { return "dp." + "st.prd." + m.text(letters, 43) }},
	{"platform-token", func(m maker) string { return "NR" + "AK-" + m.text(uppers+numbers, 27) }},
	{"platform-token", func(m maker) string { return "sq" + "p_" + m.text(hexes, 40) }},
	{"airtable-personnal-access-token", func(m maker) string { return "pa" + "t" + m.text(letters, 14) + "." + m.text(hexes, 64) }},
	{"platform-token", func(m maker) string {
		return "xox" + "c-" + m.text(numbers, 12) + "-" + m.text(numbers, 12) + "-" + m.text(numbers, 13) + "-" + m.text(hexes, 64)
	}},
	{"platform-token", func(m maker) string { return "secret" + "_" + m.text(letters, 43) }},
	{"platform-token", func(m maker) string { return "AV" + "NS_" + m.text(opaque, 18) + "a" }},
	{"platform-token", func(m maker) string { return "pk" + "_" + m.text(numbers, 8) + "_" + m.text(uppers+numbers, 32) }},
	{"platform-token", func(m maker) string { return "hc" + "aik_" + m.text(lowers+numbers, 58) }},
	{"cluster-token", func(m maker) string {
		return "SWM" + "TKN-1-" + m.text(lowers+numbers, 50) + "-" + m.text(lowers+numbers, 25)
	}},
	{"cluster-token", func(m maker) string { return "K1" + "0" + m.text(hexes, 64) + "::server:" + m.text(hexes, 32) }},
	{"wallet-key", func(m maker) string { return "xp" + "rv9s21" + m.text(base58, 105) }},
	{"wallet-key", func(m maker) string { return "nse" + "c1" + m.text(bech32, 58) }},
	{"stripe-access-token", func(m maker) string { return "sk" + "_live_51" + m.text(letters, 97) }},
	{"gcp-api-key", func(m maker) string { return "AI" + "zaSy" + m.text(letters, 33) }},
	{"npm-access-token", func(m maker) string { return "np" + "m_" + m.text(letters, 36) }},
	{"databricks-api-token", func(m maker) string { return "da" + "pi" + m.text(hexes, 32) }},
	{"sendgrid-api-token", func(m maker) string { return "S" + "G." + m.text(letters, 22) + "." + m.text(letters, 43) }},
	{"grafana-service-account-token", func(m maker) string { return "gl" + "sa_" + m.text(letters, 32) + "_" + m.text(hexes, 8) }},
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
			secret := token.make(m)
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

// placed are secrets that their place tells: what stands before them, and behind.
var placed = []struct {
	name, rule, before string
	make               func(m maker) string
	after              string
}{
	{"a mail service's key", "platform-key", "key: '", func(m maker) string { return "key" + "-" + m.text(hexes, 32) }, "'"},
	{"a list service's key", "platform-key", "(", func(m maker) string { return m.text(hexes, 32) + "-us" + m.text("123456789", 1) }, ")"},
	{"a function's key", "platform-key", "https://app.test/api/x?code=", func(m maker) string { return m.text(letters, 44) + "Az" + "Fu" + m.text(letters, 6) + "==" }, "\n"},
	{"a personal access token", "platform-key", "pat is ", func(m maker) string { return m.text(letters, 76) + "AZ" + "DO" + m.text(letters, 4) }, ", "},
	{"a bot that logs in", "chat-bot-token", "client.login('", bot, "');"},
	{"a bot that runs", "chat-bot-token", `bot.run("`, bot, `")`},
	{"a token of a tracker", "task-token", `{"asana": "`, func(m maker) string { return "1/" + m.text("123456789", 16) + ":" + m.text(hexes, 32) }, `"}`},
	{"a node that joins", "cluster-token", "kubeadm join 10.0.0.1:6443 --token ", func(m maker) string { return m.text(lowers+numbers, 6) + "." + m.text(lowers+numbers, 16) }, " --discovery"},
	{"a node's address", "node-address", "URL=https://mainnet.infura.io/v3/", func(m maker) string { return m.text(hexes, 32) }, "\n"},
	{"accounts", "wallet-key", `accounts: ["`, func(m maker) string { return "0x" + m.text(hexes, 64) }, `"]`},
	{"a key of bytes", "byte-key", "SOLANA_KEYPAIR=[", byteList, "]\n"},
	{"an id's secret in a call", "aws-key-pair", `Session("` + "AKI" + `AQ2W3E4R5T6Y7U2I3", "`, aws, `")`},
	{"an id's secret on the next line", "paired-secret", `client("s3", "` + "AKI" + "AQ2W3E4R5T6Y7U2I3\",\n    \"", aws, "\")\n"},
	{"an id's secret behind a colon", "aws-key-pair", "AKI" + "AQ2W3E4R5T6Y7U2I3:", aws, "\n"},
	{"an id's secret in a list", "aws-key-pair", "me," + "AKI" + "AQ2W3E4R5T6Y7U2I3,", aws, ",https://console.test\n"},
	{"an id's secret behind a date", "aws-key-pair", "ACCESSKEY\t" + "AKI" + "AQ2W3E4R5T6Y7U2I3\t2026-01-14T09:12:44Z\t", aws, "\tActive\n"},
	{"an answer to a question", "paired-secret", "AWS Secret Access Key [None]: ", aws, "\n"},
	{"a table", "aws-secret-access-key", "||  SecretAccessKey |  ", aws, "   ||\n"},
	{"an account's token", "paired-secret", `new Client("` + "A" + "C0123456789abcdef0123456789abcdef\", \"", func(m maker) string { return m.text(hexes, 32) }, `")`},
	{"docker", "command-password", "docker login --username deploy --password ", camel, " registry.test"},
	{"svn", "command-password", "svn co --username dana --password ", camel, " https://svn.test/x"},
	{"gpg", "command-password", "gpg --batch --passphrase ", camel, " -d x.gpg"},
	{"jarsigner", "command-password", "jarsigner -keypass ", camel, " -keystore k.jks a.jar x\n"},
	{"a header's key", "authorization-key", "Authorization: key=", func(m maker) string { return m.text(letters, 39) + "7" }, "\r\n"},
	{"keytool", "command-password", "keytool -list -keystore k.jks -storepass ", camel, "\n"},
	{"a cache", "command-password", "command: redis-server --requirepass ", camel, " --appendonly yes"},
	{"a hash", "command-password", "useradd -p $(openssl passwd -1 ", camel, ") dana"},
	{"a queue's user", "command-password", "rabbitmqctl add_user app ", camel, "\n"},
	{"a new user", "command-password", "sudo useradd -m dana -p ", camel, "\n"},
	{"a publisher", "command-password", "mosquitto_pub -h mq -u dana -P ", camel, " -t x -m y"},
	{"a remote", "command-password", "rclone config create x sftp host h user u pass ", camel, "\n"},
	{"a tunnel", "command-token", "ngrok config add-authtoken ", func(m maker) string { return m.text(letters, 49) }, "\n"},
	{"a recording", "command-token", "npx cypress run --record --key ", func(m maker) string { return idOf(m, "uuid") }, "\n"},
	{"fish", "command-token", "set -x API_KEY ", func(m maker) string { return m.text(letters, 32) }, "\n"},
	{"npm", "command-token", "npm config set _auth ", func(m maker) string { return m.base64(24) }, "\n"},
	{"expect", "scripted-answer", `expect "password:"; send "`, camel, `\r"`},
	{"a key without armour", "key-body", `DER = "`, der, `"`},
	{"a static key", "static-key", "-----BEGIN OpenVPN " + "Static key V1-----", static, "\n-----END OpenVPN " + "Static key V1-----\n"},
	{"a tunnel's key in a program", "static-key", "-----BEGIN OpenVPN " + "tls-crypt-v2 client key-----", sourced, "\"\n"},
	{"a wallet's words with blanks behind", "seed-phrase", `{"mnemonic": "`, words, `  "}`},
	{"a cookie without its host", "cookie-file", "TRUE\t/\tTRUE\t1893456000\tsid\t", func(m maker) string { return m.text(letters, 30) }, "\n"},
	{"a cookie without its tabs", "cookie-file", ".shop.test TRUE / FALSE 1893456000 sid ", func(m maker) string { return m.text(letters, 30) }, "\n"},
	{"a key in XML", "xml-key", "<RSAKeyValue><Exponent>AQAB</Exponent><P>", func(m maker) string { return m.base64(64) }, "</P></RSAKeyValue>"},
	{"a profile's login", "vpn-login", "<auth-user-pass>\ndana\n", camel, "\n</auth-user-pass>\n"},
	{"a key that signs", "signing-key", "untrusted comment: secret key\n", func(m maker) string { return "RWR" + "TY0Iy" + m.base64(150) }, "\n"},
	{"a router", "device-password", "hostname sw1\nenable password ", camel, "\n!\n"},
	{"a community", "device-password", "snmp-server community ", camel, " RO\n"},
	{"a directory", "device-password", "rootdn cn=admin\nrootpw ", camel, "\n"},
	{"a replica", "device-password", "masterauth ", camel, "\n"},
	{"a wireless network", "device-key", "set default wpa2-pre-shared-key=", camel, "\n"},
	{"a registry", "registry-password", `"Password"=hex:`, func(m maker) string {
		return strings.Join([]string{m.text(hexes, 2), m.text(hexes, 2), m.text(hexes, 2), m.text(hexes, 2), m.text(hexes, 2), m.text(hexes, 2)}, ",")
	}, "\n"},
	{"a registry of packages", "nuget-key", `<apikeys><add key="https://nuget.test" value="`, func(m maker) string { return m.base64(60) }, `" /></apikeys>`},
	{"a dialled line", "chap-password", "# client server secret\ndana * ", camel, " *\n"},
	{"a tunnel's user", "chap-password", `"dana" pptpd "`, camel, `" *` + "\n"},
	{"a nickname", "chat-identify", "/msg NickServ IDENTIFY dana ", camel, "\n"},
}

func aws(m maker) string   { return m.text(letters+"+/", 39) + "x" }
func camel(m maker) string { return "Kor" + m.word(1) + "Vel" + m.word(1) + m.text("123456789", 3) }
func bot(m maker) string {
	return "MT" + m.text(letters, 22) + ".G" + m.text(letters, 5) + "." + m.text(opaque, 36) + "x7"
}
func der(m maker) string { return "MII" + "EvQIBADANBgkqhkiG9w0BAQEFAASC" + m.base64(900) }

func byteList(m maker) string {
	bytes := make([]string, 64)
	for i := range bytes {
		bytes[i] = fmt.Sprint(m.IntN(256))
	}
	return strings.Join(bytes, ",")
}

func static(m maker) string {
	var b strings.Builder
	for range 16 {
		b.WriteString("\n" + m.text(hexes, 32))
	}
	return b.String()
}

func words(m maker) string {
	return strings.TrimSpace(strings.Repeat(m.text(lowers, 6)+" "+m.text(lowers, 4)+" "+m.text(lowers, 7)+" ", 4))
}

// sourced is a key as a program has it, a string a line.
func sourced(m maker) string {
	var b strings.Builder
	for range 6 {
		b.WriteString("\\n\" +\n" + strings.Repeat(" ", 20) + "\"" + m.text(letters, 64))
	}
	return b.String()
}

func TestASecretIsKnownByItsPlace(t *testing.T) {
	t.Parallel()
	m := maker{newRandom(8)}
	for _, test := range placed {
		for range 10 {
			secret := test.make(m)
			text := test.before + secret + test.after
			out, counts := ours.Redact(text)
			if strings.Contains(out, strings.TrimSpace(secret)[:10]) || strings.Contains(out, secret[len(secret)-4:]+test.after) || counts[test.rule] == 0 {
				t.Errorf("%s: %q became %q, %v", test.name, text, out, counts)
				break
			}
		}
	}
}

func TestWhatHasTheFormOfATokenOnlyStays(t *testing.T) {
	t.Parallel()
	m := maker{newRandom(9)}
	for _, form := range []string{
		"task-{hex32}", "disk-{hex40}", "cache-key-{hex32}", "restored cache-key-{hex32}-us", "{hex32}-users.json", "sk-fading-circle sk-spinner-three-bounce",
		"secret_key_base secret_name_of_the_service", "pk_id pk_user_id", "pattern.{hex64}", "dp.state.next", "{sum43}/EAA{b64-90}/{b64-30}",
		"infura.io/v3/YOUR-PROJECT-ID", "https://user@git.test/x.git", "https://my-long-user-name-here@git.test/x.git",
		"AKI" + "AIOSFODNN7EXAMPLE\n{hex40}x", "kubeadm join --token abcdef.0123456789abcdef", "docker login --username foo --password-stdin",
		"docker login -u foo --password $TOKEN", "gpg --passphrase-file /run/secret1", "keytool -storepass changeit",
		"redis-server --requirepass ${REDIS_PASSWORD}", "useradd -m dana -p $(openssl passwd -1)", "openssl enc -k $KEY", "set -x PATH /usr/local/bin2 $PATH",
		"ngrok config add-authtoken <token>", "mosquitto_sub -h mq -P 1883", "nodes: [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32]",
		"MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ", `cert = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA{b64-200}"`,
		"<P>{sum43}</P> is a paragraph", "requirepass foobared", "snmp-server community public RO", "enable password <value>", "  rate * value1 *\n", "x * 1048576 *\n",
		" * password *\n", "x = a * b2 * c\n", "nickserv identify password", "nickserv identify <password>", "RWQ{b64-53}", "expect \"password:\"; send \"$env(PW)\\r\"",
		"MyLongModuleNameWithWords.Method.aVeryLongFunctionNameThatGoesOnAndOn", "0/{digits15} done", "{hex32}.chunk.js", "AZDO and AzFu",
	} {
		text := form
		for {
			open := strings.Index(text, "{")
			end := strings.Index(text, "}")
			if open < 0 || end < open || strings.HasPrefix(text[open:], "{R") {
				break
			}
			text = text[:open] + idOf(m, text[open+1:end]) + text[end+1:]
		}
		if out, counts := ours.Redact(text); out != text {
			t.Errorf("%q became %q, %v", text, out, counts)
		}
	}
}
