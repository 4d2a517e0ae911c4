package main

import (
	"strings"
	"time"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube/explain"
	"github.com/claimref/claimref/ui"
)

// risksReport is the answer of risks. The names of its fields are stable.
type risksReport struct {
	Context string `json:"context,omitempty"`
	// Namespace that it is restricted to.
	Namespace string    `json:"namespace,omitempty"`
	Time      time.Time `json:"time"`
	// Counts are of all that was found, whatever is listed.
	Counts counts     `json:"counts"`
	Risks  []riskData `json:"risks"`
	// Unread is what risks may hide in.
	Unread []gap `json:"unread"`
}

type counts struct {
	Critical int `json:"critical"`
	High     int `json:"high"`
	Low      int `json:"low"`
	Info     int `json:"info"`
}

func (c *counts) add(s explain.Severity) {
	switch s {
	case explain.Critical:
		c.Critical++
	case explain.High:
		c.High++
	case explain.Low:
		c.Low++
	default:
		c.Info++
	}
}

type riskData struct {
	ID       explain.RiskID `json:"id"`
	Severity string         `json:"severity"`
	Object   actions.Ref    `json:"object"`
	Text     string         `json:"text"`
	Remedy   string         `json:"remedy"`
	// Cure is the operation that claimref has for it.
	Cure  actions.Verb `json:"cure,omitempty"`
	Since time.Time    `json:"since,omitzero"`
}

func reportOf(read *reading, list []*explain.Risk, least explain.Severity) risksReport {
	report := risksReport{Context: read.client.Identity().Context, Time: read.now.UTC().Truncate(time.Second), Risks: []riskData{}}
	for _, r := range list {
		report.Counts.add(r.Severity)
		if r.Severity >= least {
			report.Risks = append(report.Risks, riskOf(r))
		}
	}
	return report
}

func riskOf(r *explain.Risk) riskData {
	return riskData{ID: r.ID, Severity: r.Severity.String(), Object: r.Object, Text: r.Text, Remedy: r.Remedy, Cure: r.Cure, Since: r.Since}
}

// table prints the report for people.
func (r *risksReport) table(p *printer) {
	if len(r.Risks) == 0 {
		text := "No risks"
		if r.Counts != (counts{}) {
			text = "No risks of this severity"
		}
		if len(r.Unread) > 0 {
			text += " in what could be read"
		}
		p.line(text)
		return
	}
	rows := make([][]cell, 0, len(r.Risks))
	for _, risk := range r.Risks {
		rows = append(rows, []cell{{risk.Severity, severityRole(risk.Severity)}, {short(risk.Object), ui.Strong}, {risk.Text, ui.Plain}, {risk.Remedy, ui.Plain}})
	}
	p.table("", []string{"SEVERITY", "OBJECT", "RISK", "REMEDY"}, rows, 2)
}

func severityRole(severity string) ui.Role {
	switch severity {
	case explain.Critical.String():
		return ui.Bad
	case explain.High.String():
		return ui.Warn
	case explain.Low.String():
		return ui.Notice
	default:
		return ui.Dim
	}
}

// short names an object in the way that explain takes it.
func short(ref actions.Ref) string {
	kind := strings.ToLower(string(ref.Kind))
	switch ref.Kind {
	case actions.VolumeKind:
		kind = "pv"
	case actions.ClaimKind:
		kind = "pvc"
	case actions.ClassKind:
		kind = "sc"
	}
	if ref.Namespace != "" {
		kind += "/" + ref.Namespace
	}
	return kind + "/" + ref.Name
}
