package kube

import (
	"context"
	"sync"
)

// crewSize is how many questions are put to the server at once: a person waits
// for all of them, and others use the server too.
const crewSize = 6

// crew asks many things at once, but not all.
type crew struct {
	ctx   context.Context
	slots chan struct{}
	group sync.WaitGroup
}

func newCrew(ctx context.Context) *crew {
	return &crew{ctx: ctx, slots: make(chan struct{}, crewSize)}
}

// ask has somebody ask. What they note needs no lock if nobody else notes it.
func (c *crew) ask(question func(context.Context)) {
	c.group.Go(func() {
		c.slots <- struct{}{}
		defer func() { <-c.slots }()
		question(c.ctx)
	})
}

// wait waits until all have asked.
func (c *crew) wait() { c.group.Wait() }
