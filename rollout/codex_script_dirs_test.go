package rollout

import "testing"

func TestTheCommandsOfAScriptRunInTheirOwnDirectories(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ js, want string }{
		"two directories": {`tools.exec_command({cmd:'make a', workdir:'/a'}); tools.exec_command({cmd:'make b', workdir:'/b'})`, "(cd /a && make a)\n(cd /b && make b)"},
		"one of two":      {`tools.exec_command({cmd:'make a'}); tools.exec_command({cmd:'make b', workdir:'/b'})`, "make a\n(cd /b && make b)"},
		"the same":        {`tools.exec_command({cmd:'make a', workdir:'/a'}); tools.exec_command({cmd:'make b', workdir:'/a'})`, "make a\nmake b"},
		"with a space":    {`tools.exec_command({cmd:'make a', workdir:'/a b'}); tools.exec_command({cmd:'make b', workdir:'/b'})`, "(cd '/a b' && make a)\n(cd /b && make b)"},
		"with a comment":  {`tools.exec_command({cmd:'make a # all', workdir:'/a'}); tools.exec_command({cmd:'make b', workdir:'/b'})`, "(cd /a && make a # all\n)\n(cd /b && make b)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool, got := codexScript(tt.js)
			if tool != "exec_command" || got != tt.want {
				t.Errorf("got %q of %q, want %q", got, tool, tt.want)
			}
		})
	}
}
