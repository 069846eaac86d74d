package viking

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/annals-kb/annals/domain"
)

// statistics counts memories.
type statistics struct{ reader MemoryReader }

func (s statistics) routes(on route) {
	on("GET /api/v1/stats/memories", s.memoryStats)
}

// memoryStats counts the visible memories by their hotness.
type memoryStats struct {
	Total      int                     `json:"total_memories"`
	Categories map[domain.Category]int `json:"by_category"`
	Hotness    struct {
		Cold int `json:"cold"`
		Warm int `json:"warm"`
		Hot  int `json:"hot"`
	} `json:"hotness_distribution"`
	Staleness struct {
		Week  int     `json:"not_accessed_7d"`
		Month int     `json:"not_accessed_30d"`
		Age   float64 `json:"oldest_memory_age_days"`
	} `json:"staleness"`
}

func (s statistics) memoryStats(ctx context.Context, q *query) (any, error) {
	category := domain.Category(q.param("category"))
	if category != "" && !slices.Contains(domain.Categories, category) {
		return nil, invalid("category", "is not a category")
	}
	stats := memoryStats{Categories: map[domain.Category]int{}}
	for _, name := range domain.Categories {
		stats.Categories[name] = 0
	}
	now := time.Now()
	err := s.reader.Memories(ctx, q.caller.Principal, category, func(u domain.MemoryUse) { stats.count(u, now) })
	return stats, err
}

func (m *memoryStats) count(u domain.MemoryUse, now time.Time) {
	const day, week, month = 24 * time.Hour, 7, 30
	const cold, hot = 0.2, 0.6
	m.Total++
	if u.Category != "" {
		m.Categories[u.Category]++
	}
	switch h := hotness(u, now); {
	case h < cold:
		m.Hotness.Cold++
	case h > hot:
		m.Hotness.Hot++
	default:
		m.Hotness.Warm++
	}
	days := now.Sub(u.Updated).Hours() / day.Hours()
	if days > week {
		m.Staleness.Week++
	}
	if days > month {
		m.Staleness.Month++
	}
	m.Staleness.Age = max(m.Staleness.Age, math.Floor(now.Sub(u.Created).Hours()/day.Hours()))
}

// hotness is OpenViking's measure: how often an item was useful, halved every week. The first vote of an item has no
// voter.
func hotness(u domain.MemoryUse, now time.Time) float64 {
	const halfLife = 7 * 24 * time.Hour
	uses := float64(max(u.Votes-1, 0))
	return 1 / (1 + math.Exp(-math.Log1p(uses))) * math.Exp2(-float64(now.Sub(u.Updated))/float64(halfLife))
}
