// Package terminal runs a program in a pseudo-terminal and shows tests what a
// person would see on its screen.
//
// It owns the screen (a terminal emulator), the keyboard and the life of the
// program. It knows nothing of the program: everything is judged by cells of
// the screen and the exit code, never by the bytes that drew them.
package terminal
