// Package ui is the application shell and the widgets that screens are made
// of: the root Bubble Tea model with its header, tabs, page and dialog stacks,
// story and key lines, a table whose selection stays on its object, a pager,
// menus and prompts, and the theme.
//
// It knows nothing of Kubernetes and imports the Charm libraries only. Every
// text that reaches the screen passes through Clean first, so that what a
// cluster says can never drive the terminal.
//
// Rendering is pure: Render methods take no clock, do no IO, and return exactly
// the size they were asked for; drawing twice gives the same screen twice. The
// one thing that a widget keeps from it is its geometry: the size it was drawn
// in, on which paging rests, and the widths of columns, which may not jump
// while rows stream in. All state changes happen on Bubble Tea's update
// goroutine.
package ui
