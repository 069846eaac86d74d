package serve

import (
	"cmp"
	"context"
	"os"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/http/viking"
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
	given := map[string]string{"ANNALS_LLM_URL": e.LLMURL, "ANNALS_LLM_MODEL": e.LLMModel, "ANNALS_LLM_RATE": e.LLMRate}
	chosen, _, err := extraction.FromEnvironment(func(name string) string { return cmp.Or(given[name], os.Getenv(name)) })
	if err != nil {
		return nil, terminal.Wrong("annals serve --help lists the settings", "%s", err)
	}
	return chosen, nil
}

// summarizing makes the worker that summarises long items; nil without a model.
func (s *Service) summarizing(entrance *events.ScrubbingWriter, extractor extraction.Extractor) *extraction.Summaries {
	model, is := extractor.(extraction.Summarizer)
	if !is {
		return nil
	}
	return extraction.NewSummaries(extraction.SummaryOptions{
		Log: s.log, Writer: entrance, Reader: s.knowledge, Summarizer: model, Directories: browse.NewDirectories(s.db),
		Logger: s.logger,
	})
}

// browsing makes the worker that summarises directories; nil without a model.
func (s *Service) browsing(entrance *events.ScrubbingWriter, extractor extraction.Extractor) *extraction.Directories {
	model, is := extractor.(extraction.Summarizer)
	if !is {
		return nil
	}
	return extraction.NewDirectories(extraction.DirectoryOptions{
		Shelves: browse.NewDirectories(s.db), Browser: s.knowledge, Summarizer: model, Clean: entrance.Clean,
		Logger: s.logger,
		RunExclusively: func(ctx context.Context, do func(context.Context) error) error {
			return s.log.RunExclusively(ctx, domain.Directories, do)
		},
	})
}

// outlines are the summaries of directories; nil without a model.
func (s *Service) outlines() viking.Directories {
	if s.directories == nil {
		return nil
	}
	return browse.NewDirectories(s.db)
}

// extractor makes the worker that extracts knowledge from sessions.
func (s *Service) extractor(entrance *events.ScrubbingWriter, extractor extraction.Extractor) *extraction.Worker {
	return extraction.NewWorker(extraction.Options{
		Log: s.log, Writer: entrance, Reader: s.knowledge, Archivist: sessions.Sessions{Log: s.log}, Extractor: extractor,
		Logger: s.logger,
	})
}

// knock checks the model's key with the endpoint, before the first extraction needs it.
func (s *Service) knock(ctx context.Context) {
	model, is := s.worker.Extractor.(*extraction.Model)
	if !is {
		return
	}
	if err := model.Probe(ctx); err != nil && ctx.Err() == nil {
		s.logger.WarnContext(ctx, "nothing is learned from sessions until the model's endpoint can be asked", "error", err)
	}
}
