package kube

import (
	"cmp"
	"slices"
)

// usersOf joins a claim to the workloads that use it: those whose pods name
// it now, and those that would if they had pods.
func (j *join) usersOf(key, namespace string) []User {
	pods, loads := j.podsByClaim[key], j.loadsByClaim[key]
	var sets []*Workload
	if prefix, ok := withoutOrdinal(key); ok {
		sets = j.setsByPrefix[prefix]
	}
	if len(pods) == 0 && len(loads) == 0 && len(sets) == 0 {
		return nil
	}
	var users []User
	for _, pod := range pods {
		user := j.userOf(pod)
		at := slices.IndexFunc(users, user.is)
		if at < 0 {
			at = len(users)
			users = append(users, user)
		}
		users[at].Pods = append(users[at].Pods, pod.Pod)
	}
	for _, w := range slices.Concat(loads, sets) {
		// What a workload owns is told by its owner, and what has finished
		// uses nothing any more.
		if w.Finished || w.Owner.Name != "" && passesOn(w.Kind) {
			continue
		}
		user := w.user(namespace)
		if !slices.ContainsFunc(users, user.is) {
			users = append(users, user)
		}
	}
	slices.SortFunc(users, compareUsers)
	for i := range users {
		slices.SortFunc(users[i].Pods, func(a, b Pod) int {
			return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
		})
	}
	return users
}

// userOf follows a pod's controllers up to the one that a person knows.
func (j *join) userOf(pod *podRecord) User {
	if pod.owner.Name == "" {
		return User{Kind: "Pod", Namespace: pod.namespace, Name: pod.Name, UID: pod.UID}
	}
	top := pod.owner
	for range maxChain {
		w := j.loadsByUID[string(top.UID)]
		if top.UID == "" || w == nil || w.Kind != top.Kind {
			break
		}
		if w.Owner.Name == "" || !passesOn(w.Kind) {
			return w.user(pod.namespace)
		}
		top = w.Owner
	}
	return User{Kind: top.Kind, Namespace: pod.namespace, Name: top.Name, UID: top.UID}
}

// passesOn tells of which kinds the owner is the one to name: nobody scales a
// Deployment's ReplicaSet, or a CronJob's Job.
func passesOn(kind string) bool { return kind == "ReplicaSet" || kind == "Job" }

func (w *Workload) user(namespace string) User {
	return User{Kind: w.Kind, Namespace: namespace, Name: w.Name, UID: w.UID, Replicas: w.Replicas, Workload: w}
}

// is tells whether two users are the same workload.
func (u User) is(v User) bool {
	return u.Kind == v.Kind && u.Namespace == v.Namespace && u.Name == v.Name && u.UID == v.UID
}

func (u User) equal(v User) bool {
	return u.is(v) && u.Workload == v.Workload && equalPointers(u.Replicas, v.Replicas) && slices.Equal(u.Pods, v.Pods)
}

func compareUsers(a, b User) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), compareNames(a.Namespace, a.Name, b.Namespace, b.Name), cmp.Compare(a.UID, b.UID))
}

func equalUsers(a, b []User) bool { return slices.EqualFunc(a, b, User.equal) }
