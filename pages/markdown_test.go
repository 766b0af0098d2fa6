package pages

import (
	"html/template"
	"strings"
	"testing"
)

// Markdown makes no element that its own syntax does not name, and leads nowhere but to pages of the web and, in a memory,
// to its files.
func TestMarkdownIsShownAndRunsNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"**a** `b` ~~c~~", "<p><strong>a</strong> <code>b</code> <del>c</del></p>"},
		{"# a", "<h3>a</h3>"},
		{"<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"},
		{"<div onclick=x>\n\n- <b>Vec<T></b>", "<p>&lt;div onclick=x&gt;</p>\n<ul>\n<li>&lt;b&gt;Vec&lt;T&gt;&lt;/b&gt;</li>\n</ul>"},
		{"<!-- a -->", "<p>&lt;!-- a --&gt;</p>"},
		{"`</main><script>`", "<p><code>&lt;/main&gt;&lt;script&gt;</code></p>"},
		{"```\n</pre><script>\n```", "<pre><code>&lt;/pre&gt;&lt;script&gt;\n</code></pre>"},
		{"```x\" onload=\"y\na\n```", "<pre><code class=\"language-x&quot;\">a\n</code></pre>"},
		{"&lt;script&gt; &#60;b&#62; &amp;lt;", "<p>&lt;script&gt; &lt;b&gt; &amp;lt;</p>"},
		{"[a](javascript:alert(1))", "<p>a (javascript:alert(1))</p>"},
		{"[a](JaVaScRiPt&colon;alert(1))", "<p>a (JaVaScRiPt&amp;colon;alert(1))</p>"},
		{"[a](&#106;avascript:x \"t\")", "<p>a (&amp;#106;avascript:x)</p>"},
		{"[a](data:text/html,x) [b](vbscript:x) [c](file:///etc) [d](//host/x) [e](/queue) [f](http:x)",
			"<p>a (data:text/html,x) b (vbscript:x) c (file:///etc) d (//host/x) e (/queue) f (http:x)</p>"},
		{"[a](https://b.test/c?d=e&f 'g')", `<p><a href="https://b.test/c?d=e&amp;f" rel="noreferrer">a</a></p>`},
		{"[a](https://b.test/\"onclick=x)", `<p><a href="https://b.test/%22onclick=x" rel="noreferrer">a</a></p>`},
		{"[a](https://me:pw@b.test/)", "<p>a (https://me:pw@b.test/)</p>"},
		{"<https://b.test> <javascript:alert(1)> <a@b.test>",
			`<p><a href="https://b.test" rel="noreferrer">https://b.test</a> javascript:alert(1) a@b.test</p>`},
		{"see https://b.test/c and ftp://b.test", `<p>see <a href="https://b.test/c" rel="noreferrer">https://b.test/c</a> and ftp://b.test</p>`},
		{"![a](https://b.test/c.png) ![](x.png)", "<p>a (https://b.test/c.png)  (x.png)</p>"},
		{"[![a](b.png)](https://b.test)", `<p><a href="https://b.test" rel="noreferrer">a (b.png)</a></p>`},
		{"[a]\n\n[a]: javascript:x", "<p>[a]</p>\n<p>[a]: javascript:x</p>"},
		{"[a](../x/y.md#z) [b](../../../x) [c](y?z)", `<p><a href="/m?file=skills%2Fx%2Fy.md" rel="noreferrer">a</a> b (../../../x) c (y?z)</p>`},
		{"|a|\n|-:|\n|<b>|", "<table>\n<thead>\n<tr>\n<th align=\"right\">a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td align=\"right\">&lt;b&gt;</td>\n</tr>\n</tbody>\n</table>"},
	} {
		got, err := Prose{Text: test.text, Memory: "/m", File: "skills/w/SKILL.md"}.Render()
		if err != nil || strings.TrimSpace(string(got)) != test.want {
			t.Errorf("%q is\n%s, want\n%s", test.text, got, test.want)
		}
	}
	for _, heavy := range []string{strings.Repeat("*a_ ", 30_000), strings.Repeat("*a\n", 30_000), strings.Repeat(">", 100_000),
		strings.Repeat("- ", 20_000), strings.Repeat("1) ", 20_000)} { // they would take minutes
		got, err := Prose{Text: heavy + "\n</main>", marks: []template.HTML{"<a>", ""}}.Render()
		if err != nil || !strings.Contains(string(got), "<a>") || !strings.HasSuffix(string(got), "<p>&lt;/main&gt;</p>") {
			t.Errorf("%.20q: %.100s", heavy, got)
		}
	}
	if got, _ := (Prose{Text: "[a](b.md)"}).Render(); string(got) != "<p>a (b.md)</p>\n" {
		t.Errorf("outside of a memory: %s", got)
	}
}
