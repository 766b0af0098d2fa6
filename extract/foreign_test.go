package extract_test

import (
	"testing"

	"memoir"
)

func TestRulesOfOtherLanguagesAreToldFromRequestsAndComplaints(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		language string
		rules    []string
		others   []string
	}{
		{"German", []string{
			"Bitte keine neuen Abhängigkeiten einbauen", "Verwende tabs statt Leerzeichen", "Nie direkt auf den Hauptzweig pushen", "Vor jedem Commit immer die Tests laufen lassen",
			"Fass die Vorlagen nicht an", "Lass die öffentliche Schnittstelle wie sie ist", "nicht npm, sondern pnpm", "Wir verwenden hier nur Postgres", "Ab jetzt bitte englische Commit-Nachrichten",
			"Ich bevorzuge kleine Commits", "Alle neuen Endpunkte müssen einen Test haben", "Bau den Export um, ohne die Schnittstelle zu ändern",
		}, []string{
			"Der Test läuft nie durch", "Das funktioniert immer noch nicht", "Push erstmal nicht", "Diesmal bitte keine Tests", "Noch nicht committen", "Mach das nicht", "Kannst du den Fehler beheben?", "Füge einen Knopf hinzu",
		}},
		{"French", []string{
			"N'utilise jamais npm ici", "Ne touche pas aux fichiers générés", "Toujours lancer les tests avant de pousser", "Pas de nouvelles dépendances", "Laisse l'interface publique telle quelle",
			"Utilise pnpm au lieu de npm", "Nous utilisons Postgres partout", "Je préfère les petits commits", "Refais l'export sans casser l'interface",
		}, []string{
			"Le test ne passe jamais", "Ça ne marche toujours pas", "Ne pousse pas pour l'instant", "Cette fois, pas de tests", "Peux-tu corriger l'erreur ?", "Ajoute un bouton",
		}},
		{"Spanish", []string{
			"No toques los archivos generados", "Siempre ejecuta las pruebas antes de subir", "Usa pnpm en lugar de npm", "Nunca subas a main", "Deja la interfaz pública como está", "Prefiero commits pequeños",
			"En este proyecto usamos Postgres", "Evita los comentarios obvios en el código", "Rehaz la exportación sin romper la interfaz",
		}, []string{
			"El test nunca pasa", "No subas nada por ahora", "Esta vez sin pruebas", "¿Puedes corregir el error?", "Añade un botón", "No hagas eso",
		}},
		{"Portuguese", []string{
			"Não mexa nos arquivos gerados", "Sempre rode os testes antes do push", "Use pnpm em vez de npm", "Nunca faça push direto na main", "Deixe a interface pública como está", "Prefiro commits pequenos",
		}, []string{
			"O teste nunca passa", "Não faça push por enquanto", "Desta vez sem testes", "Você pode corrigir o erro?", "Adicione um botão",
		}},
		{"Italian", []string{
			"Non toccare i file generati", "Esegui sempre i test prima del push", "Usa pnpm invece di npm", "Mai fare push su main", "Lascia l'interfaccia pubblica com'è", "Preferisco commit piccoli",
		}, []string{
			"Il test fallisce sempre", "Non fare push per ora", "Questa volta niente test", "Puoi correggere l'errore?", "Aggiungi un pulsante",
		}},
		{"Dutch", []string{
			"Geen nieuwe afhankelijkheden toevoegen", "Gebruik pnpm in plaats van npm", "Nooit direct naar main pushen", "Draai altijd eerst de tests", "We gebruiken hier alleen Postgres", "Laat de publieke interface zoals die is",
		}, []string{
			"De test slaagt nooit", "Voorlopig geen tests draaien", "Nog niet pushen", "Kun je de fout herstellen?", "Voeg een knop toe",
		}},
		{"Russian", []string{
			"Не трогай сгенерированные файлы", "Всегда запускай тесты перед коммитом", "Используй pnpm вместо npm", "Никогда не пушь прямо в main", "Не добавляйте новые зависимости", "У нас принято писать сообщения на английском", "Оставь публичный интерфейс как есть",
		}, []string{
			"Он никогда не проходит", "Пока не пушь в main", "В этот раз без тестов", "Можешь исправить ошибку?", "Добавь кнопку в форму",
		}},
		{"Chinese", []string{
			"不要修改自动生成的文件", "提交之前必须先跑测试", "用 pnpm 而不是 npm", "别动公共接口的签名", "以后提交信息都用英文", "禁止引入新的依赖", "错误信息统一用小写开头",
		}, []string{
			"它总是崩溃，看一下日志", "先别提交代码", "这次不用写测试了", "能修复这个错误吗？", "添加一个按钮", "看看别的文件", "暂时不要推送到远端",
		}},
		{"Japanese", []string{
			"生成されたファイルは編集しないでください", "コミットの前に必ずテストを実行してください", "npm ではなく pnpm を使ってください", "新しい依存関係の追加は禁止です", "公開インターフェースはそのままにしてください", "今後はコミットメッセージを英語で書いてください",
		}, []string{
			"テストがいつも失敗する", "今回はテストなしでいいです", "まだプッシュしないでください", "エラーを直してもらえますか？", "ボタンを追加して",
		}},
		{"Korean", []string{
			"생성된 파일은 수정하지 마세요", "커밋하기 전에 반드시 테스트를 실행하세요", "npm 말고 pnpm 을 사용하세요", "새 의존성 추가는 금지입니다", "공개 인터페이스는 그대로 유지하세요", "앞으로 커밋 메시지는 영어로 작성하세요",
		}, []string{
			"테스트가 항상 실패해요", "이번에는 테스트 없이 진행해", "아직 푸시하지 마세요", "오류를 고쳐 줄 수 있나요?", "버튼을 추가해 줘",
		}},
	} {
		for want, list := range map[bool][]string{true: test.rules, false: test.others} {
			for _, said := range list {
				e := work().answers("Done.").says(said).answers("OK.").extract(t)
				if got := of(e, memoir.StatementPreference); (len(got) > 0) != want {
					t.Errorf("%s: %q: preferences %q, want any: %v", test.language, said, got, want)
				}
			}
		}
	}
}
