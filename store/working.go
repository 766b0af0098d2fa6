package store

import (
	"context"

	"memoir"
)

// Working returns an error of memoir.CodeBusy while another process holds work:
// it may have read texts by earlier rules. What a process that is gone held is free.
func (s *Store) Working(ctx context.Context) error {
	err := s.quickly(ctx, func(t tx) error {
		for _, kind := range []string{kindExtract, kindConsolidate} {
			running, err := s.takeOver(t, kind)
			if err != nil {
				return err
			}
			if running > 0 {
				return memoir.Errorf(memoir.CodeBusy, "wait for it, for instance with --wait", "another process is at work: %d jobs of kind %s are running", running, kind)
			}
		}
		return nil
	})
	return s.explain(err, "looking for work under way")
}
