package kube

import (
	"context"
	"time"
)

// failingGrace is how long a watch may fail while the server answers before
// the link is called stale. Watches end and begin again all the time.
const failingGrace = 10 * time.Second

// link judges the connection from the probes and from what the watches hear.
// It is pure: every method is given the time.
type link struct {
	silence time.Duration

	phase LinkPhase
	since time.Time
	kind  Kind
	err   string

	// started stands in for the last good moment when there has been none.
	started time.Time
	// answered is when a probe last succeeded.
	answered time.Time
	// timeouts counts probes in a row that got no answer. One may be lost to
	// a busy moment; a refusal is clear at once.
	timeouts int
	version  string
}

func newLink(now time.Time, silence time.Duration) *link {
	return &link{silence: silence, phase: Connecting, since: now, started: now}
}

// good takes in that the server has answered, and judges the watches.
func (l *link) good(now time.Time, pulses []pulse) {
	l.answered = now
	l.timeouts = 0
	if p, stale := l.stale(now, pulses); stale {
		l.enter(Stale, p.heard, p.kind, p.err)
		return
	}
	if l.phase != Live {
		l.enter(Live, now, KindOther, "")
	}
}

// bad takes in that a probe has failed.
func (l *link) bad(now time.Time, pulses []pulse, kind Kind, reason string) {
	if kind == KindTimeout {
		l.timeouts++
		if l.timeouts < 2 && l.phase != Connecting {
			return
		}
	}
	if l.phase == Unreachable {
		l.kind, l.err = kind, reason
		return
	}
	// An event that came in after the last good probe is as good as one.
	last := l.answered
	for _, p := range pulses {
		if p.heard.After(last) {
			last = p.heard
		}
	}
	if last.IsZero() {
		last = l.started
	}
	if last.After(now) {
		last = now
	}
	l.enter(Unreachable, last, kind, reason)
}

func (l *link) enter(phase LinkPhase, since time.Time, kind Kind, reason string) {
	l.phase, l.since, l.kind, l.err = phase, since, kind, reason
}

// stale finds a watch that can't be believed: one that has failed for a
// while, or one of which not even a bookmark has been heard. Silence counts
// only where bookmarks have come before, as a server need not send any.
//
// Of several it is the one that was heard of longest ago.
func (l *link) stale(now time.Time, pulses []pulse) (worst pulse, stale bool) {
	for _, p := range pulses {
		if !p.synced {
			continue
		}
		switch {
		case !p.failing.IsZero() && now.Sub(p.failing) > failingGrace:
		case p.bookmarks && now.Sub(p.heard) > l.silence:
			p.kind, p.err = KindTimeout, "a watch has been silent for too long"
		default:
			continue
		}
		if !stale || p.heard.Before(worst.heard) {
			worst, stale = p, true
		}
	}
	return worst, stale
}

func (l *link) state() Link {
	return Link{Phase: l.phase, Since: l.since, Kind: l.kind, Err: l.err, Version: l.version}
}

// watchLink probes the server until the context ends.
func (f *Feed) watchLink(ctx context.Context) {
	l := newLink(time.Now(), f.client.timing.Silence)
	ticker := time.NewTicker(f.client.timing.Probe)
	defer ticker.Stop()
	for {
		f.probe(ctx, l)
		if ctx.Err() != nil {
			return
		}
		f.setLink(l.state())
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// probe looks at the server once.
func (f *Feed) probe(ctx context.Context, l *link) {
	before := l.phase
	err := f.ready(ctx)
	if ctx.Err() != nil {
		return
	}
	now := time.Now()
	pulses := f.pulses()
	if err != nil {
		l.bad(now, pulses, KindOf(err), Explain(f.client.problem(err)))
		return
	}
	l.good(now, pulses)
	if l.phase == Stale {
		f.restartSilent(now)
	}
	if before == Unreachable {
		f.retrySoon()
	}
	if l.version == "" || before == Unreachable {
		// After an outage it may be another version: clusters are upgraded.
		ctx, cancel := context.WithTimeout(ctx, f.client.timing.ProbeTimeout)
		defer cancel()
		if version, err := f.client.probe.version(ctx); err == nil {
			l.version = version
		}
	}
}

// ready asks the server whether it is ready. A server that forbids the
// question, or does not know it, has answered it.
func (f *Feed) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, f.client.timing.ProbeTimeout)
	defer cancel()
	err := f.client.probe.ready(ctx)
	if kind := KindOf(err); kind == KindForbidden || kind == KindNotFound {
		return nil
	}
	return err
}
