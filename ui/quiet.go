package ui

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// keptBytes is how much is kept of what was written while the screen was on:
// the end of it is what explains a failure.
const keptBytes = 8 << 10

// lastWords is how long Close waits for what is still being written.
const lastWords = 100 * time.Millisecond

// Quiet stands between standard error and the terminal. Libraries and the
// programs that they start write there without asking, which is fine before
// and after, but would tear the screen while that is on.
type Quiet struct {
	write, read *os.File
	out         io.Writer
	done        chan struct{}

	mu   sync.Mutex
	held bool
	kept []byte
}

// NewQuiet passes on to out what is written to File. Close ends it.
func NewQuiet(out io.Writer) (*Quiet, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe for standard error: %w", err)
	}
	q := &Quiet{write: write, read: read, out: out, done: make(chan struct{})}
	go q.pass()
	return q, nil
}

// File is where to write to: what os.Stderr should be.
func (q *Quiet) File() *os.File { return q.write }

// Hold keeps what is written from now on, Release passes on the end of it, and
// all that follows.
func (q *Quiet) Hold() { q.set(true) }

// Release ends what Hold began.
func (q *Quiet) Release() { q.set(false) }

func (q *Quiet) set(held bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held = held
	if !held {
		q.flush()
	}
}

// flush writes what was kept. There is nobody to tell if that fails.
func (q *Quiet) flush() {
	_, _ = q.out.Write(q.kept)
	q.kept = nil
}

func (q *Quiet) pass() {
	defer close(q.done)
	buffer := make([]byte, 4<<10)
	for {
		n, err := q.read.Read(buffer)
		q.mu.Lock()
		q.kept = append(q.kept, buffer[:n]...)
		if q.held {
			q.kept = q.kept[max(len(q.kept)-keptBytes, 0):]
		} else {
			q.flush()
		}
		q.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Close passes on what is left. A program that still runs may hold the pipe
// open, and is not waited for.
func (q *Quiet) Close() error {
	if err := q.write.Close(); err != nil {
		return fmt.Errorf("close the pipe for standard error: %w", err)
	}
	// A reader that has not seen the end by then is cut off: a deadline makes
	// it read what is there, and give up.
	if err := q.read.SetReadDeadline(time.Now().Add(lastWords)); err == nil {
		<-q.done
	}
	q.Release()
	return q.read.Close()
}
