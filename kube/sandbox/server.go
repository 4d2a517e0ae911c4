package sandbox

import (
	"net/http"
	"slices"
	"sync"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
)

// ServerOptions say how a Server is. The zero value is a server with a single
// user, who may do everything.
type ServerOptions struct {
	// Access is what each user may do, besides Admin, who may do everything.
	// A user who is in neither is not let in.
	Access map[string][]Rule
	// DefaultUser is who a request is from that does not say; Admin if empty.
	DefaultUser string
	// Window is how many changes are kept at least for watches that resume;
	// 10,000 if it is not set.
	Window int
	// BookmarkEvery is the pause between two bookmarks of a watch; a minute,
	// as on a real server, if it is not set.
	BookmarkEvery time.Duration
}

// Admin is the user who may do everything.
const Admin = "admin"

// Rule is what a user may do: in one namespace, or everywhere if Namespace is
// empty.
type Rule struct {
	Namespace string
	rbacv1.PolicyRule
}

// Server is an API server over a State. It is safe for concurrent use. Each
// request is carried out on one State as a whole, so that writes follow one
// upon the other, as in a real server's storage.
type Server struct {
	options ServerOptions
	kinds   map[Resource]kind
	codec   codec

	mu    sync.Mutex
	state *State
	// log is what changed after the version compacted, oldest first.
	log       []Change
	compacted int64
	// epoch counts the times that history broke off, because the State was
	// replaced by one that does not follow from it.
	epoch int
	// changed is closed, and replaced, at each change.
	changed chan struct{}
}

// NewServer is a Server over a State.
func NewServer(s *State, o ServerOptions) *Server {
	if o.Window <= 0 {
		o.Window = 10_000
	}
	if o.BookmarkEvery <= 0 {
		o.BookmarkEvery = time.Minute
	}
	if o.DefaultUser == "" {
		o.DefaultUser = Admin
	}
	table := map[Resource]kind{}
	for _, k := range kinds() {
		table[k.resource] = k
	}
	server := &Server{options: o, kinds: table, codec: newCodec(), state: s.Forget(), changed: make(chan struct{})}
	server.log = s.Since(0)
	server.compacted = s.version - int64(len(server.log))
	server.trim()
	return server
}

// State is the current one.
func (s *Server) State() *State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Apply replaces the current State by what the function makes of it, as one
// act: it is how a controller's transition takes place. The function may be
// called under the server's lock, so it must not ask the server for anything.
func (s *Server) Apply(change func(*State) *State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store(change(s.state))
}

// Changed is closed at the next change of the State. Take it before looking at
// the State, so as to miss nothing.
func (s *Server) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Compact forgets the history of changes: a watch that would resume from an
// older version than the current one is answered with 410 Gone.
func (s *Server) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log, s.compacted = nil, s.state.version
}

// store makes a State the current one. The lock is held.
func (s *Server) store(next *State) {
	before := s.state
	if next == before {
		return
	}
	changes := next.Since(before.version)
	if int64(len(changes)) == next.version-before.version {
		s.log = append(s.log, changes...)
	} else {
		s.log, s.compacted = nil, next.version
		s.epoch++
	}
	s.trim()
	s.state = next.Forget()
	close(s.changed)
	s.changed = make(chan struct{})
}

// trim keeps the history as long as the window, or twice as long for a while,
// so that it is not copied each time.
func (s *Server) trim() {
	if len(s.log) <= 2*s.options.Window {
		return
	}
	excess := len(s.log) - s.options.Window
	s.compacted = s.log[excess-1].Version
	s.log = slices.Clone(s.log[excess:])
}

// history is what changed after a version, and what to wait for when nothing
// has. It is not ok for a version that was compacted, or of another epoch.
func (s *Server) history(epoch int, after int64) (changes []Change, current int64, changed <-chan struct{}, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if epoch != s.epoch || after < s.compacted {
		return nil, s.state.version, nil, false
	}
	from := len(s.log)
	for from > 0 && s.log[from-1].Version > after {
		from--
	}
	return slices.Clone(s.log[from:]), s.state.version, s.changed, true
}

// now is the State and the epoch it belongs to.
func (s *Server) now() (*State, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, s.epoch
}

// write carries out one write, and stores what comes of it unless it was a dry
// run. So a dry run is the real thing in all but this.
func (s *Server) write(dryRun bool, act func(*State) (*State, answer, error)) (answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next, a, err := act(s.state)
	if err != nil {
		return answer{}, err
	}
	if !dryRun {
		s.store(next)
	}
	return a, nil
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, err := s.user(r)
	if err != nil {
		s.codec.fail(w, r, err)
		return
	}
	if s.serveInfo(w, r) {
		return
	}
	call, err := s.parse(r, user)
	if err != nil {
		s.codec.fail(w, r, err)
		return
	}
	if err := s.authorize(call); err != nil {
		s.codec.fail(w, r, err)
		return
	}
	if call.verb == verbWatch {
		s.serveWatch(w, r, call)
		return
	}
	a, err := s.dispatch(r, call)
	if err != nil {
		s.codec.fail(w, r, err)
		return
	}
	s.codec.respond(w, r, a)
}
