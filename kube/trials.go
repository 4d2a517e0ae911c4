package kube

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

// Denied asks the server about every request that steps will make, on the very
// objects, and returns those that it says are not allowed, such as "delete
// persistentvolumeclaims in namespace exam". A question without an answer
// denies nothing: the dry run will tell.
func (c *Client) Denied(ctx context.Context, items []migration.Item) []string {
	asked := make(map[authorizationv1.ResourceAttributes]bool)
	crew := newCrew(ctx)
	var denied []string
	answers := make(chan string, len(items))
	for _, item := range items {
		about, ok := rightFor(item.Step)
		if !ok || asked[about] {
			continue
		}
		asked[about] = true
		crew.ask(func(ctx context.Context) {
			if allowed, err := c.review(ctx, about); err == nil && !allowed {
				answers <- describeRight(about)
			}
		})
	}
	crew.wait()
	close(answers)
	for right := range answers {
		denied = append(denied, right)
	}
	slices.Sort(denied)
	return slices.Compact(denied)
}

// rightFor is the right that the request of a step needs; none for a wait.
func rightFor(step migration.Step) (about authorizationv1.ResourceAttributes, ok bool) {
	r, err := apiKindOf(step.Target.Kind)
	if err != nil {
		return about, false
	}
	about = authorizationv1.ResourceAttributes{
		Group: r.gvk.Group, Version: r.gvk.Version, Resource: r.plural,
		Namespace: step.Target.Namespace, Name: step.Target.Name,
	}
	switch step.Act {
	case migration.Patch:
		about.Verb = "patch"
	case migration.Scale:
		about.Verb, about.Subresource = "patch", "scale"
	case migration.Create:
		// The server asks about a creation before it has read the name.
		about.Verb, about.Name = "create", ""
	case migration.Delete:
		about.Verb = "delete"
	default:
		return about, false
	}
	return about, true
}

func describeRight(about authorizationv1.ResourceAttributes) string {
	text := about.Verb + " " + about.Resource
	if about.Subresource != "" {
		text += "/" + about.Subresource
	}
	if about.Namespace != "" {
		text += " in namespace " + about.Namespace
	}
	return text
}

// Trials tries out the creations of an operation by dry runs under temporary
// names, as long as their own are taken: admission has its say before anything
// is deleted.
func (c *Client) Trials(ctx context.Context, j migration.Journal) []migration.Trial {
	var tried []*migration.Trial
	crew := newCrew(ctx)
	try := func(ref actions.Ref, made any, beside bool) {
		trial := &migration.Trial{Target: ref}
		tried = append(tried, trial)
		crew.ask(func(ctx context.Context) { c.try(ctx, trial, made, beside) })
	}
	for _, v := range j.Volumes {
		if to := v.To; to != nil {
			beside := v.From != nil && v.From.Namespace == to.Namespace
			try(actions.Ref{Kind: actions.ClaimKind, Namespace: to.Namespace, Name: to.Name}, to, beside)
		}
	}
	for _, w := range j.Workloads {
		if to := w.To; to != nil {
			try(actions.Ref{Kind: migration.StatefulSetKind, Namespace: to.Namespace, Name: to.Name}, to, w.From != nil)
		}
	}
	crew.wait()
	trials := make([]migration.Trial, len(tried))
	for i, t := range tried {
		trials[i] = *t
	}
	return trials
}

// try makes one trial. Beside: the object that this one replaces is still
// there, and counts.
func (c *Client) try(ctx context.Context, t *migration.Trial, made any, beside bool) {
	ctx, cancel := context.WithTimeout(ctx, c.timing.Request)
	defer cancel()
	p := StepPreview{Step: migration.Step{Act: migration.Create, Target: t.Target}}
	var err error
	if p.Step.Object, err = json.Marshal(made); err == nil {
		p.After, err = p.manifest()
	}
	if err != nil {
		t.Problem, t.Untried = Explain(err), true
		return
	}
	sent := p.After
	name := trialName()
	got, err := c.tryCreate(ctx, sent, name)
	// The answer is about the object that is to be made. The temporary name
	// would tell nobody anything, and is another one each time.
	defer func() { t.Problem = strings.ReplaceAll(t.Problem, name, t.Target.Name) }()
	switch {
	case err == nil:
		t.Changed = changedBy(sent, got)
	case beside && exceedsQuota(err):
		t.Untried = true
		t.Problem = "what it replaces still counts for a quota, so that it can't be tried beside it: " + clean(cause(err))
	case lacksRight(err):
		t.Untried = true
		t.Problem = "you may not create it: " + clean(cause(err))
	case isRefusal(err):
		t.Problem = clean(cause(err))
	default:
		t.Untried, t.Problem = true, Explain(err)
	}
}

// isRefusal tells whether the server has looked at the object and does not want
// it. Anything else says nothing about the object.
func isRefusal(err error) bool {
	switch KindOf(err) {
	case KindInvalid, KindForbidden, KindConflict, KindNotFound:
		return true
	default:
		return false
	}
}

// lacksRight tells a refusal by the authorizers from one by admission, which
// has the same code (k8s.io/apiserver, endpoints/handlers/responsewriters,
// forbiddenMessage).
func lacksRight(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), " cannot create resource ")
}

// changedBy lists the paths at which the server would store something else
// than was sent. What every server adds to such an object is left out.
func changedBy(sent, got *object) []string {
	sent = sent.DeepCopy()
	for _, o := range append(templatesOf(sent), sent) {
		fillIn(o)
	}
	got = got.DeepCopy()
	for _, o := range append(templatesOf(got), got) {
		o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(f string) bool {
			return f == "kubernetes.io/pvc-protection" && !slices.Contains(sent.GetFinalizers(), f)
		}))
		fillIn(o)
	}
	return parted(sent, got, differing)
}

// fillIn gives a claim, or a template of one, the default that it may lack, and
// takes out what a template only has for form's sake.
func fillIn(o *object) {
	delete(o.Object, "status")
	if meta, ok := o.Object["metadata"].(map[string]any); ok && meta["creationTimestamp"] == nil {
		delete(meta, "creationTimestamp")
	}
	spec, ok := o.Object["spec"].(map[string]any)
	if ok && o.GetKind() == string(actions.ClaimKind) && spec["volumeMode"] == nil {
		spec["volumeMode"] = string(corev1.PersistentVolumeFilesystem)
	}
}

// templatesOf are the volumeClaimTemplates of a StatefulSet, as part of it.
func templatesOf(o *object) []*object {
	spec, _ := o.Object["spec"].(map[string]any)
	items, _ := spec["volumeClaimTemplates"].([]any)
	var templates []*object
	for _, item := range items {
		if fields, ok := item.(map[string]any); ok {
			t := &object{Object: fields}
			t.SetAPIVersion(metav1.SchemeGroupVersion.Version)
			t.SetKind(string(actions.ClaimKind))
			templates = append(templates, t)
		}
	}
	return templates
}
