package sandbox

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"

	"k8s.io/client-go/rest"
)

// RESTConfig is how a client reaches the server without a network, as a user.
// Everything but the network is the ordinary path of client-go.
func (s *Server) RESTConfig(user string) *rest.Config {
	return &rest.Config{
		Host:        "http://sandbox",
		Transport:   transport{s},
		Impersonate: rest.ImpersonationConfig{UserName: user},
		// There is nobody to spare.
		QPS: -1,
	}
}

// transport hands requests to a handler.
type transport struct{ handler http.Handler }

// RoundTrip runs the handler, and returns as soon as it begins to answer. What
// it writes is read from the answer's body as it comes.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	given := r.Context()
	ctx, cancel := context.WithCancel(given)
	r = r.Clone(ctx)
	if r.Body == nil {
		r.Body = http.NoBody
	}
	read, write := io.Pipe()
	out := &pipeWriter{header: http.Header{}, pipe: write, began: make(chan struct{})}
	// A reader that waits for the next event must not have to wait until the
	// handler notices that the request was given up. For one that has come to
	// its end this changes nothing.
	context.AfterFunc(ctx, func() { _ = write.CloseWithError(ctx.Err()) })
	go func() {
		defer cancel()
		t.handler.ServeHTTP(out, r)
		out.WriteHeader(http.StatusOK)
		// Closing a pipe never fails, and the request was read as far as it
		// will be.
		_ = write.Close()
		_ = r.Body.Close()
	}()
	select {
	case <-out.began:
	case <-given.Done():
		cancel()
		return nil, fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, given.Err())
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", out.code, http.StatusText(out.code)), StatusCode: out.code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: out.sent, Body: &pipeBody{read, cancel}, ContentLength: -1, Request: r,
	}, nil
}

// pipeWriter is the handler's side of an answer.
type pipeWriter struct {
	header http.Header
	pipe   *io.PipeWriter
	once   sync.Once
	began  chan struct{}
	// code and sent are set before began is closed.
	code int
	sent http.Header
}

func (w *pipeWriter) Header() http.Header { return w.header }

func (w *pipeWriter) WriteHeader(code int) {
	w.once.Do(func() {
		w.code, w.sent = code, w.header.Clone()
		close(w.began)
	})
}

func (w *pipeWriter) Write(data []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.pipe.Write(data)
}

// Flush makes it a http.Flusher. Nothing is held back.
func (w *pipeWriter) Flush() {}

// pipeBody is the client's side. Closing it ends the handler, too.
type pipeBody struct {
	*io.PipeReader
	cancel context.CancelFunc
}

// Close ends the request.
func (b *pipeBody) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}
