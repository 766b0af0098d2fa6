package deliver

import (
	"slices"

	"memoir"
	"memoir/extract"
	"memoir/memory"
)

// Lesson returns what an agent would have needed to know: the newest failure with what passed then, best one whose
// error points to it, else the newest rule that the person gave more than once, else their newest choice, or call that
// they refused for another one. It is zero if there is none.
func (r Reader) Lesson() (Known, error) {
	content, err := r.open(memory.StatementsFile)
	if err != nil || len(content) == 0 {
		return Known{}, err
	}
	all, err := r.statements(content, `"id":`)
	if err == nil {
		all, err = r.holding(all)
	}
	if err != nil || len(all) == 0 {
		return Known{}, err
	}
	lines, made, err := r.lines()
	times := map[string]int{} // by a line's key: sessions in which its statements were made
	for _, k := range all {
		for _, key := range made[k.ID] {
			times[key] += k.times
		}
	}
	shown := func(k Known, least int) bool {
		return slices.ContainsFunc(made[k.ID], func(key string) bool { return lines[key] != "" && times[key] >= least })
	}
	fixed := func(k Known) bool { return k.Kind == memoir.StatementFailure && k.Fix != "" && r.trusted(k) }
	for _, serves := range []func(k Known) bool{
		func(k Known) bool { return fixed(k) && extract.Evident(k.Statement) },
		fixed,
		func(k Known) bool { return k.Signal == memoir.SignalRule && shown(k, 2) },
		func(k Known) bool { return extract.Chosen(k.Signal) && memoir.MemberOf(k.Session) == "" && shown(k, 1) },
	} {
		if i := slices.IndexFunc(all, serves); i >= 0 {
			return all[i], err
		}
	}
	return Known{}, err
}
