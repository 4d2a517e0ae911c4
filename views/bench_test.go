package views

import (
	"fmt"
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/kube"
)

// many is a cluster of n bound volumes and their claims.
func many(n int) kube.Objects {
	objects := kube.Objects{Classes: shop().Classes}
	for i := range n {
		claim, volume := fmt.Sprintf("data-%06d", i), fmt.Sprintf("pvc-%06d-13ff-11e7-a430-5254001ba551", i)
		objects.Volumes = append(objects.Volumes, pv(volume, corev1.VolumeBound, claimedBy("ns", claim, "pvc-ns-"+claim)))
		objects.Claims = append(objects.Claims, pvc("ns", claim, corev1.ClaimBound, volume))
	}
	return objects
}

func benchApp(b *testing.B, n int) *App {
	b.Helper()
	app := New(b.Context(), &fakeCluster{}, Options{Identity: kube.Identity{Context: "c", User: "u"}, Color: true, Dark: true}, noon())
	app.after = func(time.Duration, func(time.Time) tea.Msg) tea.Cmd { return nil }
	app.Update(tea.WindowSizeMsg{Width: 160, Height: 45})
	snap := kube.NewSnapshot(many(n))
	app.Update(snapshotMsg{snap: snap})
	return app
}

// BenchmarkKey is a key press and the frame that it leads to.
func BenchmarkKey(b *testing.B) {
	for _, n := range []int{100, 20_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			app := benchApp(b, n)
			keys := []tea.KeyPressMsg{keyMsg("j"), keyMsg("k"), keyMsg("pgdown"), keyMsg("G"), keyMsg("g")}
			for i := 0; b.Loop(); i++ {
				app.Update(keys[i%len(keys)])
				_ = app.View()
			}
		})
	}
}

// BenchmarkFilterKey is a keystroke in the filter, over all rows.
func BenchmarkFilterKey(b *testing.B) {
	for _, n := range []int{100, 20_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			app := benchApp(b, n)
			texts := []string{"9", "99", "phase:bound 7", "policy:delete", "nothing at all"}
			for i := 0; b.Loop(); i++ {
				app.volumes.setQuery(texts[i%len(texts)])
				_ = app.View()
			}
		})
	}
}

// BenchmarkRiskFilterKey is a keystroke in the filter for risks, over all rows,
// of which half have one.
func BenchmarkRiskFilterKey(b *testing.B) {
	for _, n := range []int{100, 20_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			app := benchRisky(b, n)
			texts := []string{"risk:", "risk:hi", "risk:policy 9", "risk:none-such"}
			for i := 0; b.Loop(); i++ {
				app.volumes.setQuery(texts[i%len(texts)])
				_ = app.View()
			}
		})
	}
}

// benchRisky is a cluster in which every other volume will go with its claim,
// with the table sorted by risk.
func benchRisky(b *testing.B, n int) *App {
	b.Helper()
	app := benchApp(b, n)
	objects := many(n)
	retain := corev1.PersistentVolumeReclaimRetain
	objects.Classes[0].ReclaimPolicy = &retain
	for i := 0; i < n; i += 2 {
		objects.Volumes[i].Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
	}
	snap := kube.NewSnapshot(objects)
	snap.Revision = 2
	app.Update(snapshotMsg{snap: snap})
	app.Update(risksMsg{snap: snap, risks: app.tracker.Update(snap)})
	app.volumes.setSort(slices.IndexFunc(app.volumes.columns, func(c column[*kube.Volume]) bool { return c.ranked }))
	return app
}

// BenchmarkRiskSnapshot is a snapshot in which one volume changed, its risks,
// and the frames that show both, with the table sorted by risk.
func BenchmarkRiskSnapshot(b *testing.B) {
	for _, n := range []int{100, 20_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			app := benchRisky(b, n)
			for i := 0; b.Loop(); i++ {
				next := *app.snap
				next.Revision++
				next.Volumes = slices.Clone(next.Volumes)
				changed := *next.Volumes[i%n]
				next.Volumes[i%n] = &changed
				app.Update(snapshotMsg{snap: &next})
				_ = app.View()
				app.Update(risksMsg{snap: &next, risks: app.tracker.Update(&next)})
				_ = app.View()
			}
		})
	}
}

// BenchmarkSnapshot is a snapshot in which one volume changed, and the frame
// that shows it.
func BenchmarkSnapshot(b *testing.B) {
	for _, n := range []int{100, 20_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			app := benchApp(b, n)
			snap := *app.snap
			for b.Loop() {
				next := snap
				next.Revision = app.snap.Revision + 1
				app.Update(snapshotMsg{snap: &next})
				_ = app.View()
			}
		})
	}
}

// BenchmarkRisksTab is the table of 50,000 risks: when they are first there, a
// keystroke in its filter, and another namespace.
func BenchmarkRisksTab(b *testing.B) {
	app := benchRisky(b, 100_000)
	msg := risksMsg{snap: app.snap, risks: app.risks}
	app.show(risksTab)
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			app.risks, app.assessed = nil, nil
			app.Update(msg)
			_ = app.View()
		}
	})
	b.Run("filter", func(b *testing.B) {
		texts := []string{"9", "99", "high", "risk:policy", "nothing at all"}
		for i := 0; b.Loop(); i++ {
			app.dangers.setQuery(texts[i%len(texts)])
			_ = app.View()
		}
	})
	b.Run("namespace", func(b *testing.B) {
		app.dangers.setQuery("")
		for i := 0; b.Loop(); i++ {
			app.setNamespace([]string{"ns", ""}[i%2])
			_ = app.View()
		}
	})
}
