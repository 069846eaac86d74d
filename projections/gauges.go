package projections

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rebuild"
	"github.com/annals-kb/annals/projections/rows"
)

// Gauges report the state of background projections and rebuilds. They are read for each request for metrics. A gauge
// that cannot be read is left out.
type Gauges struct {
	followers *follow.Followers
	rebuilds  rebuild.Rebuilds
	patience  time.Duration

	lagEvents, lagSeconds, stalled, halted, quarantined, lease *prometheus.Desc

	stage, done, behind *prometheus.Desc
}

var _ prometheus.Collector = (*Gauges)(nil)

// NewGauges makes the gauges of a process.
func NewGauges(followers *follow.Followers, rebuilder *rebuild.Rebuilder) *Gauges {
	follower := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("annals_projection_"+name, help, []string{"projection", "version", "state"}, nil)
	}
	itsRebuild := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("annals_rebuild_"+name, help, append([]string{"projection"}, labels...), nil)
	}
	return &Gauges{
		followers: followers, rebuilds: rebuild.Rebuilds{Rebuilder: rebuilder}, patience: 5 * time.Second,
		lagEvents:   follower("lag_events", "Events that a projection has not read, of the tenant for whom they are most."),
		lagSeconds:  follower("lag_seconds", "Age of the oldest event that a projection has not read, of all tenants."),
		stalled:     follower("stalled", "Tenants on whose log a projection stands still, as far as this process can tell."),
		halted:      follower("halted", "Tenants on whose log a projection does not go on by itself."),
		quarantined: follower("quarantined_streams", "Streams that a projection passes over, of all tenants."),
		lease:       follower("lease_held", "1 while this process works on a projection, else 0."),
		stage:       itsRebuild("stage", "1 for the stage that the newest rebuild is in, else 0.", "stage"),
		done:        itsRebuild("done", "Share of its stage that the running rebuild has done, 0 to 1."),
		behind:      itsRebuild("behind_events", "Events that the running rebuild has still to catch up with."),
	}
}

func (g *Gauges) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		g.lagEvents, g.lagSeconds, g.stalled, g.halted, g.quarantined, g.lease, g.stage, g.done, g.behind,
	} {
		to <- desc
	}
}

func (g *Gauges) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), g.patience)
	defer cancel()
	if err := errors.Join(g.collectFollowers(ctx, to), g.rebuild(ctx, to)); err != nil {
		g.rebuilds.Logger.WarnContext(ctx, "metrics of projections were left out", "error", err)
	}
}

func (g *Gauges) collectFollowers(ctx context.Context, to chan<- prometheus.Metric) error {
	p := g.rebuilds.Versions
	var known []catalogue.Entry
	err := p.DB.NewSelect().Model(&known).Where("name <> ?", catalogue.KnowledgeName).
		Where("state IN (?, ?, ?)", catalogue.StateActive, catalogue.StateReady, catalogue.StateCatching).
		OrderExpr("name, version").Scan(ctx)
	if err != nil {
		return rows.Failed(ctx, "read the catalogue", err)
	}
	for _, follower := range g.followers.Names() { // those that are in no catalogue have one version
		if _, version := catalogue.NameOf(follower); version == 0 {
			known = append(known, catalogue.Entry{Name: follower, State: catalogue.StateActive})
		}
	}
	for _, e := range known {
		if err := g.follower(ctx, to, e); err != nil {
			return err
		}
	}
	return nil
}

// follower reports on a projection that the catalogue has, or on one whose checkpoint has its name.
func (g *Gauges) follower(ctx context.Context, to chan<- prometheus.Metric, e catalogue.Entry) error {
	checkpoint, version := e.Name, 1
	if e.Version > 0 {
		checkpoint, version = e.Name+"_"+strconv.Itoa(e.Version), e.Version
	}
	s, err := g.followers.Lag(ctx, checkpoint)
	if err != nil {
		return err
	}
	name, _ := catalogue.NameOf(checkpoint)
	mine := 0.0
	if s.Mine {
		mine = 1
	}
	for desc, value := range map[*prometheus.Desc]float64{
		g.lagEvents: float64(s.LagEvents), g.lagSeconds: s.Lag.Seconds(), g.stalled: float64(s.Stalled),
		g.halted: float64(s.Halted), g.quarantined: float64(s.Quarantined), g.lease: mine,
	} {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, name, strconv.Itoa(version), e.State)
	}
	return nil
}

func (g *Gauges) rebuild(ctx context.Context, to chan<- prometheus.Metric) error {
	last, err := g.rebuilds.Last(ctx, catalogue.KnowledgeName)
	if err != nil && !errors.Is(err, domain.ErrNotFound) {
		return err
	}
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value,
			append([]string{catalogue.KnowledgeName}, labels...)...)
	}
	for _, stage := range append(slices.Clone(catalogue.UnfinishedStates), catalogue.StateFailed) {
		in := 0.0
		if last.State == stage {
			in = 1
		}
		gauge(g.stage, in, stage)
	}
	if last.Unfinished() {
		gauge(g.done, shareOf(*last.Progress))
		gauge(g.behind, float64(last.Progress.Behind))
	}
	return nil
}

// shareOf is how much of its stage a rebuild has done; 1 in a stage without a count.
func shareOf(p domain.RebuildProgress) float64 {
	done := p.Streams
	switch p.Phase {
	case catalogue.StateBuilding:
	case catalogue.StateVerifying:
		done = p.Verified
	default:
		return 1
	}
	return float64(done) / float64(max(1, p.Total, done))
}
