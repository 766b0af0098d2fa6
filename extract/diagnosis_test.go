package extract_test

import (
	"strings"
	"testing"

	"memoir"
)

func TestADiagnosisBeforeTheActIsAFinding(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		said string // before an act, in a message that is not final
		want string // a part of the finding; empty for none
	}{
		{"The `vendor/lame` submodule is registered but missing, which explains the absent header. I'm fetching it.", "which explains the absent header"},
		{"`loadAll` skips a broken profile, but `loadOne` only logs it and registers the profile. I'll fix that in `loadOne`.", "but `loadOne` only logs it"},
		{"Two tests start `mixer` processes that `stop` never ends. I'm stopping them and updating the teardown.", "that `stop` never ends"},
		{"Found it. The watcher of `inotify` gives names without their directory. Let me fix that.", "gives names without their directory"},
		{"One nuance on the cache: `Store.Get` must see the same clock as `Store.Put`. I'm adding that.", "`Store.Get` must see the same clock"},
		{"The reviewer is right: `parseHeader` runs before `open` returns, so setting `mode` afterwards is too late. I'm moving it.", "setting `mode` afterwards is too late"},
		{"One wrinkle: this installer runs with `dash`, so `[[` cannot be used. I'm rewriting the test.", "The installer runs with `dash`"},
		{"The tests passed, but the broken one was never read because `paths` in `app.toml` replaced the default. I'm adding it.", "The broken one was never read because `paths`"},

		{"The build is still compiling, but `core` is done already. I'll wait.", ""},
		{"Now add the missing `open` call to the reader, because it fails. I'm doing that.", ""},
		{"I'm checking whether `open` fails, because that is unclear. I'll see.", ""},
		{"No job has failed, but `lint` remains missing. I'll poll again.", ""},
	} {
		got := of(work().narrates(test.said).runs("make fix", 0, "ok").answers("All good.").extract(t), memoir.StatementDecision)
		if test.want == "" && len(got) > 0 || !holds(got, test.want) && test.want != "" {
			t.Errorf("%q: got %q, want %q", test.said, got, test.want)
		}
	}
}

func TestAnAnnouncedDesignIsADecisionOnceItIsEdited(t *testing.T) {
	t.Parallel()
	step := "I'll keep syntax errors of a profile as real errors, but make unknown keys in `[extra]` warn and go on instead of failing."
	want := "Keep syntax errors of a profile as real errors"
	if got := of(work().narrates(step).edits("/src/app/profile.go").answers("Done.").extract(t), memoir.StatementDecision); !holds(got, want) {
		t.Errorf("carried out, yet lost: %q", got)
	}
	if got := of(work().narrates(step).runs("cat profile.go", 0, "x").answers("Done.").extract(t), memoir.StatementDecision); holds(got, want) {
		t.Errorf("never carried out: %q", got)
	}
}

func TestWhatTheCodeDoesNowIsADecisionBehindAnEdit(t *testing.T) {
	t.Parallel()
	state := "The loader now skips only broken profiles of `extra` and stops at any other."
	if got := of(work().edits("/src/app/profile.go").narrates(state).runs("go test ./...", 0, "ok").answers("Done.").extract(t), memoir.StatementDecision); !holds(got, state) {
		t.Errorf("lost: %q", got)
	}
	s := work()
	for range 5 {
		s.runs("cat profile.go", 0, "x")
	}
	if got := of(s.narrates(state).runs("go test ./...", 0, "ok").answers("Done.").extract(t), memoir.StatementDecision); kept(got, state) {
		t.Errorf("no edit lies behind it: %q", got)
	}
}

func TestFindingsAreReadInOtherLanguages(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ good, bad string }{
		{"Der Test schlägt fehl, weil `Client.Close` die Verbindung nicht abbaut.", "Ich werde `Client.Close` ansehen, weil der Test fehlschlägt."},
		{"Le test échoue parce que `Client.Close` ne ferme jamais la connexion.", "Je vais lire `Client.Close` parce que le test échoue encore ici."},
		{"La prueba falla porque `Client.Close` no cierra nunca la conexión.", "Voy a leer `Client.Close` porque la prueba falla todavía aquí."},
		{"O teste falha porque `Client.Close` não fecha a conexão com o servidor.", "Vou ler `Client.Close` porque o teste falha ainda aqui."},
		{"Тест падает, потому что `Client.Close` не закрывает соединение с сервером.", "Сейчас посмотрю `Client.Close`, потому что тест ещё падает."},
		{"测试失败是因为 `Client.Close` 没有关闭与服务器的连接。", "让我看看 `Client.Close`，因为测试仍然失败了。"},
		{"テストが失敗する原因は `Client.Close` が接続を閉じないことです。", "まず `Client.Close` を見ます。テストが失敗するためです。"},
	} {
		if got := of(work().answers(test.good).extract(t), memoir.StatementDecision); !holds(got, strings.TrimRight(test.good, ".。")) {
			t.Errorf("lost: %q, got %q", test.good, got)
		}
		if got := of(work().answers(test.bad).extract(t), memoir.StatementDecision); len(got) > 0 {
			t.Errorf("no finding: %q, got %q", test.bad, got)
		}
	}
}

func TestWhatFollowsFromAFindingStandsByItself(t *testing.T) {
	t.Parallel()
	got := of(work().answers("`Cache.Load` runs at each start. This means existing `store` files get the new key at the next start.").extract(t), memoir.StatementDecision)
	if !holds(got, "Existing `store` files get the new key at the next start") || holds(got, "This means") {
		t.Errorf("got %q", got)
	}
}

func TestTheStepsOfAFlowAreOneFinding(t *testing.T) {
	t.Parallel()
	got := of(work().answers("Done. The flow now:\n\n1. The player asks `Queue.next`\n2. The queue reads ahead\n3. The player frees the old buffer\n").extract(t), memoir.StatementDecision)
	if !holds(got, "The flow now: The player asks `Queue.next`; The queue reads ahead; The player frees the old buffer") {
		t.Errorf("got %q", got)
	}
}

func TestHowThingsAreDoneFromNowOnIsKept(t *testing.T) {
	t.Parallel()
	got := of(work().answers("Published the plugin. Going forward: tag `main`; the bot opens a draft. Publishing that draft uploads it.").extract(t), memoir.StatementDecision)
	if want := "Going forward: tag `main`; the bot opens a draft. Publishing that draft uploads it."; len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := of(work().answers("From now on, I'll run the tests of `upload` first.").extract(t), memoir.StatementDecision); len(got) > 0 {
		t.Errorf("got %q", got)
	}
}

func TestAnEntryThatAnswersOneOfManyRemarksIsReadWithoutItsNumber(t *testing.T) {
	t.Parallel()
	got := of(work().answers("- Fixed the retry loop in `upload.go`.\n- [app #12](https://example.com/app/pull/12): introduced a stateful `Mixer`, deferring the fade until `Close()`.").extract(t), memoir.StatementOutcome)
	if !holds(got, "Introduced a stateful `Mixer`, deferring the fade until `Close()`") {
		t.Errorf("got %q", got)
	}
}
