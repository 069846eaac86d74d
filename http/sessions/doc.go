// Package sessions registers the operations on sessions and on the tasks that their commits start.
package sessions
