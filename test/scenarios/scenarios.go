package scenarios

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/client-go/rest"

	"github.com/claimref/claimref/assets"
)

// Scenarios that are stories of their own.
const (
	// Reuse is a Released volume of a claim that was deleted.
	Reuse = "reuse"
	// Dynamic is a volume that dies with its claim, and annotations of old.
	Dynamic = "dynamic"
	// SinglePod is volumes of several kinds of workloads that could be used by
	// a single pod only, and some that could not.
	SinglePod = "single-pod"
)

// All returns the names of all scenarios, in the order in which they can be
// loaded into one cluster: later ones use classes and volumes of earlier ones.
func All() ([]string, error) {
	all, err := assets.Scenarios()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Name
	}
	return names, nil
}

// Load loads scenarios into a cluster in the given order. They need the
// controllers, the folders provisioner and a node n1.
func Load(ctx context.Context, config *rest.Config, names ...string) error {
	all, err := assets.Scenarios()
	if err != nil {
		return err
	}
	for _, name := range names {
		i := slices.IndexFunc(all, func(s assets.Scenario) bool { return s.Name == name })
		if i < 0 {
			return fmt.Errorf("load scenario %s: there is no such scenario", name)
		}
		if err := Apply(ctx, config, all[i].Manifest); err != nil {
			return fmt.Errorf("load scenario %s: %w", name, err)
		}
	}
	return nil
}
