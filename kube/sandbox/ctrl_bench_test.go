package sandbox

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/storage/volume"
)

// crowded is a settled State of about the demo's size.
func crowded(b *testing.B) *State {
	b.Helper()
	s := newWorld(&testing.T{}, class("fast", folders), class("manual", volume.NotSupportedProvisioner), set(5)).s
	for i := range 40 {
		name := fmt.Sprintf("c%02d", i)
		s = admitted(admitted(admitted(s, pv(name)), pvc(name, names(name))), podUsing(name, name))
	}
	for i := range 10 {
		s = admitted(s, pvc(fmt.Sprintf("waits%d", i), names(fmt.Sprintf("none%d", i))))
	}
	s, err := Settle(s, Controllers(), 10000)
	if err != nil {
		b.Fatal(err)
	}
	return s.Forget()
}

func BenchmarkEnabled(b *testing.B) {
	s := crowded(b)
	for _, c := range Controllers() {
		b.Run(c.Name(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Enabled(s)
			}
		})
	}
}

// BenchmarkTransition is one write to a State: a volume enters a phase.
func BenchmarkTransition(b *testing.B) {
	s := crowded(b)
	v := s.Volume("c20")
	b.ReportAllocs()
	for b.Loop() {
		s.Update(inPhase(s, v, corev1.VolumeReleased, ""))
	}
}
