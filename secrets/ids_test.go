package secrets

import (
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// ids lists the forms of hashes and identifiers that transcripts are full of. What
// stands in braces is made when the test runs, of the alphabet of that name.
var ids = []string{
	"{hex40}", "{hex7} Fix the parser", "commit {hex40}", "index {hex7}..{hex7} 100644", "Merge: {hex7} {hex7}",
	"HEAD is now at {hex7} Add a test", "{hex40}\trefs/heads/main", "Fast-forward {hex40}..{hex40}", "tree {hex40}",
	"go.mod h1:{sum256}", "github.com/google/go-cmp v0.7.0 h1:{sum256}", "github.com/google/go-cmp v0.7.0/go.mod h1:{sum256}",
	"v0.0.0-20260520120000-{hex12}", `"integrity": "sha512-{sum512}"`, `  integrity sha512-{sum512}`, `"shasum": "{hex40}",`,
	`checksum = "{hex64}"`, `hash = "sha256:{hex64}"`, `--hash=sha256:{hex64}`, "{hex64}  app.tar.gz", "{hex32} *setup.exe",
	"sha256:{hex64}", "app@sha256:{hex64}", "Digest: sha256:{hex64}", "{hex12}   nginx   \"/docker-entrypoint\"",
	"SHA256:{sum43} deploy@host (ED25519)", "MD5 (x) = {hex32}", "SHA1({hex40})", "etag: \"{hex32}\"", `ETag: W/"{hex40}"`,
	"{uuid}", "session {uuid} resumed", `"uuid":"{uuid}","parentUuid":"{uuid}"`, `session_id: {uuid}`, `"sessionId": "{uuid}"`,
	`"requestId":"req_01{base58-22}"`, `"id":"toolu_01{base58-22}"`, `"call_id":"call_{alnum24}"`, `"id":"msg_{hex48}"`,
	`"id":"chatcmpl-{alnum29}"`, `"id":"resp_{hex48}"`, `"sessionID":"ses_{alnum26}"`, `"messageID":"msg_{alnum26}"`,
	"01{crockford24}", "id: {ksuid}", "_id: ObjectId(\"{hex24}\")", "nanoid: {nano21}", "{nano21}",
	"traceparent: 00-{hex32}-{hex16}-01", "trace_id={hex32} span_id={hex16}", "X-Request-Id: {uuid}", "X-Amzn-Trace-Id: Root=1-{hex8}-{hex24}",
	"request id: {hex32}", "cf-ray: {hex16}-FRA", "Qm{base58-44}", "bafybei{base32-52}", "bc1q{crockfordlower38}",
	"1{base58-33}", "0x{hex40}", "0x{hex64}", "i-0{hex16}", "vpc-0{hex16}", "arn:aws:iam::123456789012:role/x-{hex8}",
	"uid: {uuid}", "resourceVersion: \"{digits9}\"", "pod/web-{lower10}-{lower5} created", "containerID: containerd://{hex64}",
	"ssh-rsa AAAAB3NzaC1yc2EAAAADAQAB{b64-340} me@host", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b64-43} me@host",
	"PublicKey = {sum256}", "age1{crockfordlower58}", "public_key: {sum256}", "recipient: age1{crockfordlower58}",
	"RW{b64-54}", "key fingerprint: {fingerprint}", "{fingerprint}", "keyid {hex16}", "gpg: key {hexupper16}: public key imported",
	`"sha": "{hex40}"`, `"hash": "{hex64}"`, `"digest": "sha256:{hex64}"`, `"checksum": "{hex32}"`, `"fingerprint": "{hex64}"`,
	"cache_key: {hex64}", "Cache restored from key: Linux-go-{hex64}", "build id {hex40}", "BuildID[sha1]={hex40}",
	"narHash = \"sha256-{sum256}\"", "sha256 = \"{base32lower52}\"", "/nix/store/{base32lower32}-hello-2.12",
	"main.{hex8}.js", "chunk-{base32lower8}.mjs", "/_next/static/{nano21}/_buildManifest.js", "sourceMappingURL=app.{hex20}.js.map",
	"terraform-{digits26}", "snowflake {digits18}", "order {hexupper8}-{digits6}", "ticket ABC-{digits5}", "ISBN 978{digits10}",
	"blob:https://app.test/{uuid}", "urn:uuid:{uuid}", "{uuidupper}", "GUID {hex32}", "device {mac}",
	"\"prompt_cache_key\":\"{uuid}\"", "\"turn_id\":\"{uuid}\"", "\"leafUuid\":\"{uuid}\"", "conversation {uuid}", "thread_{alnum24}",
	"golang.org/x/oauth2 v0.24.0 h1:{sum256}", "cloud.google.com/go/auth v0.9.3/go.mod h1:{sum256}", "modernc.org/token v1.1.0 h1:{sum256}",
	"github.com/hashicorp/vault/api v1.29.4 h1:{sum256}", "key={uuid}", `"key": "{uuid}"`, `data-key="{uuid}"`, `"ChangeToken": "{uuid}"`, `<li data-key="{nano21}">`, `"token": "vault:secret/data/{lower5}#password"`, "DB_PASSWORD: '@Microsoft.KeyVault(SecretUri=https://x/{hex32})'", "client_request_token = {uuid}",
	"verify_key: {hex64}", "restore-keys: npm-{hex16}", `"key":"01{crockford24}"`,
	"openapi_spec_hash: {hex32}", "api_version_hash = {hex40}", "accessibility_hash: {hex32}",
}

func idOf(m maker, kind string) string {
	const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	n := 0
	name := strings.TrimRight(kind, "0123456789")
	fmt.Sscanf(kind[len(name):], "%d", &n)
	seed := []byte(m.text(letters, 20))
	switch name {
	case "hex":
		if n == 40 {
			return fmt.Sprintf("%x", sha1.Sum(seed))
		}
		return m.text(hexes, n)
	case "hexupper":
		return strings.ToUpper(m.text(hexes, n))
	case "sum":
		switch n {
		case 256:
			sum := sha256.Sum256(seed)
			return base64.StdEncoding.EncodeToString(sum[:])
		case 512:
			sum := sha512.Sum512(seed)
			return base64.StdEncoding.EncodeToString(sum[:])
		}
		return m.text(letters+"+/", n)
	case "uuid":
		return m.text(hexes, 8) + "-" + m.text(hexes, 4) + "-7" + m.text(hexes, 3) + "-a" + m.text(hexes, 3) + "-" + m.text(hexes, 12)
	case "uuidupper":
		return strings.ToUpper(idOf(m, "uuid"))
	case "base58-":
		return m.text(base58, n)
	case "base32-", "base32lower":
		return m.text(lowers+"234567", n)
	case "crockford":
		return m.text("0123456789ABCDEFGHJKMNPQRSTVWXYZ", n)
	case "crockfordlower":
		return m.text("023456789acdefghjklmnpqrstuvwxyz", n)
	case "ksuid":
		return m.text(letters, 27)
	case "alnum":
		return m.text(letters, n)
	case "nano":
		return m.text(letters+"_-", n)
	case "lower":
		return m.text(lowers+numbers, n)
	case "digits":
		return m.text(numbers, n)
	case "b64-":
		return m.text(letters+"+/", n)
	case "mac", "fingerprint":
		parts := make([]string, 16)
		for i := range parts {
			parts[i] = m.text(hexes, 2)
		}
		if name == "mac" {
			parts = parts[:6]
		}
		return strings.Join(parts, ":")
	}
	panic("no id is called " + kind)
}

func TestHashesAndIdentifiersStayAsTheyAre(t *testing.T) {
	t.Parallel()
	m := maker{newRandom(77)}
	total := 0
	var all strings.Builder
	for _, form := range ids {
		for range 20 {
			text := form
			for {
				open := strings.Index(text, "{")
				if open >= 0 && strings.HasPrefix(text[open:], "{{") {
					open++
				}
				if open < 0 {
					break
				}
				end := open + strings.Index(text[open:], "}")
				if end < open {
					break
				}
				text = text[:open] + idOf(m, text[open+1:end]) + text[end+1:]
				if strings.HasPrefix(form, "{{") {
					text = "{" + strings.Trim(text, "{}") + "}"
					break
				}
			}
			total++
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
	t.Logf("%d of %d forms", total, len(ids))
}
