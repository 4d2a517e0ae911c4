package cases_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/claimref/claimref/kube/cases"
	"github.com/claimref/claimref/test/controlplane"
	"github.com/claimref/claimref/test/controlplane/folders"
)

const (
	poll        = 150 * time.Millisecond
	restTimeout = 2 * time.Minute
	// still is longer than a period of the binder.
	still = 1500 * time.Millisecond
)

// real is the control plane. It is at rest when it looks as the model does, and
// goes on looking so.
type real struct {
	want []cases.View
	next int
}

func (r *real) Config() *rest.Config { return cp.Config(controlplane.Admin) }

func (r *real) Rest(ctx context.Context, look func(context.Context) (cases.View, error)) (cases.View, error) {
	if r.next == len(r.want) {
		return nil, fmt.Errorf("the model came to rest %d times only", r.next)
	}
	want := r.want[r.next]
	r.next++
	var last cases.View
	since := time.Now()
	err := wait.PollUntilContextTimeout(ctx, poll, restTimeout, true, func(ctx context.Context) (bool, error) {
		view, err := look(ctx)
		if err != nil {
			return false, err
		}
		if !maps.Equal(view, last) {
			last, since = view, time.Now()
		}
		return maps.Equal(view, want) && time.Since(since) >= still, nil
	})
	if err != nil {
		return nil, fmt.Errorf("rest %d: %w:\n%s", r.next, err, differences(last, want))
	}
	return last, nil
}

// Noticed waits for the binder's first word on a volume: its phase is Pending
// from its creation until then.
func (r *real) Noticed(ctx context.Context, volume string) error {
	err := wait.PollUntilContextTimeout(ctx, poll, restTimeout, true, func(ctx context.Context) (bool, error) {
		pv, err := cp.Admin().CoreV1().PersistentVolumes().Get(ctx, volume, metav1.GetOptions{})
		return err == nil && pv.Status.Phase != corev1.VolumePending, err
	})
	if err != nil {
		return fmt.Errorf("wait for the binder to notice volume %s: %w", volume, err)
	}
	return nil
}

func differences(got, want cases.View) string {
	var lines []string
	for name := range want {
		if got[name] != want[name] {
			lines = append(lines, fmt.Sprintf("\t%s: %q, want %q", name, got[name], want[name]))
		}
	}
	for name := range got {
		if _, wanted := want[name]; !wanted {
			lines = append(lines, fmt.Sprintf("\t%s: %q, which is not to be", name, got[name]))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestStories plays every story that a control plane can play, each in names of
// its own.
func TestStories(t *testing.T) {
	all, err := cases.All()
	if err != nil {
		t.Fatal(err)
	}
	first, err := firstSeed()
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	for telling := range tellings() {
		seed := func(i int) uint64 { return first + uint64(telling*len(all)+i) }
		t.Run("together", func(t *testing.T) {
			for i, story := range all {
				if story.Head.Unplayable != "" || story.Head.Alone {
					continue
				}
				played++
				t.Run(story.Name, func(t *testing.T) {
					t.Parallel()
					play(t, story, seed(i))
				})
			}
		})
		for i, story := range all {
			if story.Head.Alone && story.Head.Unplayable == "" {
				played++
				t.Run("alone/"+story.Name, func(t *testing.T) { play(t, story, seed(i)) })
			}
		}
	}
	for _, story := range all {
		if story.Head.Unplayable != "" {
			t.Logf("%s is not played here: %s", story.Name, story.Head.Unplayable)
		}
	}
	t.Logf("%d of %d stories played, from seed %d on", played, tellings()*len(all), first)
}

func play(t *testing.T, story *cases.Story, seed uint64) {
	t.Helper()
	varied, err := story.Vary(seed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, varied) })
	// The sandbox says what it comes to.
	wrong, views, err := cases.Play(t.Context(), varied, cases.NewSandbox(time.Now(), folders.Name))
	for _, w := range wrong {
		t.Errorf("in the sandbox: %s", w)
	}
	if err != nil {
		t.Fatalf("in the sandbox: %v", err)
	}
	wrong, _, err = cases.Play(t.Context(), varied, &real{want: views})
	for _, w := range wrong {
		t.Error(w)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// remove takes away what others would notice: a default class, volumes that any
// claim could take, and claims that could take any volume. Claims do so until
// they are gone, also when they are being deleted, so that is waited for.
func remove(t *testing.T, story *cases.Story) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), restTimeout)
	defer cancel()
	api := cp.Admin()
	gone := func(err error) {
		if err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	}
	var namespaces []string
	for _, part := range story.Parts {
		if part.Object == nil {
			continue
		}
		switch name := part.Object.GetName(); part.Object.GetKind() {
		case "StorageClass":
			gone(api.StorageV1().StorageClasses().Delete(ctx, name, metav1.DeleteOptions{}))
		case "PersistentVolume":
			gone(api.CoreV1().PersistentVolumes().Delete(ctx, name, metav1.DeleteOptions{}))
		case "Namespace":
			gone(api.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{}))
			namespaces = append(namespaces, name)
		case "CSIDriver":
			gone(api.StorageV1().CSIDrivers().Delete(ctx, name, metav1.DeleteOptions{}))
		}
	}
	for _, namespace := range namespaces {
		gone(wait.PollUntilContextCancel(ctx, poll, true, func(ctx context.Context) (bool, error) {
			claims, err := api.CoreV1().PersistentVolumeClaims(namespace).List(ctx, metav1.ListOptions{})
			if err != nil {
				return false, fmt.Errorf("wait for the claims of %s to go: %w", namespace, err)
			}
			return !slices.ContainsFunc(claims.Items, func(c corev1.PersistentVolumeClaim) bool { return c.Status.Phase == corev1.ClaimPending }), nil
		}))
	}
}

// TestNoSuchWebhook is why one story can't be played: a webhook that is not made
// for dry runs can't be registered any more.
func TestNoSuchWebhook(t *testing.T) {
	for effects, refused := range map[admissionv1.SideEffectClass]bool{
		admissionv1.SideEffectClassSome: true, admissionv1.SideEffectClassUnknown: true, admissionv1.SideEffectClassNone: false,
	} {
		url := "https://127.0.0.1:1/never"
		hook := &admissionv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "no-dry-run"},
			Webhooks: []admissionv1.ValidatingWebhook{{
				Name: "claims.guard.example.test", SideEffects: &effects, AdmissionReviewVersions: []string{"v1"},
				ClientConfig: admissionv1.WebhookClientConfig{URL: &url},
			}},
		}
		_, err := cp.Admin().AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), hook, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if refused != apierrors.IsInvalid(err) || !refused && err != nil {
			t.Errorf("%s: %v", effects, err)
		}
	}
}
