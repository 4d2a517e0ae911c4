package views

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// option is one thing that the user can choose about an operation.
type option struct {
	key, title, help   string
	label, value, note string
	do                 func() tea.Cmd
}

// options are those that matter for this operation, by what the snapshot
// shows of who uses the volume.
func (p *checksPage) options() []option {
	v := p.volumeNamed(p.req.Volume.Name)
	if v == nil {
		return nil
	}
	var out []option
	toggle := func(key, title, help, label string, on *bool, yes, no, noteYes, noteNo string) {
		value, note := no, noteNo
		if *on {
			value, note = yes, noteYes
		}
		out = append(out, option{key: key, title: title, help: help, label: label, value: value, note: note, do: func() tea.Cmd {
			*on = !*on
			return p.replan()
		}})
	}
	if set := setOf(v); set != "" && p.req.Verb == migration.SinglePod {
		if all := p.ordinals(v, set); len(all) > 1 {
			value, note := "all of "+listOrdinals(all), "every claim of the set becomes ReadWriteOncePod"
			if p.req.Ordinals != nil {
				value, note = listOrdinals(p.req.Ordinals)+" only", "the other claims stay ReadWriteOnce, and the set is of two kinds"
			}
			out = append(out, option{key: "o", title: "ordinals", help: "choose which of the StatefulSet's claims are migrated", label: "Ordinals", value: value, note: note, do: func() tea.Cmd {
				return p.chooseOrdinals(v, all)
			}})
		}
		toggle("T", "templates", "re-create the StatefulSet with other templates, or leave it as it is", "Templates of sts/"+set, &p.req.KeepTemplates,
			"kept", "changed", "claims that it makes later are ReadWriteOnce again", "the set is re-created, its pods and claims stay; later claims are ReadWriteOncePod, too")
	}
	if o, ok := p.manifestOption(); ok {
		out = append(out, o)
	}
	if p.req.Recreate || p.checked("surge") {
		toggle("s", "strategy", "set the Deployment's strategy to Recreate, or leave it", "Strategy Recreate", &p.req.Recreate,
			"set", "left as it is", "a rollout stops the old pod first", "a rolling update can wait for itself: the new pod can't start beside the old one")
	}
	if p.req.DeleteCompleted || p.checked("pods-hold") {
		toggle("x", "completed", "delete pods that have run to their end and hold the claim", "Completed pods", &p.req.DeleteCompleted,
			"deleted", "left", "their logs go with them", "they hold the claim, which can't go before them")
	}
	if operators := p.draft.operators; len(operators) > 0 {
		value := "not yet"
		if len(p.req.Operators) > 0 {
			value = strings.Join(p.req.Operators, ", ")
		}
		out = append(out, option{key: "A", title: "acknowledge", help: "take responsibility for an owner that may interfere", label: "Responsibility taken", value: value, note: "for " + strings.Join(operators, ", "), do: p.acknowledge})
	}
	return out
}

// setOf is the StatefulSet that uses a volume, by name; empty for none.
func setOf(v *kube.Volume) string {
	for _, u := range v.Users {
		if u.Kind == string(migration.StatefulSetKind) {
			return u.Name
		}
	}
	return ""
}

// checked says that a check of an ID speaks against it.
func (p *checksPage) checked(id string) bool {
	return slices.ContainsFunc(p.draft.checks, func(c actions.Check) bool { return c.ID == id && c.Severity != actions.Pass })
}

// ordinals are those of the claims that the StatefulSet made from the same
// template.
func (p *checksPage) ordinals(v *kube.Volume, set string) []int {
	ref := v.Object.Spec.ClaimRef
	if ref == nil {
		return nil
	}
	template, ok := templateIn(set, ref.Name)
	if !ok {
		return nil
	}
	var out []int
	for _, c := range p.snap.Claims {
		if c.Object.Namespace != ref.Namespace {
			continue
		}
		if ordinal, ok := migration.Ordinal(set, template, c.Object.Name); ok {
			out = append(out, ordinal)
		}
	}
	slices.Sort(out)
	return out
}

// listOrdinals writes ordinals, which are sorted, as they can be typed: three or
// more in a row as a range, such as "0-2, 5".
func listOrdinals(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		end := i
		for end+1 < len(list) && list[end+1] == list[end]+1 {
			end++
		}
		if end-i < 2 {
			end = i
			parts = append(parts, strconv.Itoa(list[i]))
		} else {
			parts = append(parts, strconv.Itoa(list[i])+"-"+strconv.Itoa(list[end]))
		}
		i = end + 1
	}
	return strings.Join(parts, ", ")
}

// parseOrdinals reads what was typed, such as "all" or "0, 2-4". Nil is all.
func parseOrdinals(text string, all []int) ([]int, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "all" {
		return nil, nil
	}
	var out []int
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		first, err := strconv.Atoi(strings.TrimSpace(from))
		if err != nil {
			return nil, fmt.Errorf("type all, or numbers such as 0,2-3")
		}
		last := first
		if isRange {
			if last, err = strconv.Atoi(strings.TrimSpace(to)); err != nil || last < first {
				return nil, fmt.Errorf("%s is no range", strings.TrimSpace(part))
			}
		}
		for _, n := range []int{first, last} {
			if !slices.Contains(all, n) {
				return nil, fmt.Errorf("there is no claim of ordinal %d", n)
			}
		}
		for _, n := range all {
			if n >= first && n <= last && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	if len(out) == len(all) {
		return nil, nil
	}
	return out, nil
}

func (p *checksPage) chooseOrdinals(v *kube.Volume, all []int) tea.Cmd {
	p.nav.Open(ui.NewPrompt(ui.PromptOptions{
		Title:       "Which ordinals",
		Text:        []ui.Span{{Text: "There are claims of ordinals " + listOrdinals(all) + ". That of volume " + v.Object.Name + " has to be among those chosen. All pods of the set are stopped in any case."}},
		Placeholder: "all, or such as 0,2",
		Check: func(text string) string {
			if _, err := parseOrdinals(text, all); err != nil {
				return err.Error()
			}
			return ""
		},
		Do: func(text string) tea.Cmd {
			chosen, err := parseOrdinals(text, all)
			if err != nil {
				return nil
			}
			p.req.Ordinals = chosen
			return p.replan()
		},
	}))
	return nil
}

// acknowledge has the name of an owner typed for which the user takes
// responsibility.
func (p *checksPage) acknowledge() tea.Cmd {
	left := slices.DeleteFunc(slices.Clone(p.draft.operators), func(name string) bool { return slices.Contains(p.req.Operators, name) })
	if len(left) == 0 {
		p.req.Operators = nil
		return p.replan()
	}
	name := left[0]
	p.nav.Open(ui.NewPrompt(ui.PromptOptions{
		Title:       "Take responsibility for " + name,
		Text:        []ui.Span{{Text: name + " may undo or repeat what is done here. Pause it first, if it can be paused, and type its name to go on regardless.", Role: ui.Warn}},
		Placeholder: "type the name",
		Check:       wantWord(name),
		Do: func(string) tea.Cmd {
			p.req.Operators = append(slices.Clone(p.req.Operators), name)
			return p.replan()
		},
	}))
	return nil
}
