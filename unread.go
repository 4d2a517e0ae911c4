package main

import (
	"fmt"
	"strings"

	"github.com/claimref/claimref/kube"
)

// gap is something that was not read, or not all of it.
type gap struct {
	Resource string `json:"resource"`
	// Namespace is the only one it was read from; empty when nothing was read.
	Namespace string `json:"namespace,omitempty"`
	// Missing is the right that is missing, if that is the reason.
	Missing string `json:"missing,omitempty"`
	// Text is a clause that says so, and why.
	Text string `json:"text"`
}

// all are the resources that are read.
func all() []kube.Resource {
	return append(needed(), kube.VolumeAttachments)
}

// needed are those that risks are found by: all but those that say where a
// volume is attached.
func needed() []kube.Resource {
	return []kube.Resource{
		kube.PersistentVolumes, kube.PersistentVolumeClaims, kube.StorageClasses, kube.Pods,
		kube.StatefulSets, kube.Deployments, kube.ReplicaSets, kube.DaemonSets, kube.Jobs, kube.CronJobs,
		kube.Nodes, kube.Namespaces,
	}
}

// gaps finds what was not read of that which an answer about a namespace, or
// all of them, depends on.
func gaps(snap *kube.Snapshot, resources []kube.Resource, namespace string) []gap {
	found := make([]gap, 0, len(resources))
	for _, r := range resources {
		state := snap.Resources[r]
		g := gap{Resource: string(r), Missing: state.Missing}
		switch {
		case state.Phase == kube.Forbidden:
			g.Text = fmt.Sprintf("%s were not read: you may not %s", r, state.Missing)
		case state.Phase != kube.Synced:
			g.Text = fmt.Sprintf("%s were not read in time", r)
			if state.Err != "" {
				g.Text = fmt.Sprintf("%s were not read: %s", r, state.Err)
			}
		case state.Namespace != "" && state.Namespace != namespace:
			g.Namespace = state.Namespace
			g.Text = fmt.Sprintf("%s were read from namespace %s only: you may not %s", r, state.Namespace, state.Missing)
		default:
			continue
		}
		found = append(found, g)
	}
	return found
}

// blind says that nothing is known that an answer could be about.
func blind(snap *kube.Snapshot) error {
	var why []string
	for _, r := range []kube.Resource{kube.PersistentVolumes, kube.PersistentVolumeClaims, kube.StorageClasses} {
		if snap.Resources[r].Phase == kube.Synced {
			return nil
		}
		for _, g := range gaps(snap, []kube.Resource{r}, "") {
			why = append(why, g.Text)
		}
	}
	return fmt.Errorf("nothing can be said: %s", strings.Join(why, "; "))
}
