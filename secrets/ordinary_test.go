package secrets

import (
	"strings"
	"testing"
)

// ordinary are texts without a secret. Many resemble one with a secret.
var ordinary = []string{
	"commit 8f3a1c9be27d4056f1a2b3c4d5e6f70819a0b1c2\nMerge: 8f3a1c9 be27d40",
	"key 8f3a1c9be27d4056f1a2b3c4d5e6f70819a0b1c2\n",
	"session 019f1fd6-f9a0-7e13-8a8f-cbf5a3fd10d1 resumed",
	"github.com/google/go-cmp v0.7.0 h1:wk8382ETsv4JYUZwIsn6YpYiWiBsYLSJiXSc+lYR0Nk=\n" +
		"github.com/google/go-cmp v0.7.0/go.mod h1:pXiqmnSA92OHEEa9HXL2W4E7lf9JzCmGVUdgjX3N/iU=",
	"sha256:" + strings.Repeat("9f86d081", 8) + " digest",
	`"integrity": "sha512-` + strings.Repeat("k9Xz2Lq0", 10) + `pA=="`,
	"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ" + strings.Repeat("x2Fq", 8) + " me@host",
	"password: string",
	"snmp-server community public RO", "requirepass foobared", "log in as root/administrator today", "the login is at https://x.test/login: see below",
	"https://user:MY_SECRET_TOKEN@db.test/x", "sshpass -p MY_SSH_WORD ssh x", `headers = {"Authorization": "Bearer process.env.API_KEY"}`,
	`curl -H "Authorization: Bearer YOUR_TOKEN" https://api.test`, `curl -H 'X-API-Key: INSERT_API_KEY_HERE' https://api.test`,
	`curl -H "Authorization: Bearer my-access-token" https://api.test`, `curl -u admin:REPLACE_ME https://api.test`,
	`curl -u "$USER:your_password" https://api.test`, `curl -H "Authorization: Bearer eyJhbGciOiJI..." https://api.test`,
	":type passphrase: :py:data:`bytes`", "# For a non-default password file location", "the default password callback",
	":Nread \"machine id password path\"", "machine id password [path/]filename", `extra_args += ["--password", password]`,
	"password: string;\n  token: string | null",
	"token := getToken()",
	"password := os.Getenv(\"PASSWORD\")",
	"password = self.password",
	"password=$PASSWORD",
	"PASSWORD=${PASSWORD:-changeme}",
	"PASSWORD=changeme",
	"PASSWORD=your_password_here",
	"DB_PASSWORD=xxxxxxxx",
	"password: <your password>",
	`password: "********"`,
	`password: "YOUR_PASSWORD"`,
	`"password": "password123"`,
	`"password": { "type": "string", "minLength": 8 }`,
	`password: z.string().min(8)`,
	`Password: req.Password,`,
	`password: hashedPassword2`,
	`if password == "" { return errors.New("password is required") }`,
	"password: ${{ secrets.DB_PASSWORD }}",
	"password: '{{ vault_db_password }}'",
	"--password <token>",
	"--password $TOKEN --password-stdin",
	"--password-file /run/secrets/db1",
	"--password 'the password of the user'", "--passphrase \"$(cat the file)\"", "GPIO_PIN=13", "--pin 12", "gpio_pin: 13", "otp: 2026-01-02", "spin: 4096", "--otp-file 123456", "SPIN=4096", "--pinned 1234",
	"Authorization: Bearer <token>",
	"Authorization: Bearer $TOKEN",
	"Authorization: Bearer ${{ secrets.GITHUB_TOKEN }}",
	"Authorization: Bearer YOUR_API_KEY",
	"Authorization: Basic authentication is used",
	"the bearer authentication middleware",
	"postgres://user:password@localhost:5432/db",
	"postgres://postgres:postgres@localhost/app",
	"https://${USER}:${PASS}@host/",
	"https://<user>:<pass>@host/",
	"http://localhost:3000/@vite/client",
	"git@github.com:owner/repo.git",
	"API_KEY=YOUR_KEY",
	"api_key = <token>",
	"task_queue_manager risk-assessment-report tokenizer_config_loader",
	"task-internationalization-plan disk-encryption-configuration2024",
	"pwd: /home/me/project1/src",
	"OLDPWD=/home/me/project1",
	beginKey + "\n...\n" + endKey,
	"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",

	// other values in the place of a secret
	"\t\t} else if x.typ == my_TAG_DIRECTIVE_TOKEN {\n\t\t\tvalue := parsed_tag_directive_t{\n\t\t\t\thandle: x,\n",
	"const secret = process.env.SECRET || 'development-secret';", "token = token || 'none'", `if token == "" || name == "value1" {`,
	"X=${DB_PASSWORD:-changeme} Y=${TOKEN:?is missing} Z=${TOKEN:0:12} W=${SECRET:-$OTHER}", "password: ${DB_PASSWORD}",
	"key = os.getenv('API_KEY') or config.api_key", "password: hashedPassword", "pass: passThrough", "passwordKey: userPassword2",
	"password: encodePassBase64", "secretToken: String? = null", "char pass[] = \"\";", "token: identifierToken12", "api_key: apiKeyHeader",
	`token = "string1234"`, `"token": "item2024"`, "pw := newWriter(w)", "PASSWORD=$(pass show db)", "PASSWORD=password",
	`DriverManager.getConnection(url, "app", password)`, `mysqli_connect("localhost", "root", "", "shop")`,
	`smtp.PlainAuth("", user, password, "mail.example.com")`, `jwt.sign(payload, secret, { algorithm: 'HS256' })`,
	`jwt.verify(token, publicKey, { algorithms: ['RS256'] })`, `createHmac('sha256', secret)`, `createCipheriv('aes-256-cbc', key, iv)`,
	`secret := []byte("secret")`, `fill_in 'Password', with: password`, `page.fill('input[name="password"]', user.password)`,
	"[password] => Array\n", "{Name:app Token:IDENT Value:x}", "credentials: include\n", "credentials: 'same-origin'\n",
	"enter the user name and password below", "with the password field empty", "set `DB_PASSWORD` to `string`", "the token identifier and so on",
	"use the api key from the settings-page-of-the-service", "$ cat secrets.go\npackage secrets\n", "$ pass show\nPassword Store\n",
	"$ openssl rand -hex 32 > key\nok\n", "seed phrase: the words that you wrote down when you made your wallet must be kept with care",
	"passphrase = \"enter the words here\"",

	// sentences and calls that mention secrets
	"the API key for the service: see the vault", "api key some-name-of-a-thing-in-the-docs is missing",
	"admin/users-v2 and root/packages.json", "see admin/index2.html", "ada@mail.test / 2031-01-02", "(\"ada@mail.test\", \"ada-2\")", "das Passwort ist falsch", "la contraseña es incorrecta",
	"the mot de passe est oublié", "password for the next user is empty", "reset your password to continue", "PASSWORD=\"enter the words here\"", "secret: 'session expired'",
	"session: { secret: 'the words' }", "pass: 'authenticationok'", "password: confirmationcode", "app.auth('administrator')", "token.New(\"identifier\")", "apiKey(\"name-of-the-key-2\")",
	"setValue(\"application/json2\", forHTTPHeaderField: \"Content-Type\")", "proxy_set_header X-Token $http_x_token;", "\"Basic authentication\"", "token \"identifier-of-a-thing\"",
	"case \"token\" \"8f3a\"", "secret    name-of-the-secret-in-the-vault", "SecretID: none", "encrypt = \"yes\"", "\"a\" \"b2\"\n", "\"GET\" \"/index2.html\"\n",
	"password: config.password2", "password: settings.sha256", "password = user.oauth2Token", "password: AgB" + strings.Repeat("k3Jd9sLq0WmZx7Yt2Rv5", 12),
	"docker run --name auth -p 8080:80 nginx", "docker compose run auth -p 127.0.0.1:8080:80", "acmectl auth login -p my-project-123",
	"acmectl login -p \"$PASSW0RD1\"", "pytest -k auth -p no:cacheprovider", "npm run login -- -p src/auth/tsconfig2", "git show auth -p a1b2c3d4e5",
	"docker login -u ci -p $CI_JOB_TOKEN registry.test", "sed -i \"s/password=.*/password=$NEW/\" app.conf", "/verify/the-mail-address-of-a-person-who-asked",
	"otp = \"enabled\"", "option key 'ifname'", "community = \"public\"", "{\"type\":\"token\",\"value\":\"identifier\"}", "a \\/ b.c\\/d: 2",
	">>> settings.SECRET_KEY\n'django.core.key'\n", ">>> user.token\n'identifier'\n", "primaryKey: 'user_account_id'", "bcrypt('password')",

	// lines like those of password files
	"password: string\n", "password = getpassword\n", "type: password\n", "  password: required\n", "password: userinput", "if password == \"something\" {", "Pass 'parameters' and 'arguments'", "passwd = readpassword\n", "'password' => 'nullable'",
	"password: Optional[SecretStr] = None\n", "label for=\"password\">Password</label>", "secret: \"application\"", "secretName: kubernetes", "SECRET: generated\n", "jwt.verify(token, publickey)", "jwt.sign(payload, 'yoursecret')",
	"user name pass through", "the username and password combination", "login with password protection", "root passes v2.1", "is the password right?\nit's in the vault\n", "GPIO PIN 13", "pin 1: ground", "see PINs 4 to 8",
	"main.go:10:20: undefined", "node:18-alpine", "ada:x:1001:1001:Ada:/home/ada:/bin/sh", "daemon:*:18212:0:99999:7:::", "com2sec readonly default public\n", "rocommunity public localhost\n", "a[1]:22 x:y\n", "mail.test    relay:[smtp.test]:587\n",
	"imp from/where", "exp 2/3", "sqlplus / as sysdba", "line 12\n password field\n", "quote the password", "100 => 200,Ada", "github(\"https://github.test/some/repository\")", "OAuthHandler('the-name-of-a-client')", "Github(\"repository-of-the-project\")",
	"environ['API_KEY'] = 'name-of-the-key'", "<key>CFBundleKey</key><string>com.acme.the.name.of.a.thing</string>", "slack: engineering\n", "open -u web ftp.test", "read the code name as the password of", "credentials are stored/kept", "a simple password simple", "\"master\": \"main\"", "newUint64", "password: newUint64", "password: util.sha256", "secret=none\n", "chown root:wheel2 x", "root:x:0:0:root:/root:/bin/sh", "image admin:v2.1.0", "Pass: TestThing\n", "a@mail.test - 2031-01-02\n", "**x**: linux / amd64", "is the pw?\nBob: no\n", "the wifi is down", "user=ada:staff\n", "name = thing, user\n", "signing-key: aes-256\n", "cpanel: ada/files\n", "a.test / b / c\n", "seed: 42\n", "'ada@mail.test','2031-01-02'",

	// names and words
	"password: InputPassword\n", "password = \"PasswordField\"\n", "password: someValue2\n", "type=\"Password\"", "password: \"ShowHide\"", "PASSWORD=GetValue\n", "password: 'enter a new password here'", "\"password\": \"passwords do not match\"",
	"the passphrase is `never stored on the disk`", "password: the one that you were given\n", "passphrase: required for encrypted keys\n", "my passphrase is lost\n", "PASSWORD=\"Enter it here\"\n", "<password>some text of the page</password>", "DB_PASSWORD=db-password-of-the-vault\n", "--password \"the same as before\"", "password, \"getUserById\"", "<password>PasswordText</password>", "password: user_name2\n", "connect app/server@v2.1.0\n", "Connect to a/b2c@home, then", "passwd = readPassword1\n", "password := FieldValue1\n",
	"mysqli_real_connect($l, 'db', 'app', $password, 'shop2')", "echo user logged in > log\n", "auth_server : PSKs are kept\n", "\"ada\" \"v2.1\"\n",
	"// issue 50987\n", "https://a.test/davis ada bob\n", "Const X As String = \"value\"", "c.connect('db.test', 22, 'root', password)", "the \"password\" { sends it", "<psk>required</psk>", "encryption:\n  key: main\n", "  password = FieldNames\n", "in cleartext \"as it is\"",
	"service_key: name-of-it\n", "{cookie, Value}", "SECRET=default\n", "password FieldName\n", "client.auth('app', 'readWrite')", "drpass { restart \"\"; }", "credentials: {mode: sameOrigin, x: \"SameOrigin\"}", "curl -u user-name-of-the-service: x\n", "the new key was " + strings.Repeat("8f3a1c9b", 5) + " then", "password -> String\n", "login serveradmin first\n",

	// tests, notes and tools
	"<input value=\"Sign-in\" id=\"reset-password\">", "<option value=\"none\" name=\"secret\">", "<a value=\"{{ password }}\" name=\"password\">", "<input value=\"Password2\" name=\"password\">",
	"r.addValue(\"application/json2\", forHTTPHeaderField: \"Content-Type\")", "{{ password | password_hash('sha512') }}", "'{{ user }}' | password_hash",
	"And I enter \"something\" into the \"Password\" field", "When I fill in \"Password\" with \"<password>\"", "I fill in \"Password\" with \"password1\"",
	"${PASSWORD}    ${EMPTY}\n", "${PASSWORD}    password\n", "${TOKEN}    Get Token    user2\n", "    Input Password    id=pass    ${PASSWORD}\n", "    Input Text    id=user2    ada77\n", "cp ${TOKEN}  ${DIR}\n",
	"ssh.connect('10.0.0.2', 22, 'root', password)", "FTP(\"ftp.acme.test\", user, password)", "keyring.set_password(service, user, password)",
	"- **API key:** see the vault for it", "**Token:** the value of a header", "**Token:** `identifier-of-a-thing`", "**admin** / **users**", "- **Secret:** name-of-the-secret-in-the-vault",
	"the password for users is hashed", "the password is base64-encoded", "my password was 16-char", "the new password will be sent by mail", "the root pass is O(n2)", "the db password is config.password2", "the user password is in v2.13",
	"the pass is 3x faster", "the server pass = pass2", "my pass: 2nd", "(pw 8chars)", "the first pass is 1.5x slower", "the password is utf8.", "the admin password is at least 8characters",
	"backup codes: none", "the recovery code for 2031-01-02", "recovery code: 404", "error codes: ab12-cd34", "Recovery codes are 10 codes of 8 digits", "backup code in store-2/main-3.go",
	"user = \"www-data:www-data\"\n", "user: \"1000:1000\"\n", "user = \"1000:1000\"\n", "user = \"${UID}:${GID}\"\n", "user = \"ns:system2\"\n",
	"{oldPassword: password1, newPassword: password2}", "{userPassword: req.body.password1}", "{dbPass: string, n: 1}", "{ confirmPassword: hash2, b }", "{dbPassword: getSecret2, b: 1}",
	"QStringLiteral(\"password\")", "password = QStringLiteral(\"Password\")", "cookie_secret = bytes.fromhex(value)", "masterSecret := fromHex(\"" + "8A43D787EE3804EAD4A2A5B3" + "2972F9896B696295645D7222" + "\")", "password:: std.extVar('password1')", "{password, <<\"password\">>}", "{token, value2}",
	"search(\"cn=admin,dc=acme\", \"cn=b2,dc=acme\")", "search(\"cn=admin\", \"(uid=ada2)\")", "(\"cn=admin\", \"memberOf\")", "DB_PASS := $(shell cat pass2)\n", "TOKEN := token\n", "SECRET := ./secret2.txt\n", "API_KEY ?= $(KEY2)\n",
	"\"key\" -> \"the-name-of-some-value-2\"", "gateway.privateKey('name-of-the-key-in-it')", "Password (again): repeat", "password (optional): string2", "http 10.0.0.1 1080\n", "deploy --auth some-plugin-name-of-length-2", "btoa(\"user:password\")", "b64encode(b'content-type:text2')", "btoa(user + \":\" + pass2)", "x.set(\"value1\", forKey: \"name\")",
	"\"auth\": \"basic\"", "\"auth\": \"oauth2Client\"", "\"auth\": \"getUserAuthToken\"", "\"auth\": \"bearer-token-v2\"", "here_is_a_thing_that_is_long_enough_to_be_one",

	// words for secrets in names and sentences
	"Nodes are identified by sha256-digests and not by names.", "each item is identified by name@version1 of it", "identified by 'x-request-id2' header",
	"compass: north-east2 bypass=enabled2", "pass=1234567 fail=2", "pass: 12 of 14", "parse_all=True, pass_all=False2", "--password-file=/etc/x1/pass2",
	"static void GLC_" + "CreateLightmapTexturesIndividual(void);", "| `_auth_pass` | `string` |", `{"a":"the password workflow-3.\""}`,
	`f(x="the password workflow-3.", encryption_key=key)`, "api_key:\nromvetrok_makfimpar5 and more\n", "db_password=\nnext_name1 = x\n",

	// fields and cells
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

	// names before a bracket
	"if !s.ReadUint16LengthPrefixed(&list) {", "encryptionKey1024: dk.encryptionKey1024,",
	"keyHex:  pkcs8P224PrivateKeyHex,", "PrivateKey:  testRSA2048PrivateKey,",

	// lines that end in an escape
	`{"output":"8f3a1c9 fix the password check\n1935cda add another 2\n"}`,
	`{"output":"messages.required=Password is required\nkey.serializer=x2\n"}`,
	`{"output":"das Passwort ist falsch\nluis: 2 mal\n"}`,

	// markers
	"[REDACTED:github-pat]",
	`curl -u "[REDACTED:curl-auth-user]" https://x`,
	`password = "[REDACTED:password-assignment]"`,
	"[REDACTED:private-key]\n\n\n",

	// variables of a shell for other keys
	"PRIMARY_KEY=id", "CACHE_KEY=deps-v3-linux", "SORT_KEY=created_at", "KEY=F5", "CACHE_KEY=Linux-k8s-v1-{{hex8}}", "GPG_KEY={{hexupper40}}", "ROW_KEY={{uuid}}",
	"SSH_KEY=~/.ssh/id_ed25519", "SSH_KEY=keys/Prod2b.pem", "KEY=$HOME/Key2b3c", "KEY=Base64Key2", "SORT_KEY=createdAt2:desc", "KEY=2026-05-20T12:00:00Z", "PUBLIC_KEY={{bytes32}}", "KEY=Ctrl+F12",
	"DEPLOY_KEY=xxxxxxx9Xx", "DEPLOY_KEY=<Your-key-2b3>", "MONKEY={{alnum16}}", "https://a.test/x?KEY=Zx9qLmN2aa", "PASSWORD='enter the new one'", "PASSWORD='must not stay empty'", "DB_PASSWORD='some long password'",

	// lines that end in words
	"The commit 8f3a1c9be27d4056f1a2b3c4d5e6f70819a0b1c2 changes how the run-length\n" +
		"encoder2 works and the branch of version-1.2.3-rc4 has it since release-2026.05\n" +
		"and later2 ones too, as github.com/google/go-cmp@v0.7.0 and the others with it do\n",

	// similar to tokens
	"task-{{hex32}}", "disk-{{hex40}}", "cache-key-{{hex32}}", "restored cache-key-{{hex32}}-us", "{{hex32}}-users.json", "sk-fading-circle sk-spinner-three-bounce",
	"secret_key_base secret_name_of_the_service", "pk_id pk_user_id", "pattern.{{hex64}}", "dp.state.next", "{{b64-43}}/EAA{{b64-90}}/{{b64-30}}",
	"infura.io/v3/YOUR-PROJECT-ID", "https://user@git.test/x.git", "https://my-long-user-name-here@git.test/x.git",
	"AKI" + "AIOSFODNN7EXAMPLE\n{{hex40}}x", "kubeadm join --token abcdef.0123456789abcdef", "docker login --username foo --password-stdin",
	"docker login -u foo --password $TOKEN", "gpg --passphrase-file /run/secret1", "keytool -storepass changeit",
	"redis-server --requirepass ${REDIS_PASSWORD}", "useradd -m dana -p $(openssl passwd -1)", "openssl enc -k $KEY", "set -x PATH /usr/local/bin2 $PATH",
	"ngrok config add-authtoken <token>", "mosquitto_sub -h mq -P 1883", "nodes: [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32]",
	"MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ", `cert = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA{{b64-200}}"`,
	"<P>{{b64-43}}</P> is a paragraph", "requirepass foobared", "snmp-server community public RO", "enable password <value>", "  rate * value1 *\n", "x * 1048576 *\n",
	" * password *\n", "x = a * b2 * c\n", "nickserv identify password", "nickserv identify <password>", "RWQ{{b64-53}}", "expect \"password:\"; send \"$env(PW)\\r\"",
	"MyLongModuleNameWithWords.Method.aVeryLongFunctionNameThatGoesOnAndOn", "0/{{digits15}} done", "{{hex32}}.chunk.js", "AZDO and AzFu",
}

func TestOrdinaryTextStaysAsItIs(t *testing.T) {
	t.Parallel()
	for n, form := range ordinary {
		text, _ := maker{newRandom(uint64(n))}.fill(form)
		if out, counts := ours.Redact(text); out != text {
			t.Errorf("%q became %q, %v", text, out, counts)
		}
	}
}

// ids are forms of hashes and identifiers, which are frequent in transcripts.
var ids = []string{
	"{{hex40}}", "{{hex7}} Fix the parser", "commit {{hex40}}", "index {{hex7}}..{{hex7}} 100644", "Merge: {{hex7}} {{hex7}}",
	"HEAD is now at {{hex7}} Add a test", "{{hex40}}\trefs/heads/main", "Fast-forward {{hex40}}..{{hex40}}", "tree {{hex40}}",
	"go.mod h1:{{bytes32}}", "github.com/google/go-cmp v0.7.0 h1:{{bytes32}}", "github.com/google/go-cmp v0.7.0/go.mod h1:{{bytes32}}",
	"v0.0.0-20260520120000-{{hex12}}", `"integrity": "sha512-{{bytes64}}"`, `  integrity sha512-{{bytes64}}`, `"shasum": "{{hex40}}",`,
	`checksum = "{{hex64}}"`, `hash = "sha256:{{hex64}}"`, `--hash=sha256:{{hex64}}`, "{{hex64}}  app.tar.gz", "{{hex32}} *setup.exe",
	"sha256:{{hex64}}", "app@sha256:{{hex64}}", "Digest: sha256:{{hex64}}", "{{hex12}}   nginx   \"/docker-entrypoint\"",
	"SHA256:{{b64-43}} deploy@host (ED25519)", "MD5 (x) = {{hex32}}", "SHA1({{hex40}})", "etag: \"{{hex32}}\"", `ETag: W/"{{hex40}}"`,
	"{{uuid}}", "session {{uuid}} resumed", `"uuid":"{{uuid}}","parentUuid":"{{uuid}}"`, `session_id: {{uuid}}`, `"sessionId": "{{uuid}}"`,
	`"requestId":"req_01{{base58-22}}"`, `"id":"toolu_01{{base58-22}}"`, `"call_id":"call_{{alnum24}}"`, `"id":"msg_{{hex48}}"`,
	`"id":"chatcmpl-{{alnum29}}"`, `"id":"resp_{{hex48}}"`, `"sessionID":"ses_{{alnum26}}"`, `"messageID":"msg_{{alnum26}}"`,
	"01{{crockford24}}", "id: {{alnum27}}", "_id: ObjectId(\"{{hex24}}\")", "nanoid: {{nano21}}", "{{nano21}}",
	"traceparent: 00-{{hex32}}-{{hex16}}-01", "trace_id={{hex32}} span_id={{hex16}}", "X-Request-Id: {{uuid}}", "X-Amzn-Trace-Id: Root=1-{{hex8}}-{{hex24}}",
	"request id: {{hex32}}", "cf-ray: {{hex16}}-FRA", "Qm{{base58-44}}", "bafybei{{base32lower52}}", "bc1q{{crockfordlower38}}",
	"1{{base58-33}}", "0x{{hex40}}", "0x{{hex64}}", "i-0{{hex16}}", "vpc-0{{hex16}}", "arn:aws:iam::123456789012:role/x-{{hex8}}",
	"uid: {{uuid}}", "resourceVersion: \"{{digits9}}\"", "pod/web-{{lower10}}-{{lower5}} created", "containerID: containerd://{{hex64}}",
	"ssh-rsa AAAAB3NzaC1yc2EAAAADAQAB{{b64-340}} me@host", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{{b64-43}} me@host",
	"PublicKey = {{bytes32}}", "age1{{crockfordlower58}}", "public_key: {{bytes32}}", "recipient: age1{{crockfordlower58}}",
	"RW{{b64-54}}", "key fingerprint: {{fingerprint}}", "{{fingerprint}}", "keyid {{hex16}}", "gpg: key {{hexupper16}}: public key imported",
	`"sha": "{{hex40}}"`, `"hash": "{{hex64}}"`, `"digest": "sha256:{{hex64}}"`, `"checksum": "{{hex32}}"`, `"fingerprint": "{{hex64}}"`,
	"cache_key: {{hex64}}", "Cache restored from key: Linux-go-{{hex64}}", "build id {{hex40}}", "BuildID[sha1]={{hex40}}",
	"narHash = \"sha256-{{bytes32}}\"", "sha256 = \"{{base32lower52}}\"", "/nix/store/{{base32lower32}}-hello-2.12",
	"main.{{hex8}}.js", "chunk-{{base32lower8}}.mjs", "/_next/static/{{nano21}}/_buildManifest.js", "sourceMappingURL=app.{{hex20}}.js.map",
	"terraform-{{digits26}}", "snowflake {{digits18}}", "order {{hexupper8}}-{{digits6}}", "ticket ABC-{{digits5}}", "ISBN 978{{digits10}}",
	"blob:https://app.test/{{uuid}}", "urn:uuid:{{uuid}}", "{{uuidupper}}", "GUID {{hex32}}", "device {{mac}}",
	"\"prompt_cache_key\":\"{{uuid}}\"", "\"turn_id\":\"{{uuid}}\"", "\"leafUuid\":\"{{uuid}}\"", "conversation {{uuid}}", "thread_{{alnum24}}",
	"golang.org/x/oauth2 v0.24.0 h1:{{bytes32}}", "cloud.google.com/go/auth v0.9.3/go.mod h1:{{bytes32}}", "modernc.org/token v1.1.0 h1:{{bytes32}}",
	"github.com/hashicorp/vault/api v1.29.4 h1:{{bytes32}}", "key={{uuid}}", `"key": "{{uuid}}"`, `data-key="{{uuid}}"`, `"ChangeToken": "{{uuid}}"`, `<li data-key="{{nano21}}">`, `"token": "vault:secret/data/{{lower5}}#password"`, "DB_PASSWORD: '@Microsoft.KeyVault(SecretUri=https://x/{{hex32}})'", "client_request_token = {{uuid}}",
	"verify_key: {{hex64}}", "restore-keys: npm-{{hex16}}", `"key":"01{{crockford24}}"`,
	"openapi_spec_hash: {{hex32}}", "api_version_hash = {{hex40}}", "accessibility_hash: {{hex32}}",
}

func TestHashesAndIdentifiersStayAsTheyAre(t *testing.T) {
	t.Parallel()
	m := maker{newRandom(77)}
	var all strings.Builder
	for _, form := range ids {
		for range 20 {
			text, _ := m.fill(form)
			all.WriteString(text + "\n")
			if out, counts := ours.Redact(text); out != text {
				t.Errorf("%s became %s, %v", text, out, counts)
				break
			}
		}
	}
	if out, counts := ours.Redact(all.String()); out != all.String() && !t.Failed() {
		was, is := strings.Split(all.String(), "\n"), strings.Split(out, "\n")
		for i := range was {
			if was[i] != is[i] {
				t.Errorf("all of them together lost %v: %s became %s", counts, was[i], is[i])
				break
			}
		}
	}
}
