package serve

import (
	"cmp"
	"context"
	"log/slog"
	"os"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/operate"
	httpsessions "github.com/annals-kb/annals/http/sessions"
	"github.com/annals-kb/annals/projections/browse"
	"github.com/annals-kb/annals/projections/extraction"
	"github.com/annals-kb/annals/projections/sessions"
)

// extracting are the settings of the model that extracts knowledge from sessions.
type extracting struct {
	// LLMURL is the base of an OpenAI-compatible endpoint.
	LLMURL string `name:"llm-url" group:"extraction" env:"ANNALS_LLM_URL" placeholder:"URL"`

	// LLMModel is the endpoint's name of the model. Only the environment sets the key.
	LLMModel string `name:"llm-model" group:"extraction" env:"ANNALS_LLM_MODEL" placeholder:"NAME"`

	// LLMRate keeps background work, which may have many items to summarise, from using up the endpoint's limit.
	LLMRate string `name:"llm-rate" group:"extraction" env:"ANNALS_LLM_RATE" placeholder:"N"`
}

// extractor is the extractor of the settings.
func (e extracting) extractor() (extraction.Extractor, error) {
	settings := map[string]string{"ANNALS_LLM_URL": e.LLMURL, "ANNALS_LLM_MODEL": e.LLMModel, "ANNALS_LLM_RATE": e.LLMRate}
	chosen, _, err := extraction.FromEnvironment(func(name string) string {
		return cmp.Or(settings[name], os.Getenv(name))
	})
	if err != nil {
		return nil, terminal.Wrong("annals serve --help lists the settings", "%s", err)
	}
	return chosen, nil
}

func checkExtraction(c Config) error {
	_, err := c.extractor()
	return err
}

// openExtraction makes the workers that extract knowledge from sessions, and that summarise if there is a model. It
// offers the extractor, and the summaries of directories.
func openExtraction(_ context.Context, c *core) (part, error) {
	extractor, err := c.cfg.extractor()
	if err != nil {
		return part{}, err
	}
	known := sessions.Sessions{Log: c.log, Followers: c.followers}
	worker := extraction.NewWorker(extraction.Options{
		Log: c.log, Followers: c.followers, Writer: c.entrance, Reader: c.knowledge.Browser, Searcher: c.knowledge.Searcher,
		Archivist: known, Extractor: extractor, Logger: c.logger,
	})
	p := part{
		follow: []func(*message.Router){worker.Follow},
		run:    []func(context.Context){func(ctx context.Context) { probe(ctx, worker, c.logger) }, worker.Retry},
		status: []statusOf{worker.Status},
		models: []operate.Model{{Model: api.Model{Name: "llm", Model: extractor.Name()}}},
		offers: []any{extractor},
		api: func(api *annalshttp.Config) {
			api.Lesson = httpsessions.Lessons{Sessions: known, Personal: extraction.Personal}.For
		},
	}
	model, is := extractor.(extraction.Summarizer)
	if !is {
		return p, nil
	}
	p.models[0].Try = func(ctx context.Context) (int, error) {
		_, err := model.Summarize(ctx, "", tried)
		return 0, err
	}
	shelves := browse.NewDirectories(c.db)
	summaries := extraction.NewSummaries(extraction.SummaryOptions{
		Followers: c.followers, Writer: c.entrance, Reader: c.knowledge.Browser, Summarizer: model, Directories: shelves,
		Logger: c.logger,
	})
	directories := extraction.NewDirectories(extraction.DirectoryOptions{
		Shelves: shelves, Browser: c.knowledge.Browser, Summarizer: model, Clean: c.entrance.Clean, Logger: c.logger,
		RunExclusively: func(ctx context.Context, do func(context.Context) error) error {
			return c.followers.RunExclusively(ctx, domain.Directories, do)
		},
	})
	p.follow, p.status = append(p.follow, summaries.Follow), append(p.status, summaries.Status)
	p.run, p.offers = append(p.run, directories.Run), append(p.offers, shelves)
	return p, nil
}

// probe checks the model's key with the endpoint, before the first extraction needs it.
func probe(ctx context.Context, worker *extraction.Worker, logger *slog.Logger) {
	model, is := worker.Extractor.(*extraction.Model)
	if !is {
		return
	}
	if err := model.Probe(ctx); err != nil && ctx.Err() == nil {
		logger.WarnContext(ctx, "nothing is learned from sessions until the model's endpoint can be asked", "error", err)
	}
}
