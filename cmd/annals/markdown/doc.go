// Package markdown reads and writes knowledge as notes, which people edit in other programs.
package markdown
