package scenarios

import (
	"context"
	"embed"
	"fmt"

	"k8s.io/client-go/rest"
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

const extension = ".yaml"

//go:embed *.yaml
var manifests embed.FS

// All returns the names of all scenarios, in the order in which they can be
// loaded into one cluster: later ones use classes and volumes of earlier ones.
func All() []string {
	return []string{
		Reuse, Dynamic, SinglePod,
		"available", "reserved", "released", "failed", "terminating", "lost", "pending", "bound",
	}
}

// Load loads scenarios into a cluster in the given order. They need the
// controllers, the folders provisioner and a node n1.
func Load(ctx context.Context, config *rest.Config, names ...string) error {
	for _, name := range names {
		manifest, err := manifests.ReadFile(name + extension)
		if err != nil {
			return fmt.Errorf("load scenario %s: %w", name, err)
		}
		if err := Apply(ctx, config, manifest); err != nil {
			return fmt.Errorf("load scenario %s: %w", name, err)
		}
	}
	return nil
}
