package prompts

// Consolidate renders the program's own prompts of Phase 2.
func Consolidate(v ConsolidateVars) (system, input string, err error) {
	s, err := Default()
	if err != nil {
		return "", "", err
	}
	return s.Consolidate(v)
}

// ReadPathFor renders the program's own text for a project.
func ReadPathFor(v ReadPathVars) (string, error) {
	s, err := Default()
	if err != nil {
		return "", err
	}
	return s.ReadPath(v)
}

// StageOne renders the program's own prompts of Phase 1.
func StageOne(v StageOneVars) (system, input string, err error) {
	s, err := Default()
	if err != nil {
		return "", "", err
	}
	return s.StageOne(v)
}
