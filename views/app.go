package views

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/explain"
	"github.com/claimref/claimref/ui"
)

// App is the program's model: the shell with the three tables, and the
// session they share. It feeds the session before the pages see a message, so
// that all of them look at the same snapshot and the same moment.
type App struct {
	shell *ui.App
	*session
}

// New builds the program's model. Now is the moment it starts at; afterwards
// time comes by messages.
func New(ctx context.Context, cluster Cluster, opts Options, now time.Time) *App {
	s := &session{
		ctx: ctx, cluster: cluster, opts: opts,
		after: timer(ctx), tracker: opts.Tracker, snap: &kube.Snapshot{}, now: now, namespace: opts.Namespace,
	}
	s.volumes = newListPage(s, volumesKind())
	s.claims = newListPage(s, claimsKind())
	s.classes = newListPage(s, classesKind())
	s.dangers = newListPage(s, risksKind())
	shell := ui.New(ui.Options{
		Product:          "claimref",
		Tabs:             []ui.Page{s.volumes, s.claims, s.classes, s.dangers},
		Chrome:           s.chrome,
		Theme:            ui.ThemeOptions{Dark: opts.Dark, Color: opts.Color, ASCII: opts.ASCII},
		FollowBackground: opts.FollowBackground,
		Mouse:            opts.Mouse,
		Init:             func() tea.Cmd { return tea.Batch(s.nextSnapshot(), s.everyTick()) },
		Bindings:         s.globalKeys(),
	})
	if s.tracker == nil {
		s.tracker = &explain.Tracker{}
	}
	s.nav = shell
	s.refresh()
	return &App{shell: shell, session: s}
}

// Init implements tea.Model.
func (a *App) Init() tea.Cmd { return a.shell.Init() }

// View implements tea.Model.
func (a *App) View() tea.View { return a.shell.View() }

// Update implements tea.Model.
func (a *App) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var own, also tea.Cmd
	switch msg := msg.(type) {
	case snapshotMsg:
		own, also = a.accept(msg), a.assess()
	case risksMsg:
		own = a.judged(msg)
	case tickMsg:
		a.now = time.Time(msg)
		own = a.everyTick()
	case backupsMsg:
		if msg.turn == a.backupsTurn {
			a.openUnfinished(msg)
		}
	}
	_, cmd := a.shell.Update(msg)
	return a, tea.Batch(own, cmd, also)
}

// accept takes a snapshot and asks for the next one. The feed ends only with
// the program.
func (s *session) accept(msg snapshotMsg) tea.Cmd {
	if msg.err != nil {
		if !errors.Is(msg.err, context.Canceled) {
			s.nav.Notify(ui.Bad, "No more news from the cluster: "+kube.Explain(msg.err))
		}
		return nil
	}
	s.snap = msg.snap
	return s.nextSnapshot()
}

// refresh brings all tables up to date, shown or not.
func (s *session) refresh() {
	s.volumes.refresh()
	s.claims.refresh()
	s.classes.refresh()
	s.dangers.refresh()
}

// globalKeys work on every tab.
func (s *session) globalKeys() []ui.Binding {
	return []ui.Binding{
		{Keys: []string{":"}, Title: "command", Help: "go to a table or a namespace by name", Group: "Everywhere", Hint: true, Do: s.openCommands},
	}
}

// quit ends the program, unless a page may not be left.
func (s *session) quit() tea.Cmd {
	if s.nav.Held() {
		return nil
	}
	return tea.Quit
}

// openCommands is the command line: a list of places that narrows as one
// types.
func (s *session) openCommands() tea.Cmd {
	show := func(tab int) func() tea.Cmd {
		return func() tea.Cmd { s.show(tab); return nil }
	}
	entries := []ui.Entry{
		{Title: "volumes", Note: "pv, persistentvolumes", Do: show(volumesTab)},
		{Title: "claims", Note: "pvc, persistentvolumeclaims", Do: show(claimsTab)},
		{Title: "classes", Note: "sc, storageclasses", Do: show(classesTab)},
		{Title: "risks", Note: "what is not safe, the worst first", Do: show(risksTab)},
		{Title: "namespace", Note: "ns, choose one", Do: s.openNamespaces},
		{Title: "operations", Note: "unfinished ones, and those kept in backups", Do: s.readBackups},
		{Title: "quit", Note: "q", Do: s.quit},
	}
	s.nav.Open(ui.NewPicker("Go to", entries, ui.PickerOptions{
		Placeholder: "volumes, claims, classes, risks, ns NAME, quit",
		Free: func(text string) (ui.Entry, string) {
			ns, found := strings.CutPrefix(strings.TrimSpace(text), "ns ")
			if ns = strings.TrimSpace(ns); !found || ns == "" {
				return ui.Entry{}, ""
			}
			return ui.Entry{Title: "namespace " + ns, Do: func() tea.Cmd { s.setNamespace(ns); return nil }}, ""
		},
	}))
	return nil
}
