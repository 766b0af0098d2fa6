package extract

import (
	"slices"

	"memoir"
	"memoir/prompts"
)

// withoutOrders drops what reads as an instruction to an agent, unless a person wrote so in
// an item that it rests on: agents repeat what pages and tools tell them, and a memory of it
// would tell the next one.
func withoutOrders(all []found, in Input) []found {
	ordered := map[int]bool{}
	for _, it := range in.Items {
		ordered[it.N] = it.Origin.ByPerson() && prompts.Instructs(clean(it.Text))
	}
	return slices.DeleteFunc(all, func(f found) bool {
		switch f.Kind {
		case memoir.StatementPreference, memoir.StatementTask: // of a person's words alone
			return false
		}
		return prompts.Instructs(f.Text) && !slices.ContainsFunc(f.Items, func(n int) bool { return ordered[n] })
	})
}
