package foreign

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/cmd/annals/markdown"
)

// slackMessage is a message of a channel.
type slackMessage struct {
	Subtype  string `json:"subtype"`
	User     string `json:"user"`
	Username string `json:"username"`
	Text     string `json:"text"`
	At       string `json:"ts"`
	Thread   string `json:"thread_ts"`

	Reactions []struct {
		Name string `json:"name"`
	} `json:"reactions"`
}

type slackChannel struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Pins []pin  `json:"pins"`
}

type slackUser struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Real string `json:"real_name"`
}

type pin struct {
	ID string `json:"id"`
}

var (
	slackToken = regexp.MustCompile(`<([@#!]?)([^>|]+)(?:\|([^>]*))?>`)
	slackPlain = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
	decided    = regexp.MustCompile(`(?i)\b(decided|decision|we agreed|agreed:|let's go with|we go with|we will use|conclusion|resolved|` +
		`solved|the answer is|the fix (is|was)|turned out|root cause)\b|决定|结论|定了|解决了|原因是`)
	declared = regexp.MustCompile(`(?i)^(?:[\s*_~>•#-]|:[\w+-]+:|[\[【(（])*` +
		`(?:decisions?|decided|we decided|final decision|conclusion|结论|结論|結論|决定|决议|決定|決議|定了|最终方案)` +
		`(?:[\s*_~]*[:：\])】）]|\s+[—–-]\s)`)
	approved = []string{"white_check_mark", "heavy_check_mark", "ballot_box_with_check", "+1", "thumbsup", "100"}
	spoken   = []string{"", "bot_message", "me_message", "thread_broadcast", "file_share"}
)

// isSlack tells whether a folder is the export of a workspace.
func isSlack(files fs.FS, folder string) bool {
	_, err := fs.Stat(files, path.Join(folder, "channels.json"))
	_, also := fs.Stat(files, path.Join(folder, "users.json"))
	return err == nil && also == nil
}

// slack reads the threads of public channels that end in a decision or an answer, and if asked for, single messages
// that say that they are a decision. They are proposals: a person decides what of them others should know.
func slack(
	in *markdown.Input, files fs.FS, folder, above string, single bool, yield func(markdown.Item) error,
) error {
	names, found := map[string]string{}, false
	for _, user := range listed[slackUser](in, files, path.Join(folder, "users.json"), above) {
		names[user.ID] = cmp.Or(user.Real, user.Name)
	}
	for _, channel := range listed[slackChannel](in, files, path.Join(folder, "channels.json"), above) {
		days, _ := fs.Glob(files, path.Join(folder, channel.Name, "*.json"))
		var order []string // of threads
		threads := map[string][]slackMessage{}
		for _, day := range days {
			for _, m := range listed[slackMessage](in, files, day, above) {
				if m.Text == "" || !slices.Contains(spoken, m.Subtype) {
					continue
				}
				of := cmp.Or(m.Thread, m.At)
				if threads[of] == nil {
					order = append(order, of)
				}
				threads[of] = append(threads[of], m)
			}
		}
		for _, of := range order {
			messages := threads[of]
			said := func(m slackMessage) bool { return single && declared.MatchString(m.Text) }
			if slices.Contains(channel.Pins, pin{of}) || ends(messages) || slices.ContainsFunc(messages, said) {
				found = true
				item, from := channel.item(messages, names), path.Join(folder, channel.Name)
				if err := in.Pass(item, from, above, yield); err != nil {
					return err
				}
			}
		}
	}
	if !found && !single {
		in.Leave(path.Join(above, folder, "channels.json"), "names no channel with a decision: try --decisions")
	}
	return nil
}

// listed are the elements of a list in a file. What cannot be read is left out.
func listed[T any](in *markdown.Input, files fs.FS, name, above string) (all []T) {
	text, err := in.Read(files, name, true)
	var list []json.RawMessage
	if err == nil && json.Unmarshal(text, &list) != nil {
		err = errors.New("is no list in JSON")
	}
	if err != nil {
		in.Leave(path.Join(above, name), err.Error())
	}
	for i, raw := range list {
		var one T
		if json.Unmarshal(raw, &one) != nil {
			in.Leave(path.Join(above, name), fmt.Sprintf("item %d has another form", i+1))
			continue
		}
		all = append(all, one)
	}
	return all
}

// ends tells whether a thread ends in a decision, or in an answer that somebody approved.
func ends(thread []slackMessage) bool {
	if len(thread) < 2 {
		return false
	}
	asked := strings.ContainsAny(thread[0].Text, "?？")
	return slices.ContainsFunc(thread[1:], func(m slackMessage) bool {
		approves := false
		for _, reaction := range m.Reactions {
			name, _, _ := strings.Cut(reaction.Name, "::")
			approves = approves || slices.Contains(approved, name)
		}
		return decided.MatchString(m.Text) || asked && approves
	})
}

// item is a thread as one item.
func (c slackChannel) item(thread []slackMessage, names map[string]string) markdown.Item {
	plain := func(m slackMessage) string {
		return slackPlain.Replace(slackToken.ReplaceAllStringFunc(m.Text, func(token string) string {
			parts := slackToken.FindStringSubmatch(token)
			name := cmp.Or(parts[3], names[parts[2]], parts[2])
			switch {
			case parts[1] == "" && parts[3] != "" && parts[3] != parts[2]:
				return fmt.Sprintf("[%s](%s)", parts[3], parts[2])
			case parts[1] == "":
				return parts[2]
			case parts[1] == "#":
				return "#" + name
			}
			return "@" + strings.TrimPrefix(name, "@")
		}))
	}
	who := func(m slackMessage) string { return cmp.Or(names[m.User], m.Username, m.User) }
	lines := make([]string, len(thread))
	for i, m := range thread {
		lines[i] = who(m) + ": " + plain(m)
	}
	first, last := thread[0], thread[len(thread)-1]
	item := markdown.Item{
		ID: "slack-" + c.ID + "-" + strings.ReplaceAll(first.At, ".", "-"), Type: "strategy",
		Task:    "#" + c.Name + ": " + markdown.FirstRunes(strings.Join(strings.Fields(plain(first)), " "), 200),
		Content: strings.Join(lines, "\n\n"),
		Tags:    tagsOf("kind", "slack", "status", "proposed", "channel", c.Name),
		Source:  &markdown.Source{SubmittedBy: markdown.LastRunes(who(last), 200)},
	}
	if seconds, err := strconv.ParseFloat(last.At, 64); err == nil {
		at := time.Unix(int64(seconds), 0).UTC()
		item.OccurredAt = &at
	}
	return item
}
