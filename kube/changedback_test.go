package kube

import (
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

// What somebody changes back before the operation has looked is not done a
// second time: the two would take turns for ever.
func TestChangedBackAtOnce(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		o := l.operation(t, l.journalOf("data"))
		if _, err := o.Do(t.Context(), nil, l.drivenTo(o, "stop/")); err != nil {
			t.Fatal(err)
		}
		edit(l, l.state().Deployment("exam", "web"), func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(1)) })
		sent := len(l.wire.real())
		_, err := o.Drive(t.Context(), nil, yes)
		if halt, ok := errors.AsType[*HaltError](err); !ok || !strings.Contains(halt.Error(), "changed back") {
			t.Errorf("error = %v", err)
		}
		if real := l.wire.real(); len(real) != sent {
			t.Errorf("sent %v", real[sent:])
		}
	}, labDeployment)
}
