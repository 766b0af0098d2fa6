package secrets

import "testing"

func TestSecretsThatTheirPlaceTellsAreRedacted(t *testing.T) {
	t.Parallel()
	for n, text := range []string{
		// what counts unless the environment says something else
		"const secret = process.env.SECRET || '{{camel}}';", `const key = process.env.API_KEY ?? "{{alnum}}";`,
		"token = os.getenv('TOKEN') or '{{alnum}}'", `pwd = getpass.getpass() or "{{camel}}"`,
		"password: <%= ENV['X'] || '{{camel}}' %>", "password: ${RABBIT_PASSWORD:{{camel}}}", "X=${DB_PASSWORD:-{{weak}}}",
		`@Value("${api.key:{{alnum}}}") String key;`, "secret = ENV['JWT_SECRET'] || '{{camel}}'",
		// declarations with a type
		`var password: String? = "{{weak}}"`, `char pass[] = "{{camel}}";`, `public string Password { get; set; } = "{{strongplain}}";`,
		`password <- "{{camel}}"`, `const SECRET: &str = "{{alnum}}";`, `passwd := []byte("{{weak}}")`, `secretToken: String? = "{{alnum}}"`,
		"password = '''{{weak}}'''", `config.pepper = '{{hex128}}'`,
		// names and values that people choose
		"db_pass: {{camel}}", "  admin_password = {{camel}}", "pw: {{camel}}", "LDAP_BIND_PW={{camel}}",
		// what is handed over by place
		`DriverManager.getConnection(url, "app", "{{weak}}")`, `mysqli_connect("db", "root", "{{weak}}", "shop")`,
		`pymysql.connect("db", "app", "{{camel}}", "shop")`, `new Sequelize('shop', 'app', '{{weak}}', {})`,
		`DBI->connect($dsn, "app", "{{camel}}")`, `smtp.PlainAuth("", "ada@mail.test", "{{strongplain}}", "mail.test")`,
		`http.basic_auth 'ada', '{{weak}}'`, `client.basic_auth("ada", Some("{{camel}}"))`, `db.auth("app", "{{camel}}")`,
		`WiFi.begin("net", "{{camel}}");`, `creds = ("app", "{{camel}}")`,
		`jwt.sign({ id }, '{{camel}}', { expiresIn: '1h' })`, `jwt.verify(t, "{{alnum}}")`, `jwt.encode(payload, "{{camel}}", algorithm="HS256")`,
		`JWT.encode payload, '{{camel}}', 'HS256'`, `token.SignedString([]byte("{{camel}}"))`, `sessions.NewCookieStore([]byte("{{alnum}}"))`,
		`secret := []byte("{{alnum}}")`, `new SecretKeySpec("{{alnum16}}".getBytes(), "AES")`, `.signWith(SignatureAlgorithm.HS256, "{{alnum}}")`,
		`crypto.createCipheriv('aes-256-cbc', '{{alnum}}', iv)`, `openssl_encrypt($d, 'aes-256-cbc', '{{alnum}}')`,
		`var key = Encoding.UTF8.GetBytes("{{alnum}}");`, `new AuthenticationHeaderValue("Bearer", "{{alnum}}")`,
		`fill_in 'Password', with: '{{camel}}'`, `page.fill('input[type="password"]', '{{weak}}')`,
		`cy.get('input[name=password]').type('{{strongplain}}')`,
		// what programs print and people tell
		"[password] => {{camel}}\n", `["password"]=> string(12) "{{weak}}"`, "{Username:app Password:{{camel}} Host:db}",
		"A temporary password is generated for root@localhost: {{strongplain}}", "credentials: admin:{{weak}}\n", "SMTP_CREDENTIALS=ada:{{camel}}\n",
		"log in with user admin and password {{weak}}", "it uses the password {{weak}} now", "use the api key {{alnum}} and go on",
		"I set `DB_PASSWORD` to `{{weak}}`.", "$ pass show shop/db\n{{strongplain}}\n", "$ openssl rand -hex 32\n{{hex64}}\n",
		"$ cat /run/secrets/db_password\n{{alnum16}}\n", "$ terraform output db_password\n\"{{strongplain}}\"\n",
		`MNEMONIC="kor vel tum ran dok lim saf ber nor pel wim tas"`,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			m := maker{newRandom(uint64(n))}
			leaked := []string{"kor vel tum"}
			text := placeholder.ReplaceAllStringFunc(text, func(p string) string {
				value, _ := m.value(p[2 : len(p)-2])
				leaked = append(leaked, value)
				return value
			})
			checkGone(t, text, leaked)
		})
	}
}
