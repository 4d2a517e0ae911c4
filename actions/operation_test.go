package actions_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

// TestOperationIsKnownByItsAnnotation: both packages mean the same one.
func TestOperationIsKnownByItsAnnotation(t *testing.T) {
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "disk", Annotations: map[string]string{migration.AnnotationPlan: "x"}}}
	req := actions.Request{Verb: actions.Unreserve, Volume: actions.Ref{Kind: actions.VolumeKind, Name: "disk"}}
	if why := actions.Make(req, actions.World{Volume: pv}).Blocked(); !strings.Contains(why, "is unfinished") {
		t.Errorf("blocked: %q", why)
	}
}
