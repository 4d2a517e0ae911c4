package kube

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
)

// usersOf tells a plan who uses a volume through the claim that it names. What
// the snapshot may be behind with is not known.
func (s *Snapshot) usersOf(pv *corev1.PersistentVolume) actions.Users {
	ref := pv.Spec.ClaimRef
	if ref == nil || ref.Name == "" {
		return actions.Users{}
	}
	users := actions.Users{
		PodsKnown: s.vouchesIn(Pods, ref.Namespace), WorkloadsKnown: s.vouchesForOwners(ref.Namespace),
	}
	claim := s.Claim(ref.Namespace, ref.Name)
	if claim == nil {
		return users
	}
	for _, u := range claim.Users {
		for _, pod := range u.Pods {
			users.Pods = append(users.Pods, userPod(pod))
		}
		if u.Kind == "Pod" {
			continue
		}
		w := actions.UserWorkload{Kind: u.Kind, Name: u.Name, Replicas: u.Replicas}
		if u.Workload != nil {
			w.Shared = slices.Contains(u.Workload.Claims, ref.Name)
			w.Surges = u.Workload.Surges
		}
		users.Workloads = append(users.Workloads, w)
	}
	return users
}

func userPod(pod Pod) actions.UserPod {
	return actions.UserPod{Name: pod.Name, Ended: pod.Phase == corev1.PodSucceeded || pod.Phase == corev1.PodFailed}
}

// vouchesIn is vouches for what is in one namespace. That the right to list the
// others is missing takes nothing away from it; that the one to watch is does.
func (s *Snapshot) vouchesIn(resource Resource, namespace string) bool {
	state := s.Resources[resource]
	return s.Link.Phase == Live && state.covers(namespace) && state.Err == "" && !strings.Contains(state.Missing, "watch ")
}

func (s *Snapshot) vouchesForOwners(namespace string) bool {
	return !slices.ContainsFunc(
		[]Resource{StatefulSets, Deployments, ReplicaSets, DaemonSets, Jobs, CronJobs},
		func(r Resource) bool { return !s.vouchesIn(r, namespace) },
	)
}

// freshenUsers lists the pods of the claim's namespace anew: a second pod may
// have come a moment ago. Where they can't be listed, none is known of.
func (c *Client) freshenUsers(ctx context.Context, w *actions.World, snap *Snapshot) {
	w.Users = actions.Users{}
	if w.Volume == nil || w.Volume.Spec.ClaimRef == nil || w.Volume.Spec.ClaimRef.Namespace == "" {
		return
	}
	ref := w.Volume.Spec.ClaimRef
	w.Users = snap.usersOf(w.Volume)
	w.Users.Pods, w.Users.PodsKnown = nil, false
	list, err := c.api.CoreV1().Pods(ref.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	w.Users.PodsKnown = true
	trim := newTrimmer()
	for i := range list.Items {
		if pod := trim.pod(&list.Items[i]); slices.Contains(pod.claims, ref.Name) {
			w.Users.Pods = append(w.Users.Pods, userPod(pod.Pod))
		}
	}
}
