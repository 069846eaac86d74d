package mcp

import (
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/client"
)

// categories are the categories that models may name.
func categories() []string { return words(domain.Categories) }

// words are the values as strings.
func words[T ~string](values []T) []string {
	all := make([]string, len(values))
	for i, value := range values {
		all[i] = string(value)
	}
	return all
}

// directoryOf is OpenViking's directory for a category.
func directoryOf(category string) string {
	switch {
	case category == "":
		return "viking://"
	case domain.Category(category).AboutUser():
		return "viking://user/memories/" + category + "/"
	default:
		return "viking://agent/memories/" + category + "/"
	}
}

// searches are the searches that find knowledge of a category, including items with its type but without a category.
func searches(question client.Search, category string) []client.Search {
	switch domain.Category(category) {
	case domain.CategoryTools:
		question.Types = []string{string(domain.Tool)}
	case domain.CategoryPatterns:
		question.Types, question.ContextType = []string{
			string(domain.Plan), string(domain.Strategy),
		}, []string{string(domain.Memory)}
	case domain.CategoryCases:
		question.Types = []string{string(domain.Usecase)}
	case domain.CategoryPreferences:
		question.Types = []string{string(domain.UserProfile)}
	case domain.CategoryAntipatterns:
		question.Polarity = string(domain.Negative)
		return []client.Search{question}
	case domain.CategorySkills:
		pushed := question
		pushed.ContextType, pushed.Polarity = []string{string(domain.Skill)}, string(domain.Positive)
		question.Category, question.Polarity = []string{category}, string(domain.Positive)
		return []client.Search{pushed, question}
	case "":
		return []client.Search{question}
	default:
		question.Category = []string{category}
	}
	question.Polarity = string(domain.Positive)
	return []client.Search{question}
}

// kindOf is the category of an item, or the one that follows from its type.
func kindOf(k client.Knowledge) string {
	if k.Category != "" {
		return k.Category
	}
	return string(domain.AspectOf(&domain.Knowledge{Class: domain.Class{
		Type: domain.Type(k.Type), ContextType: domain.ContextType(k.ContextType), Polarity: domain.Polarity(k.Polarity),
	}}))
}
