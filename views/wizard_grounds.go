package views

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

// grounds tells two states of what an operation writes to apart: its volumes
// and claims by their versions, its workloads by what is wanted of them, since
// their status changes all the time. What was rehearsed on other grounds may
// not be what will happen.
func grounds(j migration.Journal, s migration.Scene) string {
	var facts []string
	for name, v := range s.Volumes {
		fact := "volume " + name
		if v != nil {
			fact += fmt.Sprintf(" %s %s", v.UID, v.ResourceVersion)
		}
		facts = append(facts, fact)
	}
	for key, c := range s.Claims {
		fact := "claim " + key.String()
		if c != nil {
			fact += fmt.Sprintf(" %s %s", c.UID, c.ResourceVersion)
		}
		facts = append(facts, fact)
	}
	workload := func(kind actions.Kind, o metav1.Object) {
		if slices.ContainsFunc(j.Workloads, func(w migration.Workload) bool {
			return w.Ref.Kind == kind && w.Ref.Namespace == o.GetNamespace() && w.Ref.Name == o.GetName()
		}) {
			facts = append(facts, fmt.Sprintf("%s %s/%s %s %d", kind, o.GetNamespace(), o.GetName(), o.GetUID(), o.GetGeneration()))
		}
	}
	for _, o := range s.StatefulSets {
		workload(migration.StatefulSetKind, o)
	}
	for _, o := range s.Deployments {
		workload(migration.DeploymentKind, o)
	}
	for _, o := range s.ReplicaSets {
		workload(migration.ReplicaSetKind, o)
	}
	for _, o := range s.CronJobs {
		workload(migration.CronJobKind, o)
	}
	slices.Sort(facts)
	return strings.Join(facts, "\n")
}
