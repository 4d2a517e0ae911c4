package cases_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/claimref/claimref/kube/cases"
)

// tellings is how often each story is told anew, besides as it is written.
const tellings = 3

// provisioner is the one that runs in all worlds: claims of classes that name
// another one wait.
const provisioner = "folders.claimref.test"

// TestStories plays every story in the sandbox, as it is written and with other
// names, sizes and orders.
func TestStories(t *testing.T) {
	all, err := cases.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, story := range all {
		t.Run(story.Name, func(t *testing.T) {
			t.Parallel()
			play(t, story)
			for seed := range uint64(tellings) {
				varied, err := story.Vary(seed)
				if err != nil {
					t.Fatal(err)
				}
				t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { play(t, varied) })
			}
		})
	}
	t.Logf("%d stories", len(all))
}

func play(t *testing.T, story *cases.Story) {
	t.Helper()
	if story.Expects() == 0 {
		t.Error("nothing is expected")
	}
	wrong, _, err := cases.Play(t.Context(), story, cases.NewSandbox(time.Now(), provisioner))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wrong {
		t.Error(w)
	}
}
