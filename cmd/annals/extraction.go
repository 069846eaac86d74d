package main

import (
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/extraction"
	"github.com/annals-kb/annals/projections"
)

// extracting makes the worker that turns sessions into knowledge.
func (s *service) extracting(entrance *events.Entrance, extractor extraction.Extractor) *extraction.Worker {
	return extraction.NewWorker(extraction.Options{
		Log: s.log, Writer: entrance, Reader: s.knowledge, Archivist: projections.Sessions{Log: s.log}, Extractor: extractor, Logger: s.logger,
	})
}
